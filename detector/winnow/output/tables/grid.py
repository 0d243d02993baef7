"""The columns of a table, where cells reach over several of them, or over several rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_COLUMNS: Final = 1_000  # as in HTML

MOST_PLACES: Final = 200_000
"""Places of a table up to which its spans are heeded; a few bytes of HTML can ask for millions."""

Contents = TypeVar("Contents")


def span(value: str | None) -> int:
    """Read a ``rowspan`` or ``colspan``; 1 for what is none."""
    text = (value or "").strip()
    return min(max(int(text), 1), MOST_COLUMNS) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def grid(rows: Iterable[Iterable[tuple[Contents, int, int]]]) -> Iterator[list[Contents | None]]:
    """Put every cell into the first of its columns.

    Args:
        rows: cells in document order, each with how many columns and rows it spans.

    Yields:
        Each row up to its last cell; ``None`` stands where another cell reaches over. Every cell is in one place, also
        where there are more columns or places than are heeded.
    """
    covered: dict[int, int] = {}  # by column: rows still to come that a cell from above reaches over
    filled = 0
    for row in rows:
        places: list[Contents | None] = []
        for contents, columns, reach in row:
            while len(places) in covered:
                places.append(None)
            first = len(places)
            full = filled + first + columns > MOST_PLACES
            width = 1 if full or first + columns > MOST_COLUMNS else columns
            places += [contents, *[None] * (width - 1)]
            if full:
                covered.clear()
            elif reach > 1 or covered:
                covered |= dict.fromkeys(range(first, len(places)), reach)
        filled += len(places)
        covered = {column: left - 1 for column, left in covered.items() if left > 1}
        yield places
