"""A server of one file, with the faults that servers have."""

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Served:
    """Serves ``content`` at every address, as its attributes say.

    Attributes:
        in_parts: gives parts of files; ``False`` for the whole alone, ``None`` for that without its length.
        breaks: answers that break off in the middle.
        away: requests after those that get no answer.
        sent: bytes.
    """

    def __init__(self):
        self.content = b""
        self.in_parts = True
        self.breaks = self.away = self.sent = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.served = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_HEAD(self):
        if not self._is_away():
            self._answer(200, len(self.server.served.content))

    def do_GET(self):
        served = self.server.served
        if self._is_away():
            return
        content = served.content
        if served.in_parts:
            begin, _, end = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
            content = content[int(begin) : int(end) + 1 if end else None]
            place = f"bytes {begin}-{int(begin) + len(content) - 1}/{len(served.content)}"
            self._answer(206, len(content), place)
        else:
            self._answer(200, len(content))
        if served.breaks:
            served.breaks -= 1
            self.close_connection = True
            content = content[: len(content) // 2]
        with suppress(ConnectionError):  # whoever has read what he wants goes
            self.wfile.write(content)
            served.sent += len(content)

    def _is_away(self):
        served = self.server.served
        is_away = served.away > 0 and not served.breaks
        if is_away:
            served.away -= 1
            self.close_connection = True
        return is_away

    def _answer(self, status, length, content_range=None):
        self.send_response(status)
        if self.server.served.in_parts is not None:
            self.send_header("Content-Length", str(length))
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()

    def log_message(self, *_):
        pass
