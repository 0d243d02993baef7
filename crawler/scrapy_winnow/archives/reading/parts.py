"""Large archives in parts, each read for itself, so that several processes work on one file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from scrapy_winnow.archives.reading.addresses import opened, size_of
from scrapy_winnow.archives.reading.stream import ArchiveStream, records_of

if TYPE_CHECKING:
    from collections.abc import Iterable

PART_BYTES: Final = 8 << 20
"""Least length of a part as it is stored, some hundred pages."""

MOST_PARTS: Final = 4_096
"""Parts of all archives together, about; of more bytes longer ones are made."""

_AT_ONCE: Final = 16  # archives that are looked at, for servers far away answer late


@dataclass(frozen=True, slots=True)
class Part:
    """The records of an archive that begin in a stretch of it.

    Attributes:
        source: path or address of the archive, ``-`` for standard input.
        begin: first byte.
        end: byte behind the last, ``None`` for the end of the archive.
    """

    source: str
    begin: int = 0
    end: int | None = None


def divided(sources: Iterable[str]) -> dict[str, list[Part]]:
    """Divide archives whose records are compressed one by one, on this machine or on servers that give parts of files.

    Args:
        sources: paths or addresses, each once.

    Returns:
        The parts of each archive, in their order; one where it is short or cannot be divided.
    """
    names = list(sources)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        sizes = list(threads.map(size_of, names))
        length = max(PART_BYTES, sum(sizes) // MOST_PARTS)
        parts = threads.map(lambda source, size: parts_of(source, size, length), names, sizes)
        return dict(zip(names, parts, strict=True))


def parts_of(source: str, size: int, length: int) -> list[Part]:
    """Divide an archive of so many bytes into parts of such a length, if it can be."""
    if size <= length or not _can_be_divided(source, size):
        return [Part(source)]
    begins = range(0, size, length)
    return [Part(source, begin, begin + length if begin + length < size else None) for begin in begins]


def _can_be_divided(source: str, size: int) -> bool:
    """Whether its records are compressed one by one, by the first of them, and it can be read from a place."""
    try:
        with ArchiveStream(source) as stream:
            places = [record.stream_pos for record in islice(records_of(stream), 3)]
            if not stream.is_compressed or len(set(places)) < 3 or not all(map(stream.begins_record, places)):
                return False
        with opened(source, size - 1, block=1) as end:
            return len(end.read(1)) == 1
    # What is wrong with it is said by who reads it.
    except Exception:
        return False
