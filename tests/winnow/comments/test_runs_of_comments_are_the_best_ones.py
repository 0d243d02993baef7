"""The runs found are those whose gains, less the cost of beginning and ending each, add up to the most."""

from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from winnow.evidence.comments import best_runs

GAINS = st.lists(st.integers(-9, 9).map(float), max_size=9)


def worth(gain: list[float], states: tuple[bool, ...], switch: float) -> float:
    changes = sum(a != b for a, b in pairwise((False, *states)))
    return sum(g for g, state in zip(gain, states, strict=True) if state) - switch * changes


@given(GAINS, st.integers(0, 12).map(float))
def test_no_other_choice_of_blocks_is_worth_more(gain: list[float], switch: float) -> None:
    found = best_runs(gain, switch)
    best = max(worth(gain, states, switch) for states in product((False, True), repeat=len(gain)))
    assert worth(gain, tuple(found.tolist()), switch) == best


def test_a_short_gap_between_comments_is_bridged_and_a_single_block_is_none() -> None:
    assert best_runs([9, 9, -1, 9, 9], 5).all()
    assert not best_runs([-9, 4, -9], 5).any()
    assert best_runs([-9.0, -9, 9, 9, -9], 5).tolist() == [False, False, True, True, False]
    assert best_runs([], 5).dtype == np.bool_
