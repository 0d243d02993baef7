"""The web of the soak, and one crawl of it by several workers, disturbed or not; what is stored is not asked for again.

The web is made once into a folder, and served from there by a process of its own as an HTTP proxy. `pages.bin` holds
the bodies one after the other, `index.jsonl` where each begins, and `truth.jsonl` what a reader would call its content,
all in the same order. The hosts are those of the demo web with other seeds. Of the first --redesigned of them the later
half of the pages is of another site: the host has been redesigned when they are asked for.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, TextIO

import redis
from scrapy import Request

from benchmarks.shared.common import process_megabytes
from benchmarks.shared.crawls import ROOT, crawl_command
from demo.hosts import BUILDERS
from demo.server import NOT_FOUND, Connection
from demo.web import LEAST_PAGES, build_site
from scrapy_tamis.storage.embedded import EmbeddedServer
from tamis_papers.experiments.harness import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from demo.site import Resource


@dataclass(frozen=True, slots=True)
class Trouble:
    """What happens to a crawl, by the number of its pages that are stored by then.

    Attributes:
        kills: for each worker, numbers of its own pages at which it is killed with 9, ascending.
        restart: number of all pages at which Redis is killed with 9 and started again; ``None`` for never.
    """

    kills: tuple[tuple[int, ...], ...]
    restart: int | None

    @classmethod
    def at_random(cls, shares: Sequence[int], kills: int, seed: int) -> Trouble:
        """So many kills of each worker, anywhere in its share, and Redis's restart in the middle."""
        chance = random.Random(seed)
        points = (tuple(sorted(chance.sample(range(1, share), min(kills, share - 1)))) for share in shares)
        return cls(tuple(points), sum(shares) // 2)


@dataclass(slots=True)
class Progress:
    """What has happened so far, kept on disk: seconds of crawling, kills by worker, and restarts of Redis."""

    seconds: float = 0.0
    kills: list[int] = field(default_factory=list)
    restarts: int = 0


class Worker:
    """One of the processes of a crawl, with a share of the pages.

    Args:
        folder: where its list, its items and its log are.
        urls: its share.
    """

    def __init__(self, folder: Path, urls: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.items = folder / "items.jsonl"
        self.stored = 0
        self._folder = folder
        self._urls = urls
        self._process: subprocess.Popen[bytes] | None = None
        self._reading: IO[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def megabytes(self) -> float:
        """Resident memory of the process."""
        return process_megabytes("VmRSS", self._process.pid) if self._process is not None else 0.0

    def look(self) -> int:
        """Return how many pages are stored by now."""
        if self._reading is not None:
            self.stored += self._reading.read().count(b"\n")
        return self.stored

    def start(self, proxy: str, settings: Mapping[str, object]) -> bool:
        """Ask for the pages that are not stored; return whether there are any."""
        self.items.touch()
        kept = set(urls_of(self.items))
        left = [url for url in self._urls if url not in kept]
        self._reading = self.items.open("rb")
        self.stored = 0
        if not left:
            return False
        (self._folder / "urls.txt").write_text("\n".join(left), encoding="utf-8")
        settings = {"LOG_FILE": self._folder / "log", **settings}
        command = [*crawl_command(self._folder / "urls.txt", self.items, settings), "-a", "until_stdin_closes=1"]
        environment = os.environ | {"http_proxy": proxy, "no_proxy": ""}
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, env=environment)
        return True

    def kill(self) -> None:
        """Kill the process with 9, and cut off the line that it was writing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = None
        _cut_torso(self.items)


class Crawl:
    """A crawl of all pages, which goes on where it was when it is made anew on its folder.

    Args:
        folder: where all of it is kept.
        shares: addresses of each worker.
        settings: of Scrapy and Tamis.
        trouble: what happens to it; nothing without.
        server: the Redis that it counts in; one of its own without.
    """

    def __init__(
        self,
        folder: Path,
        shares: Sequence[Sequence[str]],
        settings: Mapping[str, object],
        *,
        trouble: Trouble | None = None,
        server: EmbeddedServer | None = None,
    ) -> None:
        self.folder = folder
        self.server = server or EmbeddedServer(folder / "redis")
        self.workers = [Worker(folder / f"worker-{number}", share) for number, share in enumerate(shares)]
        self._file = folder / "progress.json"
        self.progress = Progress(kills=[0] * len(shares))
        with suppress(FileNotFoundError):
            self.progress = Progress(**json.loads(self._file.read_text(encoding="utf-8")))
        self._settings = settings
        self._trouble = trouble or Trouble(((),) * len(shares), None)

    def run(self, proxy: str) -> None:
        """Crawl until all workers have ended."""
        begun = time.monotonic() - self.progress.seconds
        sampled = said = time.monotonic()
        with self.server:
            settings = {**self._settings, "TAMIS_REDIS_URL": self.server.url}
            try:
                for worker in self.workers:
                    worker.kill()
                    worker.start(proxy, settings)
                while any(worker.is_running for worker in self.workers):
                    stored = sum(worker.look() for worker in self.workers)
                    self._disturb(stored, proxy, settings)
                    now = time.monotonic()
                    self.progress.seconds = now - begun
                    if now - sampled > 2.0:
                        sampled = now
                        self._sample(stored)
                        self._keep()
                    if now - said > 15.0:
                        said = now
                        say(f"{self.folder.name}: {stored:,} pages, {sum(self.progress.kills)} kills")
                    time.sleep(0.05)
                self._sample(sum(worker.look() for worker in self.workers))
            finally:
                for worker in self.workers:
                    worker.kill()
                self._keep()

    def _disturb(self, stored: int, proxy: str, settings: Mapping[str, object]) -> None:
        kills = self.progress.kills
        for number, (worker, points) in enumerate(zip(self.workers, self._trouble.kills, strict=True)):
            due = points[kills[number] :]
            if due and worker.is_running and worker.stored >= due[0]:
                worker.kill()
                worker.start(proxy, settings)
                kills[number] += 1
                self._keep()
        if self._trouble.restart is not None and stored >= self._trouble.restart and not self.progress.restarts:
            os.kill(int((self.server.folder / "server.pid").read_text(encoding="ascii")), signal.SIGKILL)
            self.server.start()
            self.progress.restarts += 1
            self._keep()

    def _sample(self, stored: int) -> None:
        with redis.Redis.from_url(self.server.url) as client:
            memory: Any = client.info("memory")
        sample = {"pages": stored, "workers": [worker.megabytes for worker in self.workers if worker.is_running]}
        with (self.folder / "memory.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(sample | {"redis": memory["used_memory"] / 1e6}) + "\n")

    def _keep(self) -> None:
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps(asdict(self.progress)), encoding="utf-8")
        part.rename(self._file)


def urls_of(items: Path) -> list[str]:
    """The addresses of the items of a file, as often as they are in it."""
    with items.open(encoding="utf-8") as lines:
        return [json.loads(line)["url"] for line in lines]


def _cut_torso(items: Path) -> None:
    """Take the last line off a file if it has no end: its page is asked for again."""
    if items.exists():
        whole = items.read_bytes()
        os.truncate(items, whole.rfind(b"\n") + 1)


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
            pages = _pages_of(host, pages_per_host, is_redesigned=host < redesigned)
            for number, (url, page, content) in enumerate(pages):
                bodies.write(page.body)
                where = {"url": url, "host": host, "number": number, "type": page.content_type}
                index.write(json.dumps(where | {"begin": begin, "size": len(page.body)}) + "\n")
                truth.write(json.dumps({"url": url, "content": content}) + "\n")
                begin += len(page.body)
    making.rename(folder)


def _pages_of(host: int, number: int, *, is_redesigned: bool) -> Iterator[tuple[str, Resource, str]]:
    """Address, answer and content of each page of a host."""
    kinds = sorted(BUILDERS)
    kind = kinds[host % len(kinds)]
    before = _html_pages(kind, host, number)
    after = _html_pages(kinds[(host + 1) % len(kinds)], host + 1_000_000, number) if is_redesigned else before
    for at in range(number):
        prefix, (page, content) = ("/new", after[at]) if is_redesigned and 2 * at >= number else ("", before[at])
        yield Request(f"http://{kind}-{host:03}.example{prefix}{page.path}").url, page, content


def _html_pages(kind: str, seed: int, number: int) -> list[tuple[Resource, str]]:
    """So many HTML pages of a site of the demo web, with their content."""
    site = build_site(kind, seed, max(number, LEAST_PAGES))
    pages = [page for page in site.resources.values() if page.is_page]
    return [(page, site.truth[page.path].content_text) for page in pages[:number]]


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


def serve(folder: str) -> None:
    """Serve the web of a folder until standard input is closed; print the address of the proxy first."""
    pages_file = os.open(Path(folder, "pages.bin"), os.O_RDONLY)
    bodies = memoryview(mmap.mmap(pages_file, 0, access=mmap.ACCESS_READ))
    answers: dict[str, tuple[bytes, bytes | memoryview]] = {
        NOT_FOUND: (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", b"")
    }
    with Path(folder, "index.jsonl").open(encoding="utf-8") as lines:
        for page in map(json.loads, lines):
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {page['type']}\r\nContent-Length: {page['size']}\r\n\r\n"
            answers[page["url"]] = head.encode(), bodies[page["begin"] : page["begin"] + page["size"]]
    with Path(os.devnull).open("w", encoding="utf-8") as log:
        asyncio.run(_serve(answers, log))


async def _serve(answers: Mapping[str, tuple[bytes, bytes | memoryview]], log: TextIO) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    server = await loop.create_server(lambda: Connection(answers, log), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    loop.add_reader(sys.stdin, ended.set)
    await ended.wait()
