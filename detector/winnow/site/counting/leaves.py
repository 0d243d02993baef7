"""The leaves of a page: text blocks and media, whose counts say what those of all units would.

An element repeats only what it holds, so each block in it is on at least as many pages as the element. What SiteLevel
labels of the text therefore follows from the blocks alone, and of a chain of elements around one picture the innermost
decides. A page of 500 elements has about 400 countable units and 140 leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.core import compiled
from winnow.page.subtrees import prefix_sums
from winnow.site.counting.counts import countable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]


def leaves(page: Page) -> Flags:
    """Tell which units are leaves: all text blocks, and countable elements without text and without such elements.

    Returns:
        bool[n + m], elements first.
    """
    core = compiled()
    if core is not None:
        found = np.empty(page.n + page.m, bool)
        core.leaves(page.arrays, page.inked, countable(page), found)
        return found
    leaf = countable(page).copy()
    ink_before = prefix_sums(page.inked)
    without_text = leaf[: page.n] & (ink_before[page.run_end] == ink_before[page.run_begin])
    before = prefix_sums(without_text)
    leaf[: page.n] = without_text & (before[page.end] == before[1:])
    return leaf


def frequencies_from_leaves(page: Page, df: NDArray[np.int64], leaf: Flags | None = None) -> NDArray[np.int64]:
    """Give every countable element the smallest count of the leaves in it: the most pages that can have it.

    Args:
        page: the page.
        df: int64[n + m], pages of the host that contain each leaf; 0 for leaves that were not counted.
        leaf: :func:`leaves` of the page, where they are known.

    Returns:
        int64[n + m]: ``df`` for leaves, what follows from it for the other countable elements, 0 for all else.
    """
    leaf = leaves(page) if leaf is None else leaf
    core = compiled()
    if core is not None:
        found = np.empty(page.n + page.m, np.int64)
        core.leaf_frequencies(page.arrays, page.inked, countable(page), leaf, np.ascontiguousarray(df, np.int64), found)
        return found
    none = np.iinfo(np.int64).max
    places = np.append(np.flatnonzero(page.inked), len(page.runs))
    ink_before = prefix_sums(page.inked)
    block = np.searchsorted(page.block_run_begin, places[:-1], side="right") - 1
    block = np.append(block, 0)
    has_text = ink_before[page.run_end] > ink_before[page.run_begin]
    begin = np.where(has_text, block[ink_before[page.run_begin] * has_text], 0)
    end = np.where(has_text, block[(ink_before[page.run_end] - 1) * has_text] + 1, 0)
    least = _range_minima(df[page.n :], begin, end, none)

    media = np.flatnonzero(leaf[: page.n])
    before = prefix_sums(leaf[: page.n])
    least = np.minimum(least, _range_minima(df[media], before[:-1], before[page.end], none))
    least[(least == none) | ~countable(page)[: page.n]] = 0
    return np.concatenate([least, df[page.n :]])


def _range_minima(values: NDArray[np.int64], begin: Places, end: Places, empty: int) -> NDArray[np.int64]:
    """Smallest of each slice ``[begin, end)`` of the values, ``empty`` for empty slices, by tables of powers of two."""
    minima = np.full(len(begin), empty, np.int64)
    length = end - begin
    table, width = values, 1
    while len(table):
        here = (length >= width) & (length < 2 * width)
        minima[here] = np.minimum(table[begin[here]], table[end[here] - width])
        table, width = np.minimum(table[:-width], table[width:]), 2 * width
    return minima
