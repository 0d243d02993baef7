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

from scrapy_tamis.fetching import InputError

if TYPE_CHECKING:
    from scrapy_tamis.inspector.comparison import Comparison
    from scrapy_tamis.inspector.inspector import Inspector

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


_TEMPLATES: Final = Environment(autoescape=True, loader=PackageLoader("scrapy_tamis", "assets"))
_TEMPLATES.policies["json.dumps_kwargs"] = _JSON


class InspectorServer(ThreadingHTTPServer):
    """Serves a view on ``127.0.0.1`` in a context, by a ``thread``; the address to open is ``url``.

    It answers only requests with its own address as host and its random token in the path, so that no other page in the
    same browser can talk to it, whatever DNS says.
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
    server_version = "tamis"
    sys_version = ""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of the base class
        """Log no requests."""

    def do_GET(self) -> None:
        """Answer with the view of a page, or what its script asks for."""
        status, answer = self._find_answer()
        text = answer if isinstance(answer, str) else json.dumps(answer, **_JSON)
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8" if text is answer else "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815  the name of the base class

    def _find_answer(self) -> tuple[HTTPStatus, str | dict[str, Any]]:
        """Return the status, and a document or JSON; refuse what has not our token, or is from or for another host."""
        address, origin, hosts = urlsplit(self.path), self.headers.get("Origin"), self.server.hosts
        token, _, what = address.path.removeprefix("/").partition("/")
        is_known = secrets.compare_digest(token.encode("utf-8", "surrogateescape"), self.server.token.encode())
        is_from_here = origin is None or origin.partition("://")[2] in hosts
        if not (is_known and is_from_here and self.headers.get("Host") in hosts):
            return HTTPStatus.FORBIDDEN, {"error": "forbidden"}
        view = self.server.view
        answer: str | dict[str, Any] | None = None
        is_json = self.headers.get("Content-Type") == "application/json"
        try:
            number = int(parse_qs(address.query).get("page", ["0"])[0])
            length = int(self.headers.get("Content-Length") or 0)
            body: Any = json.loads(self.rfile.read(min(length, _MAX_BODY_BYTES))) if length else None
            with self.server.lock:
                if self.command == "GET" and what == "":
                    answer = view.render(number)
                elif self.command == "POST" and is_json:
                    answer = view.answer(what, number, body)
        except (ValueError, LookupError, TypeError, OSError, InputError) as error:
            said = str(error) or type(error).__name__
            if what == "" and isinstance(error, InputError):  # the way to the other pages stays
                data = {"server": True, "number": number, "pages": len(view.documents)}
                name = "".join(view.documents.names[number : number + 1])
                return HTTPStatus.BAD_REQUEST, render_document(data, title=name, view="unread", notice=said)
            return HTTPStatus.BAD_REQUEST, {"error": said}
        if answer is None:
            return HTTPStatus.NOT_FOUND, {"error": "unknown request"}
        return HTTPStatus.OK, answer
