"""Tables as GitHub's Markdown writes them: a head, a line under it, and as many cells in every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from winnow.output.markdown.blocks import TABLE, Block

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element

MOST_COLUMNS: Final = 1_000  # as in HTML
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


def span(value: str | None) -> int:
    """Read a ``rowspan`` or ``colspan``; 1 for what is none."""
    text = (value or "").strip()
    return min(max(int(text), 1), MOST_COLUMNS) if text.isascii() and text.isdigit() else 1


def table(rows: list[list[Cell]]) -> list[Block]:
    """Write rows of cells as a table; nothing where there is no text."""
    grid = _grid([row for row in rows if row])
    width = max(map(len, grid), default=0)
    grid = [row + [None] * (width - len(row)) for row in grid]
    if not any(cell.text for row in grid for cell in row if cell):
        return []
    alignments = [next((row[column].alignment for row in grid if row[column]), "") for column in range(width)]  # type: ignore[union-attr]
    if not all(cell.head for cell in grid[0] if cell):
        grid.insert(0, [None] * width)
    lines = [_line(cell.text if cell else "" for cell in row) for row in grid]
    lines.insert(1, _line(_UNDERLINES[alignment] for alignment in alignments))
    return [Block(TABLE, lines)]


def _grid(rows: list[list[Cell]]) -> list[list[Cell | None]]:
    """Put every cell into its column; ``None`` stands where another cell reaches over, or none is."""
    grid: list[list[Cell | None]] = []
    covered: list[int] = []  # by column: rows still to come that a cell from above reaches over
    for row in rows:
        places: list[Cell | None] = []
        cells = iter(row)
        while (cell := next(cells, None)) is not None:
            while len(places) < len(covered) and covered[len(places)]:
                places.append(None)
            first = len(places)
            places += [cell, *[None] * (cell.columns - 1)]
            covered += [0] * (len(places) - len(covered))
            covered[first : len(places)] = [cell.rows] * cell.columns
            if len(places) >= MOST_COLUMNS:
                break
        covered = [max(left - 1, 0) for left in covered]
        grid.append(places[:MOST_COLUMNS])
    return grid


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
