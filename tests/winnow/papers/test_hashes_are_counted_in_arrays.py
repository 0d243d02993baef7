from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.papers import hash_counter
from winnow.papers.pages import HashCounter, among

HASHES = st.lists(st.integers(0, 9) | st.sampled_from([2**63, 2**64 - 1]), max_size=30)


@given(st.lists(HASHES, max_size=8), st.integers(0, 8), st.integers(0, 8), st.sampled_from([1, 10, 1 << 18]))
def test_hashes_that_were_counted_so_often_are_found(
    batches: list[list[int]], least: int, more: int, waiting: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hash_counter, "_LEAST_WAITING", waiting)
        counter = HashCounter()
        for batch in batches:
            counter.add(np.array(batch, np.uint64))
        counted = Counter(number for batch in batches for number in batch)
        expected = sorted(number for number, count in counted.items() if least <= count <= least + more)
        assert counter.between(least, least + more).tolist() == expected
        assert counter.between(least).tolist() == sorted(n for n, count in counted.items() if count >= least)


@given(HASHES, HASHES)
def test_known_hashes_are_told_from_others(hashes: list[int], known: list[int]) -> None:
    found = among(np.array(hashes, np.uint64), np.unique(np.array(known, np.uint64)))
    assert found.tolist() == [number in known for number in hashes]
