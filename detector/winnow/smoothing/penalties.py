"""What a section costs at each node, and how hidden nodes count: the terms that the smoother is given.

Source: page-level isotonic smoothing, section 5.3. The paper settled on penalties by area with a scale of 0.01.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.ancestors import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_SCALE: Final = 0.01
"""The paper's constant c, in units of score times weight."""


def by_area(
    area: NDArray[np.floating], page_area: float | NDArray[np.floating], scale: float = DEFAULT_SCALE
) -> NDArray[np.float64]:
    """Return ``scale * A / A(i)``: small nodes and nodes far from the root do not easily start sections.

    Args:
        area: area of every node in px², or any other measure of its size, [n]. A node without area gets an infinite
        penalty.
        page_area: area of the page in the same unit; one number, or [n] for nodes of several pages.
        scale: penalty of a node as large as the page.

    Returns:
        float64[n], from 0 to infinity.

    Raises:
        ValueError: if an area is negative or not a number.
    """
    return _ratio(page_area, area, scale)


def by_nodes(parent: NDArray[np.int32], scale: float = DEFAULT_SCALE) -> NDArray[np.float64]:
    """Return ``scale * N / N(i)``, with N(i) the number of nodes in the subtree of i and N that of its whole tree.

    Args:
        parent: index of each node's parent, smaller than its own; -1 for roots, int32[n].
        scale: penalty of a root.

    Returns:
        float64[n].
    """
    nodes = subtree_nodes(parent)
    root = nearest(parent, parent < 0)
    return _ratio(nodes[root], nodes, scale)


def by_parent_area(
    parent: NDArray[np.int32], area: NDArray[np.floating], scale: float = DEFAULT_SCALE
) -> NDArray[np.float64]:
    """Return ``scale * Aparent(i) / A(i)``: a node that fills most of its parent hardly costs more than `scale`.

    Args:
        parent: index of each node's parent; -1 for roots, which count as their own parents, int32[n].
        area: as in `by_area`.
        scale: penalty of a node as large as its parent.

    Returns:
        float64[n], from 0 to infinity.

    Raises:
        ValueError: if an area is negative or not a number.
    """
    return _ratio(area[np.where(parent < 0, np.arange(parent.size), parent)], area, scale)


def constant(nodes: int, scale: float = DEFAULT_SCALE) -> NDArray[np.float64]:
    """Return the same penalty for every node, float64[nodes]; the form in which the paper states its algorithm."""
    return np.full(nodes, scale, dtype=np.float64)


def subtree_nodes(parent: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of nodes in every subtree, its root included; parents come before their children, int64[n]."""
    nodes = [1] * parent.size
    for i, above in zip(range(parent.size - 1, -1, -1), parent[::-1].tolist(), strict=True):
        if above >= 0:
            nodes[above] += nodes[i]
    return np.array(nodes, dtype=np.int64)


def weights_with_hidden(parent: NDArray[np.int32], hidden: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many nodes every node counts for: a hidden node counts for its nearest visible ancestor.

    Args:
        parent: index of each node's parent; -1 for roots, which are visible in any case, int32[n].
        hidden: nodes too small to be classified or smoothed, bool[n].

    Returns:
        1 plus the number of hidden nodes rolled into a visible node, 0 for hidden nodes, int64[n].
    """
    return np.bincount(nearest(parent, ~hidden | (parent < 0)), minlength=parent.size)


def visible_tree(
    parent: NDArray[np.int32], hidden: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Take the hidden nodes out of a tree or forest; visible nodes below them move up to the nearest visible ancestor.

    Args:
        parent: index of each node's parent; -1 for roots, which are visible in any case, int32[n].
        hidden: bool[n].

    Returns:
        The indices of the v visible nodes, int64[v]; the parent of each among them, -1 for roots, int32[v]; and which
        of them every node is or hangs below, int32[n].
    """
    holder = nearest(parent, ~hidden | (parent < 0))
    visible = np.flatnonzero(holder == np.arange(parent.size))
    number = np.full(parent.size + 1, -1, dtype=np.int32)  # the last element is read for the parent -1
    number[visible] = np.arange(visible.size)
    return visible, number[np.append(holder, -1)[parent[visible]]], number[holder]


def _ratio(
    whole: float | NDArray[np.floating] | NDArray[np.integer],
    part: NDArray[np.floating] | NDArray[np.integer],
    scale: float,
) -> NDArray[np.float64]:
    parts = np.asarray(part, dtype=np.float64)
    wholes = np.asarray(whole, dtype=np.float64)
    if not ((parts >= 0).all() and (wholes >= 0).all()):  # false for NaN too
        raise ValueError("area: expected numbers from 0 on")
    penalty = np.full(parts.shape, np.inf)
    with np.errstate(over="ignore"):  # next to no area is as good as none
        np.divide(scale * wholes, parts, out=penalty, where=parts > 0)
    return penalty
