"""The elements of a page that are open while Markdown is written, and what each becomes when it closes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from winnow.output.markdown.blocks import LIST, PARAGRAPH, Block, Item, listing, quote
from winnow.output.markdown.tables import Cell, table

if TYPE_CHECKING:
    from lxml.etree import _Element


@dataclass(eq=False)
class Frame:
    """An open element that holds blocks: the document, or one of the kinds below.

    Attributes:
        element: the element; ``None`` for the document, and for an item that has no ``li`` of its own.
        blocks: what has been finished inside it.
    """

    element: _Element | None
    blocks: list[Block] = field(default_factory=list)

    def finished(self) -> list[Block]:
        """Return what it has become, for the frame around it."""
        return self.blocks


@dataclass(eq=False)
class QuoteFrame(Frame):
    """A ``blockquote``."""

    def finished(self) -> list[Block]:  # noqa: D102
        return [quote(self.blocks)] if self.blocks else []


@dataclass(eq=False)
class ListFrame(Frame):
    """A list; ``number`` is that of its next item, ``step`` -1 where it counts down."""

    ordered: bool = False
    number: int = 1
    step: int = 1
    items: list[Item] = field(default_factory=list)
    before: Block | None = None

    def finished(self) -> list[Block]:  # noqa: D102
        return [listing(self.items, ordered=self.ordered, before=self.before)] if self.items else []


@dataclass(eq=False)
class ItemFrame(Frame):
    """An item of a list; ``paragraphs`` says whether it holds any, rather than bare text."""

    paragraphs: bool = False


@dataclass(eq=False)
class TableFrame(Frame):
    """A table; what does not stand in a cell, as its caption, stands before it."""

    rows: list[list[Cell]] = field(default_factory=list)

    def finished(self) -> list[Block]:  # noqa: D102
        return [*self.blocks, *table(self.rows)]


@dataclass(eq=False)
class CellFrame(Frame):
    """A cell; its blocks are lines."""

    def cell(self) -> Cell:
        """Return the cell that it has become."""
        assert self.element is not None  # noqa: S101  (only elements make cells)
        lines = [line for block in self.blocks if block.kind in {PARAGRAPH, LIST} for line in block.lines]
        return Cell.of(self.element, lines)
