"""The web of the soak: made once into a folder, and served from there by a process of its own as an HTTP proxy.

`pages.bin` holds the bodies one after the other, `index.jsonl` where each begins, and `truth.jsonl` what a reader would
call its content, all in the same order. The hosts are those of the demo web with other seeds. Of the first --redesigned
of them the later half of the pages is of another site: the host has been redesigned when they are asked for.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from scrapy import Request

from demo.hosts import BUILDERS
from demo.web import LEAST_PAGES, build_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from demo.site import Resource

ROOT: Final = Path(__file__).resolve().parents[3]
_OTHER_SEED: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class MadePage:
    """One page: its number on its host, address, content type, body, and the text that is content."""

    number: int
    url: str
    content_type: str
    body: bytes
    content: str


def make_web(folder: Path, hosts: int, pages_per_host: int, redesigned: int) -> None:
    """Write the pages of all hosts into a folder that is not there yet; it is whole once it has its name."""
    making = folder.with_suffix(".part")
    making.mkdir(parents=True, exist_ok=True)
    begin = 0
    with (
        (making / "pages.bin").open("wb") as bodies,
        (making / "index.jsonl").open("w", encoding="utf-8") as index,
        (making / "truth.jsonl").open("w", encoding="utf-8") as truth,
    ):
        for host in range(hosts):
            for page in _pages_of(host, pages_per_host, is_redesigned=host < redesigned):
                bodies.write(page.body)
                where = {"url": page.url, "host": host, "number": page.number, "type": page.content_type}
                index.write(json.dumps(where | {"begin": begin, "size": len(page.body)}) + "\n")
                truth.write(json.dumps({"url": page.url, "content": page.content}) + "\n")
                begin += len(page.body)
    making.rename(folder)


def _pages_of(host: int, number: int, *, is_redesigned: bool) -> Iterator[MadePage]:
    kinds = sorted(BUILDERS)
    kind = kinds[host % len(kinds)]
    before = _html_pages(kind, host, number)
    after = _html_pages(kinds[(host + 1) % len(kinds)], host + _OTHER_SEED, number) if is_redesigned else before
    for at in range(number):
        prefix, (resource, content) = ("/new", after[at]) if is_redesigned and 2 * at >= number else ("", before[at])
        url = Request(f"http://{kind}-{host:03}.example{prefix}{resource.path}").url
        yield MadePage(at, url, dict(resource.headers)["Content-Type"], resource.body, content)


def _html_pages(kind: str, seed: int, number: int) -> list[tuple[Resource, str]]:
    """So many HTML pages of a site of the demo web, with their content."""
    site = build_site(kind, seed, max(number, LEAST_PAGES))
    return [
        (resource, site.truth[resource.path].content_text)
        for resource in site.resources.values()
        if resource.status == 200 and dict(resource.headers)["Content-Type"].startswith("text/html")
    ][:number]


class ServedWeb:
    """The web of a folder, served for as long as the context lasts.

    Args:
        folder: from :func:`make_web`.

    Attributes:
        proxy: address of the proxy that knows all of its hosts.
    """

    def __init__(self, folder: Path) -> None:
        self.proxy = ""
        self._folder = folder
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve({str(self._folder)!r})"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._server.stdout is not None
        self.proxy = self._server.stdout.readline().strip()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.communicate()


class _Connection(asyncio.Protocol):
    """One kept-alive connection of a client that takes the server for its proxy."""

    def __init__(self, bodies: mmap.mmap, index: dict[bytes, tuple[int, int, bytes]]) -> None:
        self._bodies = bodies
        self._index = index
        self._received = b""
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received and self._transport is not None:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            found = self._index.get(head.split(b" ", 2)[1])
            if found is None:
                self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                continue
            begin, size, kind = found
            headers = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (kind, size)
            self._transport.write(headers + self._bodies[begin : begin + size])


async def _serve(folder: Path) -> None:
    with (folder / "index.jsonl").open(encoding="utf-8") as lines:
        pages = map(json.loads, lines)
        index = {page["url"].encode(): (page["begin"], page["size"], page["type"].encode()) for page in pages}
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    with (folder / "pages.bin").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as bodies:
        server = await loop.create_server(lambda: _Connection(bodies, index), "127.0.0.1", 0)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        loop.add_reader(sys.stdin, ended.set)
        await ended.wait()


def serve(folder: str) -> None:
    """Serve the web of a folder until standard input is closed; print the address of the proxy first."""
    asyncio.run(_serve(Path(folder)))
