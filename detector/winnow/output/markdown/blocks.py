"""The blocks of a Markdown document: paragraphs, lists and the like as lines, and how they stand below each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def stacked(blocks: list[Block], *, tight: bool = False) -> list[str]:
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


def quote(blocks: list[Block]) -> Block:
    """A quotation of blocks."""
    return Block(QUOTE, [f"> {line}" if line else ">" for line in stacked(blocks)])


def listing(items: list[Item], *, ordered: bool, before: Block | None) -> Block:
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
        content = stacked(item.blocks, tight=tight) or [""]
        lines.append(f"{bullet}{content[0]}".rstrip() if not content[0] else bullet + content[0])
        indentation = " " * len(bullet)
        lines += [indentation + line if line else "" for line in content[1:]]
    interrupts = bool(items) and bool(items[0].blocks) and (not ordered or items[0].number == 1)
    return Block(LIST, lines, marker, interrupts)
