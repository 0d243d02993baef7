"""The tree that is smoothed: the page's without its hidden nodes.

Source: page-level isotonic smoothing, section 5.3 (very small nodes are neither classified nor smoothed).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.page.ancestors import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
