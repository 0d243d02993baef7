"""Characters and words of any script are counted by kind, and stretches are differences of totals."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from winnow.page.page import Page
from winnow.page.text import TextStatistics


def statistics(html: str) -> tuple[Page, TextStatistics]:
    page = Page.parse(html)
    return page, TextStatistics.of(page)


@pytest.mark.parametrize(
    ("text", "words", "commas", "sentence_ends"),
    [
        ("我们去北京、上海。", 3, 1, 1),
        ("これは本です！", 3, 0, 1),
        ("مرحبا، كيف حالك؟", 3, 1, 1),
        ("नमस्ते दुनिया।", 2, 0, 1),
        ("สวัสดีครับ", 5, 0, 0),
        ("한국어 문장입니다.", 2, 0, 1),
        ("naïve co-operation can\u00adnot", 3, 0, 0),
        ("𠀀𠀁 and 😀", 3, 0, 0),
    ],
)
def test_words_and_punctuation_are_found_in_every_script(text: str, words: int, commas: int, sentence_ends: int):
    _, counts = statistics(f"<p>{text}</p>")
    assert (counts.words[-1], counts.commas[-1], counts.sentence_ends[-1]) == (words, commas, sentence_ends)


def test_a_page_without_text_has_no_runs():
    page, counts = statistics("")
    assert counts.characters.tolist() == [0]
    assert counts.per_unit(counts.words).tolist() == [0] * (page.n + page.m)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), min_size=1),
        max_size=5,
    )
)
def test_totals_agree_with_counting_character_by_character(texts: list[str]):
    root = etree.Element("body")
    for text in texts:
        etree.SubElement(root, "b").text = text
    page = Page.from_tree(root)
    assert page.runs == texts
    counts = TextStatistics.of(page)
    categories = [[unicodedata.category(character) for character in text] for text in texts]
    upper = [sum(category in {"Lu", "Lt"} for category in row) for row in categories]
    digits = [sum(category[0] == "N" for category in row) for row in categories]
    assert np.diff(counts.upper_case).tolist() == upper
    assert np.abs(np.diff(counts.digits) - digits).max(initial=0) == 0
    visible = counts.letters + counts.digits + counts.commas + counts.sentence_ends + counts.symbols
    assert visible.tolist() == counts.characters.tolist()
