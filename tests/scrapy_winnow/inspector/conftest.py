"""A browser, one for each file of tests, and a small site to inspect."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Page as Tab

from tests.scrapy_winnow.inspector.browsing import story


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one file of tests."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.fail("these tests drive Chromium: `make chromium` installs it, as root or with sudo", pytrace=False)
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


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with 14 pages of one site."""
    folder = tmp_path / "harbour.example"
    folder.mkdir()
    for number in range(14):
        (folder / f"story-{number:02}.html").write_text(story(number), encoding="utf-8")
    return folder
