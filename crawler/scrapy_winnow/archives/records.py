"""Pages of a WARC file: which of its records are pages, and why the others are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fastwarc.warc import ArchiveIterator, WarcRecordType

from scrapy_winnow.archives.completeness import what_is_missing
from scrapy_winnow.hosts.names import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastwarc.warc import WarcRecord

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_LARGEST_HEADER: Final = 1 << 20  # bytes


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
    """Reads the pages of one WARC file, gzip, zstd or plain, local or at any address that fsspec opens.

    Args:
        source: path or address.
        max_bytes: larger bodies are left out.
        at: told the place in the file after each record, in bytes as they are stored.

    Attributes:
        skipped: responses that are no pages, by reason.
        broken: what is wrong with the file, where it could not be read to its end.
    """

    def __init__(self, source: str, *, max_bytes: int, at: Callable[[int], object] = lambda _: None) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._at = at
        self.skipped: Counter[str] = Counter()
        self.broken: str | None = None

    def __iter__(self) -> Iterator[ArchivedPage]:
        """Go through the pages; a file that breaks off ends there, and :attr:`broken` says so."""
        place = 0
        try:
            records = ArchiveIterator(
                self._source,
                record_types=WarcRecordType.response,
                parse_http=True,
                auto_decode="all",
                max_header_len=_LARGEST_HEADER,
            )
            for record in records:
                place = record.stream_pos
                self._at(place)
                page = self._page(record)
                if page is not None:
                    yield page
            self.broken = what_is_missing(self._source, place)
        # The reader, its decompressors and file systems fail in as many ways as a file can be broken.
        except Exception as error:
            self.broken = f"{type(error).__name__}: {error}"

    def _page(self, record: WarcRecord) -> ArchivedPage | None:
        try:
            page = self._page_or_reason(record)
        except Exception as error:
            page = f"damaged ({type(error).__name__})"
        if isinstance(page, str):
            self.skipped[page] += 1
            return None
        return page

    def _page_or_reason(self, record: WarcRecord) -> ArchivedPage | str:
        url = (record.headers.get("WARC-Target-URI") or "").strip().strip("<>")
        host = site_of(url)
        if host is None:
            return "no host"
        if (reason := _no_page(record)) is not None:
            return reason
        body = record.reader.read(self._max_bytes + 1)
        if len(body) > self._max_bytes:
            return "too large"
        if not body.strip():
            return "empty"
        date = record.headers.get("WARC-Date") or ""
        return ArchivedPage(url, host, body, record.http_charset, date, record.record_id or "")


def _no_page(record: WarcRecord) -> str | None:
    """Why the headers of a response say that it is no page."""
    if not record.is_http_parsed:
        return "no HTTP"
    if record.http_headers.status_code is None or not 200 <= record.http_headers.status_code < 300:
        return "not found, moved or refused"
    kind = (record.http_content_type or "text/html").partition(";")[0].strip().lower()
    return None if kind in _HTML else "not HTML"
