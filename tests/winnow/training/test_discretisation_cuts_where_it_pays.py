import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.papers.site_independent import Discretisation, mdl_cuts


def entropy(labels: list[bool]) -> float:
    shares = [labels.count(kind) / len(labels) for kind in set(labels)]
    return -sum(share * math.log2(share) for share in shares)


def by_definition(pairs: list[tuple[float, bool]]) -> list[float]:
    """The paper's recursion, written down literally."""
    pairs = sorted(pairs)
    values, labels = [value for value, _ in pairs], [label for _, label in pairs]
    n = len(pairs)
    best = None
    for at in range(1, n):
        if values[at - 1] < values[at]:
            left, right = labels[:at], labels[at:]
            information = (at * entropy(left) + (n - at) * entropy(right)) / n
            if best is None or information < best[0] - 1e-12:
                best = (information, at)
    if best is None:
        return []
    information, at = best
    left, right = labels[:at], labels[at:]
    k, k1, k2 = len(set(labels)), len(set(left)), len(set(right))
    delta = math.log2(3**k - 2) - (k * entropy(labels) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(labels) - information <= (math.log2(n - 1) + delta) / n:
        return []
    return [*by_definition(pairs[:at]), (values[at - 1] + values[at]) / 2, *by_definition(pairs[at:])]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=2, max_size=60))
def test_cuts_are_those_of_the_definition(pairs: list[tuple[int, bool]]) -> None:
    values = np.array([value for value, _ in pairs], float)
    label = np.array([label for _, label in pairs])
    assert mdl_cuts(values, label).tolist() == pytest.approx(by_definition([(float(v), b) for v, b in pairs]))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.randoms(use_true_random=False))
def test_alternating_stretches_are_told_apart(borders: int, random) -> None:
    label = [bool(part % 2) for part in range(borders + 1) for _ in range(60)]
    values = np.arange(len(label), dtype=float)
    order = random.sample(range(len(label)), len(label))
    cuts = mdl_cuts(values[order], np.array(label)[order])
    assert cuts.tolist() == [60 * part - 0.5 for part in range(1, borders + 1)]


def test_what_tells_nothing_is_not_cut() -> None:
    random = np.random.default_rng(3)
    label = random.random(400) < 0.5
    assert len(mdl_cuts(random.random(400), label)) == 0
    assert len(mdl_cuts(np.ones(400), label)) == 0
    assert len(mdl_cuts(random.random(400), np.ones(400, bool))) == 0


def test_binary_features_name_the_interval() -> None:
    label = np.array([False] * 50 + [True] * 50 + [False] * 50)
    matrix = np.stack([np.arange(150.0), np.ones(150), np.arange(150.0) % 2], axis=1)
    cut = Discretisation.of(matrix, label)
    assert [cuts.tolist() for cuts in cut.cuts] == [[49.5, 99.5], [], []]
    assert cut.size == 3
    dense = cut.binary(np.array([[0.0, 1, 1], [49.5, 1, 0], [50, 7, 0], [1e9, 0, 0]])).toarray()
    assert dense.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_without_any_cut_there_are_no_features() -> None:
    cut = Discretisation.of(np.ones((4, 2)), np.array([True, False, True, False]))
    assert cut.binary(np.ones((5, 2))).shape == (5, 0)
