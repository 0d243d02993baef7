from __future__ import annotations

from demo.truth import PageTruth, compare, total, words

PAGE = PageTruth("/", "article", (("Home News", True), ("The story of the news", False), ("All rights reserved", True)))


def test_a_template_word_that_content_has_too_counts_once() -> None:
    assert compare(PAGE, "The story of the news news").template_cut == 4
    assert compare(PAGE, "The story of the news").template_cut == 5


def test_characters_of_scripts_without_spaces_count_singly() -> None:
    assert words("台帳 is a ledger") == {"台": 1, "帳": 1, "is": 1, "a": 1, "ledger": 1}


def test_comparisons_add_up_over_pages() -> None:
    both = total([compare(PAGE, "The story of the news"), compare(PAGE, "")])
    assert both.content_recall == 0.5
    assert total([]).content_recall == 1.0
