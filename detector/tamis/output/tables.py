"""Data tables, which keep their columns, and layout tables, which are dissolved."""

from __future__ import annotations

import re
from itertools import compress
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from tamis.core import core
from tamis.output.runs import omitted_elements
from tamis.page.tree import LISTS, TAG_ID, TAG_NAMES, is_among, once_per_page, tag_set, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from tamis.page.page import Page

MAX_COLUMNS: Final = 1_000  # as in HTML

MAX_PLACES: Final = 200_000
"""Spans are ignored beyond this many places in a table, since a few bytes of HTML can span millions."""

Contents = TypeVar("Contents")

_ROW: Final = TAG_ID["tr"]
_CELLS: Final = ("td", "th")
_ROWS_AND_CELLS: Final = tag_set("tr", *_CELLS)
_PARTS: Final = tag_set("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", *_CELLS)
_ROLES: Final = (  # layout.c has the same order
    *(LISTS, ("li", "dt", "dd"), _CELLS, ("table",), ("tr",), ("pre",), ("p",), ("br",), ("th", "thead", "caption")),
    (*LISTS[:3], "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "form", "hr", "article", "section", "nav"),
)
TAG_ROLES: Final = sum((tag_set(*tags).astype(np.uint32) << bit for bit, tags in enumerate(_ROLES)), start=np.uint32(0))
"""uint32 by tag id: for what the compiled core takes the tags when it lays out text, one bit each."""

_CALLOUT_CLASS: Final = re.compile(
    r"(?:^|\s)(?:(?:admonition|callout|alert|note|tip|hint|warning|important|caution|danger)(?:block)?|markdown-alert|"
    r"custom-block|starlight-aside|confluence-information-macro)(?:$|\s)",
    re.IGNORECASE,
)
_CALLOUT_ROWS: Final = 2  # of DocBook: a sign, a title, a text
_CALLOUT_TAGS: Final = frozenset({"div", "aside", "section", "figure"})


@once_per_page
def data_tables(page: Page) -> list[int]:
    """Data tables in document order, none of which is in another.

    A data table has at least two rows and columns and no nested table, and its cells hold values, not parts of a page:
    at least half of them if the table has a head, otherwise nearly all, with most of its text.
    """
    if "table" not in page.tag_names:
        return []
    rows = np.zeros(page.n, np.int32)
    core.data_tables(page.arrays, TAG_ROLES, rows)
    tables = rows.nonzero()[0].tolist()
    stated = page.attribute("role") if tables else {}
    found = [table for table in tables if stated.get(table, "").strip().lower() not in {"presentation", "none"}]
    return [table for table in found if rows[table] != _CALLOUT_ROWS or not _is_in_callout(page, table)]


def _is_in_callout(page: Page, table: int) -> bool:
    parent = page.parent[table]
    return bool(parent >= 0) and is_callout(TAG_NAMES[page.tag[parent]], dict(page.attributes[parent]).get("class", ""))


def is_callout(name: str, classes: str) -> bool:
    """Whether an element is a callout, such as a note or a warning, by its class."""
    return name in _CALLOUT_TAGS and _CALLOUT_CLASS.search(classes) is not None


@once_per_page
def in_data_table(page: Page) -> NDArray[np.bool_]:
    """bool[n], whether each element is a data table or inside one."""
    return within(page, is_among(page, data_tables(page)))


@once_per_page
def layout_tables(page: Page) -> NDArray[np.bool_]:
    """bool[n], tables that are no data tables, with their rows and cells."""
    if "table" not in page.tag_names:
        return np.zeros(page.n, bool)
    layout: NDArray[np.bool_] = within(page, page.tag == TAG_ID["table"]) & _PARTS.take(page.tag) & ~in_data_table(page)
    return layout


def table_text(page: Page, table: int, texts: Mapping[int, str]) -> str:
    r"""Text of a data table: a line for each row with text, ``"\t"`` between its cells.

    A cell that spans rows or columns is written in the first of its places, the others are empty.

    Args:
        page: the page.
        table: index of its element.
        texts: texts of the blocks to write, by their number, see :func:`tamis.output.text.block_texts`.
    """
    spans = _spans(page)
    parts = table + _ROWS_AND_CELLS.take(page.tag[table : page.end[table]]).nonzero()[0]
    arrays = page.tag, page.parent, page.block_begin, page.block_end, omitted_elements(page)
    rows: dict[int, list[tuple[str, int, int]]] = {}
    has_text: list[bool] = []
    outside: list[int] = []
    behind = int(page.block_begin[table])
    given = (array[parts].tolist() for array in arrays)
    for part, tag, row, begin, end, is_omitted in zip(parts.tolist(), *given, strict=True):
        outside += range(behind, begin)  # such as the caption
        behind = max(behind, end)
        if tag == _ROW:
            rows[part] = []
            has_text.append(not texts.keys().isdisjoint(range(begin, end)))
        elif row in rows and not is_omitted:
            text = " ".join([texts[block] for block in range(begin, end) if block in texts])
            rows[row].append((" ".join(text.split()), *spans.get(part, (1, 1))))
    outside += range(behind, int(page.block_end[table]))
    lines = ("\t".join(text or "" for text in cells) for cells in compress(place_cells(rows.values()), has_text))
    return "\n".join([*(texts[block] for block in outside if block in texts), *(line.rstrip("\t") for line in lines)])


@once_per_page
def _spans(page: Page) -> dict[int, tuple[int, int]]:
    """Columns and rows that a cell spans, by its element; no others than the stated ones."""
    columns, rows = page.attribute("colspan"), page.attribute("rowspan")
    return {cell: (parse_span(columns.get(cell)), parse_span(rows.get(cell))) for cell in columns.keys() | rows.keys()}


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
    filled, is_spaced = 0, False
    for row in rows:
        places: list[Contents | None] = []
        for contents, columns, reach in row:
            if columns == reach == 1 and not covered:  # as most are
                places.append(contents)
                continue
            is_spaced = True
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
    if not is_spaced:
        return placed
    begun = {column for row in placed for column, cell in enumerate(row) if cell is not None}
    return [[cell for column, cell in enumerate(row) if column in begun] for row in placed]
