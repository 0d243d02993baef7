"""The smoother against references: exhaustive search on tiny trees, the paper's dynamic program on larger ones."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from tamis.models import Scores
from tamis.models.decision import FixedThreshold
from tamis.page.page import Page
from tamis.smoothing import SmoothedScores, smooth, unsmoothed

SCALE = 2**26


Case = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]


def smooth_forest(
    parent: ArrayLike, score: ArrayLike, weight: ArrayLike = 1, penalty: ArrayLike = 0.01
) -> SmoothedScores:
    """Smooth scores with one weight and penalty for all, or one for each."""
    k = np.shape(score)
    weights, penalties = np.full(k, weight, np.int64), np.full(k, penalty, np.float64)
    scores = Scores(np.asarray(score, float), weights, np.ones(k, bool), penalties, FixedThreshold(0.5))
    return smooth(np.asarray(parent, np.int32), scores)


def in_fixed_point(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(numbers * SCALE).astype(np.int64)


def least_cost_of_all_assignments(
    parent: NDArray[np.int32], score: NDArray[np.float64], weight: NDArray[np.int64], penalty: NDArray[np.float64]
) -> int:
    """Try every monotone assignment of scores to nodes; fixed point."""
    grid = np.unique(in_fixed_point(score))
    values = np.array(list(product(grid.tolist(), repeat=len(score))))
    cost = (weight * np.abs(values - in_fixed_point(score))).sum(axis=1)
    gamma = in_fixed_point(np.minimum(penalty, weight.sum() + 1))
    allowed = np.ones(len(values), dtype=bool)
    for i, p in enumerate(parent.tolist()):
        if p < 0:
            cost += gamma[i]
        else:
            allowed &= values[:, i] >= values[:, p]
            cost += gamma[i] * (values[:, i] != values[:, p])
    return int(cost[allowed].min())


def dynamic_program(
    parent: NDArray[np.int32], score: NDArray[np.float64], weight: NDArray[np.int64], penalty: NDArray[np.float64]
) -> tuple[int, NDArray[np.int64], NDArray[np.bool_]]:
    """Algorithm BuildError and IsotoneSmooth of the paper, corrected; a row over all distinct scores for every node.

    Corrections: the root chooses among all scores and pays its penalty, also alone; only others inherit; weights and
    penalties per node; ties join the parent, and otherwise take the lowest score; sections compare indices of scores.
    """
    n = len(parent)
    grid, index = np.unique(in_fixed_point(score), return_inverse=True)
    gamma = in_fixed_point(np.minimum(penalty, weight.sum() + 1))
    error = weight[:, None] * np.abs(grid[index][:, None] - grid[None, :])
    last = np.arange(grid.size)
    best = np.empty((n, grid.size), dtype=np.int64)
    starts_at = np.empty((n, grid.size), dtype=bool)
    for i in range(n - 1, -1, -1):
        least = np.minimum.accumulate(error[i, ::-1])[::-1]
        is_minimum = np.where(error[i] == least, last, grid.size)
        best[i] = np.minimum.accumulate(is_minimum[::-1])[::-1]  # the lowest of the best scores from here on
        starts_at[i] = error[i] > gamma[i] + least
        if parent[i] >= 0:
            error[parent[i]] += np.minimum(error[i], gamma[i] + least)
    chosen = np.empty(n, dtype=np.int64)
    starts = parent < 0
    cost = 0
    tree = np.arange(n)
    for i, p in enumerate(parent.tolist()):
        tree[i] = i if p < 0 else tree[p]
    for i, p in enumerate(parent.tolist()):
        if p < 0:
            chosen[i] = best[i, index[tree == i].min()]
            cost += int(gamma[i] + error[i, chosen[i]])
        else:
            starts[i] = starts_at[i, chosen[p]]
            chosen[i] = best[i, chosen[p]] if starts[i] else chosen[p]
    return cost, grid[chosen], starts


def section_starts(smoothed: SmoothedScores) -> NDArray[np.bool_]:
    return smoothed.section == np.arange(len(smoothed.section))


def cost_of(case: Case, smoothed: SmoothedScores) -> int:
    """The distances, and the penalties of the nodes where a section starts; fixed point."""
    _, score, weight, penalty = case
    distances = weight * np.abs(in_fixed_point(smoothed.value) - in_fixed_point(score))
    gamma = in_fixed_point(np.minimum(penalty, weight.sum() + 1))
    return int(distances.sum() + gamma[section_starts(smoothed)].sum())


def check_answer(case: Case, cost: int, value: NDArray[np.int64], starts: NDArray[np.bool_]) -> SmoothedScores:
    """Compare with the answer of a reference."""
    parent, score, weight, penalty = case
    smoothed = smooth_forest(parent, score, weight, penalty)
    assert cost_of(case, smoothed) == cost
    assert in_fixed_point(smoothed.value).tolist() == value.tolist()
    assert np.isin(smoothed.value, score).all()
    section: list[int] = []
    for i, p in enumerate(parent.tolist()):
        section.append(i if starts[i] else section[p])
    assert smoothed.section.tolist() == section
    return smoothed


@pytest.mark.parametrize("n", range(1, 7))
def test_no_assignment_is_better_on_any_tree_of_up_to_six_nodes(n: int) -> None:
    def all_parents() -> Iterator[tuple[int, ...]]:
        return product(*[[-1], *[range(i) for i in range(1, n)]])

    random = np.random.default_rng(n)
    for parents in all_parents():
        for steps in (2, 64) if n < 6 else (3,):
            case = (
                np.array(parents, dtype=np.int32),
                random.integers(0, steps + 1, n) / steps,
                random.integers(0, 4, n),
                random.choice([0.0, 1 / 64, 0.25, 0.5, 1.0, np.inf], n),
            )
            cost, value, starts = dynamic_program(*case)
            assert least_cost_of_all_assignments(*case) == cost
            check_answer(case, cost, value, starts)


@st.composite
def forests(draw: st.DrawFn, most: int) -> Case:
    n = draw(st.integers(1, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    node = np.arange(n)
    shape = draw(st.sampled_from(["any", "deep", "flat", "chain", "star", "caterpillar", "forest"]))
    parent = {
        "any": (random.random(n) * node).astype(np.int32),
        "deep": np.maximum(0, node - 1 - random.integers(0, 3, n)),
        "flat": (random.random(n) ** 3 * node).astype(np.int32),
        "chain": node - 1,
        "star": np.zeros(n, dtype=np.int32),
        "caterpillar": (node - 1) // 2 * 2,
        "forest": (random.random(n) * (node + 1)).astype(np.int32) - 1,
    }[shape].astype(np.int32)
    parent[0] = -1
    steps = draw(st.sampled_from([1, 4, 32, 128, 10**9]))
    weight = draw(
        st.sampled_from([np.ones(n), random.integers(0, 2, n), random.integers(0, 4, n), random.integers(1, 40, n)])
    )
    penalty = draw(
        st.sampled_from(
            [
                *(np.zeros(n), np.full(n, 0.01), random.random(n) * 0.3, random.integers(0, 6, n) / 32),
                *(random.integers(0, 40, n) / 8, np.where(random.random(n) < 0.3, np.inf, random.random(n))),
                0.01 * n / random.integers(1, n + 1, n),
            ]
        )
    )
    return parent, random.integers(0, steps + 1, n) / steps, weight.astype(np.int64), penalty


@settings(max_examples=120)
@given(st.one_of(forests(most=40), forests(most=200)))
def test_forests_get_the_answer_of_the_dynamic_program(case: Case) -> None:
    check_answer(case, *dynamic_program(*case))


@pytest.mark.parametrize(
    ("case", "value"),
    [
        pytest.param(([-1, 0], [0.25, 0.75], 1, [0.0, 0.5]), [0.25, 0.25], id="a tie joins the parent"),
        pytest.param(([-1, 0], [0.25, 0.75], 1, [0, 0.5 - 2.0**-26]), [0.25, 0.75], id="just below the tie"),
        pytest.param(([-1, 0, 0], [0.5, 0.25, 0.5], [0, 1, 1], np.inf), [0.25] * 3, id="a root takes the lowest"),
        pytest.param(
            ([-1, 0, 1, 1], [0.0, 0.75, 0.5, 1.0], [9, 0, 1, 1], [0.0, 0.125, np.inf, np.inf]),
            [0.0, 0.5, 0.5, 0.5],
            id="a section takes the lowest",
        ),
        pytest.param(([-1, 0, 1], [0.5, 1.0, 0.75], [1, 0, 1], 0.0), [0.5, 0.5, 0.75], id="no weight, no opinion"),
        pytest.param(([-1, 0, 1], [0.5, 1.0, 0.75], [0, 0, 0], 0.0), [0.5, 0.5, 0.5], id="no weight anywhere"),
        pytest.param(([-1, 0, 0, 1], [0.1, 0.2, 0.3, 0.9], [1, 1, 1, 4], np.inf), [0.9] * 4, id="weighted median"),
        pytest.param(([-1], [-0.0]), [0.0], id="minus zero"),
        pytest.param(([], []), [], id="nothing"),
    ],
)
def test_ties_have_one_answer(case: tuple[Any, ...], value: list[float]) -> None:
    smoothed = smooth_forest(*case)
    assert smoothed.value.tobytes() == np.array(value, float).tobytes()
    assert len(set(smoothed.section.tolist())) == len(set(value))


def check_consistency(smoothed: SmoothedScores, parent: NDArray[np.int64]) -> None:
    child = np.flatnonzero(parent >= 0)
    rises = smoothed.value[child] > smoothed.value[parent[child]]
    assert (smoothed.value[child] >= smoothed.value[parent[child]]).all()
    assert (smoothed.section[child] == np.where(rises, child, smoothed.section[parent[child]])).all()


@pytest.mark.parametrize("reach", [1.0, 0.01])
def test_thirty_thousand_nodes_are_consistent_and_right(reach: float) -> None:
    n = 30_000
    random = np.random.default_rng(7)
    node = np.arange(n)
    parent = np.maximum((node - 1 - random.random(n) * np.minimum(node, reach * n)).astype(np.int64), -1)
    parent[0] = -1
    score, weight, penalty = random.random(n), random.integers(0, 3, n), random.random(n)
    smoothed = smooth_forest(parent, score, weight, penalty)
    check_consistency(smoothed, parent)
    assert 100 < section_starts(smoothed).sum() < n
    of_few_scores = parent.astype(np.int32), np.rint(16 * score) / 16, weight, penalty
    check_answer(of_few_scores, *dynamic_program(*of_few_scores))


GOOD: dict[str, Any] = {"parent": [-1, 0, 0], "score": [0.1, 0.5, 0.9], "weight": [1, 1, 1], "penalty": [0.1, 0.1, 0.1]}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parent", [-1, 1, 0], "parent: every parent must come before"),
        ("parent", [-2, 0, 0], "parent: every parent must come before"),
        ("score", [0.1, 0.5, 1.5], "score: expected numbers from 0 to 1"),
        ("score", [0.1, 0.5, float("nan")], "score: expected numbers from 0 to 1"),
        ("weight", [1, -1, 1], "weight: expected integers from 0 on"),
        ("weight", [1 << 60, 1 << 60, 1], "weight: expected integers from 0 on, with a sum"),
        ("penalty", [0.1, -0.1, 0.1], "penalty: expected numbers from 0"),
        ("penalty", float("nan"), "penalty: expected numbers from 0"),
    ],
)
def test_what_cannot_be_smoothed_is_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        smooth_forest(**{**GOOD, name: value})


def scores_of(
    page: Page, templateness: list[float], visible: list[bool] | None = None, penalty: float = 0.01
) -> Scores:
    count = page.n + page.m
    shown = np.ones(count, bool) if visible is None else np.array(visible)
    weight = np.ones(count, np.int64)
    return Scores(np.array(templateness), weight, shown, np.full(count, penalty), FixedThreshold(0.5))


def test_hidden_units_hand_their_descendants_to_the_nearest_visible_ancestor() -> None:
    page = Page.parse("<div><p>a</p></div>")  # html, head, body, div, p; one block
    scores = scores_of(page, [0.1, 0.1, 0.1, 0.9, 0.9, 0.8], [True, True, True, False, False, True], 0.0)
    smoothed = smooth(page.unit_parent, scores)
    assert smoothed.value.tolist() == [0.1, 0.1, 0.1, 0.1, 0.1, 0.8]
    assert smoothed.section.tolist() == [0, 0, 0, 0, 0, 5]


def test_without_smoothing_every_unit_keeps_its_own_score() -> None:
    page = Page.parse("<div><p>a</p></div>")
    scores = Scores(
        np.array([0.5, 0.5, 0.2, 0.9, 0.9, 0.8]),
        np.array([0, 0, 1, 0, 1, 1]),
        np.array([True, True, True, True, False, True]),
        np.zeros(6),
        FixedThreshold(0.5),
    )
    raw = unsmoothed(page.unit_parent, scores)
    assert raw.value.tolist() == [0.0, 0.0, 0.2, 0.2, 0.2, 0.8]
    assert raw.section.tolist() == [0, 0, 2, 2, 2, 5]
