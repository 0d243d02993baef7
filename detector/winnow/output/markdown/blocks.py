"""The blocks of Markdown as lines: paragraphs, lists, quotations, code and tables, and what may follow what."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from winnow.output.tables import MAX_PLACES, drop_empty_columns, parse_span, place_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.etree import _Element

PARAGRAPH, HEADING, RULE, CODE, QUOTE, LIST, TABLE = "paragraph", "heading", "rule", "code", "quote", "list", "table"

_MAY_FOLLOW_DIRECTLY: Final = {
    PARAGRAPH: {HEADING, RULE, CODE, QUOTE},
    HEADING: {PARAGRAPH, HEADING, RULE, CODE, QUOTE, LIST, TABLE},
    RULE: {PARAGRAPH, HEADING, RULE, CODE, QUOTE, LIST, TABLE},
    CODE: {PARAGRAPH, HEADING, RULE, CODE, QUOTE, LIST, TABLE},
    QUOTE: {HEADING, CODE},
    LIST: {HEADING, RULE, CODE, QUOTE},
    TABLE: set(),
}
"""What needs no empty line before it in a tight list; a list of bullets, or from 1 on, may follow a paragraph, too."""

_CLOSING: Final = re.compile(r"(^|\s)(#+)\Z")
_BOLD: Final = re.compile(r"\*\*[^*]+\*\*")
_FENCE: Final = re.compile(r"^ *(`{3,})", re.MULTILINE)
_UNDERLINES: Final = {"": "---", "left": ":--", "center": ":-:", "right": "--:"}


@dataclass(eq=False, slots=True)
class Block:
    """A finished block.

    Attributes:
        kind: one of the names above.
        lines: its lines, without an indentation.
        marker: of a list, the character behind or instead of its numbers: ``-``, ``*``, ``.`` or ``)``.
        interrupts: of a list, whether it may follow the line of a paragraph directly.
    """

    kind: str
    lines: Sequence[str]
    marker: str = ""
    interrupts: bool = False


@dataclass(eq=False, slots=True)
class Item:
    """An item of a list: its blocks, its number, and whether it holds paragraphs rather than bare text."""

    blocks: list[Block]
    number: int
    paragraphs: bool


def stack_blocks(blocks: list[Block], *, tight: bool = False) -> list[str]:
    """Lines of blocks below each other, with an empty line between them unless that would make a tight list loose."""
    lines: list[str] = []
    before: Block | None = None
    for block in blocks:
        if before is not None and not (tight and _may_follow(block, before)):
            lines.append("")
        lines += block.lines
        before = block
    return lines


def _may_follow(block: Block, before: Block) -> bool:
    if before.kind == PARAGRAPH and block.kind == LIST:
        return block.interrupts
    return block.kind in _MAY_FOLLOW_DIRECTLY[before.kind]


def write_quotation(blocks: list[Block]) -> Block:
    """A quotation of blocks."""
    return Block(QUOTE, [f"> {line}" if line else ">" for line in stack_blocks(blocks)])


def write_list(items: list[Item], *, ordered: bool, before: Block | None) -> Block:
    """A list; next to another list it takes another marker, or the two would be one."""
    marker = "." if ordered else "-"
    if before is not None and before.kind == LIST and before.marker == marker:
        marker = ")" if ordered else "*"
    tight = not any(item.paragraphs for item in items)
    lines: list[str] = []
    for place, item in enumerate(items):
        bullet = f"{item.number}{marker} " if ordered else f"{marker} "
        if place and not tight:
            lines.append("")
        content = stack_blocks(item.blocks, tight=tight) or [""]
        lines.append(f"{bullet}{content[0]}".rstrip() if not content[0] else bullet + content[0])
        indentation = " " * len(bullet)
        lines += [indentation + line if line else "" for line in content[1:]]
    interrupts = bool(items) and bool(items[0].blocks) and (not ordered or items[0].number == 1)
    return Block(LIST, lines, marker, interrupts)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell.

    Attributes:
        text: its contents as Markdown.
        head: whether it is one of a head: a ``th``, or in a ``thead``.
        columns, rows: how many it spans.
        alignment: ``left``, ``center`` or ``right``; "" for none.
    """

    text: str
    head: bool
    columns: int = 1
    rows: int = 1
    alignment: str = ""

    @classmethod
    def of(cls, element: _Element, lines: list[str]) -> Self:
        """Make the cell of a ``td`` or ``th`` with the given lines of Markdown."""
        row = element.getparent()
        section = row.getparent() if row is not None else None
        alignment = element.get("align", "").strip().lower()
        return cls(
            text="<br>".join(lines).replace("|", "\\|"),
            head=element.tag == "th" or (section is not None and section.tag == "thead"),
            columns=parse_span(element.get("colspan")),
            rows=parse_span(element.get("rowspan")),
            alignment=alignment if alignment in _UNDERLINES else "",
        )


def write_table(rows: list[list[Cell]]) -> list[Block]:
    """Write rows of cells as a table; nothing where there is no text."""
    placed = drop_empty_columns(place_cells([(cell, cell.columns, cell.rows) for cell in row] for row in rows if row))
    if not any(cell.text for row in placed for cell in row if cell):
        return []
    width = max(map(len, placed))
    alignments = [""] * width
    for row in reversed(placed):
        for column, cell in enumerate(row):
            if cell:
                alignments[column] = cell.alignment
    if not all(cell.head for cell in placed[0] if cell) and not _is_bold_head(placed):
        placed.insert(0, [])
    least = width if width * len(placed) <= MAX_PLACES else 0  # shorter rows end in empty cells, too
    head, *body = ([cell.text if cell else "" for cell in row] for row in placed)
    underlines = [_UNDERLINES[alignment] for alignment in alignments]
    return [Block(TABLE, [_line(head, width), _line(underlines, width), *(_line(row, least) for row in body)])]


def _is_bold_head(rows: list[list[Cell | None]]) -> bool:
    """Whether the first row, and not the second one, is bold: a head to its readers, without markup that says so."""
    first, second = ([bool(_BOLD.fullmatch(cell.text)) for cell in row if cell] for row in (*rows[:2], [], [])[:2])
    return len(first) > 1 and all(first) and bool(second) and not all(second)


def _line(cells: list[str], least: int) -> str:
    """A row with so many cells at least."""
    return f"| {' | '.join([*cells, *[''] * (least - len(cells))])} |"


def write_code_block(code: str, language: str) -> list[str]:
    """Write lines of code between fences longer than those in it."""
    longest = max((len(run) for run in _FENCE.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{language}", *(code.split("\n") if code else []), fence]


def write_heading(level: int, text: str) -> str:
    """Write a heading of level 1 to 6; number signs at its end are text."""
    return f"{'#' * level} {_CLOSING.sub(_escaped_closing, text)}"


def _escaped_closing(found: re.Match[str]) -> str:
    return f"{found[1]}\\{found[2]}"
