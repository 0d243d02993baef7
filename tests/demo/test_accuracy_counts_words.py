from __future__ import annotations

from demo.accuracy import compare, total, words
from demo.truth import PageTruth

PAGE = PageTruth("/", "article", (("Home News", True), ("The story of the news", False), ("All rights reserved", True)))


def test_perfect_cleaning_keeps_all_content_and_cuts_all_template() -> None:
    found = compare(PAGE, "The story\nof the news")
    assert (found.content_recall, found.template_recall) == (1.0, 1.0)


def test_a_template_word_that_content_has_too_counts_once() -> None:
    assert compare(PAGE, "The story of the news news").template_cut == 4
    assert compare(PAGE, "The story of the news").template_cut == 5


def test_no_cleaning_at_all_cuts_nothing() -> None:
    found = compare(PAGE, f"{PAGE.template_text}\n{PAGE.content_text}")
    assert (found.content_recall, found.template_recall) == (1.0, 0.0)


def test_an_empty_result_loses_all_content() -> None:
    found = compare(PAGE, "")
    assert (found.content_recall, found.template_recall) == (0.0, 1.0)


def test_characters_of_scripts_without_spaces_count_singly() -> None:
    assert words("台帳 is a ledger") == {"台": 1, "帳": 1, "is": 1, "a": 1, "ledger": 1}


def test_comparisons_add_up_over_pages() -> None:
    both = total([compare(PAGE, "The story of the news"), compare(PAGE, "")])
    assert both.content_recall == 0.5
    assert total([]).content_recall == 1.0
