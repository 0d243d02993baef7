"""Two references: exhaustive search on tiny trees, and the paper's dynamic program, corrected, on larger ones."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from winnow.smoothing.isotonic import rows as isotonic_rows
from winnow.smoothing.isotonic.regression import Smoothed, smooth

SCALE = 2**26
Case = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]


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


def check_answer(case: Case, cost: int, value: NDArray[np.int64], starts: NDArray[np.bool_]) -> Smoothed:
    """Compare with the answer of a reference, with pieces on all levels, with rows on all, and with both."""
    parent, score, weight, penalty = case
    smoothed = smooth(parent, score, weight, penalty)
    for cells in (0, 4 * len(parent), 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(isotonic_rows, "LEVEL_CELLS", cells)
            patch.setattr(isotonic_rows, "TOTAL_CELLS", 1 << 30)
            other = smooth(parent, score, weight, penalty)
        assert other.value.tobytes() == smoothed.value.tobytes()
        assert other.section.tobytes() == smoothed.section.tobytes()
        assert other.cost == smoothed.cost
    assert smoothed.cost == cost / SCALE
    assert in_fixed_point(smoothed.value).tolist() == value.tolist()
    assert smoothed.starts_section.tolist() == starts.tolist()
    assert np.isin(smoothed.value, score).all()
    child = parent >= 0
    assert (smoothed.value[child] >= smoothed.value[parent[child]]).all()
    assert smoothed.section.tolist() == sections(parent, starts)
    return smoothed


def sections(parent: NDArray[np.int32], starts: NDArray[np.bool_]) -> list[int]:
    section: list[int] = []
    for i, p in enumerate(parent.tolist()):
        section.append(i if starts[i] else section[p])
    return section


def all_parents(n: int) -> Iterator[tuple[int, ...]]:
    return product(*[[-1], *[range(i) for i in range(1, n)]])


@pytest.mark.parametrize("n", range(1, 7))
def test_no_assignment_is_better_on_any_tree_of_up_to_six_nodes(n: int) -> None:
    random = np.random.default_rng(n)
    for parents in all_parents(n):
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
                np.zeros(n),
                np.full(n, 0.01),
                random.random(n) * 0.3,
                random.integers(0, 6, n) / 32,
                random.integers(0, 40, n) / 8,
                np.where(random.random(n) < 0.3, np.inf, random.random(n)),
                0.01 * n / random.integers(1, n + 1, n),
            ]
        )
    )
    return parent, random.integers(0, steps + 1, n) / steps, weight.astype(np.int64), penalty


@settings(deadline=None, max_examples=400)
@given(forests(most=40))
def test_small_forests_get_the_answer_of_the_dynamic_program(case: Case) -> None:
    check_answer(case, *dynamic_program(*case))


@settings(deadline=None, max_examples=150)
@given(forests(most=200))
def test_forests_of_page_size_get_the_answer_of_the_dynamic_program(case: Case) -> None:
    check_answer(case, *dynamic_program(*case))


@settings(deadline=None, max_examples=200)
@given(st.integers(2, 120), st.integers(0, 2**32))
@example(2, 0)
def test_dense_integer_grids_with_unequal_weights_are_exact(n: int, seed: int) -> None:
    """Scores on every grid point, so that clipped pieces are cut in the middle of rising and falling stretches."""
    random = np.random.default_rng(seed)
    parent = np.maximum(-1, np.arange(n) - 1 - random.integers(0, 6, n)).astype(np.int32)
    score = random.permutation(np.arange(n)) / 128
    case = (parent, score, random.integers(1, 60, n), random.integers(0, 400, n) / 128)
    check_answer(case, *dynamic_program(*case))


def test_a_long_chain_gets_the_answer_of_the_dynamic_program() -> None:
    n = 1000
    random = np.random.default_rng(8)
    noise = random.normal(0, 0.2, n)
    case = (
        np.arange(-1, n - 1, dtype=np.int32),
        np.clip(np.linspace(0, 1, n) + noise, 0, 1),
        random.integers(0, 3, n),
        np.full(n, 0.05),
    )
    smoothed = check_answer(case, *dynamic_program(*case))
    assert 5 < smoothed.starts_section.sum() < 200
