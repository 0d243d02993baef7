"""Tables as GitHub's Markdown writes them: a head, a line under it, and as many cells in every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from winnow.output.markdown.blocks import TABLE, Block
from winnow.output.tables.grid import grid, span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element

_UNDERLINES: Final = {"": "---", "left": ":--", "center": ":-:", "right": "--:"}


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
            columns=span(element.get("colspan")),
            rows=span(element.get("rowspan")),
            alignment=alignment if alignment in _UNDERLINES else "",
        )


def table(rows: list[list[Cell]]) -> list[Block]:
    """Write rows of cells as a table; nothing where there is no text."""
    placed = grid([[(cell, cell.columns, cell.rows) for cell in row] for row in rows if row])
    if not any(cell.text for row in placed for cell in row if cell):
        return []
    width = len(placed[0])
    alignments = [next((row[column].alignment for row in placed if row[column]), "") for column in range(width)]  # type: ignore[union-attr]
    if not all(cell.head for cell in placed[0] if cell):
        placed.insert(0, [None] * width)
    lines = [_line(cell.text if cell else "" for cell in row) for row in placed]
    lines.insert(1, _line(_UNDERLINES[alignment] for alignment in alignments))
    return [Block(TABLE, lines)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
