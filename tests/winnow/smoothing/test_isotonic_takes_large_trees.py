import numpy as np
import pytest
from numpy.typing import NDArray

from winnow.smoothing.isotonic import regression as isotonic
from winnow.smoothing.isotonic.regression import Smoothed, smooth

DEEPEST_TREE_OF_LXML = 2047


def cost_of(
    smoothed: Smoothed, score: NDArray[np.float64], weight: NDArray[np.int64] | int, penalty: NDArray[np.float64]
) -> float:
    return float((weight * np.abs(score - smoothed.value)).sum() + penalty[smoothed.starts_section].sum())


def check_consistency(parent: NDArray[np.int64], smoothed: Smoothed) -> None:
    child = np.flatnonzero(parent >= 0)
    rises = smoothed.value[child] > smoothed.value[parent[child]]
    assert (smoothed.value[child] >= smoothed.value[parent[child]]).all()
    assert (smoothed.starts_section[child] == rises).all()
    assert (smoothed.section[child] == np.where(rises, child, smoothed.section[parent[child]])).all()


def test_a_star_of_a_hundred_thousand_children_is_exact() -> None:
    n, gamma = 100_001, 0.125
    random = np.random.default_rng(1)
    score = random.integers(0, 2**26 + 1, n) / 2**26
    parent = np.zeros(n, dtype=np.int64)
    parent[0] = -1
    smoothed = smooth(parent, score, penalty=np.full(n, gamma))
    check_consistency(parent, smoothed)

    # For a root value v, a child below v costs v - x; one above costs x - v, but at most the penalty.
    child = np.sort(score[1:])
    total = np.concatenate(([0.0], child.cumsum()))
    below, near = child.searchsorted(child), child.searchsorted(child + gamma)
    of_root = np.abs(child - score[0])
    cost = (
        of_root
        + below * child
        - total[below]
        + total[near]
        - total[below]
        - (near - below) * child
        + (n - 1 - near) * gamma
    )
    assert smoothed.cost == pytest.approx(cost.min() + gamma, rel=1e-9)
    assert cost_of(smoothed, score, 1, np.full(n, gamma)) == pytest.approx(smoothed.cost, rel=1e-9)


@pytest.mark.parametrize("penalty", [0.0, 0.01, 0.5])
def test_a_chain_as_deep_as_parsers_allow_is_solved(penalty: float) -> None:
    n = DEEPEST_TREE_OF_LXML
    score = np.random.default_rng(3).random(n)
    parent = np.arange(-1, n - 1)
    smoothed = smooth(parent, score, penalty=penalty)
    check_consistency(parent, smoothed)
    assert cost_of(smoothed, score, 1, np.full(n, penalty)) == pytest.approx(smoothed.cost, rel=1e-6)


def test_a_chain_without_penalties_costs_what_pooling_violators_finds() -> None:
    """L1 isotonic regression of a chain has a second known solution: a heap of the highest values so far."""
    from heapq import heappop, heappush  # noqa: PLC0415 - belongs to this reference only

    score = np.random.default_rng(5).integers(0, 1001, DEEPEST_TREE_OF_LXML) / 1000
    highest: list[float] = []
    cost = 0.0
    for x in score.tolist():
        heappush(highest, -x)
        if -highest[0] > x:
            cost += -heappop(highest) - x
            heappush(highest, -x)
    smoothed = smooth(np.arange(-1, score.size - 1), score, penalty=0.0)
    assert smoothed.cost == pytest.approx(cost, abs=1e-3)


@pytest.mark.parametrize("reach", [1.0, 0.01])
def test_a_hundred_thousand_nodes_are_consistent(reach: float) -> None:
    n = 100_000
    random = np.random.default_rng(7)
    node = np.arange(n)
    parent = (node - 1 - random.random(n) * np.minimum(node, reach * n)).astype(np.int64)
    parent[0] = -1
    parent = np.maximum(parent, -1)
    score, weight = random.random(n), random.integers(0, 3, n)
    penalty = random.random(n)
    smoothed = smooth(parent, score, weight, penalty)
    check_consistency(parent, smoothed)
    assert cost_of(smoothed, score, weight, penalty) == pytest.approx(smoothed.cost, rel=1e-6)
    assert 100 < smoothed.starts_section.sum() < n


def test_heavy_weights_make_the_fixed_point_coarser_and_not_wrong() -> None:
    parent, score = [-1, 0, 0, 1], [0.2, 0.7, 0.4, 0.9]
    light = smooth(parent, score, [3, 2, 1, 4], np.array([0.1, 0.2, 0.3, 0.4]))
    heavy = smooth(parent, score, np.array([3, 2, 1, 4]) << 38, np.array([0.1, 0.2, 0.3, 0.4]) * 2.0**38)
    assert heavy.value.tolist() == light.value.tolist()
    assert heavy.section.tolist() == light.section.tolist()
    assert heavy.cost == pytest.approx(light.cost * 2.0**38, rel=1e-4)


def test_trees_both_large_and_deep_are_solved_for_coarser_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 3000
    random = np.random.default_rng(11)
    score = random.random(n)
    parent = np.maximum(-1, np.arange(n) - 1 - random.integers(0, 30, n))
    exact = smooth(parent, score)
    monkeypatch.setattr(isotonic, "MOST_WORK", 10_000)
    coarse = smooth(parent, score)
    check_consistency(parent, coarse)
    assert np.isin(coarse.value, score).all()
    assert coarse.cost != exact.cost
    assert coarse.cost == pytest.approx(exact.cost, abs=n / 1024)

    lowest: dict[float, float] = {}
    for x in sorted(score.tolist()):
        lowest.setdefault(round(x * 1024), x)
    monkeypatch.undo()
    replaced = smooth(parent, [lowest[round(x * 1024)] for x in score.tolist()])
    assert replaced.value.tobytes() == coarse.value.tobytes()
    assert replaced.cost == coarse.cost


def test_a_long_chain_above_a_hundred_thousand_leaves_ends_in_time() -> None:
    n = 100_000
    parent = np.minimum(np.arange(-1, n - 1), DEEPEST_TREE_OF_LXML - 1)
    score = np.random.default_rng(12).random(n)
    smoothed = smooth(parent, score)
    check_consistency(parent, smoothed)
    assert smoothed.starts_section.sum() > n // 2
