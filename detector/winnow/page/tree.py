"""Sums and look-ups over the tree of a page: subtrees are slices, so most are differences of prefix sums."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from winnow.core import core
from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from winnow.page.page import Page

Result = TypeVar("Result")
Number = TypeVar("Number", bound=np.number[Any])


class Tree(Protocol):
    """What has its elements in preorder: subtree ``i`` is the slice ``[i, end[i])``."""

    @property
    def end(self) -> NDArray[np.int32]:
        """int32[n], end of the slice of each subtree."""
        ...


def once_per_page(function: Callable[[Page], Result]) -> Callable[[Page], Result]:
    """Keep what a function makes of a page with the page, for all who ask for it; an array becomes read-only."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def kept(page: Page) -> Result:
        known = vars(page)
        if name not in known:
            known[name] = function(page)
            if isinstance(known[name], np.ndarray):
                known[name].flags.writeable = False
        result: Result = known[name]
        return result

    return kept


def nearest(parent: NDArray[np.int32], chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Nearest chosen ancestor-or-self of every node.

    Args:
        parent: int32[k], -1 for a root.
        chosen: bool[k].

    Returns:
        int32[k], -1 where neither the node nor an ancestor is chosen.

    >>> nearest(np.array([-1, 0, 1, 0]), np.array([False, True, False, False])).tolist()
    [-1, 1, 1, -1]
    """
    found = np.empty(len(parent), np.int32)
    core.nearest(np.ascontiguousarray(parent, np.int32), np.ascontiguousarray(chosen), found)
    return found


def outermost(parent: NDArray[np.int32], chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """int32[k], the chosen ancestor-or-self nearest to the root, -1 where none is chosen."""
    around = nearest(parent, chosen)
    above = np.append(around, -1)[parent]  # parent -1 reads the appended entry
    return nearest(parent, chosen & (above < 0))


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
    inside = np.empty(len(tree.end), bool)
    core.within(tree.end, np.ascontiguousarray(chosen), inside)
    return inside


def path_sums(tree: Tree, values: NDArray[Number]) -> NDArray[Number]:
    """[n], total of one number per element over the path from the root to each element, both ends included.

    Of the values' own type; unsigned integers go round, as hashes do.
    """
    change = np.zeros(len(tree.end) + 1, values.dtype)
    some = np.flatnonzero(values)
    np.subtract.at(change, tree.end[some], values[some])
    change[some] += values[some]
    sums: NDArray[Number] = np.cumsum(change[:-1])
    return sums


def runs_of_blocks(page: Page, blocks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[r], runs of the given blocks (bool[m])."""
    change = np.zeros(page.r + 1, np.int8)
    change[page.block_run_begin[blocks]] += 1
    change[page.block_run_end[blocks]] -= 1
    return np.cumsum(change[:-1]) > 0


def sums_over_runs(page: Page, values: NDArray[np.generic]) -> NDArray[np.int64]:
    """int64[n], total of one integer or boolean per run over each subtree."""
    sums = prefix_sums(values)
    return sums[page.run_end] - sums[page.run_begin]


@once_per_page
def linked_runs(page: Page) -> NDArray[np.bool_]:
    """bool[r], runs inside links."""
    return within(page, page.tag == TAG_ID["a"])[page.run_node]
