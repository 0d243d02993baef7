"""What a section costs at each node, and how hidden nodes count: the terms that the smoother is given.

Source: page-level isotonic smoothing, section 5.3. The paper settled on penalties by area with a scale of 0.01.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.tree import nearest

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
