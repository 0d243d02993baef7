"""The files that come out of a run: near-duplicates are marked in the order of the pages."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from scrapy_winnow.archives.writers import FORMATS
from winnow.duplicates.index import MemoryIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from scrapy_winnow.archives.destination import Destination
    from scrapy_winnow.archives.job import Options, Summary
    from scrapy_winnow.archives.rows import Row

_FOREVER: Final = 1 << 31  # seconds; in an archive no document is too old to be repeated


class Output:
    """Writes the rows of archives, each archive's to a file that is there once it has all of them.

    Args:
        destination: of the files.
        options: what the run is to do.
        summary: pages and near-duplicates are added to it.
    """

    def __init__(self, destination: Destination, options: Options, summary: Summary) -> None:
        self._destination = destination
        self._ending, self._writer = FORMATS[options.format]
        self._outputs = options.outputs
        self._summary = summary
        self._index = MemoryIndex(ttl=_FOREVER) if options.duplicates else None

    @contextmanager
    def file(self, name: str) -> Iterator[Callable[[Row], None]]:
        """Open the file of an archive; what is given takes one row at a time."""
        with self._destination.file(f"{name}{self._ending}") as making, self._writer(making, self._outputs) as writer:

            def write(row: Row) -> None:
                row["duplicate_of"] = self.original_of(str(row["url"]), shingles_of(row))
                self._summary.pages += 1
                self._summary.duplicates += row["duplicate_of"] is not None
                writer.write(row)

            yield write

    def original_of(self, url: str, shingles: NDArray[np.uint64]) -> str | None:
        """Enter a page, and return the earlier one with the same story; ``None`` where that is not asked."""
        return None if self._index is None else self._index.decide(url, shingles, now=0).duplicate_of


def shingles_of(row: Row) -> NDArray[np.uint64]:
    """The shingles of a row as numbers."""
    return np.array([int(shingle, 16) for shingle in cast("list[str]", row["shingles"])], np.uint64)
