"""A browser, one for each file of tests that looks at something in it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one file of tests."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.fail("these tests drive Chromium: `make chromium` installs it, as root or with sudo", pytrace=False)
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415  (most tests need none)

    expect.set_options(timeout=30_000)  # the machine may be busy
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """A tab of its own; an error of a script fails the test."""
    errors: list[str] = []
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
    tab = context.new_page()
    tab.on("pageerror", lambda error: errors.append(str(error)))
    yield tab
    context.close()
    assert errors == []
