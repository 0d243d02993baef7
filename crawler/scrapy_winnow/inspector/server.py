"""Pages in the browser: one HTML document each, and its server, on loopback, for one person."""

from __future__ import annotations

import json
import secrets
import sys
import threading
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Final, Protocol, Self
from urllib.parse import parse_qs, urlsplit

from jinja2 import Environment, FunctionLoader
from markupsafe import Markup

from scrapy_winnow.inspector.documents import DocumentError

_ASSETS: Final = files("scrapy_winnow.inspector") / "assets"

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
    nonce = secrets.token_urlsafe(24)
    values |= {"title": title or "page", "policy": content_policy(nonce, load_assets=load_assets), "nonce": nonce}
    scripts = _asset("page.js") + _asset(f"{view}.js")
    own = {"stylesheet": _asset("inspector.css"), "script": scripts, "frame_script": _asset("frame.js")}
    own["data"] = escape_json(data)  # no "<" is left in it
    values |= {name: Markup(text) for name, text in own.items()}  # noqa: S704
    return Environment(autoescape=True, loader=FunctionLoader(_asset)).get_template(f"{view}.html").render(values)


def content_policy(nonce: str, *, load_assets: bool = False) -> str:
    """Return the content security policy of the inspector, which also holds for the frame in it."""
    web = " http: https:" if load_assets else ""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'{web}; img-src data:{web}; "
        f"font-src data:{web}; connect-src 'self'; form-action 'none'"
    )


def escape_json(data: Any) -> str:
    """Return JSON that can stand inside a script element, whatever is in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character, written in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028")):
        text = text.replace(character, written)
    return text.replace("\u2029", "\\u2029").encode("utf-8", "replace").decode()


@lru_cache(maxsize=8)
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


class View(Protocol):
    """Pages as a person looks at them: an inspector or a comparison."""

    def render(self, number: int) -> str:
        """Return the HTML document of a page; may raise :class:`DocumentError`."""
        ...

    def answer(self, what: str, number: int, body: dict[str, Any]) -> dict[str, Any] | None:
        """Answer a request of the script; ``None`` where there is no such request."""
        ...


class InspectorServer:
    """Serves a view on ``127.0.0.1`` until it is closed.

    It answers only requests with its own address as host and its random token in the path, so that no other page in the
    same browser can talk to it, whatever DNS says.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, view: View, port: int = 0) -> None:
        self.view = view
        self.token = secrets.token_urlsafe(24)
        self.lock = threading.Lock()
        self._server = _Server(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def hosts(self) -> frozenset[str]:
        """Allowed values of the ``Host`` header."""
        port = self._server.server_address[1]
        return frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{self.token}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self) -> None:
        """Serve until it is interrupted."""
        while self._thread.is_alive():
            self._thread.join(1.0)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: InspectorServer, port: int) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that did not wait for the answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
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
            with self.server.owner.lock:
                document = self.server.owner.view.render(self._number())
        except DocumentError as error:
            self._error(HTTPStatus.NOT_FOUND, str(error))
            return
        self._answer(HTTPStatus.OK, "text/html; charset=utf-8", document.encode("utf-8", "replace"))

    def do_POST(self) -> None:
        """Answer a request of its script."""
        if (path := self._path()) is None:
            return
        origin = self.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc not in self.server.owner.hosts:
            self._error(HTTPStatus.FORBIDDEN, "not from here")
            return
        is_json = self.headers.get("Content-Type") == "application/json"
        try:
            body = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MAX_BODY_BYTES)))
            with self.server.owner.lock:
                answer = self.server.owner.view.answer(path, self._number(), body) if is_json else None
        except (ValueError, LookupError, TypeError, OSError, DocumentError) as error:
            self._error(HTTPStatus.BAD_REQUEST, str(error) or type(error).__name__)
            return
        if answer is None:
            self._error(HTTPStatus.NOT_FOUND, "unknown request")
        else:
            self._answer(HTTPStatus.OK, "application/json", _to_json(answer))

    def _path(self) -> str | None:
        """Return the path below the token; refuse requests without the token, or for another host."""
        token, _, path = urlsplit(self.path).path.removeprefix("/").partition("/")
        owner = self.server.owner
        if self.headers.get("Host") not in owner.hosts or not secrets.compare_digest(
            token.encode("utf-8", "surrogateescape"), owner.token.encode()
        ):
            self._error(HTTPStatus.FORBIDDEN, "forbidden")
            return None
        return path

    def _number(self) -> int:
        number = parse_qs(urlsplit(self.path).query).get("page", ["0"])[0]
        return int(number) if number.isascii() and number.isdigit() else 0

    def _error(self, status: HTTPStatus, message: str) -> None:
        self.close_connection = True  # the rest of the request is not read
        self._answer(status, "application/json", _to_json({"error": message}))

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in _HEADERS:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _to_json(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
