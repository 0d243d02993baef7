import gzip
import uuid

import pytest

from tests.scrapy_winnow.archives.made_pages import page

HTML = "text/html; charset=utf-8"


def record_of(url: str, status: str, kind: str, body: str) -> bytes:
    response = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n\r\n{body}".encode()
    headers = {
        "WARC-Type": "response",
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Date": "2026-11-22T10:00:00Z",
        "WARC-Target-URI": url,
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": len(response),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + response + b"\r\n\r\n"


@pytest.fixture
def archive(tmp_path):
    """Write an archive of pages by address, or of (status, content type, body)."""

    def write(name, records):
        file = tmp_path / name
        whole = [record_of(url, *(one if isinstance(one, tuple) else ("200 OK", HTML, one))) for url, one in records]
        file.write_bytes(b"".join(map(gzip.compress, whole) if name.endswith(".gz") else whole))
        return file

    return write


@pytest.fixture
def stories():
    """Addresses and pages of two hosts, in turn."""
    return [(f"http://{host}.example/{n}", page(host, n)) for n in range(14) for host in ("north", "south")]


@pytest.fixture
def archives(archive, stories):
    """Two archives with the pages of both hosts."""
    return [archive("first.warc.gz", stories[:16]), archive("second.warc.gz", stories[16:])]
