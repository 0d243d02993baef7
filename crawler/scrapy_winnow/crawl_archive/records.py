"""WARC records of what a crawl fetches: requests, responses, revisits, and clean text as conversions."""

from __future__ import annotations

import hashlib
import io
import uuid
from base64 import b32encode
from collections import OrderedDict
from datetime import UTC, datetime
from http.client import responses
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response

_FETCHED: Final = 50_000
"""Pages that are remembered, to tell those that are fetched again unchanged: some 15 MB."""

_OF_THE_TRANSFER: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers of how a body came, which is kept decoded: they get ``X-Crawler-`` before them, as at Common Crawl."""


class Fetched:
    """What the last pages of a crawl were, to tell those that are fetched again as they were."""

    def __init__(self) -> None:
        self._pages: OrderedDict[bytes, tuple[bytes, str]] = OrderedDict()

    def earlier(self, response: Response, date: str) -> str | None:
        """When the same address gave the same body before; ``None`` where it did not."""
        address, body = _digest(response.url.encode()), _digest(response.body)
        known = self._pages.pop(address, None)
        is_same = known is not None and known[0] == body and bool(response.body)
        self._pages[address] = known if known is not None and is_same else (body, date)
        if len(self._pages) > _FETCHED:
            self._pages.popitem(last=False)
        return known[1] if known is not None and is_same else None


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def exchange(name: str, date: str, request: Request, response: Response, earlier: str | None) -> bytes:
    """A response, or what says that it is the same as earlier, and its request."""
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
    kind, body, further = "response", response.body, {}
    if earlier is not None:
        kind, body = "revisit", b""
        sha1 = hashlib.sha1(response.body, usedforsecurity=False).digest()
        further = {
            "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            "WARC-Refers-To-Target-URI": response.url,
            "WARC-Refers-To-Date": earlier,
            "WARC-Payload-Digest": f"sha1:{b32encode(sha1).decode()}",
        }
    return _record(name, date, response.url, kind, body, answer, further) + _record(
        record_name(), date, response.url, "request", request.body, asked, of
    )


def conversion(name: str, date: str, url: str, text: str) -> bytes:
    """The clean text of a page."""
    body = text.encode("utf-8", "replace") + b"\n"
    further = {"WARC-Refers-To": name, "Content-Type": "text/plain; charset=utf-8"}
    return _record(record_name(), date, url, "conversion", body, None, further)


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


def record_name() -> str:
    """Make up the name of a record."""
    return f"<urn:uuid:{uuid.uuid4()}>"


def now() -> str:
    """The time as records have it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
