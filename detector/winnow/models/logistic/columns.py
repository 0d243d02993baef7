"""Which boxes of a page stand beside each other, as far as markup tells without style sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.tags import IS_BLOCK_LEVEL, TAG_ID, tag_set
from winnow.page.tree import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.logistic.attributes import Attributes
    from winnow.page.page import Page

    Floats = NDArray[np.float64]

_SIDE_SHARE: Final = 0.28  # width of a side column
_TEXT_OF_A_SIDE: Final = 0.5  # an element with more of the page's text is no side column, whatever it is called

_CELL: Final = tag_set("td", "th")


def columns(page: Page, attributes: Attributes, text_length: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Boxes beside each other: table cells, grid classes, and side columns with what is beside them.

    Returns:
        float64[n] share of the parent's width, float64[n] left edge as a share of it, bool[n] true for boxes that
        begin at the top of their parent instead of below their predecessor.
    """
    n, parent, tag = page.n, page.parent, page.tag
    share, left, beside = np.ones(n), np.zeros(n), np.zeros(n, bool)

    cells = np.flatnonzero(_CELL[tag])
    if len(cells):
        need = np.sqrt(text_length[cells] + 20)  # a browser gives columns width by their contents
        rows = np.bincount(parent[cells], need, n)
        share[cells] = need / rows[parent[cells]]
        beside[cells] = True
    declared = np.flatnonzero(attributes.column_share > 0)
    share[declared] = attributes.column_share[declared]
    in_row = np.union1d(cells, declared) if len(declared) else cells
    if len(in_row):
        in_row = in_row[np.argsort(parent[in_row], kind="stable")]
        sums = prefix_sums(np.rint(share[in_row] * 4096).astype(np.int64)) / 4096
        row = parent[in_row]
        first = np.searchsorted(row, row)
        left[in_row] = np.minimum((sums[:-1] - sums[first]) % 1.0, 1 - share[in_row])

    side = (attributes.side | (tag == TAG_ID["aside"])) & IS_BLOCK_LEVEL[tag]
    side &= (text_length < _TEXT_OF_A_SIDE * text_length[:1]) & (share == 1) & (parent > 0)
    sides = np.flatnonzero(side)
    if len(sides):
        first_side = np.full(n + 1, n)
        first_side[parent[sides][::-1]] = sides[::-1]
        first = first_side[parent]
        main = (first < n) & ~side & IS_BLOCK_LEVEL[tag] & (share == 1)
        share[main] = 1 - _SIDE_SHARE
        on_the_left = page.run_begin[sides] == page.run_begin[parent[sides]]
        left[main & (np.arange(n) > first)] = 0.0
        after_left = np.zeros(n + 1, bool)
        after_left[parent[sides[on_the_left]]] = True
        left[main & after_left[parent]] = _SIDE_SHARE
        share[sides] = _SIDE_SHARE
        left[sides] = np.where(on_the_left, 0.0, 1 - _SIDE_SHARE)
        beside[sides] = True
    return share, left, beside
