"""Pages of made-up hosts, archives of them, and servers with faults."""

import gzip
import json
import threading
import uuid
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.prose import prose

HTML = "text/html; charset=utf-8"
BOATS = (
    "<h1>Boats</h1>"
    + "".join(f"<div><a href=/{n}>Boat {n}</a></div>" for n in range(12))
    + f"<ul>{''.join(f'<li><a href=/d{n}>Department {n}</a></li>' for n in range(9))}</ul>"
)
"""A page that is cut otherwise in each scope and with each favor."""


def story(seed):
    return "".join(f"<p>{prose(f'{seed} {paragraph}', 30).capitalize()}.</p>" for paragraph in range(3))


def page(host, number, seed=""):
    """A page with the menu and the footer of its host, and a story of its own."""
    return (
        f"<html><head><title>Story {number}</title></head><body><div><a href=/>Front page of {host}</a>"
        f"<a href=/about>About the people of {host}</a></div><div><h1>Story {number}</h1>"
        f"{story(seed or f'{host}{number}')}</div>"
        f"<div>Copyright of everything on {host} is with its owners, whoever they are</div></body></html>"
    )


def record_of(url, body, status="200 OK", kind=HTML):
    content = body if isinstance(body, bytes) else body.encode()
    response = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n\r\n".encode() + content
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


def write_archive(file, records):
    """Write pages by address, or (body, status, content type) by address; compressed one by one for ``.gz``."""
    content = [record_of(url, *(one if isinstance(one, tuple) else (one,))) for url, one in records]
    file.write_bytes(b"".join(map(gzip.compress, content) if file.suffix == ".gz" else content))
    return file


def rows_of(folder, without=()):
    """The rows of the JSON lines below a folder, in the order of the files, without some columns."""
    texts = [gzip.decompress(file.read_bytes()).decode() for file in sorted(folder.glob("*.jsonl.gz"))]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    return [{name: value for name, value in row.items() if name not in without} for row in rows]


class FaultyServer(ThreadingHTTPServer):
    """Serves ``content`` at every address, as its attributes say.

    Attributes:
        serves_ranges: ``False`` for whole files only, ``None`` for that without their length.
        breaks: answers that break off in the middle.
        drops: requests after those that get no answer.
        sent: bytes.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = b""
        self.serves_ranges = True
        self.breaks = self.drops = self.sent = 0
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, content, is_head = self.server, self.server.content, self.command == "HEAD"
        if server.drops > 0 and not server.breaks:
            server.drops -= 1
            self.close_connection = True
            return
        if server.serves_ranges and not is_head:
            begin, _, end = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
            content = content[int(begin) : int(end) + 1 if end else None]
            self.send_response(206)
            place = f"{begin}-{int(begin) + len(content) - 1}"
            self.send_header("Content-Range", f"bytes {place}/{len(server.content)}")
        else:
            self.send_response(200)
        if server.serves_ranges is not None:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if is_head:
            return
        if server.breaks:
            server.breaks -= 1
            self.close_connection = True
            content = content[: len(content) // 2]
        with suppress(ConnectionError):  # the client may have read enough
            self.wfile.write(content)
            server.sent += len(content)

    def do_HEAD(self):
        self.do_GET()

    def log_message(self, *_):
        pass
