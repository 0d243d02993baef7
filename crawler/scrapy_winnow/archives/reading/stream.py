"""The bytes of an archive, from wherever they come; the last record's are held, to go on behind a damaged one."""

from __future__ import annotations

import sys
import time
from typing import IO, TYPE_CHECKING, Final, cast

from fastwarc.warc import ArchiveIterator

from scrapy_winnow.archives.reading.addresses import BLOCK, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from types import TracebackType
    from typing import BinaryIO, Self

    from fastwarc.warc import WarcRecord

STANDARD_INPUT: Final = "-"

_PLAIN: Final = b"WARC/1."
_BEGINNINGS: Final = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", _PLAIN)
"""What a record can begin with: a member of gzip, a frame of zstd or lz4, or itself."""

_MOST_HELD: Final = 64 << 20  # bytes; of a longer record the end is held
_LARGEST_HEADER: Final = 1 << 20  # bytes
_CHUNK: Final = 1 << 16
_TRIES: Final = 3
_PAUSE: Final = 1.0  # seconds before a source is opened again, twice as long each time


class ArchiveStream:
    """Reads an archive from its beginning; a source that can be opened again is, where it breaks down.

    Args:
        source: path, address that fsspec opens, or ``-`` for standard input.
        begin: where reading begins, in bytes.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, source: str, begin: int = 0) -> None:
        self._source = source
        self._block = BLOCK
        self._held = bytearray()
        self._held_at = self._place = begin
        self._beginning: bytes | None = None
        if begin:
            with opened(source, block=len(_PLAIN)) as start:
                self._see(start.read(len(_PLAIN)))
        self._opened: IO[bytes] | None = self._open()

    def _open(self) -> IO[bytes]:
        """Open the source behind what was read of it."""
        if self._source == STANDARD_INPUT:
            return sys.stdin.buffer
        return opened(self._source, self._held_at + len(self._held), self._block)

    def _close(self) -> None:
        if self._opened is not None and self._source != STANDARD_INPUT:
            self._opened.close()
        self._opened = None

    def tell(self) -> int:
        """Bytes from the beginning of the archive."""
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Read on; ``b""`` at the end."""
        behind = self._place - self._held_at
        if behind >= len(self._held):
            self._hold(self._more(size))
        given = bytes(self._held[behind : behind + size] if size >= 0 else self._held[behind:])
        self._place += len(given)
        return given

    def forget(self, place: int) -> None:
        """Hold nothing that stands before a place any more."""
        before = min(place - self._held_at, len(self._held))
        if before > 0:
            del self._held[:before]
            self._held_at += before

    def go_on_behind(self, place: int) -> int | None:
        """Go to the next place where a record may begin, and return it; ``None`` where there is none to the end."""
        if self._beginning is None:
            return None
        self.forget(place + 1)
        while (found := self._held.find(self._beginning)) < 0:
            self.forget(self._held_at + len(self._held) - len(self._beginning) + 1)
            more = self._more(_CHUNK)
            if not more:
                return None
            self._held += more
        self.forget(self._held_at + found)
        self._place = self._held_at
        return self._place

    @property
    def is_compressed(self) -> bool:
        """Whether it begins as compressed files do."""
        return self._beginning not in {None, _PLAIN}

    def begins_record(self, place: int) -> bool:
        """Whether a place looks like the beginning of a record as the first one's does."""
        return self._beginning is None or self._held.startswith(self._beginning, place - self._held_at)

    def held(self, place: int) -> bytes:
        """What was read from a place on, as far as it is held."""
        return bytes(self._held[max(place - self._held_at, 0) :])

    def _hold(self, more: bytes) -> None:
        if self._beginning is None:
            self._see(more)
        self._held += more
        if len(self._held) > _MOST_HELD:
            self.forget(self._held_at + len(self._held) - _MOST_HELD // 2)

    def _see(self, first: bytes) -> None:
        self._beginning = next((each for each in _BEGINNINGS if first.startswith(each)), None)

    def _more(self, size: int) -> bytes:
        """Read from the source, which is opened again where it breaks down on the way."""
        for attempt in range(_TRIES):
            try:
                if self._opened is None:
                    self._opened = self._open()
                if self._source == STANDARD_INPUT:  # what is there, so that a slow pipe holds up nothing that has come
                    return cast("BufferedReader", self._opened).read1(size)
                return self._opened.read(size)
            # File systems fail in ways of their own.
            except Exception as error:
                if self._source == STANDARD_INPUT or attempt == _TRIES - 1:
                    raise
                if isinstance(error, ValueError):  # as a server is told that does not give parts of files
                    self._block = 0
                else:
                    time.sleep(_PAUSE * 2**attempt)
                self._close()
        raise AssertionError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        self._close()


def records_of(stream: ArchiveStream) -> Iterator[WarcRecord]:
    """Go through the records from here on."""
    source = cast("BinaryIO", stream)  # it neither seeks nor closes what it is given
    return ArchiveIterator(source, parse_http=True, auto_decode="all", max_header_len=_LARGEST_HEADER)
