"""Tables that hold data, and those that only lay a page out; the first keep their columns, the others dissolve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.output.tables.grid import grid, span
from winnow.page.ancestors import nearest
from winnow.page.page import once_per_page
from winnow.page.subtrees import prefix_sums, subtree_sums
from winnow.page.tags import TAG_ID, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

_TABLE: Final = TAG_ID["table"]
_ROW: Final = TAG_ID["tr"]
_CELLS: Final = tag_set("td", "th")
_HEADS: Final = tag_set("th", "thead", "caption")
_PARTS: Final = tag_set("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th")
_HEAVY: Final = tag_set(
    "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "blockquote", "pre", "form", "hr", "article", "section", "nav"
)
_BLOCKS_OF_A_VALUE: Final = 2
"""A cell with more blocks of text than this holds no single value."""


@once_per_page
def layout(page: Page) -> NDArray[np.bool_]:
    """bool[n], the tables that only lay the page out, with their rows and cells.

    A table holds data if there are two rows and two columns of cells, no further table in it, and the cells hold values
    rather than parts of a page: less than half of them where the table has a head, and none otherwise.
    """
    tables = page.tag == _TABLE
    if not tables.any():
        return np.zeros(page.n, bool)
    table_of = nearest(page.parent, tables)
    cells = _CELLS[page.tag] & (table_of >= 0)
    blocks = page.block_end - page.block_begin
    heavy = cells & ((subtree_sums(page, _HEAVY[page.tag]) > 0) | (blocks > _BLOCKS_OF_A_VALUE))
    owner = np.maximum(table_of, 0)
    heavy_cells = np.bincount(owner[heavy], minlength=page.n)
    all_cells = np.bincount(owner[cells], minlength=page.n)
    heads = np.bincount(owner[_HEADS[page.tag] & (table_of >= 0)], minlength=page.n) > 0
    row_of = nearest(page.parent, page.tag == _ROW)[cells]
    in_tables = (row_of >= 0) & (table_of[row_of] >= 0)  # broken markup may have its rows around its table
    rows, lengths = np.unique(row_of[in_tables], return_counts=True)
    rows_of = np.bincount(table_of[rows], minlength=page.n)
    wide = np.bincount(table_of[rows], weights=lengths > 1, minlength=page.n) > 0
    data = tables & (rows_of > 1) & wide & (subtree_sums(page, tables) == 1)
    data &= np.where(heads, 2 * heavy_cells <= all_cells, heavy_cells == 0)
    for index, role in page.attribute("role").items():
        data[index] &= role.strip().lower() not in {"presentation", "none"}
    dissolved: NDArray[np.bool_] = _PARTS[page.tag] & (table_of >= 0) & ~data[owner]
    return dissolved


def table_around(page: Page) -> NDArray[np.int32]:
    """int32[n], the table of data around each element, itself included; -1 for none."""
    tables = page.tag == _TABLE
    if not tables.any():
        return np.full(page.n, -1, np.int32)
    return nearest(page.parent, tables & ~layout(page))


def in_table(page: Page) -> NDArray[np.bool_]:
    """bool[n + m], the units that are a table of data or lie in one."""
    inside: NDArray[np.bool_] = table_around(page) >= 0
    return np.concatenate([inside, inside[page.block_node]])


def table_text(page: Page, table: int, texts: list[str], kept: NDArray[np.bool_]) -> str:
    r"""Text of a table of data: a line for each row, ``"\t"`` between its cells, and none for rows that were cut.

    A cell that spans rows or columns stands in the first of its places, the others are empty.

    Args:
        page: the page.
        table: index of the table.
        texts: ``m`` strings, see :func:`winnow.output.text.block_texts`.
        kept: bool[m], the blocks wanted.
    """
    inside = np.arange(table, page.end[table])
    rows = [int(row) for row in inside[page.tag[inside] == _ROW]]
    wanted = prefix_sums(kept)
    columns, reach = page.attribute("colspan"), page.attribute("rowspan")
    lines = []
    cells_of: dict[int, list[int]] = {row: [] for row in rows}
    for cell in inside[_CELLS[page.tag[inside]]].tolist():
        if page.parent[cell] in cells_of:
            cells_of[int(page.parent[cell])].append(cell)
    placed = grid([(cell, span(columns.get(cell)), span(reach.get(cell))) for cell in cells_of[row]] for row in rows)
    for row, cells in zip(rows, placed, strict=True):
        if wanted[page.block_end[row]] > wanted[page.block_begin[row]]:
            lines.append("\t".join(_cell_text(page, cell, texts, kept) for cell in cells).rstrip("\t"))
    outside = [
        texts[block]
        for block in range(int(page.block_begin[table]), int(page.block_end[table]))
        if kept[block] and not _in_row(page, block, table)
    ]
    return "\n".join([*outside, *lines])


def _cell_text(page: Page, cell: int | None, texts: list[str], kept: NDArray[np.bool_]) -> str:
    if cell is None:
        return ""
    blocks = range(int(page.block_begin[cell]), int(page.block_end[cell]))
    return " ".join(" ".join(texts[block].split()) for block in blocks if kept[block])


def _in_row(page: Page, block: int, table: int) -> bool:
    element = int(page.block_node[block])
    while element > table:
        if page.tag[element] == _ROW or _CELLS[page.tag[element]]:
            return True
        element = int(page.parent[element])
    return False
