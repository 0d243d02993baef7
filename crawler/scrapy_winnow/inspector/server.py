"""Pages in the browser: one HTML document each, and its server, on loopback, for one person."""

from __future__ import annotations

import json
import secrets
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import parse_qs, urlsplit

from jinja2 import Environment, PackageLoader

from scrapy_winnow.fetching import InputError

if TYPE_CHECKING:
    from scrapy_winnow.inspector.comparison import Comparison
    from scrapy_winnow.inspector.inspector import Inspector

_JSON: Final[dict[str, Any]] = {"ensure_ascii": False, "separators": (",", ":")}
_MAX_BODY_BYTES: Final = 4_000_000
_HEADERS: Final = (
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)


def render_document(
    data: dict[str, Any], *, title: str, view: str = "inspector", load_assets: bool = False, **values: Any
) -> str:
    """Return the HTML document of a view, which needs no other file.

    The content security policy runs no scripts but our own, which carry a random number that the page cannot know, and
    loads nothing but, with ``load_assets``, images, fonts and style sheets. The inspected page is data; the browser
    builds it in a sandboxed frame with an origin of its own.
    """
    values |= {"data": data, "title": title or "page", "view": view, "web": " http: https:" if load_assets else ""}
    return _TEMPLATES.get_template(f"{view}.html").render(values, nonce=secrets.token_urlsafe(24))


_TEMPLATES: Final = Environment(autoescape=True, loader=PackageLoader("scrapy_winnow", "assets"))
_TEMPLATES.policies["json.dumps_kwargs"] = _JSON


class InspectorServer(ThreadingHTTPServer):
    """Serves a view on ``127.0.0.1`` in a context, by a ``thread``; the address to open is ``url``.

    It answers only requests with its own address as host and its random token in the path, so that no other page in the
    same browser can talk to it, whatever DNS says.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, view: Inspector | Comparison, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.view = view
        self.lock = threading.Lock()
        self.token = secrets.token_urlsafe(24)
        self.hosts = {f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"}
        self.url = f"http://127.0.0.1:{self.server_port}/{self.token}/"
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self.thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that did not wait for the answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: InspectorServer
    server_version = "winnow"
    sys_version = ""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of the base class
        """Log no requests."""

    def do_GET(self) -> None:
        """Answer with the view of a page."""
        if (path := self._path()) is None:
            return
        if path != "":
            self._error(HTTPStatus.NOT_FOUND, "no such page")
            return
        try:
            with self.server.lock:
                document = self.server.view.render(self._number())
        except (ValueError, OSError, InputError) as error:
            self._error(HTTPStatus.NOT_FOUND, str(error))
            return
        self._answer(HTTPStatus.OK, "text/html; charset=utf-8", document)

    def do_POST(self) -> None:
        """Answer a request of its script."""
        if (path := self._path()) is None:
            return
        origin = self.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc not in self.server.hosts:
            self._error(HTTPStatus.FORBIDDEN, "not from here")
            return
        is_json = self.headers.get("Content-Type") == "application/json"
        try:
            body = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MAX_BODY_BYTES)))
            with self.server.lock:
                answer = self.server.view.answer(path, self._number(), body) if is_json else None
        except (ValueError, LookupError, TypeError, OSError, InputError) as error:
            self._error(HTTPStatus.BAD_REQUEST, str(error) or type(error).__name__)
            return
        if answer is None:
            self._error(HTTPStatus.NOT_FOUND, "unknown request")
        else:
            self._answer(HTTPStatus.OK, "application/json", json.dumps(answer, **_JSON))

    def _path(self) -> str | None:
        """Return the path below the token; refuse requests without the token, or for another host."""
        token, _, path = urlsplit(self.path).path.removeprefix("/").partition("/")
        is_known = secrets.compare_digest(token.encode("utf-8", "surrogateescape"), self.server.token.encode())
        if not is_known or self.headers.get("Host") not in self.server.hosts:
            self._error(HTTPStatus.FORBIDDEN, "forbidden")
            return None
        return path

    def _number(self) -> int:
        number = parse_qs(urlsplit(self.path).query).get("page", ["0"])[0]
        return int(number) if number.isascii() and number.isdigit() else 0

    def _error(self, status: HTTPStatus, message: str) -> None:
        self._answer(status, "application/json", json.dumps({"error": message}))

    def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
