"""The inspector's server: loopback only, for one person, behind an address that cannot be guessed."""

from __future__ import annotations

import json
import secrets
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import parse_qs, urlsplit

from scrapy_winnow.inspector.application import application
from scrapy_winnow.inspector.documents import DocumentError
from scrapy_winnow.inspector.tried import Tried

if TYPE_CHECKING:
    from types import TracebackType

    from scrapy_winnow.inspector.inspector import Inspector

_MOST_BODY: Final = 4_000_000  # bytes
_HEADERS: Final = (
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)


class InspectorServer:
    """Serves an inspector on ``127.0.0.1`` until it is closed.

    Only requests that name this very address as their host, and carry its random token, get an answer; so no page that
    is open in the same browser can talk to it, whatever its DNS says.

    Args:
        inspector: what is served.
        port: port to listen on; 0 for any that is free.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, inspector: Inspector, port: int = 0) -> None:
        self.inspector = inspector
        self.token = secrets.token_urlsafe(24)
        self.lock = threading.Lock()
        self._server = _Server(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def hosts(self) -> frozenset[str]:
        """What the ``Host`` of a request may be."""
        port = self._server.server_address[1]
        return frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{self.token}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        """Say nothing of a browser that did not wait for its answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "winnow"
    sys_version = ""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of the base class
        """Say nothing of every request."""

    def do_GET(self) -> None:
        """Answer with the inspector."""
        if (path := self._path()) is None:
            return
        if path != "":
            self._error(HTTPStatus.NOT_FOUND, "no such page")
            return
        inspector = self.server.owner.inspector
        try:
            number = self._number()
            with self.server.owner.lock:
                document = application(
                    inspector.data(number, server=True),
                    title=inspector.title(number),
                    load_assets=inspector.load_assets,
                )
        except DocumentError as error:
            self._error(HTTPStatus.NOT_FOUND, str(error))
            return
        self._answer(HTTPStatus.OK, "text/html; charset=utf-8", document.encode("utf-8", "replace"))

    def do_POST(self) -> None:
        """Answer what the script of the inspector asks."""
        if (path := self._path()) is None:
            return
        origin = self.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc not in self.server.owner.hosts:
            self._error(HTTPStatus.FORBIDDEN, "not from here")
            return
        answers = {
            "state": self._state,
            "outputs": self._outputs,
            "weights": self._weights,
            "gold": self._gold,
            "seen": self._seen,
        }
        if path not in answers or self.headers.get("Content-Type") != "application/json":
            self._error(HTTPStatus.NOT_FOUND, "no such question")
            return
        try:
            body = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MOST_BODY)))
            number = self._number()
            with self.server.owner.lock:
                answer = answers[path](number, body)
        except (ValueError, LookupError, TypeError, OSError, DocumentError) as error:
            self._error(HTTPStatus.BAD_REQUEST, str(error) or type(error).__name__)
            return
        self._answer(HTTPStatus.OK, "application/json", _written(answer))

    def _state(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        return self.server.owner.inspector.page(number).state(Tried.of(body))

    def _outputs(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        return self.server.owner.inspector.page(number).outputs(Tried.of(body))

    def _weights(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        page = self.server.owner.inspector.page(number)
        return {"weights": page.heaviest(Tried.of(body["tried"]), [int(block) for block in body["blocks"]])}

    def _gold(self, number: int, body: dict[str, Any]) -> dict[str, Any]:
        marks = {int(block): str(label) for block, label in body["marks"]}
        return self.server.owner.inspector.save(number, Tried.of(body["tried"]), marks)

    def _seen(self, number: int, body: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002  one shape for all answers
        return self.server.owner.inspector.seen()

    def _path(self) -> str | None:
        """The path below the token; without the token, or for another host, the request is refused."""
        token, _, path = urlsplit(self.path).path.removeprefix("/").partition("/")
        owner = self.server.owner
        if self.headers.get("Host") not in owner.hosts or not secrets.compare_digest(
            token.encode("utf-8", "surrogateescape"), owner.token.encode()
        ):
            self._error(HTTPStatus.FORBIDDEN, "forbidden")
            return None
        return path

    def _number(self) -> int:
        asked = parse_qs(urlsplit(self.path).query).get("page", ["0"])[0]
        return int(asked) if asked.isascii() and asked.isdigit() else 0

    def _error(self, status: HTTPStatus, says: str) -> None:
        self.close_connection = True  # what the request may still have to say is not read
        self._answer(status, "application/json", _written({"error": says}))

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


def _written(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
