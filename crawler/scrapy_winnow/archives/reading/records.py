"""Pages of a WARC file: which of its records are pages, and why the others are not."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fastwarc.warc import WarcRecordType

from scrapy_winnow.archives.reading.addresses import opened
from scrapy_winnow.archives.reading.completeness import what_is_missing
from scrapy_winnow.archives.reading.stream import STANDARD_INPUT, ArchiveStream, records_of
from scrapy_winnow.hosts.names import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastwarc.warc import WarcRecord

    from scrapy_winnow.archives.reading.parts import Part

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_ABOUT_PAGES: Final = (
    WarcRecordType.response,
    WarcRecordType.resource,
    WarcRecordType.conversion,
    WarcRecordType.revisit,
)

DAMAGED: Final = "damaged"
"""Why a record is left out that cannot be read."""


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """One response of an archive.

    Attributes:
        url: its address.
        host: name of its site, as in a crawl.
        html: its body, decompressed.
        charset: what the HTTP header says, if it says so.
        date: when it was fetched, as the archive has it.
        record_id: the record's own name.
    """

    url: str
    host: str
    html: bytes
    charset: str | None
    date: str
    record_id: str


class ArchiveReader:
    """Reads the pages of one WARC file, gzip, zstd, lz4 or plain, or of a part of it.

    Args:
        part: what is read.
        max_bytes: larger bodies are left out.
        at: told after each record how many bytes of the part were read, as they are stored.

    Attributes:
        skipped: records that are no pages, by reason.
        broken: what is wrong with the file, where not all of it could be read.
    """

    def __init__(self, part: Part, *, max_bytes: int, at: Callable[[int], object] = lambda _: None) -> None:
        self._part = part
        self._max_bytes = max_bytes
        self._at = at
        self._damaged_at: int | None = None
        self.skipped: Counter[str] = Counter()
        self.broken: str | None = None

    def __iter__(self) -> Iterator[ArchivedPage]:
        """Go through the pages; what is damaged is passed over, and :attr:`broken` says what that was."""
        try:
            with ArchiveStream(self._part.source, self._part.begin) as stream:
                yield from self._pages(stream)
        # File systems fail in as many ways as there are.
        except Exception as error:
            self._is_broken(f"{type(error).__name__}: {error}")

    def _pages(self, stream: ArchiveStream) -> Iterator[ArchivedPage]:
        part = self._part
        place = stream.go_on_behind(part.begin - 1) if part.begin else 0
        one_by_one = True
        while place is not None:
            begin = place
            try:
                for record in records_of(stream):
                    place = record.stream_pos
                    if part.end is not None and place >= part.end:
                        return
                    stream.forget(place)
                    one_by_one &= stream.begins_record(place)
                    self._at(place - part.begin)
                    page = self._page(record)
                    if page is not None:
                        yield page
            # The reader and its decompressors fail in as many ways as a file can be damaged.
            except Exception as error:
                if (place > begin or not begin) and place != self._damaged_at:
                    self.skipped[DAMAGED] += 1
                    self._is_broken(f"damaged behind byte {place:,}: {error}")
                place = stream.go_on_behind(place)
            else:
                self._at_the_end(stream, place, one_by_one)
                return

    def _at_the_end(self, stream: ArchiveStream, place: int, one_by_one: bool) -> None:
        """Look whether that was all; a file that was compressed as a whole is gone through once more."""
        if one_by_one:
            missing = what_is_missing(io.BytesIO(stream.held(place)), place)
        elif self._part.source == STANDARD_INPUT:
            missing = None
        else:
            with opened(self._part.source) as whole:
                missing = what_is_missing(whole, 0)
        if missing is not None:
            self._is_broken(missing)

    def _is_broken(self, why: str) -> None:
        self.broken = self.broken or why

    def _page(self, record: WarcRecord) -> ArchivedPage | None:
        if record.record_type not in _ABOUT_PAGES:
            return None
        try:
            page = _page_or_reason(record, self._max_bytes)
        except Exception:
            page = DAMAGED
            self._damaged_at = record.stream_pos
        if isinstance(page, str):
            self.skipped[page] += 1
            return None
        return page


def _page_or_reason(record: WarcRecord, max_bytes: int) -> ArchivedPage | str:
    url = (record.headers.get("WARC-Target-URI") or "").strip().strip("<>")
    host = site_of(url)
    if host is None:
        return "no host"
    if (reason := _no_page(record)) is not None:
        return reason
    body = record.reader.read(max_bytes + 1)
    if len(body) > max_bytes:
        return "too large"
    if not body.strip():
        return "empty"
    date = record.headers.get("WARC-Date") or ""
    return ArchivedPage(url, host, body, record.http_charset, date, record.record_id or "")


def _no_page(record: WarcRecord) -> str | None:
    """Why the headers of a record say that it is no page."""
    if record.record_type == WarcRecordType.conversion:
        return "text already, no HTML"
    if record.record_type == WarcRecordType.revisit:
        return "unchanged since an earlier record"
    if record.record_type == WarcRecordType.resource:  # without HTTP: what was fetched, as it is
        return _no_html(record.headers.get("Content-Type"))
    if not record.is_http_parsed:
        return "no HTTP"
    if record.http_headers.status_code is None or not 200 <= record.http_headers.status_code < 300:
        return "not found, moved or refused"
    return _no_html(record.http_content_type or "text/html")


def _no_html(content_type: str | None) -> str | None:
    return None if (content_type or "").partition(";")[0].strip().lower() in _HTML else "not HTML"
