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


def test_kinds_of_a_latin_sentence():
    _, counts = statistics("<p>Hello, World! 42 is it; no?</p>")
    assert counts.words[-1] == 6
    assert counts.letters[-1] == 16
    assert counts.upper_case[-1] == 2
    assert counts.digits[-1] == 2
    assert counts.commas[-1] == 2
    assert counts.sentence_ends[-1] == 2
    assert counts.symbols[-1] == 0
    assert counts.characters[-1] == 22


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


def test_a_run_begins_a_word_of_its_own():
    _, counts = statistics("<p>un<b>able</b> to</p>")
    assert np.diff(counts.words).tolist() == [1, 1, 1]


def test_units_are_subtrees_followed_by_blocks():
    page, counts = statistics("<div>one two<p>three</p>four <i>five</i></div>")
    words = counts.per_unit(counts.words)
    assert words[: page.n].max() == 5
    assert words[page.n :].tolist() == [2, 1, 2]


def test_totals_of_chosen_runs_leave_the_others_out():
    page, counts = statistics("<p>plain <a href=x>in a link</a></p>")
    linked = np.array([page.elements[node].tag == "a" for node in page.run_node])
    assert counts.only(counts.words, linked).tolist() == [0, 0, 3]


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
