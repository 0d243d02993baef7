"""A cleaning process keeps the pages that it has read, as many as its memory is meant to hold."""

from scrapy_winnow.worker import MAX_KEPT_UNITS, KeptPages
from winnow import Page

PAGE = Page.parse("<p>some words" * 1_000)
MOST = MAX_KEPT_UNITS // (PAGE.n + PAGE.m)


def test_a_page_is_given_back_once():
    kept = KeptPages()
    kept.put(7, PAGE)
    assert kept.take(7) is PAGE
    assert kept.take(7) is None


def test_the_pages_that_were_read_first_go_first():
    kept = KeptPages()
    for round_number in range(3):  # what was taken makes room again
        numbers = range(100 * round_number, 100 * round_number + MOST + 2)
        for number in numbers:
            kept.put(number, PAGE)
        assert [number for number in numbers if kept.take(number) is PAGE] == [*numbers][2:]


def test_a_page_that_is_too_large_is_not_kept_and_displaces_no_other():
    kept = KeptPages()
    kept.put(1, PAGE)
    kept.put(2, Page.parse("<p>some words" * MAX_KEPT_UNITS))
    assert kept.take(1) is PAGE
    assert kept.take(2) is None
