"""Whether an archive was read to its end: readers take a file that breaks off for one that has ended."""

from __future__ import annotations

import zlib
from typing import IO, Final

_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # of zlib: a gzip header is expected
_CHUNK: Final = 1 << 16


def what_is_missing(stream: IO[bytes], place: int) -> str | None:
    """Look at what an archive holds from the last record on that was read.

    Args:
        stream: begins with that record.
        place: where that is in the archive, in bytes as they are stored.

    Returns:
        What is wrong, or ``None`` for an archive that is whole, or of a kind whose reader notices (zstd, lz4).
    """
    start = stream.read(_CHUNK)
    if start.startswith(_GZIP):
        return _of_gzip(start, stream, place)
    return _of_plain(start, stream, place) if start.startswith(b"WA") else None


def _of_gzip(rest: bytes, stream: IO[bytes], place: int) -> str | None:
    """Go through the members from here to the end of the file."""
    begin = place
    while rest:
        member = zlib.decompressobj(_GZIP_WINDOW)
        while rest and not member.eof:
            try:
                member.decompress(rest, _CHUNK)
            except zlib.error as error:
                return f"damaged behind byte {place:,}: {error}"
            rest = member.unconsumed_tail or member.unused_data or stream.read(_CHUNK)
        if not member.eof:
            return f"breaks off in the record behind byte {place:,}"
        rest = member.unused_data or rest
        rest = rest.lstrip(b"\0") or stream.read(_CHUNK)
        place = begin + stream.tell() - len(rest)
    return None


def _of_plain(start: bytes, stream: IO[bytes], place: int) -> str | None:
    head, blank, body = start.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and blank and len(body) + len(stream.read()) >= int(value):
            return None
    return f"breaks off in the record behind byte {place:,}"
