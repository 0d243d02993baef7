"""A small site to inspect, and an inspector of each kind that several tests look at."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapy_winnow.inspector.server import InspectorServer
from tests.scrapy_winnow.inspector.browsing import inspected, story


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 14 pages of one site."""
    folder = tmp_path_factory.mktemp("site") / "harbour.example"
    folder.mkdir()
    for number in range(14):
        (folder / f"story-{number:02}.html").write_text(story(number), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def page_server(site: Path) -> Iterator[InspectorServer]:
    """An inspector of one page."""
    with inspected(site / "story-03.html") as server:
        yield server


@pytest.fixture(scope="session")
def site_server(site: Path) -> Iterator[InspectorServer]:
    """An inspector of all pages of the site, with the others as evidence."""
    with inspected(site) as server:
        yield server
