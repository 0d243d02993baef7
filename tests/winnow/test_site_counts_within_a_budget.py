"""Lossy counting against exact counts: bounded memory, and the promised error in any order of pages."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.counting import THETA, LossyCounts, frequency_estimates

SEEDS = st.integers(0, 2**32)


def pages_of(seed: int, pages: int, units: int) -> list[np.ndarray]:
    """Pages with few fingerprints that are on many pages and many that are on few, in an order of bad luck at times."""
    rng = np.random.default_rng(seed)
    made = [
        np.unique((rng.pareto(rng.choice([0.3, 0.8]), units) * 8).clip(1, 1e9).astype(np.uint64)) for _ in range(pages)
    ]
    return sorted(made, key=lambda page: int(page.sum())) if seed % 2 else made


def counted(pages: list[np.ndarray], budget: int) -> LossyCounts:
    counts = LossyCounts(budget)
    for page_id, page in enumerate(pages):
        assert counts.add(page_id, page)
    return counts


def assert_promise(counts: LossyCounts, pages: list[np.ndarray], budget: int) -> None:
    asked, true = np.unique(np.concatenate(pages), return_counts=True)
    df = counts.df(asked)
    assert len(counts) <= budget
    assert counts.pages == len(pages)
    assert counts.undercount <= sum(map(len, pages)) / (0.9 * budget)
    assert (np.abs(df - true) <= counts.undercount).all()
    least = THETA * len(pages)
    reported = df >= least
    assert not reported[true < least / 2].any()
    assert not reported[true < least - counts.undercount].any()
    if counts.undercount <= least / 2:
        assert reported[true >= least].all()


@given(SEEDS, st.integers(1, 60), st.integers(1, 80), st.integers(1, 300))
@settings(deadline=None)
def test_the_promise_holds_in_any_order_of_pages(seed: int, pages: int, units: int, budget: int) -> None:
    made = pages_of(seed, pages, units)
    assert_promise(counted(made, budget), made, budget)


@given(st.lists(st.tuples(st.integers(0, 8), st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=8))))
def test_counts_that_fit_are_the_number_of_pages_that_have_a_fingerprint(pages: list[tuple[int, list[int]]]) -> None:
    counts = LossyCounts(80)
    first: dict[int, list[int]] = {}
    for page_id, fingerprints in pages:
        assert counts.add(page_id, np.array(fingerprints, np.uint64)) == (page_id not in first)
        first.setdefault(page_id, fingerprints)
    expected = Counter(value for fingerprints in first.values() for value in set(fingerprints) if value)
    asked = [*expected, 0, 1, 2**63 + 11]
    assert (counts.pages, counts.undercount) == (len(first), 0)
    assert counts.df(np.array(asked, np.uint64)).tolist() == [expected[value] for value in asked]


def test_df_has_the_shape_of_its_argument() -> None:
    counts = counted([np.array([7, 7, 7], np.uint64)], 1)
    assert counts.df(np.array([[7], [8]], np.uint64)).tolist() == [[1], [0]]
    assert counts.df(np.array([], np.uint64)).shape == (0,)


def test_fingerprints_that_may_be_on_a_tenth_of_the_pages_are_reported_unless_most_of_it_is_guessed() -> None:
    seen, missed = np.array([10, 9, 9, 6, 5, 4, 1, 0]), np.array([0, 0, 1, 4, 5, 9, 20, 0])
    assert frequency_estimates(seen, missed, 100).tolist() == [10, 9, 10, 10, 10, 4, 1, 0]
    assert frequency_estimates(np.array([30]), np.array([9]), 35).tolist() == [35]
