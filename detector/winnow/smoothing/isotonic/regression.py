"""The smoother: exact regularised isotonic regression on a tree or forest of scored nodes.

Source: page-level isotonic smoothing, section 4 (problem 2), with weights and a penalty per node as in section 5.3.
Given scores x, find values y with ``y(parent) <= y(child)`` that minimise ``sum of weight * |x - y|`` plus the
penalties of the nodes where a section starts, which are the roots and every node whose value differs from its parent's.

The method is exact. Scores and penalties are rounded to fixed point (2^-26), so that sums are exact, ties are real
ties, and the answer depends on no order of summation. `skeleton` merges the nodes that can never
start a section. The costs of the rest are added up from the leaves to the roots, level by level: as affine pieces
(`pieces`) and, on the upper levels, as rows (`rows`). Then values go down again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.page.ancestors import nearest
from winnow.smoothing.isotonic.pieces import Grid, clip, distance_entries, minima_of, pieces_of
from winnow.smoothing.isotonic.rows import levels_in_rows, solve_rows
from winnow.smoothing.isotonic.skeleton import contract

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from winnow.smoothing.isotonic.skeleton import Ints, Skeleton

_SCALE_BITS: Final = 26
_LEAST_SCALE_BITS: Final = 16
_BUDGET_BITS: Final = 62
"""Of an int64: one for the sign, one for a penalty on top of a cost."""

MOST_WORK: Final = 1 << 24
"""Most sum of the members' depths in the skeleton, some seconds of work, that is solved without coarser scores."""
_COARSE_STEPS: Final = 1024.0

MOST_CELLS: Final = 1 << 19
"""Most cells, nodes of the skeleton times distinct scores, that the compiled core solves as rows: 4 MiB."""


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Smoothed scores and the sections they make.

    Attributes:
        value: the smoothed scores, each of them one of the scores given, float64[n].
        section: index of the node at the root of each node's section, int32[n].
        starts_section: whether a node is the root of a section, bool[n].
        cost: the least cost there is: distances plus penalties, roots' penalties included. An infinite penalty counts
            as the sum of all weights plus one, above which no penalty matters.
    """

    value: NDArray[np.float64]
    section: NDArray[np.int32]
    starts_section: NDArray[np.bool_]
    cost: float


def smooth(parent: ArrayLike, score: ArrayLike, weight: ArrayLike | None = None, penalty: ArrayLike = 0.01) -> Smoothed:
    """Smooth the scores of a forest and divide it into sections.

    Where several answers cost the same, a node takes over its parent's value rather than start a section, a section
    takes the lowest value, and so does a root. That makes the answer unique; a forest gets what its trees would get
    alone.

    Trees that are very large and very deep at once (the depths of their nodes sum up to more than `MOST_WORK`, as in
    50,000 nodes at the end of a chain of 400) would take minutes. There scores that agree when rounded to 1/1024 first
    become the lowest of them; for these scores the answer is exact.

    Args:
        parent: index of each node's parent, smaller than its own; -1 for roots. Integers, [n].
        score: 0 to 1, [n].
        weight: how many nodes a node counts for, see `models.penalties.weights_with_hidden`. Integers from 0 on,
            [n]; None for 1 each. A node of weight 0 has no opinion of its own.
        penalty: price of a section that starts at a node, in units of score times weight; from 0 to infinity, one
            number or [n]. See `winnow.models.penalties`.

    Returns:
        The values, the sections and the cost.

    Raises:
        ValueError: for wrong shapes, parents that do not come before their children, scores outside 0 to 1, negative or
            fractional weights, negative penalties, NaN, or weights so large that sums would not be exact.

    A menu (node 1) and its two entries, beside a story (node 4):

    >>> smoothed = smooth([-1, 0, 1, 1, 0], [0.2, 0.8, 0.9, 0.7, 0.1], penalty=0.15)
    >>> smoothed.value.tolist()
    [0.1, 0.8, 0.8, 0.8, 0.1]
    >>> smoothed.section.tolist()
    [0, 1, 1, 1, 0]
    """
    tree, scores, weights, penalties = _checked(parent, score, weight, penalty)
    n = tree.size
    if not n:
        return Smoothed(scores, np.empty(0, dtype=np.int32), np.empty(0, dtype=bool), 0.0)

    most = int(weights.sum()) + 1
    scale_bits = min(_SCALE_BITS, _BUDGET_BITS - n.bit_length() - most.bit_length())
    if scale_bits < _LEAST_SCALE_BITS:
        raise ValueError(f"weight: a sum of {most - 1} over {n} nodes is too large for exact sums in 64 bits")
    scale = float(1 << scale_bits)
    prices = np.rint(np.minimum(penalties, most) * scale).astype(np.int64)
    for steps in (scale, _COARSE_STEPS):
        ordered, first, index = _distinct(scores, steps)
        key_bits = first.size.bit_length()
        X = np.full(1 << key_bits, round(float(ordered[-1]) * scale), dtype=np.int64)
        X[: first.size] = np.rint(ordered.take(first) * scale)
        skeleton = contract(tree, weights * (X.take(index) - X[0]), prices)
        if _work(skeleton) <= MOST_WORK:
            break
    grid = Grid(X, first.size, key_bits, most.bit_length() + scale_bits)
    chosen, cost = _solve(skeleton, index, weights, prices.take(skeleton.node), grid)
    roots = skeleton.levels[1]
    starts = np.zeros(n, dtype=bool)
    starts[skeleton.node[:roots]] = True
    starts[skeleton.node[roots:]] = chosen[roots:] != chosen.take(skeleton.parent[roots:])
    return Smoothed(
        value=ordered.take(first.take(chosen)).take(skeleton.member_of),
        section=nearest(tree, starts),
        starts_section=starts,
        cost=cost / scale,
    )


def _work(skeleton: Skeleton) -> int:
    """Return a bound on the entries of all levels: every member's score may rise to every level above it."""
    depth = len(skeleton.levels) - 2
    if depth * skeleton.member_of.size <= MOST_WORK:
        return 0
    return int(np.searchsorted(skeleton.levels, skeleton.member_of, side="right").sum())


def _solve(skeleton: Skeleton, index: Ints, weight: Ints, penalty: Ints, grid: Grid) -> tuple[Ints, int]:
    """Return the grid index of each skeleton node's value, and the optimum in fixed point."""
    core = compiled()
    if core is not None:
        chosen = np.empty(skeleton.node.size, np.int64)
        lowest, X = _lowest_index(skeleton, index), grid.X[: grid.size]
        members = skeleton.parent, skeleton.member_of, index, weight
        cost = core.solve_rows(*members, X, penalty, lowest, chosen, MOST_CELLS)
        if cost is not None:
            return chosen, cost
    rows = levels_in_rows(skeleton, grid.size)
    upper, *levels = distance_entries(skeleton, index, weight, rows, grid)
    number = np.arange(skeleton.node.size) << grid.key_bits
    penalty_and_shift = np.empty((2, number.size), dtype=np.int64)
    penalty_and_shift[0] = penalty
    np.subtract(skeleton.parent << grid.key_bits, number, out=penalty_and_shift[1])

    regions: list[Ints] = []
    message = np.empty((3, 0), dtype=np.int64)
    for entries in levels[::-1] if rows else levels[:0:-1]:
        message, found = clip(pieces_of(np.concatenate((entries, message), axis=1)), penalty_and_shift, grid)
        regions.append(found)

    chosen = np.empty(number.size, dtype=np.int64)
    lowest = _lowest_index(skeleton, index)
    if rows:
        entries = np.concatenate((upper, message), axis=1)
        solved, cost = solve_rows(skeleton, rows, entries, penalty=penalty, lowest=lowest.tolist(), grid=grid)
        chosen[: len(solved)] = solved
    else:
        minima, costs = minima_of(pieces_of(np.concatenate((levels[0], message), axis=1)), grid)
        chosen[: lowest.size] = np.maximum(minima, lowest)
        cost = int(costs.sum() + penalty[: lowest.size].sum())
    if regions:
        first, behind, target = np.concatenate(regions[::-1], axis=1)
        borders = np.stack((first, behind), axis=1).ravel()
        outcome = np.zeros(borders.size + 1, dtype=np.int64)  # 0 outside; inside a region its target, above parent's
        outcome[1::2] = target
        for begin, end in pairwise(skeleton.levels[max(rows, 1) :]):
            inherited = chosen.take(skeleton.parent[begin:end])
            place = borders.searchsorted(number[begin:end] + inherited, side="right")
            np.maximum(outcome.take(place), inherited, out=chosen[begin:end])
    return chosen, cost


def _lowest_index(skeleton: Skeleton, index: Ints) -> Ints:
    """Return the grid index of the lowest score in each root's tree; scores below it belong to other trees."""
    roots = skeleton.levels[1]
    if roots == 1:
        return np.zeros(1, dtype=np.int64)
    root = nearest(skeleton.parent.astype(np.int32), skeleton.parent < 0).take(skeleton.member_of)
    lowest = np.full(roots, index.size, dtype=np.int64)
    np.minimum.at(lowest, root, index)
    return lowest


def _distinct(scores: NDArray[np.float64], scale: float) -> tuple[NDArray[np.float64], Ints, Ints]:
    """Return the scores in order, where each distinct fixed-point score begins in it, and each node's number of it."""
    order = scores.argsort()
    ordered = scores.take(order)
    fixed = np.rint(ordered * scale)
    begins = np.empty(scores.size, dtype=bool)
    begins[0] = True
    np.not_equal(fixed[1:], fixed[:-1], out=begins[1:])
    index = np.empty(scores.size, dtype=np.int64)
    index[order] = begins.cumsum() - 1
    return ordered, begins.nonzero()[0], index


def _checked(
    parent: ArrayLike, score: ArrayLike, weight: ArrayLike | None, penalty: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.float64], Ints, NDArray[np.float64]]:
    scores = np.asarray(score, dtype=np.float64) + 0.0  # a copy, and 0.0 for -0.0
    if scores.ndim != 1:
        raise ValueError(f"score: expected one dimension, got shape {scores.shape}")
    n = scores.size
    tree = _integers("parent", parent, n)
    weights = np.ones(n, dtype=np.int64) if weight is None else _integers("weight", weight, n)
    penalties = np.asarray(penalty, dtype=np.float64)
    if penalties.ndim == 0:
        penalties = np.full(n, penalties)
    if penalties.shape != (n,):
        raise ValueError(f"penalty: expected one number or {n}, got shape {penalties.shape}")
    if n:
        if tree.min() < -1 or (tree >= np.arange(n)).any():
            raise ValueError("parent: every parent must come before its children, and roots must have -1")
        if not (scores.min() >= 0 and scores.max() <= 1):  # false for NaN too
            raise ValueError("score: expected numbers from 0 to 1")
        if weights.min() < 0 or weights.sum(dtype=np.float64) > 1 << _BUDGET_BITS - _LEAST_SCALE_BITS:
            raise ValueError("weight: expected integers from 0 on, with a sum that 64 bits can hold exactly")
        if not penalties.min() >= 0:
            raise ValueError("penalty: expected numbers from 0 to infinity")
    return tree.astype(np.int32), scores, weights, penalties


def _integers(name: str, numbers: ArrayLike, n: int) -> Ints:
    array = np.asarray(numbers)
    if array.shape != (n,):
        raise ValueError(f"{name}: expected {n} integers, one per score, got shape {array.shape}")
    if n and array.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected integers, got {array.dtype}")
    return array.astype(np.int64)
