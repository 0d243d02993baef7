"""Plain text of a page: the text of its blocks, and the separators between them."""

from __future__ import annotations

import re
from array import array
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.core import core
from tamis.output.formulas import formula_positions
from tamis.output.markup import code_lines, join_items
from tamis.output.runs import (
    code_line_elements,
    joined_text,
    plain_text_rewrites,
    run_text,
    shown_elements,
)
from tamis.output.tables import TAG_ROLES, data_tables, in_data_table, table_text
from tamis.page.hidden import hidden_runs
from tamis.page.tree import (
    TAG_ID,
    elements_named,
    is_among,
    nearest,
    once_per_page,
    slice_sums,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tamis.page.page import Page

    Flags = NDArray[np.bool_]

_SEPARATORS: Final = ("", "\n\n", "\n", "\t")  # layout.c has the same order
_PARAGRAPH, _CELL = 1, 3

# A conditional comment, ``<!--[if IE]> ... <![endif]-->``, and a lone ``<![endif]>`` are dropped by the parser. But in
# ``<!--[if IE]> --> ... [endif]-->`` the last part is text to a parser and to a browser.
# Linear: no two of the repeated parts begin with the same character.
_CONDITIONAL_COMMENT: Final = re.compile(
    r"(?=.*(?:-->|<!--|\[(?:if |endif\])))(?:\[(?:if [^\]]{1,60}|endif)\]|<!|--+|>| )++"
)
_COMMENT_STARTS: Final = frozenset("<[-")


@once_per_page
def blocks_inside(page: Page, *names: str) -> Flags:
    """bool[m], whether each block is inside an element of one of some names, of block level."""
    inside = np.zeros(page.m, bool)
    for element in elements_named(page, *names):
        inside[page.block_begin[element] : page.block_end[element]] = True
    return inside


def block_texts(page: Page, hidden: Flags | None = None) -> list[str]:
    """Text of each block (``m`` strings) without hidden runs (bool[r]): white space normalised, but not in ``pre``."""
    texts, rewrites = page.block_texts(), plain_text_rewrites(page)
    if hidden is not None:
        rewrites = rewrites | dict.fromkeys(hidden.nonzero()[0].tolist(), "")
    begins, ends = page.block_run_begin, page.block_run_end
    for block in set(ends.searchsorted(list(rewrites), side="right").tolist()) if rewrites else ():
        if block < page.m:  # blank runs between blocks belong to none
            texts[block] = " ".join(joined_text(page, begins[block], ends[block], rewrites).split())
    if "pre" in page.tag_names:
        in_code = blocks_inside(page, "pre")
        first_run = page.run_begin[nearest(page.parent, page.tag == TAG_ID["pre"])[page.block_node[in_code]]]
        for block, least in zip(np.flatnonzero(in_code).tolist(), first_run.tolist(), strict=True):
            begin = begins[block]
            while begin > least and run_text(page, begin - 1, rewrites).isspace():  # indentation before the markup
                begin -= 1
            text = joined_text(page, begin, ends[block], rewrites)
            texts[block] = text.replace("\r\n", "\n").strip("\n").rstrip()
    for block, formulas in formula_positions(page).beside_blocks.items():
        texts[block] = "\n\n".join(filter(None, [texts[block], *map(str, formulas)]))
    return texts


def join_blocks(page: Page, texts: list[str], kept: Flags, hidden: Flags | None = None) -> str:
    r"""Join the texts of the kept blocks in document order.

    Blocks are paragraphs, with an empty line between them, except that

    * a single ``br`` is a line break,
    * the items of a list are a line each, unless they hold several paragraphs,
    * a row of a data table is a line, with ``"\t"`` between its columns, see :func:`tamis.output.tables.table_text`;
      so is a row of another table if each cell is a single block,
    * a ``pre`` keeps its lines.

    Args:
        page: the page.
        texts: ``m`` strings, see :func:`block_texts`.
        kept: bool[m], the blocks to join.
        hidden: bool[r], runs that are left out of them, see :func:`block_texts`.
    """
    separators, _, pieces = text_pieces(page, texts, kept, hidden)
    return "".join(chain.from_iterable(zip(separators, pieces, strict=True)))


def text_pieces(
    page: Page, texts: list[str], kept: Flags, hidden: Flags | None = None
) -> tuple[list[str], list[int], list[str]]:
    """Return what :func:`join_blocks` joins: separators, the numbers of the blocks that follow them, and their texts.

    A table or ``pre`` that is written as one is the text of its first block.
    """
    pieces = {block: texts[block] for block in kept.nonzero()[0].tolist() if texts[block]}
    if not pieces:
        return [], [], []
    if merged := _merged_texts(page, texts, pieces, hidden):
        for first, last, _ in merged:
            for block in range(first, last):
                pieces.pop(block, None)
        pieces = dict(sorted((pieces | {first: text for first, _, text in merged}).items()))
    breaks = bytearray(len(pieces))
    core.find_breaks(page.arrays, TAG_ROLES, array("i", pieces), breaks)
    if merged:
        firsts = {first for first, _, _ in merged}
        for place, (before, block) in enumerate(pairwise(pieces), 1):
            if breaks[place] == _CELL and not firsts.isdisjoint((before, block)):
                breaks[place] = _PARAGRAPH
    return [_SEPARATORS[way] for way in breaks], list(pieces), list(pieces.values())


def _merged_texts(
    page: Page, texts: list[str], pieces: dict[int, str], hidden: Flags | None
) -> list[tuple[int, int, str]]:
    """Begin, end and text of each slice of blocks written as one: a data table, or a ``pre`` of which all is kept."""
    found = []
    for table in data_tables(page):
        first, last = int(page.block_begin[table]), int(page.block_end[table])
        if not pieces.keys().isdisjoint(range(first, last)):
            found.append((first, last, table_text(page, table, pieces)))
    if "pre" not in page.tag_names:
        return found
    has_text, is_line = np.fromiter(map(bool, texts), bool, len(texts)), is_among(page, code_line_elements(page))
    is_cut = has_text.copy()
    is_cut[list(pieces)] = False
    pre = np.flatnonzero(page.tag == TAG_ID["pre"])
    end, blocks = page.end[pre], (page.block_begin[pre], page.block_end[pre])
    filled, cut = slice_sums(has_text, *blocks), slice_sums(is_cut, *blocks)
    has_lines = (filled > 1) | ((filled > 0) & (slice_sums(is_line, pre, end) > 0))
    is_whole = has_lines & (cut == 0) & ~in_data_table(page)[pre]
    if hidden is not None:
        is_whole &= slice_sums(hidden, page.run_begin[pre], page.run_end[pre]) == 0
    if not is_whole.any():
        return found
    is_code = within(page, is_among(page, pre[is_whole])) & shown_elements(page)
    elements, runs = is_code.nonzero()[0], is_code.take(page.run_node).nonzero()[0]
    markup = join_items(page, elements, page.attributes.of_elements(elements), runs)
    last_end = item = 0
    for element, behind, first, last in zip(*(each[is_whole].tolist() for each in (pre, end, *blocks)), strict=True):
        if element >= last_end:  # not in another one
            found.append((first, last, code_lines(markup, item).strip("\n")))
            last_end, item = behind, markup.ends[item]
    return found


def visible_text(page: Page) -> str:
    """Text of a page that is too large to be cleaned: a line per block, without what nobody sees."""
    texts = block_texts(page, hidden_runs(page, np.ones(page.m, bool)))
    leftovers = frozenset(conditional_comments(page.block_lines, texts))
    return "\n".join(text for block, text in enumerate(texts) if text and block not in leftovers)


def conditional_comments(together: str, texts: Sequence[str]) -> list[int]:
    """Numbers of the texts, white space normalised, that are nothing but borders of conditional comments.

    ``together`` is any text that has all their words.
    """
    if "--" not in together and "[" not in together:  # one of which is in every such text
        return []
    return [
        number
        for number, text in enumerate(texts)
        if text[:1] in _COMMENT_STARTS and _CONDITIONAL_COMMENT.fullmatch(text)
    ]
