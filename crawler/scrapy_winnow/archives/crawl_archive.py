"""The extension that keeps what a crawl fetches: ``WINNOW_WARC``, with ``pip install 'scrapy-winnow[archives]'``."""

from __future__ import annotations

import io
import logging
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.client import responses
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import run_in_thread

from scrapy_winnow import stats
from scrapy_winnow.config import Config

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response

logger = logging.getLogger(__name__)

_MOST_WAITING: Final = 64_000_000
"""Bytes that wait to be written; beyond that the crawl waits for the disk."""

_OF_THE_TRANSFER: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers of how a body came, which is kept decoded: they get ``X-Crawler-`` before them, as at Common Crawl."""


class CrawlArchive:
    """Writes requests, responses and the clean text of items into WARC files, in a thread of its own.

    A record is compressed by itself and written at once: after ``kill -9`` all but the last one are whole.
    """

    def __init__(self, crawler: Crawler) -> None:
        config = Config.from_settings(crawler.settings)
        if config.warc is None or not config.enabled or config.read_only:
            raise NotConfigured
        try:
            import warcio  # noqa: F401, PLC0415
        except ImportError:
            logger.warning("No WARC is written: that takes pip install 'scrapy-winnow[archives]'")
            raise NotConfigured from None
        self._crawler = crawler
        self._text_field = config.field_names.get("text")
        self._files = RotatingFiles(config.warc, config.warc_bytes)
        self._thread = ThreadPoolExecutor(1, "winnow-warc")
        self._room = threading.BoundedSemaphore(_MOST_WAITING // 1_000)
        self._names: WeakKeyDictionary[Response, str] = WeakKeyDictionary()
        self._has_failed = False
        crawler.signals.connect(self.received, signals.response_received)
        crawler.signals.connect(self.scraped, signals.item_scraped)
        crawler.signals.connect(self.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension of a crawl."""
        return cls(crawler)

    def received(self, response: Response, request: Request) -> None:
        """Keep a response with its request."""
        if response.url.startswith(("http://", "https://")):
            name, date = _record_name(), _now()
            self._names[response] = name
            self._later(len(response.body), lambda: _exchange(name, date, request, response))

    def scraped(self, item: Any, response: Response | None) -> None:
        """Keep the clean text of an item, as a conversion of the response that it is from."""
        text = ItemAdapter(item).get(self._text_field) if self._text_field else None
        name = self._names.get(response) if response is not None else None
        if isinstance(text, str) and name is not None and response is not None:
            url, date = response.url, _now()
            self._later(len(text), lambda: _conversion(name, date, url, text))

    async def close(self) -> None:
        """Write what waits, and close the file."""
        await run_in_thread(self._thread.shutdown)
        self._files.close()

    def _later(self, size: int, make: Callable[[], bytes]) -> None:
        parts = min(size // 1_000 + 1, _MOST_WAITING // 1_000)
        for _ in range(parts):
            self._room.acquire()
        self._thread.submit(self._write, make, parts)

    def _write(self, make: Callable[[], bytes], parts: int) -> None:
        try:
            self._files.write(make())
            self._count(stats.WARC_WRITTEN)
        except Exception:
            self._count(stats.WARC_FAILED)
            if not self._has_failed:
                self._has_failed = True
                logger.exception("Could not write to the WARC; %s counts how often this happens", stats.WARC_FAILED)
        finally:
            self._room.release(parts)

    def _count(self, stat: str) -> None:
        self._crawler.stats.inc_value(stat)


class RotatingFiles:
    """A file after the other, each up to about so many bytes.

    Args:
        template: path; ``%(time)s`` in it becomes the time at which a file is begun. No file is written over.
        most: bytes of a file, after which the next one is begun.
    """

    def __init__(self, template: str, most: int) -> None:
        self._template = template
        self._most = most
        self._stream: IO[bytes] | None = None

    def write(self, record: bytes) -> None:
        """Append a record."""
        if self._stream is not None and self._stream.tell() >= self._most:
            self.close()
        if self._stream is None:
            self._stream = self._opened()
        self._stream.write(record)

    def close(self) -> None:
        """Close the file; the next record begins another."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _opened(self) -> IO[bytes]:
        path = Path(self._template.replace("%(time)s", time.strftime("%Y%m%dT%H%M%S")))
        name, endings = path.name.partition(".")[::2]
        number = 1
        while True:
            try:
                return path.open("xb", buffering=0)
            except FileExistsError:
                number += 1
                path = path.with_name(f"{name}-{number}.{endings}")


def _exchange(name: str, date: str, request: Request, response: Response) -> bytes:
    """A response and its request."""
    from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415

    protocol = response.protocol or "HTTP/1.1"
    status = f"{response.status} {responses.get(response.status, '')}".strip()
    headers = [*_headers(response.headers), ("Content-Length", str(len(response.body)))]
    answer = StatusAndHeaders(status, headers, protocol=protocol)
    address = urlsplit(request.url)
    target = f"{address.path or '/'}{'?' if address.query else ''}{address.query}"
    line, host = f"{request.method} {target} HTTP/1.1", ("Host", address.netloc)
    asked = StatusAndHeaders(line, [host, *_headers(request.headers)], is_http_request=True)
    of = {"WARC-Concurrent-To": name}
    return _record(name, date, response.url, "response", response.body, answer) + _record(
        _record_name(), date, response.url, "request", request.body, asked, of
    )


def _conversion(name: str, date: str, url: str, text: str) -> bytes:
    """The clean text of a page."""
    body = text.encode("utf-8", "replace") + b"\n"
    further = {"WARC-Refers-To": name, "Content-Type": "text/plain; charset=utf-8"}
    return _record(_record_name(), date, url, "conversion", body, None, further)


def _record(
    name: str, date: str, url: str, kind: str, body: bytes, http: Any = None, further: dict[str, str] | None = None
) -> bytes:
    from warcio.warcwriter import WARCWriter  # noqa: PLC0415  (an optional package)

    stream = io.BytesIO()
    writer = WARCWriter(stream, gzip=True, warc_version="1.1")
    fields = {"WARC-Record-ID": name, "WARC-Date": date, **(further or {})}
    record = writer.create_warc_record(
        url, kind, io.BytesIO(body), len(body), warc_headers_dict=fields, http_headers=http
    )
    writer.write_record(record)
    return stream.getvalue()


def _headers(headers: Headers) -> list[tuple[str, str]]:
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name in headers for value in headers.getlist(name)]
    return [(f"X-Crawler-{name}" if name.lower() in _OF_THE_TRANSFER else name, value) for name, value in pairs]


def _record_name() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
