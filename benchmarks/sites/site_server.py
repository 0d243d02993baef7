"""Serves the folder of one site over HTTP, with one prepared page in place of the file at its address."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MISSING_IMAGE: Final = "/.winnow-missing-image.svg"
"""Address of a grey picture of 200 by 150 px, for images that are not in the folder."""

_PICTURE: Final = b'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="150"/>'


class SiteServer(ThreadingHTTPServer):
    """A server whose root is a site's folder."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.prepared: dict[str, bytes] = {}
        super().__init__(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))

    def serve(self, path: str, html: bytes) -> str:
        """Serve a page (UTF-8) in place of the file with a path below the folder, and return its address."""
        self.prepared = {f"/{quote(path)}": html}
        return f"http://127.0.0.1:{self.server_port}/{quote(path)}"


class _Handler(SimpleHTTPRequestHandler):
    server: SiteServer

    def do_GET(self) -> None:
        if self.path == MISSING_IMAGE:
            self._answer(_PICTURE, "image/svg+xml")
        elif (page := self.server.prepared.get(self.path)) is not None:
            self._answer(page, "text/html; charset=utf-8")
        else:
            super().do_GET()

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of single requests."""


@contextmanager
def serving(folder: Path) -> Iterator[SiteServer]:
    """Serve a folder on a free port of loopback while the context lasts."""
    server = SiteServer(folder)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
