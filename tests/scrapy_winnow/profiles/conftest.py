"""A small site that is crawled."""

from pathlib import Path

import pytest

from tests.scrapy_winnow.inspector.browsing import story


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with 14 pages of one site."""
    folder = tmp_path / "harbour.example"
    folder.mkdir()
    for number in range(14):
        (folder / f"story-{number:02}.html").write_text(story(number), encoding="utf-8")
    return folder
