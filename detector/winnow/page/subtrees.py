"""Sums and covers over the subtrees of a page, by prefix sums over its preorder arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page


def prefix_sums(values: NDArray[np.generic]) -> NDArray[np.int64]:
    """int64[k + 1] running totals of k integers or booleans, 0 first: a slice's sum is ``p[end] - p[begin]``."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def subtree_sums(page: Page, values: NDArray[np.generic]) -> NDArray[np.int64]:
    """int64[n], total of one integer or boolean per element over each element's subtree, itself included."""
    sums = prefix_sums(values)
    return sums[page.end] - sums[:-1]


def within(page: Page, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[n], whether each element is one of the chosen ones or below one."""
    closed = np.bincount(page.end[chosen], minlength=page.n + 1)[:-1]
    return np.cumsum(chosen - closed) > 0


def path_sums(page: Page, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[n], total of one number per element over the path from the root to each element, both ends included."""
    change = np.zeros(page.n + 1)
    some = np.flatnonzero(values)
    change[some] = values[some]
    change -= np.bincount(page.end[some], values[some], page.n + 1)
    return np.cumsum(change[:-1])
