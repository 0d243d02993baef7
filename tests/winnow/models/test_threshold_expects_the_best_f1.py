"""The threshold of a page keeps the blocks that its scores expect to give the best text."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from winnow.models.scores import expected_f1_threshold

BLOCKS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 500)), min_size=1, max_size=12)


def expected_f1(templateness: np.ndarray, words: np.ndarray, kept: np.ndarray) -> float:
    mass = np.maximum(words, 0.5)
    content = (1 - templateness) * mass
    return float(2 * content[kept].sum() / (mass[kept].sum() + content.sum()))


@given(BLOCKS)
@example([(0.0, 10), (5e-324, 10), (1.0, 10)])
@example([(0.5, 10), (0.5, 20), (0.5, 1)])
@example([(0.2, 1), (float(np.nextafter(0.2, 1)), 100)])
@example([(1.0, 1)])
def test_no_other_cut_has_a_higher_expected_f1(blocks: list[tuple[float, int]]):
    templateness = np.array([score for score, _ in blocks])
    words = np.array([count for _, count in blocks], np.float64)
    threshold = expected_f1_threshold(templateness, words)
    assert 0 <= threshold <= np.nextafter(1, 2)
    kept = templateness < threshold
    assert kept.any()
    every_cut = [templateness <= score for score in set(templateness.tolist())]
    best = max(expected_f1(templateness, words, cut) for cut in every_cut)
    assert expected_f1(templateness, words, kept) >= best - 1e-9


def test_a_doubtful_page_is_cut_later_than_a_clear_one():
    words = np.full(20, 30.0)
    clear = np.array([0.05] * 10 + [0.6] * 10)
    doubtful = np.array([0.5] * 10 + [0.6] * 10)
    assert 0.05 < expected_f1_threshold(clear, words) < 0.6
    assert expected_f1_threshold(doubtful, words) > 0.6


def test_a_page_without_text_has_the_middle():
    assert expected_f1_threshold(np.zeros(0), np.zeros(0)) == 0.5
