"""Plain text of a page: its runs as a reader takes them in, and the breaks a reader expects between its blocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
from lxml import etree

from winnow.output.formulas import BEFORE, BEHIND, INSTEAD, formulas_of, places_of
from winnow.output.tables import table_around, table_texts
from winnow.page.attributes import question
from winnow.page.hidden import is_hidden
from winnow.page.tags import BLOCK_LEVEL, TAG_ID, UNSEEN_TEXT, tag_set
from winnow.page.tree import nearest, once_per_page, outermost, prefix_sums, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.page.page import Page

_PARAGRAPH, _LINE, _CELL = range(3)
_SEPARATORS: Final = ("\n\n", "\n", "\t")

_LISTS: Final = tag_set("ul", "ol", "dl", "menu", "dir")
_ITEMS: Final = tag_set("li", "dt", "dd")
_CELLS: Final = tag_set("td", "th")

_KINDS: Final = (
    tag_set("h1"), tag_set("h2", "h3", "h4", "h5", "h6"), tag_set("blockquote"), tag_set("pre"), _LISTS, _CELLS,
    tag_set("table"),
)  # fmt: skip
HEADING, SUBHEADING, QUOTATION, CODE, LIST, CELL, TABLE = (1 << bit for bit in range(len(_KINDS)))
"""Kinds of elements that blocks stand in, see :func:`stands_in`."""

_KINDS_OF_TAG: Final = np.packbits(np.stack(_KINDS), axis=0, bitorder="little")[0]

_UNSEEN_CHARACTERS: Final = re.compile("[\u00ad\u200b\u2060-\u2064\ufeff]|(?<!\U0001f3f4)[\U000e0000-\U000e007f]+")
"""Characters without a width that join no letters: soft hyphens, zero-width spaces, tags but for those of flags."""
_THEIR_BYTES: Final = (b"\xc2\xad", b"\xe2\x80\x8b", b"\xe2\x81", b"\xef\xbb\xbf", b"\xf3\xa0\x80", b"\xf3\xa0\x81")
_LINE_NUMBERS: Final = re.compile(
    r"(?:^|\s)(?:lineno|linenos|linenodiv|linenumbers?|line-numbers?|line-num|blob-num|gutter|rouge-gutter|"
    r"hljs-ln-numbers|hljs-ln-n|code-line-number|ln)(?:$|\s)"
)
_NUMBER_CLASSES: Final = question("class", parts=("lineno", "linenum", "line-num", "blob-num", "gutter", "ln"))
"""Every class of line numbers has one of these parts."""

_BORDERS: Final = r"(?>--+>|<!----+>|<!--+| )*+"
_MARK: Final = r"\[(?:if [^\]]{1,60}|endif)\]"
_OPENING: Final = r"(?:<!)?(?:--)?"
_CLOSING: Final = r"(?:--)?>?(?:<!)?"
# Linear: what lies between two marks has no bracket, is tried in at most 32 ways and, once matched, never again.
_LEFTOVER: Final = re.compile(
    f"(?:{_BORDERS}{_OPENING}{_MARK}(?>{_CLOSING}{_BORDERS}{_OPENING}{_MARK})*+{_CLOSING})?{_BORDERS}"
)
_LEFTOVER_STARTS: Final = frozenset("<[-")


@once_per_page
def _kinds_around(page: Page) -> NDArray[np.uint8]:
    """uint8[m], bits of the kinds of elements that each block has around it."""
    found = np.zeros(page.m, np.uint8)
    of_element = _KINDS_OF_TAG[page.tag]
    present = int(np.bitwise_or.reduce(of_element, initial=0))
    for bit in range(len(_KINDS)):
        if present >> bit & 1:
            inside = within(page, (of_element >> np.uint8(bit) & 1).astype(bool))
            found |= inside[page.block_node].astype(np.uint8) << np.uint8(bit)
    return found


def stands_in(page: Page, kinds: int) -> NDArray[np.bool_]:
    """bool[m], the blocks that stand in elements of one of some kinds, a sum of :data:`HEADING` and so on."""
    inside: NDArray[np.bool_] = (_kinds_around(page) & kinds) != 0
    return inside


def block_texts(page: Page) -> list[str]:
    """Text of each block (``m`` strings): white space normalised, but kept as it is inside ``pre``."""
    texts, places = page.block_texts(), places_of(page)
    changed = changed_runs(page).keys() | places.in_runs.keys()
    runs = _runs_with_formulas(page) if changed else page.runs
    if changed:
        for block in np.unique(np.searchsorted(page.block_run_end, list(changed), side="right")).tolist():
            if block < page.m:  # blank runs between blocks belong to none
                begin, end = page.block_run_begin[block], page.block_run_end[block]
                texts[block] = " ".join("".join(runs[begin:end]).split())
    preformatted = np.flatnonzero(stands_in(page, CODE)).tolist()
    if preformatted:
        around = nearest(page.parent, page.tag == TAG_ID["pre"])[page.block_node]
        for block in preformatted:
            begin, least = page.block_run_begin[block], page.run_begin[around[block]]
            while begin > least and runs[begin - 1].isspace():  # a first line's indentation before its markup
                begin -= 1
            text = "".join(runs[begin : page.block_run_end[block]])
            texts[block] = text.replace("\r\n", "\n").strip("\n").rstrip()
    for block, formulas in places.beside_blocks.items():
        texts[block] = "\n\n".join(filter(None, [texts[block], *map(str, formulas)]))
    return texts


def texts_without(page: Page, texts: list[str], hidden: NDArray[np.bool_]) -> list[str]:
    """Text of each block without some runs.

    Args:
        page: the page.
        texts: ``m`` strings, see :func:`block_texts`.
        hidden: bool[r], the runs to leave out.
    """
    texts, runs, code = list(texts), _runs_with_formulas(page), stands_in(page, CODE)
    begin, end, left_out = page.block_run_begin, page.block_run_end, prefix_sums(hidden)
    for block in np.flatnonzero(left_out[end] > left_out[begin]).tolist():
        text = "".join(runs[run] for run in range(begin[block], end[block]) if not hidden[run])
        texts[block] = text.strip("\n").rstrip() if code[block] else " ".join(text.split())
    return texts


def join_blocks(page: Page, texts: list[str], kept: NDArray[np.bool_]) -> str:
    r"""Join the texts of the kept blocks in document order.

    Blocks are paragraphs, with an empty line between them, except that

    * a single ``br`` is a line break,
    * the items of a list follow each other line by line, unless they hold several paragraphs each,
    * a table of data is a line for each row, with ``"\t"`` between its columns, see
      :func:`winnow.output.tables.table_texts`,
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
    joint = _joint_texts(page, texts, kept)
    if joint:
        kept, texts = kept.copy(), list(texts)
        for first, last, whole in joint:
            kept[first + 1 : last] = False
            kept[first] = True
            texts[first] = whole
    blocks = np.flatnonzero(kept)
    pieces = [texts[blocks[0]]]
    begun = {first for first, _, _ in joint}
    for before, block, kind in zip(blocks.tolist(), blocks[1:].tolist(), _breaks(page, blocks).tolist(), strict=False):
        pieces.append(_SEPARATORS[_PARAGRAPH if kind == _CELL and {before, block} & begun else kind])
        pieces.append(texts[block])
    return "".join(pieces)


def _joint_texts(page: Page, texts: list[str], kept: NDArray[np.bool_]) -> list[tuple[int, int, str]]:
    """Slices of blocks that are one text together, and that text: tables of data, and ``pre`` of which all is kept."""
    if not (kept & stands_in(page, TABLE | CODE)).any():
        return []
    tables = table_around(page)[page.block_node]
    chosen = np.unique(tables[kept & (tables >= 0)])
    found = [
        (int(page.block_begin[table]), int(page.block_end[table]), text)
        for table, text in zip(chosen.tolist(), table_texts(page, chosen, texts, kept), strict=True)
    ]
    changed = np.zeros(page.r, bool)
    changed[list(changed_runs(page))] = True
    has_changed = prefix_sums(changed)
    filled = np.fromiter(map(bool, texts), bool, len(texts))
    lines, cut = prefix_sums(filled), prefix_sums(filled & ~kept)
    last_end = 0
    for pre in np.flatnonzero(page.tag == TAG_ID["pre"]).tolist():
        begin, end = int(page.block_begin[pre]), int(page.block_end[pre])
        if pre >= last_end and lines[end] - lines[begin] > 1 and cut[end] == cut[begin] and tables[begin] < 0:
            if has_changed[page.run_end[pre]] > has_changed[page.run_begin[pre]]:
                continue
            found.append((begin, end, code_lines(page.elements[pre]).strip("\n")))
            last_end = int(page.end[pre])
    return found


def _breaks(page: Page, blocks: NDArray[np.intp]) -> NDArray[np.int8]:
    """int8[k - 1], kind of break between each two successive blocks of the k given ones."""
    tag, parent = page.tag, page.parent
    node = page.block_node[blocks]
    before, after = slice(None, -1), slice(1, None)
    kinds = np.zeros(len(blocks) - 1, np.int8)
    around = int(np.bitwise_or.reduce(_kinds_around(page)[blocks]))

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
            if element.tag in UNSEEN_TEXT or is_hidden(element.attrib):
                walk.skip_subtree()
            else:
                pieces.append(element.text or "")
        elif element is not root:
            pieces.append(element.tail or "")
    break_line()
    return "\n".join(lines)


class _CodeWriter:
    """Writes code; strings are never empty, so that the last one tells whether a line has just ended."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str | None) -> None:
        if text:
            self.written.append(text)

    def begin_line(self, since: int = -1) -> None:
        """End the line, unless one has just ended behind the first ``since`` strings."""
        if len(self.written) == since or (self.written and not self.written[-1].endswith("\n")):
            self.written.append("\n")


def code_lines(pre: etree._Element) -> str:
    r"""Text of a ``pre`` line by line: an element for each line is one, with or without a ``"\n"`` behind it."""
    code = _CodeWriter()
    begins: list[int] = []  # of the elements that are open: strings written before them
    walk = etree.iterwalk(pre, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        is_line = element is not pre and element.tag in BLOCK_LEVEL and element.tag != "br"
        if event == "start":
            if element.tag in UNSEEN_TEXT:
                walk.skip_subtree()
            elif is_line:
                code.begin_line()
            begins.append(len(code.written))
            if element.tag not in UNSEEN_TEXT:
                text = "\n" if element.tag == "br" else element.text
                code.write(text.removeprefix("\n") if text and element is pre else text)
            continue
        if event == "end":
            begin = begins.pop()
            if is_line:
                code.begin_line(begin)
        if element is not pre:
            code.write(element.tail.removeprefix("\n") if is_line and element.tail else element.tail)
    return "".join(code.written).replace("\r\n", "\n").removesuffix("\n")


def shown_runs(page: Page) -> list[str]:
    """Text of every run (``r`` strings) as it is to be written; "" for one that is not. As a rule ``page.runs`` itself.

    * The numbers beside lines of code are no code.
    * The glyphs of a formula are left out, see :mod:`winnow.output.formulas`.
    * Characters that nobody sees are not written.
    * Buttons and elements of a page's own making that touch each other are parted by a space.
    """
    changed = changed_runs(page)
    if not changed:
        return page.runs
    shown = list(page.runs)
    for run, text in changed.items():
        shown[run] = text
    return shown


@once_per_page
def changed_runs(page: Page) -> dict[int, str]:
    """Text of the runs that are not written as they stand, see :func:`shown_runs`; as a rule there are none."""
    changed = _with_seen_characters(page) | _separated_buttons(page)
    replaced = formulas_of(page).replaced
    if any(_LINE_NUMBERS.search(value) for _, value in page.attributes.having(_NUMBER_CLASSES)):
        classes = page.attribute("class").items()
        numbers = _line_numbers(page, [element for element, value in classes if _LINE_NUMBERS.search(value)])
        replaced = replaced.copy()
        replaced[numbers] = True
    if replaced.any():
        changed |= dict.fromkeys(np.flatnonzero(within(page, replaced)[page.run_node]).tolist(), "")
    return changed


def _runs_with_formulas(page: Page) -> list[str]:
    """Text of every run with the formulas that stand in its line."""
    places = places_of(page).in_runs
    runs = list(shown_runs(page)) if places else shown_runs(page)
    for run, formulas in places.items():
        ways = {
            how: " ".join(str(formula) for at, formula in formulas if at == how) for how in (BEFORE, INSTEAD, BEHIND)
        }
        runs[run] = f"{ways[BEFORE]}{ways[INSTEAD] or runs[run]}{ways[BEHIND]}"
    return runs


def _line_numbers(page: Page, elements: list[int]) -> list[int]:
    """Those of some elements whose text is a number, or none."""
    if not elements:
        return []
    has_text = prefix_sums(page.inked)
    has_others = prefix_sums(np.array([not run.replace("\n", "0").replace(" ", "0").isdigit() for run in page.runs]))
    begin, end = page.run_begin[elements], page.run_end[elements]
    chosen = (has_text[begin] == has_text[end]) | (has_others[begin] == has_others[end])
    return np.array(elements)[chosen].tolist()  # type: ignore[no-any-return]


def _with_seen_characters(page: Page) -> dict[int, str]:
    """Runs without their characters that nobody sees, of those that have some."""
    if page.text.isascii():
        return {}
    data = page.text.encode("utf-8", "replace")
    if not any(found in data for found in _THEIR_BYTES):
        return {}
    return {
        run: _UNSEEN_CHARACTERS.sub("", text) for run, text in enumerate(page.runs) if _UNSEEN_CHARACTERS.search(text)
    }


def _separated_buttons(page: Page) -> dict[int, str]:
    """A space before each run that touches another one over the borders of two buttons or unknown elements."""
    boxes = page.tag == TAG_ID["button"]
    boxes[[element for element, name in page.unknown_names.items() if "-" in name]] = True
    if not boxes.any() or page.r < 2:
        return {}
    box = nearest(page.parent, boxes)[page.run_node]
    apart = (box[1:] != box[:-1]) & (box[1:] >= 0) & (box[:-1] >= 0)
    touching = np.flatnonzero(apart & page.inked[1:] & page.inked[:-1]) + 1
    text, offset = page.text, page.run_offset.tolist() if len(touching) else []
    return {
        run: f" {text[offset[run] : offset[run + 1]]}"
        for run in touching.tolist()
        if not text[offset[run]].isspace() and not text[offset[run] - 1].isspace()
    }


def is_leftover(text: str) -> bool:
    """Whether a block of text, white space normalised, is nothing but borders of conditional comments.

    ``<!--[if IE]> ... <![endif]-->`` is a comment, and ``<![endif]>`` alone a declaration, which the parser drops. But
    in ``<!--[if IE]> --> ... [endif]-->`` the last part is text to a parser and to a browser.
    """
    return text[:1] in _LEFTOVER_STARTS and _LEFTOVER.fullmatch(text) is not None


def leftovers(texts: Sequence[str]) -> NDArray[np.bool_]:
    """bool[m], the blocks that are; a block that holds other text, too, such as a line of code, is none."""
    found = np.zeros(len(texts), bool)
    found[[block for block, text in enumerate(texts) if is_leftover(text)]] = True
    return found
