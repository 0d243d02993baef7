"""The runs found are those whose gains, less the cost of beginning and ending each, add up to the most."""

import numpy as np

from winnow.evidence.comments import best_runs


def test_a_short_gap_between_comments_is_bridged_and_a_single_block_is_none() -> None:
    assert best_runs([9, 9, -1, 9, 9], 5).all()
    assert not best_runs([-9, 4, -9], 5).any()
    assert best_runs([-9.0, -9, 9, 9, -9], 5).tolist() == [False, False, True, True, False]
    assert best_runs([], 5).dtype == np.bool_
