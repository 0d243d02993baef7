"""Serves the demo web over real HTTP on loopback, each host on a port of its own: `DemoWeb`, a context manager."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import tempfile
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from demo.web import DEFAULT_PAGES, DEFAULT_SEED, generate, read_resources

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from demo.site import Resource, Site
    from demo.truth import PageTruth

LOOPBACK = "127.0.0.1"
NOT_FOUND = "/404"
_ROOT = Path(__file__).resolve().parent.parent
_MAX_REQUEST_HEAD = 65536


class DemoWeb:
    """The demo web, generated and served by a process of its own for as long as the context lasts.

    Args:
        folder: Where to generate it; a temporary folder that is removed afterwards where None.
        seed: Same seed, same pages.
        pages: Content pages per host.

    Attributes:
        urls: Base URL by host name, each ending in a slash.
        sites: The hosts by name, with their resources and the truth about their pages.
        folder: Where the pages lie.
    """

    def __init__(self, folder: Path | None = None, seed: int = DEFAULT_SEED, pages: int = DEFAULT_PAGES) -> None:
        self._stack = contextlib.ExitStack()
        self.folder = folder or Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tamis-demo-")))
        self.urls: dict[str, str] = {}
        self._seed, self._pages = seed, pages
        self.sites: dict[str, Site] = {}
        self._host_by_netloc: dict[str, str] = {}

    def __enter__(self) -> Self:
        """Generate and serve.

        Raises:
            RuntimeError: Where the server does not come up.
        """
        self.sites = generate(self.folder, self._seed, self._pages)
        command = [sys.executable, "-m", "demo.server", str(self.folder.resolve())]
        server = subprocess.Popen(  # noqa: S603 - our own module, by the running interpreter
            command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._stack.enter_context(server)  # closes its standard input, which ends it, and waits
        if server.stdout is None or not (line := server.stdout.readline()):
            self._stack.close()
            raise RuntimeError("the demo web's server did not start; its message is above")
        self.urls = json.loads(line)
        self._host_by_netloc = {urlsplit(url).netloc: name for name, url in self.urls.items()}
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def host(self, url: str) -> str:
        """Return the name of the host that a URL belongs to.

        Raises:
            KeyError: Where it belongs to none.
        """
        return self._host_by_netloc[urlsplit(url).netloc]

    def truth(self, url: str) -> PageTruth:
        """Return the truth about the page at a URL; for a path that does not exist, that of the host's 404.

        Raises:
            KeyError: Where the URL belongs to no host, or to a file or a redirect.
        """
        site, path = self.sites[self.host(url)], _target(url)
        return site.truth[path if path in site.resources else NOT_FOUND]

    def requests(self, name: str) -> list[str]:
        """Return the targets asked of a host so far, in order, for example ``/robots.txt``."""
        log = self.folder / f"{name}.access.log"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


class Connection(asyncio.Protocol):
    """One HTTP/1.1 connection: GET and HEAD, kept alive, answers from memory."""

    def __init__(self, answers: Mapping[str, tuple[bytes, bytes | memoryview]], log: TextIO) -> None:
        self._answers = answers
        self._log = log
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # noqa: D102
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - what asyncio promises of TCP servers
        self._transport = transport

    def data_received(self, data: bytes) -> None:  # noqa: D102
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            self._answer(head)
        if len(self._received) > _MAX_REQUEST_HEAD and self._transport is not None:
            self._transport.close()

    def _answer(self, request: bytes) -> None:
        if self._transport is None:
            return
        method, _, rest = request.partition(b" ")
        target = rest.partition(b" ")[0].decode("latin-1") or "/"
        self._log.write(target + "\n")
        if method not in {b"GET", b"HEAD"}:
            self._transport.write(b"HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Length: 0\r\n\r\n")
            return
        head, body = self._answers.get(target) or self._answers[NOT_FOUND]
        self._transport.write(head if method == b"HEAD" else head + body)
        if b"connection: close" in request.lower():
            self._transport.close()


def _target(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _answer(resource: Resource) -> tuple[bytes, bytes]:
    reason = HTTPStatus(resource.status).phrase
    headers = [*resource.headers, ("Content-Length", str(len(resource.body))), ("Server", "demo")]
    lines = [f"HTTP/1.1 {resource.status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n", resource.body


async def _serve(folder: Path) -> None:
    """Serve what lies in a folder until standard input closes; print the addresses of the hosts as JSON first."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    urls: dict[str, str] = {}
    sites = await asyncio.to_thread(read_resources, folder)
    async with contextlib.AsyncExitStack() as stack:
        for name, resources in sites.items():
            log = (folder / f"{name}.access.log").open("w", buffering=1, encoding="utf-8")
            stack.callback(log.close)
            answers = {path: _answer(resource) for path, resource in resources.items()}
            server = await loop.create_server(partial(Connection, answers, log), LOOPBACK, 0)
            stack.callback(server.close)
            urls[name] = f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}/"
        sys.stdout.write(json.dumps(urls) + "\n")
        sys.stdout.flush()
        loop.add_reader(sys.stdin, stopped.set)
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
