r"""Plain text: one of the writers of content.

Paragraphs have an empty line between them, except that

* a single ``br`` is a line break,
* the items of a list are a line each, unless they hold several paragraphs; labels of letters are written, a. or iv.,
* a row of a data table is a line, with ``"\t"`` between its columns; so is a row of another table if each of its cells
  is a single paragraph,
* code keeps its lines.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from itertools import chain, compress, groupby
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.output.markup import BOXES, CUT, code_lines, make_plain_markup
from tamis.output.runs import LINE_SEPARATOR, QUOTED, RAISED, RAISED_SIGNS, joined_text, run_rewrites
from tamis.output.tables import parse_span, place_cells
from tamis.page.tree import BLOCK_LEVEL, LISTS, elements_named, once_per_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tamis.arrays import Flags
    from tamis.output.markup import Markup, Pieces
    from tamis.page.page import Page

_CELLS: Final = frozenset({"td", "th"})
_PLACES: Final = frozenset({*LISTS, "li", "dt", "dd", "table", "tr", *_CELLS})
_PLAIN_BLOCKS: Final = BLOCK_LEVEL - _PLACES - {"br", "pre"}
_INLINE: Final = frozenset({*RAISED, *QUOTED, "ruby"})


class Place(NamedTuple):
    """The list and the table around a paragraph, as items of the markup; -1 for none."""

    top_list: int = -1  # outermost list
    items: tuple[int, ...] = ()  # items of lists, outermost first
    table: int = -1  # the outermost data table, or what holds the rows of the innermost other one
    row: int = -1  # of that table
    cell: int = -1  # of that table
    is_data: bool = False  # whether it is a data table


_NOWHERE: Final = Place()


class Paragraph(NamedTuple):
    """A paragraph, or the lines of code of an element."""

    item: int  # of the markup, where it begins
    text: str
    block: int  # the innermost block-level item around it
    place: Place
    line_breaks: int  # between it and the paragraph before it


def text_of_blocks(page: Page, kept: Flags, hidden: Flags | None = None) -> str:
    """Plain text of some blocks (bool[m]) without hidden runs (bool[r])."""
    return write_text(make_plain_markup(page, kept, hidden))


def write_text(markup: Markup) -> str:
    """Write content as plain text."""
    return "".join(chain.from_iterable((separator, text) for separator, _, text in text_pieces(markup)))


def text_pieces(markup: Markup) -> Iterator[tuple[str, int, str]]:
    """Yield what plain text is made of: a separator, the item of the markup where a piece begins, and its text."""
    paragraphs = find_paragraphs(markup)
    in_items = [each.place.items for each in paragraphs if each.block >= 0 and markup.names[each.block] == "p"]
    in_item = Counter(chain.from_iterable(in_items))
    in_cell = Counter(each.place.cell for each in paragraphs)
    before: Paragraph | None = None
    for table, group in groupby(paragraphs, lambda each: each.place.table if each.place.is_data else -1):
        for piece in group if table < 0 else [_lay_out_table(markup, table, list(group))]:
            yield _separator(before, piece, in_item, in_cell) if before else "", piece.item, piece.text
            before = piece


def _separator(before: Paragraph, after: Paragraph, in_item: Counter[int], in_cell: Counter[int]) -> str:
    """White space between two paragraphs, from the number of paragraphs in each item of a list, and in each cell."""
    one, other = before.place, after.place
    if before.block == after.block and after.line_breaks == 1:
        return "\n"
    if one is other is _NOWHERE:  # as most are
        return "\n\n"
    if one.is_data or other.is_data:
        return "\n\n"
    if one.table == other.table >= 0 and in_cell[one.cell] == in_cell[other.cell] == 1:
        return "\t" if one.row == other.row else "\n"
    is_long = any(in_item[item] > 1 for item in (*one.items[-1:], *other.items[-1:]))
    return "\n" if one.top_list == other.top_list >= 0 and not is_long else "\n\n"


def find_paragraphs(markup: Markup) -> list[Paragraph]:
    """Find the paragraphs of content, with white space normalised, in document order."""
    return _Walk(markup).find_paragraphs()


class _Walk:
    """The state of a walk over content: what is around the item, and the open paragraph."""

    def __init__(self, markup: Markup) -> None:
        self._markup = markup
        self._found: list[Paragraph] = []
        self._texts: list[str] = []  # of the open paragraph, which begins at _first
        self._first = self._line_breaks = 0
        self._block, self._place = -1, _NOWHERE
        self._label = ""  # of a list item that has no text yet
        self._has_parentheses = False  # whether the open ruby has some around its pronunciations
        self._closings: list[tuple[int, tuple[int, Place] | str]] = []
        """Where elements end, and what is around them again there, or a text to write there."""
        self._end = sys.maxsize  # of the innermost of them

    def find_paragraphs(self) -> list[Paragraph]:
        """Walk over all items."""
        names, values, ends, texts, item = self._markup.names, self._markup.values, self._markup.ends, self._texts, 0
        while item < len(names):
            if self._end <= item:
                self._close_before(item)
            name = names[item]
            if not name:
                value = values[item]
                if not isinstance(value, str) or LINE_SEPARATOR in value:
                    self._add_text(item, value)
                elif texts:
                    texts.append(value)
                elif not value.isspace():  # as most texts are, between blocks
                    self._first = item
                    texts.append(value)
                item += 1
            elif name in _PLAIN_BLOCKS:
                if texts:
                    self._end_paragraph()
                self._end = ends[item]
                self._closings.append((self._end, (self._block, self._place)))
                self._block = item
                item += 1
            elif name in BLOCK_LEVEL:
                item = self._open_block(name, item)
            else:
                item = self._open_inline(name, item) if name in _INLINE else item + 1
        self._close_before(item)
        self._end_paragraph()
        return self._found

    def _close_before(self, item: int) -> None:
        while self._closings and self._closings[-1][0] <= item:
            _, after = self._closings.pop()
            if isinstance(after, str):
                self._texts.append(after)
                continue
            if self._texts:
                self._end_paragraph()
            if self._place.items != after[1].items:
                self._label = ""
            self._block, self._place = after
        self._end = self._closings[-1][0] if self._closings else sys.maxsize

    def _at_end_of(self, item: int, after: tuple[int, Place] | str) -> None:
        self._end = self._markup.ends[item]
        self._closings.append((self._end, after))

    def _end_paragraph(self) -> None:
        if (text := " ".join("".join(self._texts).split())) in BOXES:
            return  # a checkbox waits for the text of its item
        if text:
            self._add(self._first, f"{self._label} {text}" if self._label else text, self._block, self._place)
            self._label = ""
        self._texts.clear()

    def _add(self, item: int, text: str, block: int, place: Place) -> None:
        self._found.append(Paragraph(item, text, block, place, self._line_breaks))
        self._line_breaks = 0

    def _add_text(self, item: int, value: str | Pieces) -> None:
        text = value if isinstance(value, str) else "".join(map(str, value))
        if LINE_SEPARATOR in text:
            first, *lines = text.split(LINE_SEPARATOR)
            self._add_text(item, first)
            for line in lines:
                self._end_paragraph()
                self._line_breaks += 1
                self._add_text(item, line)
            return
        if not self._texts:
            if text.isspace():  # as most texts are, between blocks
                return
            self._first = item
        elif text is not value and text[:1] == self._texts[-1][-1:] == "$":  # formulas that touch
            self._texts.append(" ")
        self._texts.append(text)

    def _open_block(self, name: str, item: int) -> int:
        """Begin a block-level element; return the item to go on with."""
        if self._texts:
            self._end_paragraph()
        if name == "br":
            self._line_breaks += 2 if self._markup.sources[item] == CUT else 1
            return item + 1
        if name == "pre" and not self._place.is_data:
            if code := code_lines(self._markup, item).strip("\n").rstrip():
                self._add(item, code, item, self._place._replace(table=-1))
            return self._markup.ends[item]
        self._at_end_of(item, (self._block, self._place))
        if name in _PLACES:
            label = self._markup.labels.get(item, "")
            self._label = f"{self._label} {'' if label[:-1].isdecimal() else label}".strip()
            self._place = _place_in(name, item, self._block, self._place)
        self._block = item
        return item + 1

    def _open_inline(self, name: str, item: int) -> int:
        """Begin an element that plain text has signs for; return the item to go on with."""
        self._first = self._first if self._texts else item
        if name in RAISED:
            text = self._markup.text(item)
            if RAISED_SIGNS.issuperset("".join(text.split())):
                self._texts.append(text.translate(RAISED[name]))
                return self._markup.ends[item]
        elif name == "ruby":
            self._has_parentheses = self._markup.has_inside(item, "rp")
        elif name != "rt" or not self._has_parentheses:
            self._texts.append(QUOTED[name][0])
            self._at_end_of(item, QUOTED[name][1])
        return item + 1


def _place_in(name: str, item: int, block: int, around: Place) -> Place:
    """What is around the paragraphs in a list, an item of one, or a part of a table."""
    if name in LISTS:
        return around if around.top_list >= 0 else around._replace(top_list=item)
    if name == "table":
        return around if around.is_data else Place(around.top_list, around.items, item, is_data=True)
    is_in_cell = around.is_data and around.cell >= 0
    if name == "tr":
        in_row = around._replace(row=item) if around.is_data else Place(around.top_list, around.items, block, item)
        return around if is_in_cell else in_row
    if name in _CELLS:
        return around if is_in_cell or around.row < 0 else around._replace(cell=item)
    return around._replace(items=(*around.items, item))


def _lay_out_table(markup: Markup, table: int, paragraphs: list[Paragraph]) -> Paragraph:
    r"""Make one text of the paragraphs of a data table: a line for each row with text, ``"\t"`` between its cells.

    A cell that spans rows or columns is written in the first of its places, the others are empty. What is in no cell,
    such as the caption, comes first.
    """
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for paragraph in paragraphs:
        texts[paragraph.place.cell].append(paragraph.text)
    rows: list[list[tuple[str, int, int]]] = []
    item = table + 1
    while item < markup.ends[table]:
        name = markup.names[item]
        if name == "tr":
            rows.append([])
        if name not in _CELLS or not rows:
            item += 1
            continue
        spans = dict(markup.values[item])
        text = " ".join(texts.get(item, ()))
        rows[-1].append((text, parse_span(spans.get("colspan")), parse_span(spans.get("rowspan"))))
        item = markup.ends[item]
    has_text = [any(text for text, _, _ in row) for row in rows]
    lines = ("\t".join(text or "" for text in cells).rstrip("\t") for cells in compress(place_cells(rows), has_text))
    return paragraphs[0]._replace(text="\n".join([*texts[-1], *lines]), block=table)


@once_per_page
def blocks_inside(page: Page, *names: str) -> Flags:
    """bool[m], whether each block is inside an element of one of some names, of block level."""
    inside = np.zeros(page.m, bool)
    for element in elements_named(page, *names):
        inside[page.block_begin[element] : page.block_end[element]] = True
    return inside


def block_texts(page: Page, hidden: Flags | None = None) -> list[str]:
    """Text of each block (``m`` strings) without hidden runs (bool[r]), white space normalised, formulas left out."""
    texts, rewrites = page.block_texts(), run_rewrites(page)
    if hidden is not None:
        rewrites = rewrites | dict.fromkeys(hidden.nonzero()[0].tolist(), "")
    begins, ends = page.block_run_begin, page.block_run_end
    for block in set(ends.searchsorted(list(rewrites), side="right").tolist()) if rewrites else ():
        if block < page.m:  # blank runs between blocks belong to none
            text = joined_text(page, begins[block], ends[block], rewrites)
            texts[block] = " ".join(text.replace(LINE_SEPARATOR, " ").split())
    return texts


def shown_texts(page: Page, hidden: Flags | None = None) -> list[str]:
    """Text of each block (``m`` strings) as plain text has it, without hidden runs (bool[r])."""
    markup = make_plain_markup(page, np.ones(page.m, bool), hidden)
    texts: list[list[str]] = [[] for _ in range(page.m)]
    for paragraph in find_paragraphs(markup):
        texts[markup.block(page, paragraph.item)].append(paragraph.text)
    return list(map("\n".join, texts))
