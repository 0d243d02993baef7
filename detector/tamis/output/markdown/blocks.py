"""Blocks of Markdown as lines: paragraphs, lists, quotations, code and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from tamis.output.attributes import is_language
from tamis.output.tables import MAX_PLACES, parse_span, place_cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PARAGRAPH, HEADING, RULE, CODE, QUOTE, LIST, TABLE = "paragraph", "heading", "rule", "code", "quote", "list", "table"
DOCUMENT, ITEM, CELL = "document", "item", "cell"  # further kinds of frames

_ALL: Final = {PARAGRAPH, HEADING, RULE, CODE, QUOTE, LIST, TABLE}
_MAY_FOLLOW_DIRECTLY: Final = {
    PARAGRAPH: {HEADING, RULE, CODE, QUOTE},
    HEADING: _ALL,
    RULE: _ALL,
    CODE: _ALL,
    QUOTE: {HEADING, CODE},
    LIST: {HEADING, RULE, CODE, QUOTE},
    TABLE: set[str](),
}
"""Kinds of blocks that need no empty line before them in a tight list; see also :attr:`Block.interrupts`."""

_TEXT_LEVEL: Final = 7  # below all headings
_CLOSING: Final = re.compile(r"(^|\s)(#+)\Z")
_BOLD: Final = re.compile(r"\*\*[^*]+\*\*")
_FENCE: Final = re.compile(r"^ *(`{3,})", re.MULTILINE)
_UNDERLINES: Final = {"": "---", "left": ":--", "center": ":-:", "right": "--:"}


@dataclass(eq=False, slots=True)
class Block:
    """A finished block of one of the kinds above."""

    kind: str
    lines: Sequence[str]  # without indentation
    marker: str = ""  # of a list: "-" or "*", or "." or ")" after its numbers
    interrupts: bool = False  # of a list: may follow the line of a paragraph directly
    level: int = 0  # of a heading: 1 to 6
    title: str = ""  # of a heading: its text without markup
    link: str = ""  # of a heading: where its first link leads
    sections: Sequence[Sequence[Block]] = ()  # of a list with bullets, see _sections

    @property
    def parts(self) -> Iterable[Block]:
        """The blocks of its sections, or itself where it has none."""
        return chain(*self.sections) if self.sections else (self,)


@dataclass(eq=False, slots=True)
class Frame:
    """An open element that holds blocks."""

    kind: str
    blocks: list[Block] = field(default_factory=list)
    is_callout: bool = False  # of a quotation
    number: int = 1  # of an item; of a list, that of its next item
    element: int = 0  # of an item: its li
    is_implied: bool = False  # of an item: without a li
    has_paragraphs: bool = False  # of an item: not bare text
    is_ordered: bool = False  # of a list
    items: list[Frame] = field(default_factory=list)
    before: Block | None = None  # the list
    rows: list[list[Cell]] = field(default_factory=list)  # of a table
    cell: Cell | None = None  # of a cell, without its text

    def finish(self) -> list[Block]:
        """Return the contents as blocks for the frame around it."""
        if self.kind == QUOTE:
            lines = [f"> {line}" if line else ">" for line in stack_blocks(self.blocks)]
            return [Block(QUOTE, lines)] if self.blocks else []
        if self.kind == LIST:
            return [_write_list(self)] if self.items else []
        return [*self.blocks, *_write_table(self.rows)]


def stack_blocks(blocks: list[Block], *, tight: bool = False) -> list[str]:
    """Return the lines of blocks, with empty lines between them unless these would make a tight list loose."""
    lines: list[str] = []
    before: Block | None = None
    for block in blocks:
        if before is not None:
            interrupts = before.kind == PARAGRAPH and block.interrupts
            if not tight or not (interrupts or block.kind in _MAY_FOLLOW_DIRECTLY[before.kind]):
                lines.append("")
        lines += block.lines
        before = block
    return lines


def _write_list(frame: Frame) -> Block:
    """Write a list; after another list it takes another marker, or the two would be one."""
    marker = "." if frame.is_ordered else "-"
    if frame.before is not None and frame.before.kind == LIST and frame.before.marker == marker:
        marker = ")" if frame.is_ordered else "*"
    tight = not any(item.has_paragraphs for item in frame.items)
    lines: list[str] = []
    for item in frame.items:
        bullet = f"{item.number}{marker} " if frame.is_ordered else f"{marker} "
        if lines and not tight:
            lines.append("")
        content = stack_blocks(item.blocks, tight=tight) or [""]
        lines.append(bullet + content[0] if content[0] else bullet.rstrip())
        lines += [" " * len(bullet) + line if line else "" for line in content[1:]]
    first = frame.items[0]
    can_interrupt = bool(first.blocks) and (not frame.is_ordered or first.number == 1)
    return Block(LIST, lines, marker, can_interrupt, sections=() if frame.is_ordered else _sections(frame.items))


def _sections(items: list[Frame]) -> list[list[Block]]:
    """What each item of a list holds, its heading first, if all of them have headings with something below."""
    sections = []
    for item in items:
        parts = [part for block in item.blocks for part in block.parts]
        if (first := next((at for at, part in enumerate(parts) if part.kind == HEADING), None)) is None:
            return []
        parts.insert(0, parts.pop(first))  # often after a picture
        levels = [part.level or _TEXT_LEVEL for part in parts]
        if any(below <= level < _TEXT_LEVEL for level, below in pairwise([*levels, 0])):
            return []
        sections.append(parts)
    return sections


class Cell(NamedTuple):
    """A cell of a table."""

    is_head: bool
    alignment: str  # left, center or right; "" for none
    columns: int  # that it spans
    rows: int  # that it spans
    text: str = ""  # Markdown

    @classmethod
    def of(cls, attributes: dict[str, str], *, is_head: bool) -> Self:
        """Make the cell of a ``td`` or ``th`` with some attributes."""
        alignment = attributes.get("align", "").strip().lower()
        spans = parse_span(attributes.get("colspan")), parse_span(attributes.get("rowspan"))
        return cls(is_head, alignment if alignment in _UNDERLINES else "", *spans)


def _write_table(rows: list[list[Cell]]) -> list[Block]:
    """Write rows of cells as a table; without text there is no block."""
    placed = place_cells([(cell, cell.columns, cell.rows) for cell in row] for row in rows if row)
    if not any(cell.text for row in placed for cell in row if cell):
        return []
    width = max(map(len, placed))
    alignments = [""] * width
    for row in reversed(placed):
        for column, cell in enumerate(row):
            if cell:
                alignments[column] = cell.alignment
    if not all(cell.is_head for cell in placed[0] if cell) and not _is_bold_head(placed):
        placed.insert(0, [])
    min_cells = width if width * len(placed) <= MAX_PLACES else 0  # fills up shorter rows
    head, *body = ([cell.text if cell else "" for cell in row] for row in placed)
    underlines = [_UNDERLINES[alignment] for alignment in alignments]
    rows_of_text = [(head, width), (underlines, width), *((row, min_cells) for row in body)]
    lines = [f"| {' | '.join([*row, *[''] * (cells - len(row))])} |" for row, cells in rows_of_text]
    return [Block(TABLE, lines)]


def _is_bold_head(rows: list[list[Cell | None]]) -> bool:
    """Whether the first row is bold and the second one is not: a head without markup for it."""
    first, second = ([bool(_BOLD.fullmatch(cell.text)) for cell in row if cell] for row in (*rows[:2], [], [])[:2])
    return len(first) > 1 and all(first) and bool(second) and not all(second)


def write_code_block(code: str, language: str) -> list[str]:
    """Write code between fences longer than those in it; what is no name of a language is not written."""
    longest = max((len(run) for run in _FENCE.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{language if is_language(language) else ''}", *(code.split("\n") if code else []), fence]


def write_heading(level: int, text: str) -> str:
    """Write a heading of level 1 to 6; number signs at its end are escaped."""
    return f"{'#' * level} " + _CLOSING.sub(r"\1\\\2", text)
