"""Costs of a skeleton as affine pieces, one level of the tree at a time: the inner part of `regression`.

Source: page-level isotonic smoothing, section 4; the pieces are our own way to its dynamic program. Two functions over
the grid ``X`` of distinct scores describe a node: ``g(u)``, the least cost of its subtree if the node takes the score
``X[u]``, and ``F(v)``, the same if its PARENT takes ``X[v]``, so that the node takes it over or pays its penalty for a
higher one. ``g`` is the sum of its members' distances and of ``F`` of its children; ``F`` is ``g`` clipped from above.

Both are affine, ``A + B * X``, over stretches of the grid. A table of ENTRIES, int64[3, k], says where they change:
row 0 holds the key ``node << key_bits | first index``, rows 1 and 2 what is added to A and B from there on. Entries
may stand in any order and repeat a key, so the sum of functions is simply all their entries.

All nodes of a level share one table, and a running sum over it runs on from node to node. Therefore every node has an
entry at index 0 that takes back what the node before it has left over, and that adds ``1 << lift_bits``, more than any
cost: each node lies above the one before it, and one suffix minimum over the table serves all of its nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from winnow.smoothing.isotonic.skeleton import Ints, Skeleton

_HIGHEST = np.iinfo(np.int64).max


class Grid(NamedTuple):
    """The distinct scores and the layout of keys.

    Attributes:
        X: distinct scores in fixed point, ascending, int64[1 << key_bits]; the highest is repeated to fill up.
        size: number of distinct scores.
        key_bits: bits of a key that hold the index into X.
        lift_bits: every cost is below ``1 << lift_bits``.
    """

    X: Ints
    size: int
    key_bits: int
    lift_bits: int


def distance_entries(skeleton: Skeleton, index: Ints, weight: Ints, rows: int, grid: Grid) -> list[Ints]:
    """Return the entries of the members' own distances ``weight * |score - X|``.

    Args:
        skeleton: m nodes with n members.
        index: grid index of the members' scores, int64[n].
        weight: int64[n].
        rows: how many levels are not solved by pieces; their nodes share no running sum.
        grid: see `Grid`.

    Returns:
        A table for these levels together, then one for each further level.
    """
    n, m = index.size, skeleton.node.size
    pull = weight * grid.X.take(index)

    turns = np.empty((3, n), dtype=np.int64)  # at its own score a member turns from falling to rising
    np.add(skeleton.member_of << grid.key_bits, index, out=turns[0])
    np.multiply(pull, -2, out=turns[1])
    np.multiply(weight, 2, out=turns[2])
    turns = turns.take(turns[0].argsort(), axis=1)

    starts = np.zeros((3, m), dtype=np.int64)
    starts[0] = np.arange(m) << grid.key_bits
    np.add.at(starts[1], skeleton.member_of, pull)
    np.subtract.at(starts[2], skeleton.member_of, weight)
    bounds = [0, *skeleton.levels[rows:]]
    if bounds[1] < m:
        _restart(starts, skeleton, bounds[1:], grid)

    cuts = turns[0].searchsorted(np.array(bounds) << grid.key_bits).tolist()
    return [
        np.concatenate((starts[:, bounds[d] : bounds[d + 1]], turns[:, cuts[d] : cuts[d + 1]]), axis=1)
        for d in range(len(cuts) - 1)
    ]


def _restart(starts: Ints, skeleton: Skeleton, bounds: list[int], grid: Grid) -> None:
    """Let the first entries of the nodes in the levels between `bounds` take back what the node before leaves over."""
    first, m = bounds[0], bounds[-1]
    parent = skeleton.parent[first:]
    # At the last piece of a node everything in its subtree rises: -pull + weight * X.
    pulls, weights = starts[1, first:].tolist(), starts[2, first:].tolist()
    for i, above in zip(range(m - first - 1, -1, -1), (parent[::-1] - first).tolist(), strict=True):
        if above >= 0:
            pulls[above] += pulls[i]
            weights[above] += weights[i]
    restart = np.zeros((2, m - first), dtype=np.int64)
    restart[0, 1:] = pulls[:-1]
    restart[0, 1:] += 1 << grid.lift_bits
    restart[1, 1:] = weights[:-1]
    restart[:, np.array(bounds[:-1]) - first] = 0
    starts[1:, first:] += restart
    below = parent >= 0
    for row in (0, 1):  # their messages bring the restarts up, so the parents take them back
        np.subtract.at(starts[1 + row], parent[below], restart[row, below])


def pieces_of(entries: Ints) -> Ints:
    """Sum up the entries of a level; return key, A and B of the pieces of every ``g`` in it, by key, int64[3, p]."""
    entries = entries.take(entries[0].argsort(), axis=1)
    entries[1:].cumsum(axis=1, out=entries[1:])
    key = entries[0]
    kept = np.empty(key.size, dtype=bool)
    np.not_equal(key[1:], key[:-1], out=kept[:-1])
    kept[-1] = True  # of equal keys the last one has the whole sum
    pieces = entries.take(kept.nonzero()[0], axis=1)
    # What was clipped away below leaves neighbours that are equal. Without this step they would pile up.
    differs = pieces[1:, 1:] != pieces[1:, :-1]
    kept = np.empty(pieces.shape[1], dtype=bool)
    kept[0] = True
    np.logical_or(differs[0], differs[1], out=kept[1:])
    return pieces.take(kept.nonzero()[0], axis=1)


def clip(pieces: Ints, penalty_and_shift: Ints, grid: Grid) -> tuple[Ints, Ints]:
    """Clip every ``g`` of a level to ``F``.

    The ceiling of a piece is the node's penalty plus the least ``g`` at the starts of LATER pieces: a rising piece is
    lowest at its start, and where a falling one ends the next piece starts lower still. What lies above the ceiling
    is all of an affine piece, its first part, or its last part. There the node starts a section, with the lowest of
    the least scores.

    Args:
        pieces: as `pieces_of` returns them.
        penalty_and_shift: of all skeleton nodes, int64[2, m]: the penalty, and what turns a key of the node into one of
            its parent.
        grid: see `Grid`.

    Returns:
        The entries of every ``F``, keyed for the parents, and the regions where sections start, by key, int64[3, q]:
        first key, first key behind, and the grid index of the section's score.
    """
    key, line = pieces[0], pieces[1:]
    p = key.size
    index_mask = (1 << grid.key_bits) - 1
    span = np.empty((2, p), dtype=np.int64)  # first and last index of each piece
    span[0] = key
    np.subtract(key[1:], 1, out=span[1, :-1])
    span[1, -1] = -1
    span &= index_mask  # the last piece of a node ends below index 0 of the next one: at the last index of X
    cost = grid.X.take(span)
    cost *= line[1]
    cost += line[0]
    least = np.minimum.accumulate(cost[0, ::-1])[::-1]
    ceiling, shift = penalty_and_shift.take(key >> grid.key_bits, axis=1)
    ceiling[:-1] += least[1:]
    ceiling[-1] = _HIGHEST
    above = cost > ceiling
    clipped = (above[0] | above[1]).nonzero()[0]
    q = clipped.size

    message = np.empty((3, p + 2 * q), dtype=np.int64)
    np.add(key, shift, out=message[0, :p])
    message[1:, 0] = line[:, 0]
    np.subtract(line[:, 1:], line[:, :-1], out=message[1:, 1:p])
    if not q:
        return message, message[:, p:]

    begin = key.take(clipped)
    intercept, slope = line.take(clipped, axis=1)
    from_start, to_end = above.take(clipped, axis=1)
    excess = intercept - ceiling.take(clipped)
    steps = -excess // np.maximum(np.abs(slope), 1)  # floor; minus the floor is the ceiling of the falling lines
    crossing = grid.X.searchsorted(np.where(slope > 0, steps + 1, -steps))
    crossing += begin & ~index_mask
    minima = (cost[0] == least).nonzero()[0]
    regions = np.empty((3, q), dtype=np.int64)
    regions[0] = np.where(from_start, begin, crossing)
    regions[1] = np.where(to_end, key.take(clipped + 1), crossing)
    regions[2] = span[0].take(minima.take(minima.searchsorted(clipped, side="right")))
    # Over a region F is the ceiling instead of the line.
    into, out_of = message[:, p : p + q], message[:, p + q :]
    np.add(regions[:2], shift.take(clipped), out=message[0, p:].reshape(2, q))
    np.negative(excess, out=into[1])
    np.negative(slope, out=into[2])
    out_of[1] = excess
    out_of[2] = slope
    return message, regions


def minima_of(pieces: Ints, grid: Grid) -> tuple[Ints, Ints]:
    """Return the first grid index where each ``g`` of a level is least, and how much that is, both int64[nodes]."""
    index = pieces[0] & ((1 << grid.key_bits) - 1)
    cost = pieces[1] + pieces[2] * grid.X.take(index)
    least = np.minimum.accumulate(cost[::-1])[::-1]
    first = (index == 0).nonzero()[0]
    minima = (cost == least).nonzero()[0]
    lift = np.arange(first.size) << grid.lift_bits
    return index.take(minima.take(minima.searchsorted(first))), least.take(first) - lift
