"""Read the pages of WARC files, local or remote, in any usual compression, and go on after damaged records."""

from __future__ import annotations

import gzip
import io
import re
import sys
import time
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice, repeat
from typing import IO, TYPE_CHECKING, Final, cast

from fastwarc.stream_io import GzipReader, Lz4Reader, ZstdReader
from fastwarc.warc import ArchiveIterator, WarcRecordType
from w3lib.encoding import http_content_type_encoding

from scrapy_tamis.archives.addresses import READ_BYTES, describe, open_source, size_of
from scrapy_tamis.archives.bodies import UndecodableError, decode_body
from scrapy_tamis.fetching import STANDARD_INPUT
from scrapy_tamis.storage.keys import site_of
from tamis.page.page import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from io import BufferedReader
    from typing import BinaryIO

    from fastwarc.warc import WarcRecord

    from scrapy_tamis.storage.evidence import HashedPage

MIN_PART_BYTES: Final = 8 << 20
"""Least length of a part of an archive as it is stored, some hundred pages."""

MAX_PARTS: Final = 4_096
"""Parts of all archives together, about; above that, parts get longer."""

DAMAGED: Final = "damaged"
"""Why a record is skipped that cannot be read."""

ENDED_PROCESS: Final = "the process that worked on it has ended"
"""Why a page is skipped: out of memory, or by a fault of a library."""

_PLAIN: Final = b"WARC/1."
_PLAIN_OF_OLD: Final = b"WARC/0."
_GZIP: Final = b"\x1f\x8b\x08"
_RECORD_STARTS: Final = (_GZIP, b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", _PLAIN, _PLAIN_OF_OLD)
"""How a record can begin: with a member of gzip, a frame of zstd or lz4, or uncompressed."""

_READERS: Final = {_GZIP: GzipReader, b"\x28\xb5\x2f\xfd": ZstdReader, b"\x04\x22\x4d\x18": Lz4Reader}

_OTHERS: Final = (
    (rb"filedesc://", "an ARC file, of the time before WARC: warcio recompress makes a WARC file of it"),
    (rb"PK\x03\x04", "a ZIP file, as WACZ is: unzip it, and give the WARC files in its folder archive"),
    (rb"BZh", "compressed with bzip2: unpack it with bunzip2 first"),
    (rb"\xfd7zXZ", "compressed with xz: unpack it with unxz first"),
    (rb"(?s)\s*<", "HTML or XML: tamis clean cleans pages"),
    (rb"(?s)\s*[\[{]", "JSON"),
)
"""How files begin that are taken for WARC, and what they are."""

_BLANK: Final = b"\0\r\n "
_BLANKS: Final = 16  # bytes at the end of an archive that tell of more
_LOOKED_AT: Final = 4_096

_MAX_HELD_BYTES: Final = 64 << 20  # of a longer record the end is held
_MAX_HEADER_BYTES: Final = 1 << 20
_CHUNK: Final = 1 << 16
_TRIES: Final = 3
_RETRY_PAUSE_S: Final = 1.0  # doubled with each try
_PROBES_AT_ONCE: Final = 16  # remote servers answer slowly

_STATUS: Final = re.compile(r"\s{0,9}\S{1,99}\s{1,9}(\d)\d\d\b")
"""A status line, whatever its protocol; its class."""

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_PAGES: Final = WarcRecordType.response | WarcRecordType.resource | WarcRecordType.conversion | WarcRecordType.revisit


class ArchiveStream:
    """Reads the bytes of a :class:`Part`; holds those of the last record, to resume after a damaged one.

    A source that breaks down is opened again at the same offset, unless it is standard input. Offsets are those in the
    archive, in bytes. Records begin with ``record_start``, by default as the first one does that is read.
    """

    def __init__(self, part: Part) -> None:
        self._source = part.source
        self._read_bytes = READ_BYTES
        self._held = bytearray()
        self._held_at = self._place = part.begin
        self.record_start = part.record_start
        self.has_bare_newlines = False
        self._opened: IO[bytes] | None = self._open()

    def _open(self) -> IO[bytes]:
        """Open the source at the first byte that was not read."""
        if self._source == STANDARD_INPUT:
            return sys.stdin.buffer
        return open_source(self._source, self._held_at + len(self._held), self._read_bytes)

    def close(self) -> None:
        """Close the source, unless it is standard input."""
        if self._opened is not None and self._source != STANDARD_INPUT:
            self._opened.close()
        self._opened = None

    def tell(self) -> int:
        """Return the offset of what is read next."""
        return self._place

    def read(self, size: int) -> bytes:
        """Read on; ``b""`` at the end."""
        offset = self._place - self._held_at
        if offset >= len(self._held):
            more = self._read_source(size)
            if self.record_start is None:  # a byte order mark, or what else there is before it, is passed over
                found = ((more.find(start), start) for start in _RECORD_STARTS)
                self.record_start = min(((at, start) for at, start in found if at >= 0), default=(0, None))[1]
            self._held += more
            if len(self._held) > _MAX_HELD_BYTES:
                self.forget_before(self._held_at + len(self._held) - _MAX_HELD_BYTES // 2)
                offset = self._place - self._held_at
        content = bytes(self._held[offset : offset + size])
        self._place += len(content)
        return content

    def forget_before(self, place: int) -> None:
        """Release the bytes before an offset."""
        before = min(place - self._held_at, len(self._held))
        if before > 0:
            del self._held[:before]
            self._held_at += before

    def seek_record(self, place: int) -> int | None:
        """Go to the next offset after ``place`` where a record may begin, and return it; ``None`` if there is none."""
        while self.record_start is None:
            if not self.read(_CHUNK):
                return None
        self.forget_before(place + 1)
        if self.is_plain:  # of beginnings before the end of a header, only the last can be that of a record
            end = self._held.find(b"\n\n" if self.has_bare_newlines else b"\n\r\n")
            self.forget_before(self._held_at + max(self._held.rfind(self.record_start, 0, end), 0))
        while (found := self._held.find(self.record_start)) < 0:
            self.forget_before(self._held_at + len(self._held) - len(self.record_start) + 1)
            more = self._read_source(_CHUNK)
            if not more:
                return None
            self._held += more
        self.forget_before(self._held_at + found)
        self._place = self._held_at
        return self._place

    def look(self) -> str | None:
        """Look at the beginning of what is read next: at its line ends, and whether it is something else than WARC."""
        place = self._place
        first = self.read(_CHUNK)
        self._place = place
        for start, reader in _READERS.items():
            if first.startswith(start):
                with suppress(OSError):
                    first = reader(io.BytesIO(first)).read(_LOOKED_AT)
        self.has_bare_newlines = re.match(rb"[^\r\n]*\n", first) is not None
        return next((what for start, what in _OTHERS if re.match(start, first)), None)

    def is_blank_from(self, place: int) -> bool:
        """Whether an offset is that of the last record, which is whole, with nothing but zeros and blanks after it."""
        while not self._held[-_BLANKS:].strip(_BLANK) and (more := self._read_source(_CHUNK)):
            self._held += more
        last = self.held_from(place)
        if self._held[-_BLANKS:].strip(_BLANK):
            return False
        if not last.startswith(_GZIP):
            return find_truncation(last.rstrip(b"\0"), place) is None
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        with suppress(zlib.error):
            for at in range(0, len(last), _CHUNK):
                member.decompress(last[at : at + _CHUNK])
                if member.eof:
                    return not (member.unused_data + last[at + _CHUNK :]).strip(_BLANK)
        return False

    @property
    def is_plain(self) -> bool:
        """Whether the records are not compressed."""
        return self.record_start in {_PLAIN, _PLAIN_OF_OLD}

    def begins_record(self, place: int) -> bool:
        """Whether the bytes at an offset look like the beginning of a record, by those of the first one."""
        return self.record_start is None or self._held.startswith(self.record_start, place - self._held_at)

    def held_from(self, place: int) -> bytes:
        """Return what was read from an offset on, as far as it is held."""
        return bytes(self._held[max(place - self._held_at, 0) :])

    def _read_source(self, size: int) -> bytes:
        for attempt in range(_TRIES):
            try:
                if self._opened is None:
                    self._opened = self._open()
                if self._source == STANDARD_INPUT:  # take what is there: a slow pipe must not delay what has come
                    return cast("BufferedReader", self._opened).read1(size)
                return self._opened.read(size)
            except Exception as error:  # every file system raises its own kinds
                if self._source == STANDARD_INPUT or attempt == _TRIES - 1:
                    raise
                if isinstance(error, ValueError):  # fsspec's error for a server that ignores ranges
                    self._read_bytes = 0
                else:
                    time.sleep(_RETRY_PAUSE_S * 2**attempt)
                self.close()
        raise AssertionError

    def records(self) -> Iterator[WarcRecord]:
        """Go through the records from here on."""
        source = cast("BinaryIO", self)  # it neither seeks nor closes its source
        return ArchiveIterator(
            source, parse_http=False, max_header_len=_MAX_HEADER_BYTES, quirks_mode=self.has_bare_newlines
        )


@dataclass(frozen=True, slots=True)
class Part:
    """The records of an archive that begin between two offsets; several processes can work on one archive.

    Attributes:
        source: path or address of the archive, ``-`` for standard input.
        begin: first byte.
        end: the byte after the last; ``None`` for the end of the archive.
        record_start: how a record begins in an archive that was split.
        skip: offsets of records that end the process that works on them.
    """

    source: str
    begin: int = 0
    end: int | None = None
    record_start: bytes | None = None
    skip: frozenset[int] = frozenset()


def split_archives(sources: Iterable[str]) -> dict[str, list[Part]]:
    """Split long archives whose records are compressed one by one, here or on servers that serve ranges."""
    names = list(sources)
    with ThreadPoolExecutor(_PROBES_AT_ONCE) as threads:
        sizes = list(threads.map(size_of, names))
        length = max(MIN_PART_BYTES, sum(sizes) // MAX_PARTS)
        return dict(zip(names, threads.map(split_archive, names, sizes, repeat(length)), strict=True))


def split_archive(source: str, size: int, length: int) -> list[Part]:
    """Split an archive of ``size`` bytes into parts of ``length`` bytes, if it can be split."""
    start = _find_record_start(source, size) if size > length else None
    if start is None:
        return [Part(source)]
    begins = range(0, size, length)
    return [Part(source, begin, begin + length if begin + length < size else None, start) for begin in begins]


def _find_record_start(source: str, size: int) -> bytes | None:
    """Return how a record begins, if records are compressed one by one and the archive can be read from any offset."""
    try:
        with closing(ArchiveStream(Part(source))) as stream:
            places = {record.stream_pos for record in islice(stream.records(), 3)}
            if stream.is_plain or len(places) < 3 or not all(map(stream.begins_record, places)):
                return None
        with open_source(source, size - 1, read_bytes=1) as end:
            return stream.record_start if len(end.read(1)) == 1 else None
    except Exception:  # the reader will report what is wrong
        return None


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """One response of an archive, decompressed, with the ``WARC-Date`` and ``WARC-Record-ID`` of its record.

    ``place`` is the offset of its record; ``hashed`` is the page after the first pass, if it is kept without ``html``.
    """

    url: str
    host: str
    html: bytes
    charset: str | None
    date: str
    record_id: str
    place: int = 0
    hashed: HashedPage | None = None


class ArchiveReader:
    """Reads the pages of one WARC file, or of a part of it; gzip, zstd, lz4 or plain.

    Attributes:
        part: what it reads.
        skipped: records that are not pages, by reason.
        failed: pages that end the process that works on them, by that reason.
        first: the address of the first record of a reason that something is wrong with.
        broken: what is wrong with a file that could not be read to its end.
    """

    def __init__(self, part: Part, *, max_bytes: int = DEFAULT_LIMITS.max_bytes) -> None:
        self.part = part
        self._max_bytes = max_bytes
        self._damaged_at: int | None = None
        self.skipped: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.broken: str | None = None

    def __iter__(self) -> Iterator[ArchivedPage]:
        """Go through the pages; damaged records are skipped, and :attr:`broken` describes the first."""
        try:
            with closing(ArchiveStream(self.part)) as stream:
                yield from self._read_pages(stream)
        except Exception as error:  # every file system raises its own kinds
            self._note_broken(describe(error))

    def _read_pages(self, stream: ArchiveStream) -> Iterator[ArchivedPage]:
        part = self.part
        place = stream.seek_record(part.begin - 1) if part.begin else 0
        if (other := stream.look()) is not None:
            self._note_broken(f"no WARC file, but {other}")
            return
        while place is not None:
            begin = place
            try:
                for record in stream.records():
                    place = record.stream_pos
                    if part.end is not None and place >= part.end:
                        return
                    stream.forget_before(place)
                    if (page := self._page_of(record)) is not None:
                        yield page
            except Exception as error:  # the reader and its decompressors have many kinds of errors
                if place > begin and stream.is_blank_from(place):
                    return
                if (place > begin or not begin) and place != self._damaged_at:
                    self.skipped[DAMAGED] += 1
                    self._note_broken(f"damaged after byte {place:,}: {error}")
                place = stream.seek_record(place)
            else:
                self._check_end(stream, place)
                return

    def _check_end(self, stream: ArchiveStream, place: int) -> None:
        """Note whether an archive breaks off in its last record, which begins at ``place``, or has none."""
        if stream.record_start is None and stream.tell():
            self._note_broken("no WARC file: no record begins in it")
        elif stream.begins_record(place):
            self._note_broken(find_truncation(stream.held_from(place), place))
        elif stream.record_start == _GZIP and self.part.source != STANDARD_INPUT:
            with open_source(self.part.source) as archive:  # compressed as a whole: it is read once more
                self._note_broken(find_gzip_truncation(archive, 0))

    def _page_of(self, record: WarcRecord) -> ArchivedPage | None:
        if not record.record_type & _PAGES:
            return None
        try:
            page = _page_or_reason(record, self._max_bytes)
        except Exception:
            page, self._damaged_at = DAMAGED, record.stream_pos
        if isinstance(page, str):
            self._count(self.skipped, page, record.headers.get("WARC-Target-URI") or "")
        elif record.stream_pos in self.part.skip:
            self._count(self.failed, ENDED_PROCESS, page.url)
        else:
            return page
        return None

    def _count(self, counter: Counter[str], why: str, url: str) -> None:
        counter[why] += 1
        if why.startswith((DAMAGED, ENDED_PROCESS)):
            self.first.setdefault(why, url)

    def _note_broken(self, reason: str | None) -> None:
        self.broken = self.broken or reason


def _page_or_reason(record: WarcRecord, max_bytes: int) -> ArchivedPage | str:
    """Return the page of a record, or the reason why it is not one."""
    url = (record.headers.get("WARC-Target-URI") or "").strip().strip("<>")
    host = site_of(url)
    if host is None:
        return "no host"
    if record.is_http:
        record.parse_http(quirks_mode=True, max_header_len=_MAX_HEADER_BYTES)
    if (reason := _reason_in_headers(record)) is not None:
        return reason
    body, codings = record.reader.read(max_bytes + 1), ""
    if record.is_http_parsed:
        names = ("Content-Encoding", "Transfer-Encoding")
        codings = ",".join(value for name in names for value in record.http_headers.get_multiple(name))
    try:
        body = decode_body(body, codings, max_bytes)
    except UndecodableError as error:
        return f"{DAMAGED}: {error}"
    if len(body) > max_bytes:
        return "too large"
    if not body.strip():
        return "empty"
    charset = record.http_charset or http_content_type_encoding(record.headers.get("Content-Type"))  # of a resource
    date, record_id = record.headers.get("WARC-Date") or "", record.record_id or ""
    return ArchivedPage(url, host, body, charset, date, record_id, record.stream_pos)


def _reason_in_headers(record: WarcRecord) -> str | None:
    if record.record_type == WarcRecordType.conversion:
        return "already text, not HTML"
    if record.record_type == WarcRecordType.revisit:
        return "unchanged since an earlier record"
    if record.record_type == WarcRecordType.resource:  # the body alone, without HTTP headers
        content_type = record.headers.get("Content-Type")
    elif not record.is_http_parsed or (status := _STATUS.match(record.http_headers.status_line or "")) is None:
        return "no HTTP"
    elif status[1] != "2":
        return "not found, moved or refused"
    else:
        content_type = record.http_content_type or "text/html"
    return None if (content_type or "").partition(";")[0].strip().lower() in _HTML else "not HTML"


def find_truncation(last: bytes, place: int) -> str | None:
    """Return what is wrong with the end of an archive, from its last record on; the readers of zstd and lz4 notice.

    fastwarc takes a truncated file for one that has ended.
    """
    if last.startswith(_GZIP):
        return find_gzip_truncation(io.BytesIO(last), place)
    if not last.startswith(b"WA"):
        return None
    end = re.search(rb"\r?\n\r?\n", last)
    length = re.search(rb"(?i)\ncontent-length[ \t]*:[ \t]*(\d{1,18})\s", last[: end.end()] if end else b"")
    if end and length and len(last) - end.end() >= int(length[1]):
        return None
    return f"breaks off in the record after byte {place:,}"


def find_gzip_truncation(stream: IO[bytes], place: int) -> str | None:
    """Check that the gzip members of an archive are complete, from the one at ``place`` on."""
    try:
        with gzip.GzipFile(fileobj=stream) as members:
            while members.read(_CHUNK):
                pass
    except EOFError:
        return f"breaks off in the record after byte {place:,}"
    except (OSError, zlib.error) as error:
        return f"damaged after byte {place:,}: {error}"
    return None
