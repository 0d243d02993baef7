"""Look-ups from a node to an ancestor of some kind, for all nodes of a tree at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.core import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


def nearest(parent: NDArray[np.int32], chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Nearest chosen ancestor-or-self of every node; in numpy by pointer jumping, one pass per doubling of the depth.

    Args:
        parent: int32[k], -1 for a root.
        chosen: bool[k].

    Returns:
        int32[k], -1 where neither the node nor an ancestor is chosen.

    >>> nearest(np.array([-1, 0, 1, 0]), np.array([False, True, False, False])).tolist()
    [-1, 1, 1, -1]
    """
    core = compiled()
    if core is not None:
        found = np.empty(len(parent), np.int32)
        if core.nearest(np.ascontiguousarray(parent, np.int32), np.ascontiguousarray(chosen), found):
            return found
    # One entry more than nodes: index -1, "no ancestor", leads to itself.
    pointer = np.full(len(parent) + 1, -1, np.int64)  # int64 is what take() works with, and the faster for it
    pointer[:-1] = np.where(chosen, np.arange(len(parent)), parent)
    while True:
        further = pointer.take(pointer)
        if (further == pointer).all():
            return further[:-1].astype(np.int32)
        pointer = further


def outermost(parent: NDArray[np.int32], chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """int32[k], the chosen ancestor-or-self nearest to the root, -1 where none is chosen."""
    around = nearest(parent, chosen)
    above = np.append(around, -1)[parent]  # parent -1 reads the appended entry
    return nearest(parent, chosen & (above < 0))
