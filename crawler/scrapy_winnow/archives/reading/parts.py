"""Large archives in parts, each read for itself, so that several processes work on one file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from scrapy_winnow.archives.reading.stream import ArchiveStream, records_of

PART_BYTES: Final = 8 << 20
"""Length of a part as it is stored, some hundred pages."""


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


def parts_of(source: str, part_bytes: int | None = None) -> list[Part]:
    """Divide an archive, if it is a file on this machine whose records are compressed one by one."""
    length = PART_BYTES if part_bytes is None else part_bytes
    file = Path(source)
    size = file.stat().st_size if file.is_file() else 0
    if size <= length or not _is_compressed_by_record(source):
        return [Part(source)]
    begins = range(0, size, length)
    return [Part(source, begin, begin + length if begin + length < size else None) for begin in begins]


def _is_compressed_by_record(source: str) -> bool:
    """Whether the first records are: what ends in ``.gz`` may as well have been compressed as a whole."""
    try:
        with ArchiveStream(source) as stream:
            places = [record.stream_pos for record in islice(records_of(stream), 3)]
            return stream.is_compressed and len(set(places)) == 3 and all(map(stream.begins_record, places))
    # What is wrong with it is said by who reads it.
    except Exception:
        return False
