"""Lossy counting against exact counts: bounded memory, and the promised error in any order of pages."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.counting import THETA, LossyCounts, MemoryCounts, frequency_estimates

SEEDS = st.integers(0, 2**32)


def pages_of(seed: int, pages: int, units: int) -> list[np.ndarray]:
    """Pages with few fingerprints that are on many pages and many that are on few, in an order of bad luck at times."""
    rng = np.random.default_rng(seed)
    made = [
        np.unique((rng.pareto(rng.choice([0.3, 0.8]), units) * 8).clip(1, 1e9).astype(np.uint64)) for _ in range(pages)
    ]
    return sorted(made, key=lambda page: int(page.sum())) if seed % 2 else made


def counted(pages: list[np.ndarray], budget: int) -> tuple[LossyCounts, MemoryCounts]:
    lossy, exact = LossyCounts(budget), MemoryCounts()
    for page_id, page in enumerate(pages):
        assert lossy.add(page_id, page)
        exact.add(page_id, page)
    return lossy, exact


def assert_promise(lossy: LossyCounts, exact: MemoryCounts, pages: list[np.ndarray], budget: int) -> None:
    asked = np.unique(np.concatenate(pages))
    df, true = lossy.df(asked), exact.df(asked)
    assert len(lossy) <= budget
    assert lossy.pages == exact.pages
    assert lossy.undercount <= sum(map(len, pages)) / (0.9 * budget)
    assert (np.abs(df - true) <= lossy.undercount).all()
    least = THETA * exact.pages
    reported = df >= least
    assert not reported[true < least / 2].any()
    assert not reported[true < least - lossy.undercount].any()
    if lossy.undercount <= least / 2:
        assert reported[true >= least].all()


@given(SEEDS, st.integers(1, 60), st.integers(1, 80), st.integers(1, 300))
@settings(deadline=None)
def test_the_promise_holds_in_any_order_of_pages(seed: int, pages: int, units: int, budget: int) -> None:
    made = pages_of(seed, pages, units)
    assert_promise(*counted(made, budget), made, budget)


@given(SEEDS, st.integers(1, 30), st.integers(1, 40))
@settings(deadline=None)
def test_counts_that_fit_are_exact(seed: int, pages: int, units: int) -> None:
    made = pages_of(seed, pages, units)
    lossy, exact = counted(made, sum(map(len, made)))
    asked = np.append(np.concatenate(made), np.array([0, 2**63], np.uint64))
    assert lossy.undercount == 0
    assert lossy.df(asked).tolist() == exact.df(asked).tolist()


@given(SEEDS, st.lists(st.integers(0, 9), max_size=20), st.integers(1, 60))
@settings(deadline=None)
def test_replays_change_nothing(seed: int, replays: list[int], budget: int) -> None:
    made = pages_of(seed, 10, 30)
    once = counted(made, budget)[0]
    again = LossyCounts(budget)
    for page_id in range(10):
        again.add(page_id, made[page_id])
        for replay in replays:
            if replay <= page_id:
                assert not again.add(replay, made[replay])
    asked = np.concatenate(made)
    assert again.df(asked).tolist() == once.df(asked).tolist()
    assert (again.pages, again.undercount) == (once.pages, once.undercount)


def test_repeated_template_is_not_dropped_for_unique_fingerprints() -> None:
    counts = LossyCounts(300)
    template = np.arange(1, 101, dtype=np.uint64)
    for page_id in range(200):
        unique = np.arange(100, dtype=np.uint64) + np.uint64(1000 * (page_id + 1))
        counts.add(page_id, np.concatenate([template, unique]))
    assert (counts.df(template) == 200).all()


def test_fingerprints_that_may_be_on_a_tenth_of_the_pages_are_reported_unless_most_of_it_is_guessed() -> None:
    seen, missed = np.array([10, 9, 9, 6, 5, 4, 1, 0]), np.array([0, 0, 1, 4, 5, 9, 20, 0])
    assert frequency_estimates(seen, missed, 100).tolist() == [10, 9, 10, 10, 10, 4, 1, 0]
    assert frequency_estimates(np.array([30]), np.array([9]), 35).tolist() == [35]
