"""Tables as GitHub's Markdown writes them: a head, a line under it, and as many cells in every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from winnow.output.markdown.blocks import TABLE, Block
from winnow.output.tables.grid import MOST_PLACES, grid, span

if TYPE_CHECKING:
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
    placed = list(grid([(cell, cell.columns, cell.rows) for cell in row] for row in rows if row))
    if not any(cell.text for row in placed for cell in row if cell):
        return []
    width = max(map(len, placed))
    alignments = [""] * width
    for row in reversed(placed):
        for column, cell in enumerate(row):
            if cell:
                alignments[column] = cell.alignment
    if not all(cell.head for cell in placed[0] if cell):
        placed.insert(0, [])
    least = width if width * len(placed) <= MOST_PLACES else 0  # shorter rows end in empty cells, too
    head, *body = ([cell.text if cell else "" for cell in row] for row in placed)
    underlines = [_UNDERLINES[alignment] for alignment in alignments]
    return [Block(TABLE, [_line(head, width), _line(underlines, width), *(_line(row, least) for row in body)])]


def _line(cells: list[str], least: int) -> str:
    """A row with so many cells at least."""
    return f"| {' | '.join([*cells, *[''] * (least - len(cells))])} |"
