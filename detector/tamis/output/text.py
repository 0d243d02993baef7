r"""Plain text: one of the writers of content.

Paragraphs have an empty line between them, except that

* a single ``br`` is a line break,
* the items of a list are a line each, unless they hold several paragraphs; labels of letters are written, a. or iv.,
* a row of a data table is a line, with ``"\t"`` between its columns; so is a row of another table if each of its cells
  is a single paragraph,
* code keeps its lines.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import compress, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.core import core
from tamis.output.code import in_code_blocks
from tamis.output.lists import lettered_labels
from tamis.output.markup import item_kinds, kept_items, text_arguments
from tamis.output.runs import RAISED, RAISED_SIGNS, empty_runs, run_rewrites, tex_in_text
from tamis.output.tables import data_tables, parse_span, place_cells
from tamis.page.text import run_text
from tamis.page.tree import TAG_ID, cached_on_page, elements_with_names, runs_of_blocks, tag_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tamis.arrays import Flags, Indices
    from tamis.page.page import Page

_MAX_RAISED: Final = 40  # runs of text, since elements may be in each other
_ROWS_AND_CELLS: Final = tag_set("tr", "td", "th")


def text_of_blocks(page: Page, kept: Flags, hidden: Flags | None = None) -> str:
    """Plain text of some blocks (bool[m]) without hidden runs (bool[r])."""
    text, paragraphs, elements = _write(page, kept, hidden)
    parts, end_of_last = [""], 0
    for begin, end, table in _tables(page, text, paragraphs, elements):
        parts += text[end_of_last:begin].decode(), table
        end_of_last = end
    return "".join([*parts, text[end_of_last:].decode()])


def text_pieces(page: Page, kept: Flags, hidden: Flags | None = None) -> Iterator[tuple[str, int, str]]:
    """Yield what :func:`text_of_blocks` is made of: a gap, the block of the page where a piece begins, and its text."""
    text, paragraphs, elements = _write(page, kept, hidden)
    tables = {begin: (end, table) for begin, end, table in _tables(page, text, paragraphs, elements)}
    end_of_last = 0
    for block, _, _, begin, end in paragraphs.tolist():
        if begin >= end_of_last:  # not in the table before
            end_of_piece, piece = tables.get(begin) or (end, text[begin:end].decode())
            yield text[end_of_last:begin].decode(), block, piece
            end_of_last = end_of_piece


def _write(page: Page, kept: Flags, hidden: Flags | None) -> tuple[bytes, Indices, Flags]:
    """Write plain text without the rows of data tables, the paragraphs of which follow each other.

    Returns:
        the text; int32[p, 5], the block of the page where each paragraph begins, the data table and the cell that it is
        in (-1 for none), and where it begins and ends in the text; and bool[n], the elements that are kept.
    """
    kept_text = runs_of_blocks(page, kept)
    elements, runs = kept_items(page, kept_text if hidden is None else kept_text & ~hidden)
    runs[empty_runs(page)] = False
    changed = {run: "".join(map(str, pieces)) for run, pieces in tex_in_text(page).items()} | _raised_texts(page, runs)
    texts = text_arguments(page, changed, lettered_labels(page))
    text, paragraphs = core.plain_text(page.arrays, item_kinds(page), elements, runs, *texts)
    return text, np.frombuffer(paragraphs, np.int32).reshape(-1, 5), elements


def _raised_texts(page: Page, runs: Flags) -> dict[int, str]:
    """Text of raised and lowered runs, by run: where an element holds digits and signs only, in characters for them."""
    found: dict[int, str] = {}
    if page.tag_names.isdisjoint(RAISED):
        return found
    rewrites, in_code = run_rewrites(page), in_code_blocks(page)
    for name, signs in RAISED.items():
        for element in elements_with_names(page, name):
            inside = range(page.run_begin[element], page.run_end[element])
            if in_code[element] or len(inside) > _MAX_RAISED:
                continue
            texts = {run: run_text(page, run, rewrites) for run in inside if runs[run]}
            if RAISED_SIGNS.issuperset("".join("".join(texts.values()).split())):
                found |= {run: text.translate(signs) for run, text in texts.items()}
    return found


def _tables(page: Page, text: bytes, paragraphs: Indices, elements: Flags) -> Iterator[tuple[int, int, str]]:
    """Yield where the paragraphs of each data table begin and end, and the text that is written instead of them."""
    found = paragraphs[paragraphs[:, 1] >= 0].tolist() if data_tables(page) else []
    spans = (page.attribute("colspan"), page.attribute("rowspan")) if found else ({}, {})
    for table, inside in groupby(found, itemgetter(1)):
        group, texts = list(inside), defaultdict[int, list[str]](list)
        for _, _, cell, begin, end in group:
            texts[cell].append(text[begin:end].decode())
        parts = slice(table, page.end[table])
        rows_and_cells = table + np.flatnonzero(elements[parts] & _ROWS_AND_CELLS.take(page.tag[parts]))
        yield group[0][3], group[-1][4], _lay_out_table(page, rows_and_cells.tolist(), texts, *spans)


def _lay_out_table(
    page: Page, rows_and_cells: list[int], texts: dict[int, list[str]], columns: dict[int, str], reaches: dict[int, str]
) -> str:
    r"""Make one text of a data table: a line for each row with text, ``"\t"`` between its cells.

    A cell that spans rows or columns is written in the first of its places, the others are empty. What is in no cell,
    such as the caption, comes first.

    Args:
        page: the page.
        rows_and_cells: those of the table that are written.
        texts: the paragraphs of each cell, and by -1 those in no cell.
        columns: how many columns cells span, as the page states it.
        reaches: how many rows, likewise.
    """
    rows: list[list[tuple[str, int, int]]] = []
    end_of_cell = 0
    for element in rows_and_cells:
        if element < end_of_cell:
            continue
        if page.tag[element] == TAG_ID["tr"]:
            rows.append([])
        elif rows:
            spans = parse_span(columns.get(element)), parse_span(reaches.get(element))
            rows[-1].append((" ".join(texts.get(element, ())), *spans))
            end_of_cell = int(page.end[element])
    has_text = [any(text for text, _, _ in row) for row in rows]
    lines = ("\t".join(text or "" for text in cells).rstrip("\t") for cells in compress(place_cells(rows), has_text))
    return "\n".join([*texts.get(-1, ()), *lines])


@cached_on_page
def blocks_inside(page: Page, *names: str) -> Flags:
    """bool[m], whether each block is inside an element of one of some names, of block level."""
    inside = np.zeros(page.m, bool)
    for element in elements_with_names(page, *names):
        inside[page.block_begin[element] : page.block_end[element]] = True
    return inside


def block_texts(page: Page, hidden: Flags | None = None) -> list[str]:
    """Text of each block (``m`` strings) without hidden runs (bool[r]), white space normalised, formulas left out."""
    rewrites = run_rewrites(page)
    if hidden is not None:
        rewrites = rewrites | dict.fromkeys(hidden.nonzero()[0].tolist(), "")
    texts: list[str] = core.block_texts(page.arrays, rewrites, page.block_texts())
    return texts


def shown_texts(page: Page, hidden: Flags | None = None) -> list[str]:
    """Text of each block (``m`` strings) as plain text has it, without hidden runs (bool[r])."""
    text, paragraphs, _ = _write(page, np.ones(page.m, bool), hidden)
    texts: list[list[str]] = [[] for _ in range(page.m)]
    for block, _, _, begin, end in paragraphs.tolist():
        texts[block].append(text[begin:end].decode())
    return list(map("\n".join, texts))
