"""Converts clean HTML to Markdown in one walk: the contents of an element become blocks when it ends."""

from __future__ import annotations

import re
import sys
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from tamis.output.attributes import NO_LANGUAGE
from tamis.output.formulas import Formula
from tamis.output.markdown.blocks import (
    CELL,
    CODE,
    DOCUMENT,
    HEADING,
    ITEM,
    LIST,
    PARAGRAPH,
    QUOTE,
    RULE,
    TABLE,
    Block,
    Cell,
    Frame,
    stack_blocks,
    write_code_block,
    write_heading,
)
from tamis.output.markdown.escaping import write_code_span, write_formula
from tamis.output.markdown.paragraph import Line, Mark
from tamis.output.markup import Box, read_markup
from tamis.output.runs import QUOTED, RAISED, RAISED_SIGNS
from tamis.output.tables import is_callout
from tamis.page.text import LINE_SEPARATOR
from tamis.page.tree import BLOCK_LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from tamis.output.markup import Markup, Pieces

_MARKS: Final = {
    **dict.fromkeys(("em", "i", "dfn", "cite"), "em"),
    **dict.fromkeys(("strong", "b", "dt", "summary"), "strong"),
    **dict.fromkeys(("del", "s", "strike"), "del"),
    "a": "a",
}
_CODE: Final = ("code", "kbd", "samp")
_LEVELS: Final = {f"h{level}": level for level in range(1, 7)}
_LISTS: Final = ("ul", "ol", "menu")
_WRITTEN: Final[dict[str, Callable[[str], str]]] = {
    "math": lambda tex: str(Formula(tex, is_display=False)),
    "math display": lambda tex: str(Formula(tex, is_display=True)),
    "task": lambda box: "[ ]" if box == "☐" else "[x]",
}
"""What a ``span`` of clean markup is in Markdown, by its class."""
_MEDIA: Final = ("img", "video", "audio")  # not all of them have a counterpart in Markdown
_NUMBER: Final = re.compile(r"[0-9]{1,9}\.")  # of an item
_INDENTED: Final = frozenset({*_LISTS, "blockquote"})
_MAX_FRAMES: Final = 40  # each line repeats their indentation; lists and quotations within more are paragraphs
_MAX_CALLOUT_CHARACTERS: Final = 2_000
_TITLE: Final = re.compile("title|heading", re.IGNORECASE)


def to_markdown(html: str) -> str:
    """Convert clean HTML to Markdown: CommonMark with GitHub's tables and strikethrough.

    It renders to the same headings, lists, tables, code, links, images, emphasis and text; text that looks like markup
    is escaped. Elements without a counterpart in Markdown are written as follows:

    * a cell that spans rows or columns is in the first of them, the others are empty; in a cell, every block and line
      takes a line of its own (``<br>``); a table without a head gets an empty one; layout tables are dissolved,
    * terms of a definition list and summaries are paragraphs in bold, captions are paragraphs, and bold text in a
      heading is written as the rest of it,
    * superscript and subscript digits and signs are those of Unicode (``10⁶``), other text is written as it is,
    * formulas are TeX between dollar signs.

    Addresses that run a script are left out.

    Args:
        html: a document of :attr:`tamis.Cleaned.html`, or HTML of that kind.
    """
    return "\n".join(stack_blocks(write_blocks(read_markup(html))))


def write_blocks(markup: Markup, *, links: bool = True) -> list[Block]:
    """Return clean markup as blocks of Markdown: paragraphs, headings, lists and so on; see :func:`to_markdown`.

    Without ``links`` only their text is written.
    """
    return _Writer(markup, links=links).write()


class _Writer:
    """The state of the walk: open frames, open elements, and the current line."""

    def __init__(self, markup: Markup, *, links: bool) -> None:
        self._markup = markup
        self._links = links
        self._frames = [Frame(DOCUMENT)]
        self._cells = 0  # open frames of cells
        self._line = Line()
        self._heading = 0  # level of the open heading
        self._end_of_head = 0  # of a table
        self._raised: list[dict[int, int]] = []
        self._has_parentheses = False  # whether the open ruby has some around its pronunciations
        self._closings: list[tuple[int, Callable[[], object] | None]] = []
        """Where elements end, and what is to be done there, if more than to end a paragraph."""
        self._end = sys.maxsize  # of the innermost of them

    def write(self) -> list[Block]:
        """Write all items as blocks."""
        names, values, item = self._markup.names, self._markup.values, 0
        while item < len(names):
            if self._end <= item:
                self._close_before(item)
            name = names[item]
            if not name:
                if isinstance(value := values[item], str):
                    self._add_text(value)
                else:
                    self._add_pieces(value)
                item += 1
            elif name in _BLOCKS:
                item = self._open_block(name, item)
            elif name in _OPENERS:
                item = _OPENERS[name](self, item) or item + 1
            else:
                item += 1
        self._close_before(item)
        if self._line.pieces:
            self._end_paragraph()
        self._close_frames(1)
        return self._frames[0].blocks

    def _at_end_of(self, item: int, close: Callable[[], object] | None) -> None:
        """Do something at the end of an element, before what is to be done there already."""
        self._end = self._markup.ends[item]
        self._closings.append((self._end, close))

    def _close_before(self, item: int) -> None:
        while self._closings and self._closings[-1][0] <= item:
            _, close = self._closings.pop()
            if close is not None:
                close()
            elif self._line.pieces:
                self._end_paragraph()
        self._end = self._closings[-1][0] if self._closings else sys.maxsize

    def _attributes(self, item: int) -> dict[str, str]:
        return dict(self._markup.values[item])

    def _add_text(self, text: str) -> None:
        if LINE_SEPARATOR in text:
            first, *lines = text.split(LINE_SEPARATOR)
            self._add_text(first)
            for line in lines:
                self._break_line(0)
                self._add_text(line)
            return
        if not text or text.isspace():
            if not self._line.pieces and not self._line.open_codes:
                return  # most texts are the white space between blocks
        else:
            self._ensure_item()
            text = text.translate(self._raised[-1]) if self._raised and not self._line.begins_link else text
        self._line.add_text(text)

    def _add_pieces(self, pieces: Pieces) -> None:
        for piece in pieces:
            if isinstance(piece, Box) or (isinstance(piece, Formula) and not piece.is_emoji):
                self._ensure_item()
                self._line.add_formula(write_formula(str(piece)))
            else:
                self._add_text(str(piece))

    def _open_code(self, item: int) -> None:
        self._line.open_codes.append(item)
        self._at_end_of(item, self._line.open_codes.pop)

    def _open_raised(self, item: int) -> None:
        signs = {sign for sign in self._markup.text(item) if not sign.isspace()}
        self._raised.append(RAISED[self._markup.names[item]] if signs <= RAISED_SIGNS else {})
        self._at_end_of(item, self._raised.pop)

    def _open_ruby(self, item: int) -> None:
        self._has_parentheses = self._markup.has_inside(item, "rp")

    def _open_quotation(self, item: int) -> None:
        name = self._markup.names[item]
        if name != "rt" or not self._has_parentheses:
            self._add_text(QUOTED[name][0])
            self._at_end_of(item, partial(self._add_text, QUOTED[name][1]))

    def _open_span(self, item: int) -> int | None:
        shown = self._attributes(item).get("class", "") if self._markup.values[item] else ""
        if shown not in _WRITTEN:
            return None
        self._ensure_item()
        self._line.add_formula(write_formula(_WRITTEN[shown](" ".join(self._markup.text(item).split()))))
        return self._markup.ends[item]

    def _open_mark(self, item: int) -> None:
        if self._markup.names[item] == "a" and not self._links:
            return
        attributes = self._attributes(item)
        target = attributes.get("href")
        if self._heading and target and target.startswith("#"):
            target = None  # a heading that leads to itself
        mark = Mark(_MARKS.get(self._markup.names[item], "strong"), target, attributes.get("title", ""))
        if self._heading and mark.kind == "strong":
            return  # as headings are anyway
        if target and not self._heading and self._markup.has_inside(item, *_BLOCKS):
            has_heading, has_text = self._markup.has_inside(item, *_LEVELS), self._markup.text(item).strip()
            mark.waits_for = HEADING if has_heading else PARAGRAPH if has_text else ""
        self._line.marks.append(mark)
        self._at_end_of(item, partial(self._line.close_mark, mark))

    def _add_image(self, item: int) -> None:
        attributes = self._attributes(item)
        if (source := attributes.get("src", "").strip())[:5].lower() != "data:":
            self._ensure_item()
            self._line.add_image(source, attributes.get("alt", ""), attributes.get("title", ""))

    def _break_line(self, _: int) -> None:
        if self._heading:
            self._line.add_text(" ")
        elif self._line.ends_with_break or self._cells:
            if self._line.pieces:
                self._end_paragraph()
        else:
            self._line.add_line_break()

    def _open_block(self, name: str, item: int) -> int:
        """Begin a block-level element; return the item to go on with."""
        if self._heading:
            self._line.add_text(" ")
            self._at_end_of(item, partial(self._line.add_text, " "))
            return item + 1
        if self._line.pieces:
            self._end_paragraph()
        frame = self._frames[-1]
        if frame.kind == LIST and name != "li":
            if name in _LISTS and frame.items:
                self._resume_item(frame)
            else:
                self._ensure_item()
        if name == "pre":
            self._add_code(item)
            return self._markup.ends[item]
        if name in _LEVELS:
            self._line.free_links()
            if not self._cells:
                self._heading = _LEVELS[name]
                self._at_end_of(item, self._end_heading)
                return item + 1
        self._open_block_of(name, item)
        self._at_end_of(item, None)
        return item + 1

    def _open_block_of(self, name: str, item: int) -> None:
        """Begin a block-level element that is neither code nor a heading of its own."""
        if self._cells:
            if name in _MARKS or name in _LEVELS:
                self._open_mark(item)
            return
        if name in _FRAMES:
            if len(self._frames) < _MAX_FRAMES or name not in _INDENTED:
                _FRAMES[name](self, item)
        elif self._markup.values[item]:
            self._open_callout(item)
        if name in _MARKS and not self._markup.has_inside(item, *_LEVELS):  # a heading is no bold line
            self._open_mark(item)

    def _open_frame(self, item: int, frame: Frame) -> None:
        self._at_end_of(item, partial(self._close_frames, len(self._frames)))
        self._frames.append(frame)

    def _open_callout(self, item: int) -> None:
        """Begin an element with attributes, which may be a callout, or the title of the one that has just begun."""
        frame, name, classes = self._frames[-1], self._markup.names[item], self._attributes(item).get("class", "")
        if frame.kind == QUOTE and not frame.blocks:
            if frame.is_callout and _TITLE.search(classes):
                self._open_mark(item)
        elif is_callout(name, classes) and self._is_short(item):
            self._open_frame(item, Frame(QUOTE, is_callout=True))

    def _open_paragraph(self, item: int) -> None:
        if self._frames[-1].kind == ITEM:
            self._frames[-1].has_paragraphs = True
        elif self._markup.values[item]:
            self._open_callout(item)

    def _open_head(self, item: int) -> None:
        self._end_of_head = self._markup.ends[item]

    def _open_row(self, _: int) -> None:
        if self._frames[-1].kind == TABLE:
            self._frames[-1].rows.append([])

    def _open_cell(self, item: int) -> None:
        if self._frames[-1].kind == TABLE:
            is_head = self._markup.names[item] == "th" or item < self._end_of_head
            self._open_frame(item, Frame(CELL, cell=Cell.of(self._attributes(item), is_head=is_head)))
            self._cells += 1

    def _add_rule(self, _: int) -> None:
        self._add_block(Block(RULE, ["___" if len(self._frames) > 1 else "---"]))

    def _add_code(self, pre: int) -> None:
        code = self._markup.codes[pre]
        if self._cells:
            lines = [line.rstrip() for line in code.split("\n")]
            self._add_block(Block(PARAGRAPH, [write_code_span(line) for line in lines if line]))
        else:
            code = code.strip("\n") if self._markup.has_inside(pre, "div") else code
            language = f" {self._attributes(pre).get('class', '')} ".partition(" language-")[2].partition(" ")[0]
            self._add_block(Block(CODE, write_code_block(code, "" if language in NO_LANGUAGE else language)))

    def _children(self, item: int) -> list[int]:
        found, child = [], item + 1
        while child < self._markup.ends[item]:
            found.append(child)
            child = self._markup.ends[child]
        return found

    def _is_short(self, item: int) -> bool:
        """Whether an element is short enough for a callout, and has no heading."""
        inside = range(item + 1, self._markup.ends[item])
        lengths = accumulate(len(self._markup.text(each)) for each in inside if not self._markup.names[each])
        is_long = any(length > _MAX_CALLOUT_CHARACTERS for length in lengths)  # stops at the first excess
        return not is_long and not self._markup.has_inside(item, "h1", "h2", "h3")

    def _end_paragraph(self) -> None:
        """End the paragraph, which is not empty; a label or checkbox waits for the text of its item."""
        if self._line.is_label:
            return
        # The garbage collector skips a tuple of texts; its passes over a long page hold up all threads.
        lines = tuple(self._line.finish(begins_line=not self._cells).split("\n"))
        self._frames[-1].blocks.append(Block(PARAGRAPH, lines))

    def _end_heading(self) -> None:
        level, self._heading = self._heading, 0
        if self._line.pieces:
            heading = Block(HEADING, [], level=level, title=self._line.plain_text, link=self._line.link)
            heading.lines = [write_heading(level, self._line.finish(begins_line=False))]
            self._add_block(heading)

    def _add_block(self, block: Block) -> None:
        self._ensure_item()
        self._frames[-1].blocks.append(block)

    def _open_list(self, item: int) -> None:
        labels = [
            self._markup.labels.get(child, "") for child in self._children(item) if self._markup.names[child] == "li"
        ]
        is_ordered = all(map(_NUMBER.fullmatch, labels)) if labels else self._markup.names[item] == "ol"
        before = next(reversed(self._frames[-1].blocks), None)
        self._open_frame(item, Frame(LIST, is_ordered=is_ordered, before=before))

    def _open_item(self, item: int) -> None:
        """Begin an item, unless outside a list."""
        if self._frames[-1].kind == ITEM and self._frames[-1].is_implied:
            self._close_frames(len(self._frames) - 1)
        frame, label = self._frames[-1], self._markup.labels.get(item, "")
        if frame.kind != LIST:
            return
        self._open_frame(item, Frame(ITEM, element=item))
        if frame.is_ordered and label:
            frame.number = int(label[:-1])
        elif label:
            self._line.add_formula(label)
            self._line.add_text(" ")

    def _ensure_item(self) -> None:
        """Begin an item for contents of a list outside its items."""
        if self._frames[-1].kind == LIST:
            self._frames.append(Frame(ITEM, is_implied=True))

    def _resume_item(self, frame: Frame) -> None:
        """Continue the last item, for a list between the items of another."""
        last = frame.items.pop()
        last.is_implied, frame.number = True, last.number
        self._frames.append(last)

    def _close_frames(self, depth: int) -> None:
        """Close the frames inside the first ones."""
        while len(self._frames) > depth:
            frame = self._frames.pop()
            around = self._frames[-1]
            self._cells -= frame.kind == CELL
            if frame.kind == ITEM and around.kind == LIST:
                if not (frame.blocks or around.is_ordered) and self._markup.has_inside(frame.element, *_MEDIA):
                    continue
                frame.number = around.number
                around.items.append(frame)
                around.number += 1
            elif frame.cell is not None:
                if not around.rows:
                    around.rows.append([])
                lines = [line for block in frame.blocks if block.kind in {PARAGRAPH, LIST} for line in block.lines]
                around.rows[-1].append(frame.cell._replace(text="<br>".join(lines).replace("|", "\\|")))
            else:
                for block in frame.finish():
                    self._add_block(block)


_BLOCKS: Final = BLOCK_LEVEL - {"br"}
_FRAMES: Final[dict[str, Callable[[_Writer, int], None]]] = {
    "blockquote": lambda writer, item: writer._open_frame(item, Frame(QUOTE)),
    "table": lambda writer, item: writer._open_frame(item, Frame(TABLE)),
    "thead": _Writer._open_head,
    "tr": _Writer._open_row,
    **dict.fromkeys(("td", "th"), _Writer._open_cell),
    **dict.fromkeys(_LISTS, _Writer._open_list),
    "li": _Writer._open_item,
    "p": _Writer._open_paragraph,
    "hr": _Writer._add_rule,
}
_OPENERS: Final[dict[str, Callable[[_Writer, int], int | None]]] = {
    "br": _Writer._break_line,
    "img": _Writer._add_image,
    **dict.fromkeys(_CODE, _Writer._open_code),
    **dict.fromkeys(RAISED, _Writer._open_raised),
    **dict.fromkeys(QUOTED, _Writer._open_quotation),
    "ruby": _Writer._open_ruby,
    "span": _Writer._open_span,
    **dict.fromkeys(_MARKS.keys() - BLOCK_LEVEL, _Writer._open_mark),
}
"""What begins an element within a line; it returns the item to go on with if that is not the next one."""
