"""Sums and covers over the subtrees of a tree, by prefix sums over its preorder arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from winnow.core import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.tree import Tree

Number = TypeVar("Number", bound=np.number[Any])


def prefix_sums(values: NDArray[np.generic]) -> NDArray[np.int64]:
    """int64[k + 1] running totals of k integers or booleans, 0 first: a slice's sum is ``p[end] - p[begin]``.

    >>> prefix_sums(np.array([3, 1, 4])).tolist()
    [0, 3, 4, 8]
    """
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def subtree_sums(tree: Tree, values: NDArray[np.generic]) -> NDArray[np.int64]:
    """int64[n], total of one integer or boolean per element over each element's subtree, itself included."""
    sums = prefix_sums(values)
    return sums[tree.end] - sums[:-1]


def innermost_holding(begin: NDArray[np.int32], end: NDArray[np.int32], mass: NDArray[np.generic], share: float) -> int:
    """Find the innermost element that holds a share of a mass, and more than one block; 0, the root, without one.

    Args:
        begin: int32[n], first of the blocks inside each element.
        end: int32[n], behind the last of them.
        mass: integers or booleans of the m blocks.
        share: above a half, so that of two such elements one is in the other.
    """
    sums = prefix_sums(mass)
    holding = np.flatnonzero((sums[end] - sums[begin] >= share * sums[-1]) & (end - begin > 1))
    return int(holding[-1]) if len(holding) else 0


def within(tree: Tree, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[n], whether each element is one of the chosen ones or below one."""
    core = compiled()
    if core is not None:
        inside = np.empty(tree.n, bool)
        core.within(tree.end, np.ascontiguousarray(chosen), inside)
        return inside
    closed = np.bincount(tree.end[chosen], minlength=tree.n + 1)[:-1]
    return np.cumsum(chosen - closed) > 0


def path_sums(tree: Tree, values: NDArray[Number]) -> NDArray[Number]:
    """[n], total of one number per element over the path from the root to each element, both ends included.

    Of the values' own type; unsigned integers go round, as hashes do.
    """
    change = np.zeros(tree.n + 1, values.dtype)
    some = np.flatnonzero(values)
    np.subtract.at(change, tree.end[some], values[some])
    change[some] += values[some]
    sums: NDArray[Number] = np.cumsum(change[:-1])
    return sums
