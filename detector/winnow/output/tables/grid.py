"""The columns of a table, where cells reach over several of them, or over several rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_COLUMNS: Final = 1_000  # as in HTML

Contents = TypeVar("Contents")


def span(value: str | None) -> int:
    """Read a ``rowspan`` or ``colspan``; 1 for what is none."""
    text = (value or "").strip()
    return min(max(int(text), 1), MOST_COLUMNS) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def grid(rows: Iterable[Sequence[tuple[Contents, int, int]]]) -> list[list[Contents | None]]:
    """Put every cell into the first of its columns.

    Args:
        rows: cells in document order, each with how many columns and rows it spans.

    Returns:
        Rows of equal length; ``None`` stands where another cell reaches over, or none is.
    """
    placed: list[list[Contents | None]] = []
    covered: list[int] = []  # by column: rows still to come that a cell from above reaches over
    for row in rows:
        places: list[Contents | None] = []
        for contents, columns, reach in row:
            while len(places) < len(covered) and covered[len(places)]:
                places.append(None)
            first = len(places)
            if first + columns > MOST_COLUMNS:
                break
            places += [contents, *[None] * (columns - 1)]
            covered += [0] * (len(places) - len(covered))
            covered[first : len(places)] = [reach] * columns
        covered = [max(left - 1, 0) for left in covered]
        placed.append(places)
    width = max(map(len, placed), default=0)
    return [row + [None] * (width - len(row)) for row in placed]
