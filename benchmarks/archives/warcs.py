"""WARC files of pages, and the rows that cleaning them gives."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_warc(file: Path, pages: Iterable[tuple[str, bytes]]) -> None:
    """Write pages, address and HTML each, as responses that are compressed one by one."""
    with file.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for url, html in pages:
            http = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(url, "response", io.BytesIO(html), len(html), http_headers=http)
            )


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows that a run wrote as JSON lines."""
    lines = (gzip.decompress(file.read_bytes()).decode().splitlines() for file in sorted(folder.glob("*.jsonl.gz")))
    return [json.loads(line) for of_file in lines for line in of_file]
