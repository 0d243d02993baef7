"""A browser for each file of tests that looks at something in it, and a limit of time for every test."""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # or threads of all tests wait for each other

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("ci"), max_examples=40)

MOST_SECONDS: Final = 300
"""Time for a test and what it needs, such as a crawl for all tests of its file: what takes longer hangs."""

BUSY: Final = 120_000
"""Milliseconds that a browser may take for what it does at once where the machine has nothing else to do."""


LONGEST: Final = {"training", "test_time_grows_with_the_page.py"}
"""Folders and files that come first: in the end, one process would be busy with them alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.isdisjoint(item.path.parts))


def pytest_collection_finish() -> None:
    gc.freeze()  # or each collection of garbage visits all that tests have imported


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Run one process more than there are cores: each waits for crawls, servers and browsers a third of its time."""
    return (yield) + 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have a test that hangs fail, and say where it and the threads beside it stand."""

    def hangs(*_: object) -> None:
        faulthandler.dump_traceback(sys.__stderr__ or sys.stderr)
        pytest.fail(f"{item.nodeid} has taken {MOST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(MOST_SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    """What a test has installed for the log goes with it: Scrapy's handler would write to what that test captured."""
    log = logging.getLogger()
    handlers, level = list(log.handlers), log.level
    yield
    for handler in set(log.handlers) - set(handlers):
        log.removeHandler(handler)
    log.setLevel(level)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one file of tests."""
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415  (most tests need none)

    from demo.screenshots import find_browser  # noqa: PLC0415

    program = find_browser()
    if program is None:
        pytest.fail("these tests drive Chromium: `make chromium` installs it, as root or with sudo", pytrace=False)
    expect.set_options(timeout=BUSY)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=BUSY)
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """A tab of its own; an error of a script fails the test."""
    errors: list[str] = []
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
    context.set_default_timeout(BUSY)
    tab = context.new_page()
    tab.on("pageerror", lambda error: errors.append(str(error)))
    yield tab
    context.close()
    assert errors == []
