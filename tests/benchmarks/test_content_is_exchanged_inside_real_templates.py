from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.applications.content_exchange import frames_of, mistyped, shortened
from demo.web import generate
from winnow.output.text import block_texts
from winnow.page.page import Page
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from pathlib import Path

    from winnow.papers.pages import SitePages

TEXT = ["Once upon a time a fox wrote a letter.", "Nobody ever answered it, alas."]


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> SitePages:
    folder: Path = tmp_path_factory.mktemp("web")
    generate(folder, pages=30)
    return next(site for site in find_sites(folder / "sites") if site.name == "news")


@pytest.mark.parametrize("style", ["p", "div", "br"])
def test_the_text_replaces_what_only_this_page_has_and_the_template_stays(news, style):
    frames = list(frames_of(news))
    assert len(frames) >= 10
    before = {frame.url: set(block_texts(Page.from_tree(frame.root))) for frame in frames}
    shared = set.intersection(*before.values())
    assert len(shared) >= 10
    for frame in frames:
        after = block_texts(Page.parse(frame.filled(TEXT, style)))
        assert shared <= set(after)
        at = after.index(TEXT[0])
        assert after[at : at + 2] == TEXT
        lost = before[frame.url] - set(after)
        assert sum(len(text.split()) for text in lost) > 100


def test_a_text_ends_with_the_paragraph_that_reaches_the_words_wanted():
    text = "one two three\n\n four\x00 five \nsix\nseven"
    assert shortened(text, 4) == ["one two three", "four five"]
    assert shortened(text) == ["one two three", "four five", "six", "seven"]


def test_copying_loses_about_as_many_words_as_it_should():
    paragraphs = [" ".join(["word"] * 1000)] * 10
    copied = mistyped(paragraphs, 0.01, np.random.default_rng(0))
    assert 9_850 < sum(len(paragraph.split()) for paragraph in copied) < 9_950
    assert mistyped(["short"], 1.0, np.random.default_rng(0)) == ["short"]
