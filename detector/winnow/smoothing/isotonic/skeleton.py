"""The skeleton of a smoothing problem: the nodes that can ever start a section, all others merged into them.

Source: page-level isotonic smoothing, section 4; the merging is exact and our own. Let ``bound(i)`` be the sum of
``weight * (score - lowest score)`` over i itself plus ``min(bound(c), penalty(c))`` over its children c. The cost of
i's subtree cannot fall by more than ``bound(i)`` when i's value rises. So where the penalty of i is not below its
bound, starting a section at i never pays, and i is a member of its parent's section in every canonical answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from winnow.core import compiled
from winnow.page.ancestors import nearest

Ints = NDArray[np.int64]


class Skeleton(NamedTuple):
    """A forest of the nodes that are left, numbered level by level from the roots down.

    Attributes:
        node: index of each skeleton node in the full forest, int64[m].
        parent: number of its parent in the skeleton, -1 for roots, int64[m].
        levels: first number of each level, and m at the end.
        member_of: number of the skeleton node that a node of the full forest is merged into, int64[n].
    """

    node: Ints
    parent: Ints
    levels: list[int]
    member_of: Ints


def contract(parent: NDArray[np.int32], opinion: Ints, penalty: Ints) -> Skeleton:
    """Merge every node into its parent that can never start a section.

    Args:
        parent: index of each node's parent, smaller than its own; -1 for roots, int32[n].
        opinion: ``weight * (score - lowest score)`` in fixed point, int64[n].
        penalty: in fixed point, int64[n].

    Returns:
        The skeleton; roots are never merged.
    """
    core = compiled()
    if core is not None:
        member_of = np.empty(parent.size, np.int64)
        found = core.contract(parent, opinion, penalty, member_of)
        node, above, levels = (np.frombuffer(each, np.int64) for each in found)
        return Skeleton(node, above, levels.tolist(), member_of)
    n = parent.size
    # Roots have the parent -1: what is written there lands in a spare last element.
    is_inner = np.zeros(n + 1, dtype=bool)
    is_inner[parent] = True
    price = np.where(parent < 0, -1, penalty)  # below every bound
    merged = price >= opinion
    leaf = (~is_inner[:n]).nonzero()[0]
    inner = is_inner[:n].nonzero()[0][::-1]
    bounds = np.append(opinion, 0)
    np.add.at(bounds, parent.take(leaf), np.minimum(opinion, price).take(leaf))

    bound = bounds.tolist()  # plain integers: each step needs the one before, and there is no numpy call for that
    merged_inner = []
    for i, p, c in zip(inner.tolist(), parent.take(inner).tolist(), price.take(inner).tolist(), strict=True):
        if c < bound[i]:
            bound[p] += c
        else:
            bound[p] += bound[i]
            merged_inner.append(i)
    merged[inner] = False
    merged[merged_inner] = True
    return _numbered(parent, merged)


def _numbered(parent: NDArray[np.int32], merged: NDArray[np.bool_]) -> Skeleton:
    head = nearest(parent, ~merged)
    node = (~merged).nonzero()[0]
    number = np.empty(parent.size + 1, dtype=np.int64)
    number[-1] = -1  # the parent of roots
    number[node] = np.arange(node.size)
    head_of_parent = np.append(head, -1).take(parent.take(node))
    depths: list[int] = []
    for above in number.take(head_of_parent).tolist():
        depths.append(depths[above] + 1 if above >= 0 else 0)

    depth = np.array(depths)
    by_depth = depth.argsort(kind="stable")
    node = node.take(by_depth)
    number[node] = np.arange(node.size)
    levels = [0, *np.bincount(depth).cumsum().tolist()]
    return Skeleton(node, number.take(head_of_parent.take(by_depth)), levels, number.take(head))
