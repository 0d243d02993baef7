"""Plain text of a page, with the breaks a reader expects between its blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from lxml import etree

from winnow.output.conditional_comments import is_leftover
from winnow.output.markup.code import code_lines
from winnow.output.places import CELL, CODE, LIST, TABLE, places, stands_in
from winnow.output.runs import changed_runs, shown_runs
from winnow.output.tables import table_around, table_text
from winnow.page.ancestors import nearest, outermost
from winnow.page.subtrees import prefix_sums
from winnow.page.tags import BLOCK_LEVEL, TAG_ID, UNSEEN_TEXT, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

_PARAGRAPH, _LINE, _CELL = range(3)
_SEPARATORS: Final = ("\n\n", "\n", "\t")

_LISTS: Final = tag_set("ul", "ol", "dl", "menu", "dir")
_ITEMS: Final = tag_set("li", "dt", "dd")
_CELLS: Final = tag_set("td", "th")


def block_texts(page: Page) -> list[str]:
    """Text of each block (``m`` strings): white space normalised, but kept as it is inside ``pre``."""
    texts = page.block_texts()
    changed = changed_runs(page)
    if changed:
        runs = shown_runs(page)
        for block in np.unique(np.searchsorted(page.block_run_end, list(changed), side="right")).tolist():
            if block < page.m:  # blank runs between blocks belong to none
                begin, end = page.block_run_begin[block], page.block_run_end[block]
                texts[block] = " ".join("".join(runs[begin:end]).split())
    preformatted = np.flatnonzero(stands_in(page, CODE)).tolist()
    if preformatted:
        runs = shown_runs(page)
        around = nearest(page.parent, page.tag == TAG_ID["pre"])[page.block_node]
        for block in preformatted:
            begin, least = page.block_run_begin[block], page.run_begin[around[block]]
            while begin > least and runs[begin - 1].isspace():  # a first line's indentation before its markup
                begin -= 1
            text = "".join(runs[begin : page.block_run_end[block]])
            texts[block] = text.replace("\r\n", "\n").strip("\n").rstrip()
    return texts


def join_blocks(page: Page, texts: list[str], kept: NDArray[np.bool_]) -> str:
    r"""Join the texts of the kept blocks in document order.

    Blocks are paragraphs, with an empty line between them, except that

    * a single ``br`` is a line break,
    * the items of a list follow each other line by line, unless they hold several paragraphs each,
    * a table of data is a line for each row, with ``"\t"`` between its columns, see
      :func:`winnow.output.tables.table_text`,
    * in other tables the cells of a row are separated so, too, where each is a single block,
    * a ``pre`` keeps its lines.

    Args:
        page: the page.
        texts: ``m`` strings, see :func:`block_texts`.
        kept: bool[m], the blocks wanted.
    """
    kept = kept & np.fromiter(map(bool, texts), bool, len(texts)) if kept.any() else kept
    if not kept.any():
        return ""
    wholes = _wholes(page, texts, kept)
    if wholes:
        kept, texts = kept.copy(), list(texts)
        for first, last, whole in wholes:
            kept[first + 1 : last] = False
            kept[first] = True
            texts[first] = whole
    blocks = np.flatnonzero(kept)
    pieces = [texts[blocks[0]]]
    begun = {first for first, _, _ in wholes}
    for before, block, kind in zip(blocks.tolist(), blocks[1:].tolist(), _breaks(page, blocks).tolist(), strict=False):
        pieces.append(_SEPARATORS[_PARAGRAPH if kind == _CELL and {before, block} & begun else kind])
        pieces.append(texts[block])
    return "".join(pieces)


def _wholes(page: Page, texts: list[str], kept: NDArray[np.bool_]) -> list[tuple[int, int, str]]:
    """Slices of blocks that are one text together, and that text: tables of data, and ``pre`` of which all is kept."""
    if not (kept & stands_in(page, TABLE | CODE)).any():
        return []
    tables = table_around(page)[page.block_node]
    found = [
        (int(page.block_begin[table]), int(page.block_end[table]), table_text(page, table, texts, kept))
        for table in np.unique(tables[kept & (tables >= 0)]).tolist()
    ]
    for pre in np.flatnonzero(page.tag == TAG_ID["pre"]).tolist():
        begin, end = int(page.block_begin[pre]), int(page.block_end[pre])
        lines = [block for block in range(begin, end) if texts[block]]
        if len(lines) > 1 and kept[lines].all() and tables[begin] < 0 and not changed_runs(page):
            found.append((begin, end, code_lines(page.elements[pre]).strip("\n")))
    return found


def _breaks(page: Page, blocks: NDArray[np.intp]) -> NDArray[np.int8]:
    """int8[k - 1], kind of break between each two successive blocks of the k given ones."""
    tag, parent = page.tag, page.parent
    node = page.block_node[blocks]
    before, after = slice(None, -1), slice(1, None)
    kinds = np.zeros(len(blocks) - 1, np.int8)
    around = int(np.bitwise_or.reduce(places(page)[blocks]))

    if around & LIST:
        one_list = _same(outermost(parent, _LISTS[tag])[node])
        item = nearest(parent, _ITEMS[tag])
        paragraphs = prefix_sums(tag[page.block_node] == TAG_ID["p"])
        long = np.append(paragraphs[page.block_end] - paragraphs[page.block_begin] > 1, False)[item[node]]
        kinds[one_list & ~long[before] & ~long[after]] = _LINE

    if around & CELL:
        cell = nearest(parent, _CELLS[tag])[node]
        single = (cell >= 0) & (page.block_end[cell] - page.block_begin[cell] == 1)
        tabular = single[before] & single[after]
        table = nearest(parent, tag == TAG_ID["table"])[node]
        row = nearest(parent, tag == TAG_ID["tr"])[node]
        kinds[tabular & _same(table)] = _LINE
        kinds[tabular & _same(row)] = _CELL

    if around & CODE:
        kinds[_same(nearest(parent, tag == TAG_ID["pre"])[node])] = _LINE

    together = _same(node)
    if together.any():
        line_break = page.run_begin[tag == TAG_ID["br"]]
        first = np.searchsorted(line_break, page.block_run_end[blocks][before], side="left")
        last = np.searchsorted(line_break, page.block_run_begin[blocks][after], side="right")
        kinds[together & (last - first == 1)] = _LINE
    return kinds


def _same(group: NDArray[np.int32]) -> NDArray[np.bool_]:
    """bool[k - 1], whether two successive blocks lie in the same group; -1 is none."""
    same: NDArray[np.bool_] = (group[1:] == group[:-1]) & (group[1:] >= 0)
    return same


def visible_text(root: etree._Element) -> str:
    """All text of a tree that a reader may see, a line per block; for pages too large to be worked on as a page."""
    lines: list[str] = []
    pieces: list[str] = []

    def break_line() -> None:
        line = " ".join("".join(pieces).split())
        if line and not is_leftover(line):
            lines.append(line)
        pieces.clear()

    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event in {"start", "end"} and element.tag in BLOCK_LEVEL:
            break_line()
        if event == "start":
            if element.tag in UNSEEN_TEXT:
                walk.skip_subtree()
            else:
                pieces.append(element.text or "")
        elif element is not root:
            pieces.append(element.tail or "")
    break_line()
    return "\n".join(lines)
