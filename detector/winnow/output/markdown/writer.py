"""Converts clean HTML to Markdown in one walk: the contents of an element become blocks when it ends."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from lxml import etree

from winnow.output.formulas import Formula
from winnow.output.html import NO_LANGUAGE
from winnow.output.markdown.blocks import (
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
from winnow.output.markdown.escaping import write_code_span
from winnow.output.markdown.paragraph import Line, Mark
from winnow.output.runs import QUOTED, RAISED, RAISED_SIGNS
from winnow.output.tables import is_callout
from winnow.output.text import code_of_tree
from winnow.page.tree import BLOCK_LEVEL, UNSEEN_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.etree import _Element

_MARKS: Final = {
    **dict.fromkeys(("em", "i", "dfn", "cite"), "em"),
    **dict.fromkeys(("strong", "b", "dt", "summary"), "strong"),
    **dict.fromkeys(("del", "s", "strike"), "del"),
    "a": "a",
}
_CODE: Final = frozenset({"code", "kbd", "samp", "tt"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS: Final = frozenset({"ul", "ol", "menu", "dir"})
_CELLS: Final = frozenset({"td", "th"})
_UNSEEN: Final = UNSEEN_TEXT - BLOCK_LEVEL
_WRITTEN: Final[dict[str, Callable[[str], str]]] = {
    "math": lambda tex: str(Formula(tex, is_display=False)),
    "math display": lambda tex: str(Formula(tex, is_display=True)),
    "task": lambda box: "[ ]" if box == "☐" else "[x]",
}
"""What a ``span`` of clean HTML is in Markdown, by its class."""
_MAX_DIGITS: Final = 9  # of the number of an item
_MAX_CALLOUT_CHARACTERS: Final = 2_000
_TITLE: Final = re.compile("title|heading", re.IGNORECASE)
_LANGUAGE_CLASS: Final = re.compile(r"(?:^|\s)language-\.?([^\s`.][^\s`]*)")


_FRAMES: Final = {"blockquote": QUOTE, "table": TABLE}


def to_markdown(html: str) -> str:
    """Convert clean HTML to Markdown: CommonMark with GitHub's tables and strikethrough.

    It renders to the same headings, lists, tables, code, links, images, emphasis and text; text that looks like markup
    is escaped. Elements without a counterpart in Markdown are written as follows:

    * a cell that spans rows or columns is in the first of them, the others are empty; in a cell, every block and line
      takes a line of its own (``<br>``); a table without a head gets an empty one; layout tables are dissolved,
    * terms of a definition list and summaries are paragraphs in bold, captions are paragraphs,
    * superscript and subscript digits and signs are those of Unicode (``10⁶``), other text is written as it is,
    * formulas are TeX between dollar signs.

    Args:
        html: a document of :func:`winnow.output.html.write_html`, or HTML of that kind.
    """
    return "\n".join(stack_blocks(markdown_blocks(html)))


@lru_cache(maxsize=1)  # chunks are cut from the Markdown that has just been written
def markdown_blocks(html: str) -> list[Block]:
    """Return the Markdown blocks of clean HTML: paragraphs, headings, lists and so on; see :func:`to_markdown`."""
    root = etree.fromstring(html, parser=etree.HTMLParser(huge_tree=True)) if html.strip() else None
    if root is None:
        return []
    body = root.find("body")
    return _Writer().write(root if body is None else body)


class _Writer:
    """The state of the walk: open frames, open marks, and the current line."""

    def __init__(self) -> None:
        self._frames = [Frame(DOCUMENT, None)]
        self._cells = 0  # open frames of cells
        self._line = Line()
        self._marks: dict[_Element, Mark] = {}
        self._heading: _Element | None = None
        self._raised: list[dict[int, int]] = []

    def write(self, body: _Element) -> list[Block]:
        """Write the contents of an element as blocks."""
        walk = etree.iterwalk(body, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                if self._open_element(element):
                    if text := element.text:
                        self._add_text(text)
                else:
                    walk.skip_subtree()
                continue
            if event == "end":
                self._close_element(element)
            if element is not body and (text := element.tail):
                self._add_text(text)
        self._end_paragraph()
        while len(self._frames) > 1:
            self._close_frame()
        return self._frames[0].blocks

    def _add_text(self, text: str) -> None:
        if text.strip(" \t\n\r\f"):
            self._ensure_item()
            text = text.translate(self._raised[-1]) if self._raised and not self._line.in_link else text
        elif not self._line.pieces and not self._line.in_code:
            return  # most texts are the white space between blocks
        self._line.add_text(text)

    def _open_element(self, element: _Element) -> bool:
        """Begin an element; return whether to walk its contents."""
        tag = element.tag
        if tag in BLOCK_LEVEL and tag != "br":
            return self._open_block(element)
        if tag in _UNSEEN:
            return False
        if tag == "br":
            self._break_line()
        elif tag == "img":
            self._add_image(element)
        elif tag in _CODE:
            self._line.in_code += 1
        elif tag in RAISED:
            signs = {sign for text in element.itertext() for sign in str(text) if not sign.isspace()}
            self._raised.append(RAISED[tag] if signs <= RAISED_SIGNS else {})
        elif tag in QUOTED and (tag != "rt" or not _has_ruby_parentheses(element)):
            self._add_text(QUOTED[tag][0])
        elif tag == "span" and (shown := element.get("class", "")) in _WRITTEN:
            self._ensure_item()
            self._line.add_formula(_WRITTEN[shown](" ".join("".join(map(str, element.itertext())).split())))
            return False
        if tag in _MARKS:
            self._open_mark(element)
        return True

    def _open_block(self, element: _Element) -> bool:
        tag = element.tag
        if self._heading is not None:
            self._line.add_text(" ")
            return True
        self._end_paragraph()
        frame = self._frames[-1]
        if self._cells:
            return self._open_in_cell(element)
        if frame.kind == LIST and tag != "li":
            if tag in _LISTS and frame.items:
                self._resume_item(frame)
            else:
                self._ensure_item()
        if tag == "pre":
            code = code_of_tree(element)
            code = code if element.find(".//div") is None else code.strip("\n")
            self._add_block(Block(CODE, write_code_block(code, _code_language(element))))
            return False
        if tag == "hr":
            self._add_block(Block(RULE, ["___" if len(self._frames) > 1 else "---"]))
        elif tag in _HEADINGS:
            self._heading = element
        else:
            self._open_frame(element)
        if tag in _MARKS and next(element.iter(*_HEADINGS), None) is None:  # a heading is no bold line
            self._open_mark(element)
        return True

    def _open_frame(self, element: _Element) -> None:
        """Begin an element that holds blocks, or changes the frame it is in."""
        tag, frame = element.tag, self._frames[-1]
        if tag in _FRAMES:
            self._frames.append(Frame(_FRAMES[tag], element))
        elif tag == "li":
            self._open_item(element)
        elif tag in _LISTS:
            self._open_list(element)
        elif tag == "p" and frame.kind == ITEM:
            frame.has_paragraphs = True
        elif tag == "tr" and frame.kind == TABLE:
            frame.rows.append([])
        elif tag in _CELLS and frame.kind == TABLE:
            self._frames.append(Frame(CELL, element))
            self._cells += 1
        elif classes := element.get("class"):
            is_first = frame.kind == QUOTE and not frame.blocks
            if is_first and frame.element is not None and frame.element.tag != "blockquote" and _TITLE.search(classes):
                self._open_mark(element)
            elif not is_first and is_callout(tag, classes) and _is_short(element):
                self._frames.append(Frame(QUOTE, element))

    def _open_in_cell(self, element: _Element) -> bool:
        if element.tag == "pre":
            lines = [line.rstrip() for line in code_of_tree(element).split("\n")]
            self._add_block(Block(PARAGRAPH, [write_code_span(line) for line in lines if line]))
            return False
        if element.tag in _MARKS or element.tag in _HEADINGS:
            self._open_mark(element)
        return True

    def _close_element(self, element: _Element) -> None:
        tag = element.tag
        if is_block := tag in BLOCK_LEVEL and tag != "br":
            if self._heading is element:
                self._end_heading()
            elif self._heading is not None:
                self._line.add_text(" ")
            else:
                self._end_paragraph()
        if element in self._marks:
            self._line.close_mark(self._marks.pop(element))
        if tag in _CODE:
            self._line.in_code -= 1
        elif tag in RAISED:
            self._raised.pop()
        elif tag in QUOTED and (tag != "rt" or not _has_ruby_parentheses(element)):
            self._add_text(QUOTED[tag][1])
        if is_block:
            self._close_frame_of(element)

    def _close_frame_of(self, element: _Element) -> None:
        """Close the frame of an element that ends, if it has one, and the items without a ``li`` in it."""
        depth = len(self._frames) - 1
        while depth and self._frames[depth].element is None:
            depth -= 1
        if self._frames[depth].element is element:
            while len(self._frames) > depth:
                self._close_frame()

    def _open_mark(self, element: _Element) -> None:
        target = element.get("href")
        if self._heading is not None and target and target.startswith("#"):
            target = None  # a heading that leads to itself
        mark = self._marks[element] = Mark(_MARKS.get(element.tag, "strong"), target, element.get("title", ""))
        self._line.marks.append(mark)

    def _add_image(self, element: _Element) -> None:
        if (source := element.get("src", "").strip())[:5].lower() != "data:":
            self._ensure_item()
            self._line.add_image(source, element.get("alt", ""), element.get("title", ""))

    def _break_line(self) -> None:
        if self._heading is not None:
            self._line.add_text(" ")
        elif self._line.ends_with_break or self._cells:
            self._end_paragraph()
        else:
            self._line.add_line_break()

    def _end_paragraph(self) -> None:
        if self._line.pieces:
            # The garbage collector skips a tuple of texts; its passes over a long page hold up all threads.
            self._add_block(Block(PARAGRAPH, tuple(self._line.finish().split("\n"))))

    def _end_heading(self) -> None:
        assert self._heading is not None  # noqa: S101  (only called at its end)
        level = int(self._heading.tag[1])
        self._heading = None
        if self._line.pieces:
            self._add_block(Block(HEADING, [write_heading(level, self._line.finish())]))

    def _add_block(self, block: Block) -> None:
        self._ensure_item()
        self._frames[-1].blocks.append(block)

    def _open_list(self, element: _Element) -> None:
        is_ordered, step = element.tag == "ol", 1 if element.get("reversed") is None else -1
        number = _parse_number(element.get("start"), len(element.findall("li")) if step < 0 else 1) if is_ordered else 1
        before = next(reversed(self._frames[-1].blocks), None)
        self._frames.append(Frame(LIST, element, is_ordered=is_ordered, number=number, step=step, before=before))

    def _open_item(self, element: _Element | None) -> None:
        """Begin an item, unless outside a list."""
        if self._frames[-1].kind == ITEM and self._frames[-1].element is None:
            self._close_frame()
        frame = self._frames[-1]
        if frame.kind == LIST:
            if element is not None:
                frame.number = _parse_number(element.get("value"), frame.number)
            self._frames.append(Frame(ITEM, element))

    def _ensure_item(self) -> None:
        """Begin an item for contents of a list outside its items."""
        if self._frames[-1].kind == LIST:
            self._open_item(None)

    def _resume_item(self, frame: Frame) -> None:
        """Continue the last item, for a list between the items of another."""
        last = frame.items.pop()
        last.element, frame.number = None, last.number
        self._frames.append(last)

    def _close_frame(self) -> None:
        """Close the innermost frame."""
        frame = self._frames.pop()
        self._cells -= frame.kind == CELL
        around = self._frames[-1]
        if frame.kind == ITEM and around.kind == LIST:
            frame.number = around.number
            around.items.append(frame)
            around.number += around.step
        elif frame.kind == CELL and around.kind == TABLE and frame.element is not None:
            if not around.rows:
                around.rows.append([])
            lines = [line for block in frame.blocks if block.kind in {PARAGRAPH, LIST} for line in block.lines]
            around.rows[-1].append(Cell.of(frame.element, lines))
        else:
            for block in frame.finish():
                self._add_block(block)


def _has_ruby_parentheses(rt: _Element) -> bool:
    """Whether a page itself puts the pronunciation of a word between parentheses."""
    ruby = rt.getparent()
    return ruby is not None and ruby.find("rp") is not None


def _is_short(element: _Element) -> bool:
    """Whether an element is short enough for a callout, and has no heading."""
    lengths = accumulate(len(text) for text in element.itertext())
    is_long = any(length > _MAX_CALLOUT_CHARACTERS for length in lengths)  # stops at the first excess
    return not is_long and next(element.iter("h1", "h2", "h3"), None) is None


def _parse_number(value: str | None, otherwise: int) -> int:
    """Parse the number of an item, which has at most nine digits in Markdown."""
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else otherwise


def _code_language(pre: _Element) -> str:
    """Language of a ``pre`` of clean HTML, by its class ``language-...`` or that of its ``code``; "" for none."""
    for element in (pre, *pre.iterchildren("code")):
        if found := _LANGUAGE_CLASS.search(element.get("class", "")):
            return found[1] if found[1] not in NO_LANGUAGE else ""
    return ""
