"""Whether an archive was read to its end: readers take a file that breaks off for one that has ended."""

from __future__ import annotations

import zlib
from typing import IO, Final

import fsspec

_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # of zlib: a gzip header is expected
_CHUNK: Final = 1 << 16


def what_is_missing(source: str, place: int) -> str | None:
    """Look at an archive from the last record on that was read.

    Args:
        source: path, or address that fsspec opens.
        place: where that record begins, in bytes as they are stored.

    Returns:
        What is wrong, or ``None`` for an archive that is whole, or of a kind that is not looked at (zstd, lz4).
    """
    with fsspec.open(source, "rb") as stream:
        stream.seek(place)
        start = stream.read(len(_GZIP))
        stream.seek(place)
        if start == _GZIP:
            return _of_gzip(stream, place)
        return _of_plain(stream) if start == b"WA" else None


def _of_gzip(stream: IO[bytes], place: int) -> str | None:
    """Go through the members from here to the end of the file."""
    rest = stream.read(_CHUNK)
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
        place = stream.tell() - len(rest)
    return None


def _of_plain(stream: IO[bytes]) -> str | None:
    place = stream.tell()
    head, blank, body = stream.read(_CHUNK).partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and blank:
            length = int(value)
            stream.seek(place + len(head) + len(blank) + length)
            if len(body) >= length or stream.read(1):
                return None
    return f"breaks off in the record behind byte {place:,}"
