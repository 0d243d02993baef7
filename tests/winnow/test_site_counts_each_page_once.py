from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from winnow.counting import MemoryCounts

PAGES = st.lists(st.tuples(st.integers(0, 8), st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=8)))


def array(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint64)


@given(PAGES)
def test_counts_are_the_number_of_pages_that_have_a_fingerprint(pages: list[tuple[int, list[int]]]) -> None:
    counts = MemoryCounts()
    first: dict[int, list[int]] = {}
    for page_id, fingerprints in pages:
        assert counts.add(page_id, array(fingerprints)) == (page_id not in first)
        first.setdefault(page_id, fingerprints)
    expected = Counter(value for fingerprints in first.values() for value in set(fingerprints) if value)
    asked = [*expected, 0, 1, 2**63 + 11]
    assert counts.pages == len(first)
    assert counts.df(array(asked)).tolist() == [expected[value] for value in asked]


def test_df_has_the_shape_of_its_argument() -> None:
    counts = MemoryCounts()
    counts.add(1, array([7, 7, 7]))
    assert counts.df(array([7, 8]).reshape(2, 1)).tolist() == [[1], [0]]
    assert counts.df(array([])).shape == (0,)
    assert counts.df(array([7])).dtype == np.int64
