"""Costs of a skeleton as rows over the grid: what `pieces` does, faster where a level has few nodes.

Source: page-level isotonic smoothing, section 4, algorithm BuildError: a table of every node's cost at every score. On
the upper levels of a page there are a handful of nodes with hundreds of pieces each. A few numpy calls over whole rows
take less time there than the bookkeeping of pieces. Both give the same answer to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from winnow.smoothing.isotonic.pieces import Grid
    from winnow.smoothing.isotonic.skeleton import Ints, Skeleton

LEVEL_CELLS = 4_000
"""Most cells, nodes times distinct scores, of a level for which rows are used."""

TOTAL_CELLS = 1 << 17
"""Most cells of all levels together: 1 MiB for each of four tables."""


def levels_in_rows(skeleton: Skeleton, scores: int) -> int:
    """Return for how many levels, from the roots on, rows suit better, given the number of distinct scores."""
    bounds = skeleton.levels
    for level in range(len(bounds) - 1):
        nodes = bounds[level + 1] - bounds[level]
        if nodes * scores > LEVEL_CELLS or bounds[level + 1] * scores > TOTAL_CELLS:
            return level
    return len(bounds) - 1


def solve_rows(
    skeleton: Skeleton, levels: int, entries: Ints, *, penalty: Ints, lowest: list[int], grid: Grid
) -> tuple[list[int], int]:
    """Solve the upper levels of a skeleton.

    Args:
        skeleton: all of it.
        levels: how many levels to solve, 1 or more.
        entries: of all nodes in these levels, and the messages from below, see `pieces`.
        penalty: of all skeleton nodes, fixed point, int64[m].
        lowest: grid index of the lowest score in the tree of each root.
        grid: see `pieces.Grid`.

    Returns:
        The grid index of the value of every node in these levels, and the optimum in fixed point.
    """
    bounds = skeleton.levels[: levels + 1]
    parent = skeleton.parent[: bounds[-1]].tolist()
    line = np.zeros((2, bounds[-1], grid.size), dtype=np.int64)
    place = (entries[0] >> grid.key_bits) * grid.size + (entries[0] & ((1 << grid.key_bits) - 1))
    np.add.at(line[0].reshape(-1), place, entries[1])
    np.add.at(line[1].reshape(-1), place, entries[2])
    line.cumsum(axis=2, out=line)
    cost = line[1]  # A + B * X of a row for each node
    cost *= grid.X[: grid.size]
    cost += line[0]
    ceiling = np.empty_like(cost)
    for begin, end in zip(bounds[-2:0:-1], bounds[:1:-1], strict=True):
        own, limit = cost[begin:end], ceiling[begin:end]
        np.minimum.accumulate(own[:, ::-1], axis=1, out=limit[:, ::-1])
        limit += penalty[begin:end, None]
        for above, message in zip(parent[begin:end], np.minimum(own, limit), strict=True):
            cost[above] += message

    chosen = [low + int(cost[root, low:].argmin()) for root, low in enumerate(lowest)]
    optimum = sum(int(cost[root, index]) for root, index in enumerate(chosen)) + int(penalty[: bounds[1]].sum())
    for node in range(bounds[1], bounds[-1]):
        index = chosen[parent[node]]
        if cost[node, index] > ceiling[node, index]:
            index += int(cost[node, index:].argmin())  # the first one
        chosen.append(index)
    return chosen, optimum
