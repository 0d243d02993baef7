"""A small site to inspect, and an inspector of each kind that several tests look at."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapy_tamis.inspector.server import InspectorServer
from tests.scrapy_tamis.inspector.browsing import inspected


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
