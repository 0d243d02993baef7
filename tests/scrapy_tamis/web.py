"""A web on loopback, whose requests can be waited for and held."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.prose import prose
from tests.scrapy_tamis.waiting import SECONDS


class Web:
    """A site on loopback.

    Attributes:
        pages: paths to (status, headers, body).
        asked: the paths that were asked for.
    """

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[str] = []
        self._due: list[tuple[int, Callable[[], object]]] = []
        self._held: list[tuple[int, threading.Event]] = []
        self._lock = threading.Lock()
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web._note(self.path)
                status, headers, body = web.pages.get(self.path, (404, {}, b"<html><body>no such page"))
                self.send_response(status)
                for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.host = f"127.0.0.1:{self.server.server_port}"

    def do_at(self, number: int, action: Callable[[], object]) -> None:
        """Do something once so many requests have come, before the last of them is answered."""
        with self._lock:
            self._due.append((number, action))

    def hold_after(self, number: int) -> threading.Event:
        """Answer so many requests, and those that come later only when the event is set that is returned."""
        self._held.append((number, threading.Event()))
        return self._held[-1][1]

    def _note(self, path: str) -> None:
        with self._lock:
            self.asked.append(path)
            number = len(self.asked)
            due = [action for at, action in self._due if at <= number]
            self._due = [(at, action) for at, action in self._due if at > number]
            for action in due:
                action()
        for after, released in self._held:
            if number > after:
                released.wait(SECONDS)

    def add(self, path: str, body: str | bytes, status: int = 200, **headers: str) -> str:
        """Put a page at a path and return its address."""
        body = body.encode() if isinstance(body, str) else body
        self.pages[path] = (status, {name.replace("_", "-"): value for name, value in headers.items()}, body)
        return self.url + path

    def add_articles(self, count: int, *, heavy: bool = False) -> list[str]:
        """Add pages of one template, each with a text of its own and a link to the next; return their addresses.

        Heavy ones are the same, with a comment that makes them too costly for the event loop.
        """
        folder, comment = ("heavy/", f"<!--{'=' * 12_100}-->") if heavy else ("", "")
        for number in range(count):
            text = "".join(f"<p>{prose(f'{number} {paragraph}', 50)}.</p>" for paragraph in range(4))
            self.add(
                f"/{folder}{number}",
                f"{comment}<html><head><title>Story {number}</title></head><body>"
                "<div class=menu><ul><li><a href=/0>Front page</a></li><li><a href=/about>About us</a></li></ul></div>"
                f"<div class=story><h1>Story {number}</h1>{text}</div>"
                f"<p><a href=/{number + 1}>Next story, number {number + 1}</a></p>"
                "<div class=foot><p>Copyright of the harbour news, all rights are reserved.</p></div></body></html>",
            )
        return [f"{self.url}/{folder}{number}" for number in range(count)]


@contextmanager
def served() -> Iterator[Web]:
    """An empty site, served meanwhile."""
    web = Web()
    thread = threading.Thread(target=web.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield web
    web.server.shutdown()
    web.server.server_close()
    thread.join()
