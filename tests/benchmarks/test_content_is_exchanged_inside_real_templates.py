from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from demo.web import build_site
from tamis.output.text import block_texts
from tamis.page.page import Page
from tamis_papers.experiments.content_exchange import frames_of, mistyped, shortened
from tamis_papers.experiments.harness import HtmlPages

if TYPE_CHECKING:
    from tamis.folders import SitePages

TEXT = ["Once upon a time a fox wrote a letter.", "Nobody ever answered it, alas."]


@pytest.fixture(scope="module")
def news() -> SitePages:
    site = build_site("news", pages=30)
    return HtmlPages.from_html([(f"https://news.example{path}", site.resources[path].body) for path in site.truth])


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
