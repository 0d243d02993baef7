"""Data tables, which keep their columns, and layout tables, which are dissolved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from winnow.output.runs import omitted_elements
from winnow.page.tree import TAG_ID, TAG_NAMES, nearest, once_per_page, prefix_sums, subtree_sums, tag_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from winnow.page.page import Page

MAX_COLUMNS: Final = 1_000  # as in HTML

MAX_PLACES: Final = 200_000
"""Spans are ignored beyond this many places in a table, since a few bytes of HTML can span millions."""

Contents = TypeVar("Contents")

_TABLE: Final = TAG_ID["table"]
_ROW: Final = TAG_ID["tr"]
_CELLS: Final = tag_set("td", "th")
_HEADS: Final = tag_set("th", "thead", "caption")
_PARTS: Final = tag_set("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th")
_HEAVY: Final = tag_set(
    "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "blockquote", "pre", "form", "hr", "article", "section", "nav"
)
_MAX_BLOCKS_PER_VALUE: Final = 2  # a cell with more text blocks holds no single value

_CALLOUT_CLASS: Final = re.compile(
    r"(?:^|\s)(?:(?:admonition|callout|alert|note|tip|hint|warning|important|caution|danger)(?:block)?|markdown-alert|"
    r"custom-block|starlight-aside|confluence-information-macro)(?:$|\s)",
    re.IGNORECASE,
)
_CALLOUT_ROWS: Final = 2  # of DocBook: a sign, a title, a text
_CALLOUT_TAGS: Final = frozenset({"div", "aside", "section", "figure"})


@once_per_page
def layout_tables(page: Page) -> NDArray[np.bool_]:
    """bool[n], layout tables with their rows and cells.

    A data table has at least two rows and columns and no nested table, and its cells hold values, not parts of a page:
    at least half of them if the table has a head, otherwise all.
    """
    if "table" not in page.tag_names:
        return np.zeros(page.n, bool)
    tables = page.tag == _TABLE
    table_of = nearest(page.parent, tables)
    cells = _CELLS.take(page.tag) & (table_of >= 0)
    blocks = page.block_end - page.block_begin
    is_heavy = cells & ((subtree_sums(page, _HEAVY.take(page.tag)) > 0) | (blocks > _MAX_BLOCKS_PER_VALUE))

    def count(elements: NDArray[np.bool_]) -> NDArray[np.intp]:
        """intp[n], number of these elements in each table."""
        return np.bincount(table_of[elements], minlength=page.n)

    heavy_cells, all_cells = count(is_heavy), count(cells)
    has_head = count(_HEADS.take(page.tag) & (table_of >= 0)) > 0
    row_of = nearest(page.parent, page.tag == _ROW)[cells]
    in_tables = (row_of >= 0) & (table_of[row_of] >= 0)  # broken markup may have its rows around its table
    rows, lengths = np.unique(row_of[in_tables], return_counts=True)
    row_counts = np.bincount(table_of[rows], minlength=page.n)
    has_columns = np.bincount(table_of[rows], weights=lengths > 1, minlength=page.n) > 0
    data = tables & (row_counts > 1) & has_columns & (subtree_sums(page, tables) == 1)
    data &= nearest(page.parent, page.tag == TAG_ID["pre"]) < 0  # lines of code
    data &= np.where(has_head, 2 * heavy_cells <= all_cells, heavy_cells == 0)
    for index in np.flatnonzero(data & (row_counts == _CALLOUT_ROWS)).tolist():
        parent = int(page.parent[index])
        data[index] = not is_callout(TAG_NAMES[page.tag[parent]], dict(page.attributes[parent]).get("class", ""))
    elements = data.nonzero()[0]
    stated = map(dict, page.attributes.of_elements(elements))
    is_layout = [attributes.get("role", "").strip().lower() in {"presentation", "none"} for attributes in stated]
    data[elements[is_layout]] = False
    layout: NDArray[np.bool_] = _PARTS.take(page.tag) & (table_of >= 0) & ~data[table_of]
    return layout


def is_callout(name: str, classes: str) -> bool:
    """Whether an element is a callout, such as a note or a warning, by its class."""
    return name in _CALLOUT_TAGS and _CALLOUT_CLASS.search(classes) is not None


@once_per_page
def table_around(page: Page) -> NDArray[np.int32]:
    """int32[n], the data table around each element, itself included; -1 for none."""
    if "table" not in page.tag_names:
        return np.full(page.n, -1, np.int32)
    return nearest(page.parent, (page.tag == _TABLE) & ~layout_tables(page))


def in_table(page: Page) -> NDArray[np.bool_]:
    """bool[n + m], the units that are a data table or inside one."""
    inside: NDArray[np.bool_] = table_around(page) >= 0
    return np.concatenate([inside, inside[page.block_node]])


def table_texts(page: Page, tables: Iterable[int], texts: list[str], kept: NDArray[np.bool_]) -> Iterator[str]:
    r"""Yield the text of data tables: a line for each row with kept blocks, ``"\t"`` between its cells.

    A cell that spans rows or columns is written in the first of its places, the others are empty.

    Args:
        page: the page.
        tables: indices of their elements.
        texts: ``m`` strings, see :func:`winnow.output.text.block_texts`.
        kept: bool[m], the blocks to write.
    """
    columns, reach, kept_before = page.attribute("colspan"), page.attribute("rowspan"), prefix_sums(kept)
    part_of = nearest(page.parent, (page.tag == _ROW) | _CELLS[page.tag])[page.block_node]
    for table in tables:
        tags = page.tag[table : page.end[table]]
        rows, cells = (table + np.flatnonzero(chosen) for chosen in (tags == _ROW, _CELLS[tags]))
        blocks = np.arange(page.block_begin[table], page.block_end[table])
        outside = blocks[kept[blocks] & (part_of[blocks] < table)]  # such as the caption
        lines = [texts[block] for block in outside.tolist()]
        cells = cells[(page.tag[page.parent[cells]] == _ROW) & ~omitted_elements(page)[cells]]
        cells = cells[np.argsort(page.parent[cells], kind="stable")]
        of_row = [np.searchsorted(page.parent[cells], rows, side).tolist() for side in ("left", "right")]
        first, behind = (places[cells].tolist() for places in (page.block_begin, page.block_end))
        spans = [(parse_span(columns.get(cell)), parse_span(reach.get(cell))) for cell in cells.tolist()]
        placed = place_cells(
            [(cell, *spans[cell]) for cell in range(begin, end)] for begin, end in zip(*of_row, strict=True)
        )
        has_kept = kept_before[page.block_end[rows]] > kept_before[page.block_begin[rows]]
        for row_has_kept, row in zip(has_kept.tolist(), placed, strict=True):
            if row_has_kept:
                lines.append("\t".join(_cell_text(cell, first, behind, texts, kept) for cell in row).rstrip("\t"))
        yield "\n".join(lines)


def _cell_text(cell: int | None, begin: list[int], end: list[int], texts: list[str], kept: NDArray[np.bool_]) -> str:
    """Text of a cell by its number; the cells have the blocks from ``begin`` to ``end``."""
    blocks = () if cell is None else range(begin[cell], end[cell])
    return " ".join(" ".join(texts[block].split()) for block in blocks if kept[block])


def parse_span(value: str | None) -> int:
    """Parse a ``rowspan`` or ``colspan``; 1 if invalid."""
    if value is None:
        return 1
    text = value.strip()
    return min(max(int(text), 1), MAX_COLUMNS) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def place_cells(rows: Iterable[Iterable[tuple[Contents, int, int]]]) -> list[list[Contents | None]]:
    """Return each row up to its last cell, with ``None`` where another cell spans; each cell is in one place.

    Columns in which no cell begins are dropped: some tables are spaced by spans. ``rows`` has the cells in document
    order, each with the columns and rows that it spans.
    """
    placed: list[list[Contents | None]] = []
    covered: dict[int, int] = {}  # by column: rows below that a cell from above spans
    filled = 0
    for row in rows:
        places: list[Contents | None] = []
        for contents, columns, reach in row:
            while len(places) in covered:
                places.append(None)
            first = len(places)
            full = filled + first + columns > MAX_PLACES
            width = 1 if full or first + columns > MAX_COLUMNS else columns
            places += [contents, *[None] * (width - 1)]
            if full:
                covered.clear()
            elif reach > 1 or covered:
                covered |= dict.fromkeys(range(first, len(places)), reach)
        filled += len(places)
        if covered:
            covered = {column: left - 1 for column, left in covered.items() if left > 1}
        placed.append(places)
    begun = {column for row in placed for column, cell in enumerate(row) if cell is not None}
    if len(begun) == max(map(len, placed), default=0):
        return placed
    return [[cell for column, cell in enumerate(row) if column in begun] for row in placed]
