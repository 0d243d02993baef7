"""The body of an HTTP message, decoded as far as it goes: crawlers cut bodies, decode them and keep the headers."""

from __future__ import annotations

import io
import re
import zlib
from typing import IO, TYPE_CHECKING, Final

from fastwarc.stream_io import BrotliReader, ZstdReader

from tamis.page.parsing import is_binary

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastwarc.stream_io import WarcReader

_PIECE, _SHORT_PIECE = 1 << 14, 1 << 6
_CHUNK_SIZE: Final = re.compile(rb"\r?\n?([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\n]{0,1000})?\r?\n")
"""The line before a chunk, with the end of the chunk before it."""

_AUTOMATIC: Final = 32 + zlib.MAX_WBITS  # the format of gzip, or that of zlib
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT: Final = 1_024


class UndecodableError(ValueError):
    """A body is neither in the coding that its headers name nor text."""


def decode_body(body: bytes, codings: str, max_bytes: int) -> bytes:
    """Decode a body by its codings, the last one first, to a little more than ``max_bytes`` at most.

    What is cut or damaged is decoded up to there. What is not in a coding at all is taken as it is if it looks like
    text.

    Args:
        body: as it is in the archive.
        codings: values of ``Content-Encoding`` and ``Transfer-Encoding``, separated by commas.
        max_bytes: limit of the decoded body.

    Raises:
        UndecodableError: it is not in one of the codings, and no text.
    """
    named = [coding.strip() for coding in reversed(codings.lower().split(","))]
    missed = []
    for coding in filter(_DECODERS.__contains__, named):
        decoded = _DECODERS[coding](body, max_bytes)
        missed += [] if decoded else [coding]
        body = decoded or body
    if missed and body.strip() and not _is_text(body):
        raise UndecodableError(f"not {missed[0]}, as its headers say")
    return body


def _is_text(body: bytes) -> bool:
    begin = body[:_LOOKED_AT]
    is_utf16 = begin.startswith((b"\xff\xfe", b"\xfe\xff"))
    return not is_binary(body) and (is_utf16 or _CONTROLS.search(begin) is None)


def _join_chunks(body: bytes, _: int) -> bytes:
    """Take chunks apart, to the end of the last one that begins."""
    chunks, at = [], 0
    while (line := _CHUNK_SIZE.match(body, at)) is not None and (size := int(line[1], 16)):
        chunks.append(body[line.end() : line.end() + size])
        at = line.end() + size
    return b"".join(chunks)


def _inflate(body: bytes, max_bytes: int) -> bytes:
    """Decompress members of gzip or of zlib."""
    whole, at = bytearray(), 0
    while at < len(body) and len(whole) <= max_bytes:
        found, at = _inflate_one(body, at, zlib.decompressobj(_AUTOMATIC), max_bytes)
        whole += found
    return bytes(whole)


def _inflate_any(body: bytes, max_bytes: int) -> bytes:
    """Decompress gzip or zlib, or a raw deflate stream, which some servers send."""
    if found := _inflate(body, max_bytes):
        return found
    found, _ = _inflate_one(body, 0, zlib.decompressobj(-zlib.MAX_WBITS), max_bytes)
    return found if _is_text(found) else b""


def _inflate_one(body: bytes, at: int, inflating: zlib._Decompress, max_bytes: int) -> tuple[bytes, int]:
    """Decompress from ``at`` to the end of a member or the first fault; return that, and where another may begin."""
    found, size = bytearray(), _PIECE
    while at < len(body) and not inflating.eof and len(found) <= max_bytes:
        before = inflating.copy()
        try:
            found += inflating.decompress(body[at : at + size])
            at += size
        except zlib.error:
            if size == 1:
                break
            inflating, size = before, 1  # up to the very byte
    return bytes(found), min(at, len(body)) - len(inflating.unused_data) if inflating.eof else len(body)


def _reader(kind: Callable[[IO[bytes]], WarcReader]) -> Callable[[bytes, int], bytes]:
    def decode(body: bytes, max_bytes: int) -> bytes:
        found = bytearray()
        for size in (_PIECE, _SHORT_PIECE):
            stream = kind(io.BytesIO(body))
            found.clear()
            try:
                while len(found) <= max_bytes and (more := stream.read(size)):
                    found += more
                break
            except OSError:  # it is cut, or damaged in the piece that follows
                pass
        return bytes(found)

    return decode


_DECODERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    **dict.fromkeys(("gzip", "x-gzip"), _inflate),
    "deflate": _inflate_any,
    "br": _reader(BrotliReader),
    "zstd": _reader(ZstdReader),
    "chunked": _join_chunks,
}
