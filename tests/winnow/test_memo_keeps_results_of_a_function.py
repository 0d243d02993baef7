import pytest

from winnow.memo import Memo, forget
from winnow.page.page import Page
from winnow.page.tree import once_per_page


def test_a_function_is_called_once_for_an_argument():
    calls = []
    memo = Memo(lambda text: calls.append(text) or text.upper(), 10)
    assert list(map(memo.__getitem__, ["a", "b", "a"])) == ["A", "B", "A"]
    assert calls == ["a", "b"]


def test_no_more_results_are_kept_than_allowed():
    memo = Memo(str, 3)
    assert [memo[number] for number in range(8)] == [str(number) for number in range(8)]
    assert len(memo) <= 3


def test_very_long_strings_are_not_kept():
    memo = Memo(len, 3)
    assert memo["x" * 1_000] == 1_000
    assert not memo


def test_all_memos_can_be_emptied_at_once():
    memos = Memo(len, 3), Memo(str.upper, 3)
    assert [memo["x"] for memo in memos] == [1, "X"]
    forget()
    assert memos == ({}, {})


def test_what_a_function_makes_of_a_page_is_kept_with_the_page():
    calls = []

    @once_per_page
    def depths(page):
        calls.append(page)
        return page.depth * 2

    first, second = Page.parse("<p>one"), Page.parse("<div><p>two")
    assert depths(first) is depths(first)
    assert depths(second).tolist() == [0, 2, 4, 6]
    assert calls == [first, second]
    with pytest.raises(ValueError, match="read-only"):
        depths(first)[0] = 1
