"""Data tables, which keep their columns, and layout tables, which are dissolved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from tamis.core import core
from tamis.output.code import in_code_blocks
from tamis.page.attributes import token_pattern
from tamis.page.tree import TAG_ID, TAG_NAMES, as_mask, cached_on_page, tag_set, within

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tamis.arrays import Flags
    from tamis.page.page import Page

MAX_COLUMNS: Final = 1_000  # as in HTML

MAX_PLACES: Final = 200_000
"""Spans are ignored beyond this many places in a table, since a few bytes of HTML can span millions."""

Contents = TypeVar("Contents")

_PARTS: Final = tag_set("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th")
_CALLOUT: Final = token_pattern(
    "(?:admonition|callout|alert|note|tip|hint|warning|important|caution|danger)(?:block)?",
    *("markdown-alert", "custom-block", "starlight-aside", "confluence-information-macro"),
    flags=re.IGNORECASE,
)
_CALLOUT_ROWS: Final = 2  # of DocBook: a sign, a title, a text


@cached_on_page
def data_tables(page: Page) -> list[int]:
    """Data tables in document order, none of which is in another.

    A data table has at least two rows and columns, and its cells hold values, not tables or other parts of a page: at
    least half of them if the table has a head and no table in it, otherwise nearly all, with most of its text. One row
    is enough for a table with the class of another that has more.
    """
    if "table" not in page.tag_names:
        return []
    rows = np.zeros(page.n, np.int32)
    core.data_tables(page.arrays, rows)
    tables = rows.nonzero()[0].tolist()
    single = {table for table in tables if rows[table] == 1}
    stated = page.attribute("role") if tables else {}
    classes = page.attribute("class") if single else {}
    alike = {classes.get(table) for table in tables if table not in single} - {None, ""}
    found, end, in_code = list[int](), 0, in_code_blocks(page)
    for table in tables:
        is_layout = in_code[table] or stated.get(table, "").strip().lower() in {"presentation", "none"}
        is_layout |= table in single and classes.get(table) not in alike
        if table >= end and not is_layout and (rows[table] != _CALLOUT_ROWS or not _is_in_callout(page, table)):
            found.append(table)
            end = int(page.end[table])
    return found


def _is_in_callout(page: Page, table: int) -> bool:
    parent = page.parent[table]
    return bool(parent >= 0) and is_callout(TAG_NAMES[page.tag[parent]], dict(page.attributes[parent]).get("class", ""))


def is_callout(name: str, classes: str) -> bool:
    """Whether an element is a callout, such as a note or a warning, by its class."""
    return name in {"div", "aside", "section", "figure"} and _CALLOUT.search(classes) is not None


@cached_on_page
def in_data_table(page: Page) -> Flags:
    """bool[n], whether each element is a data table or inside one."""
    return within(page, as_mask(page, data_tables(page)))


@cached_on_page
def layout_tables(page: Page) -> Flags:
    """bool[n], tables that are no data tables, with their rows and cells."""
    if "table" not in page.tag_names:
        return np.zeros(page.n, bool)
    layout: Flags = within(page, page.tag == TAG_ID["table"]) & _PARTS.take(page.tag) & ~in_data_table(page)
    return layout


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
