"""Real servers for the crawler's tests: Redis or Valkey, and a web on loopback."""

import json
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import pytest

from benchmarks.shared.servers import ReservedPort, Server, start_cluster
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.embedded import EmbeddedServer
from tests.scrapy_tamis.forked import Forked, Forks
from tests.scrapy_tamis.inspector.browsing import story
from tests.scrapy_tamis.web import Web, served


@pytest.fixture(autouse=True)
def _environment_is_kept() -> Iterator[None]:
    """Take back what a test leaves in the environment: Scrapy notes there which project a command was called in."""
    with patch.dict(os.environ):
        yield


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real server: ``TEST_REDIS_URL`` when it is set, otherwise the embedded one."""
    if url := os.environ.get("TEST_REDIS_URL"):
        yield url
        return
    with EmbeddedServer(tmp_path_factory.mktemp("redis"), max_bytes=1 << 30) as server:
        yield server.url


@pytest.fixture
def prefix() -> str:
    """First part of the keys of one test."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
async def connection(redis_url: str) -> AsyncIterator[Connection]:
    """A connection that waits long enough for a busy machine."""
    connection = Connection(redis_url, timeout=60)
    yield connection
    await connection.close()


@pytest.fixture
def port() -> Iterator[int]:
    """A port of loopback for something that is told where to listen."""
    with ReservedPort() as port:
        yield port.number


@pytest.fixture
def address(port: int) -> str:
    """Where something on loopback may listen, as ``HOST:PORT``."""
    return f"127.0.0.1:{port}"


@pytest.fixture
def tcp_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers with options of one's own."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(Server(tmp_path, *options))


@pytest.fixture(scope="session")
def cluster_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    """The servers of a cluster, which share the slots."""
    with ExitStack() as stack:
        yield start_cluster(stack, tmp_path_factory.mktemp("cluster"))


@pytest.fixture(scope="session")
def cluster_url(cluster_servers: list[Server]) -> str:
    """Address of a cluster of three servers."""
    return f"redis+cluster://127.0.0.1:{cluster_servers[0].port}"


@pytest.fixture
async def cluster(cluster_url: str) -> AsyncIterator[Connection]:
    """A connection to a cluster."""
    connection = Connection(cluster_url, timeout=60)
    yield connection
    await connection.close()


@pytest.fixture
def web() -> Iterator[Web]:
    """An empty site, served while the test runs."""
    with served() as web:
        yield web


@pytest.fixture(scope="module")
def shared_web() -> Iterator[Web]:
    """An empty site, served while the tests of a file run."""
    with served() as web:
        yield web


@dataclass
class Crawled:
    """What came out of a crawl.

    Attributes:
        items: fields of each item that passed the pipelines, by address where it has one.
        stats: all stats.
        log: standard error.
        urls, prefix: what was asked for, and the first part of the keys, where a file's tests share crawls.
    """

    items: list[dict]
    stats: dict[str, object]
    log: str
    urls: list[str] = field(default_factory=list)
    prefix: str = ""

    @property
    def tamis_stats(self) -> dict[str, object]:
        return {name: value for name, value in self.stats.items() if name.startswith("tamis/")}

    def lines(self, text: str) -> list[str]:
        """Lines of the log with a text."""
        return [line for line in self.log.splitlines() if text in line]

    def item(self, url: str) -> dict:
        """The only item of an address."""
        (item,) = [item for item in self.items if item["url"] == url]
        return item


class CrawlProcess(Forked):
    """Crawls in a process of their own, with every warning an error; see ``crawl_process.py`` for the plans."""

    def __init__(self, forks: Forks, folder: Path, plans: list[dict[str, object]]) -> None:
        self._folder = folder
        self._out = folder / "crawled.json"
        plan = json.dumps({"out": str(self._out), "crawls": plans})
        super().__init__(forks, "tests.scrapy_tamis.crawl_process", plan, folder=folder)

    def results(self) -> list[Crawled]:
        code, _, log = self.end()
        assert code == 0, log
        assert "Warning" not in log, log
        assert not (self._folder / ".scrapy").exists()  # with a URL or a folder of its own nothing is started here
        return [Crawled(**crawled, log=log) for crawled in json.loads(self._out.read_text())]


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Runs modules in processes that need not import what crawls need."""
    forks = Forks()
    yield forks
    forks.close()


@pytest.fixture(scope="session")
def start_crawls(
    forks: Forks, tmp_path_factory: pytest.TempPathFactory, redis_url: str
) -> Iterator[Callable[..., CrawlProcess]]:
    """Start crawls in one process, with the tests' Redis and keys of their own.

    Options in capitals are settings, the others are for ``crawl_process.py``.
    """
    started: list[CrawlProcess] = []

    def start(*crawls: dict[str, object]) -> CrawlProcess:
        plans = []
        for options in crawls:
            settings = {
                "TAMIS_REDIS_URL": redis_url,
                "TAMIS_REDIS_PREFIX": f"test-{uuid.uuid4().hex[:12]}",
                "TAMIS_REDIS_TIMEOUT": 60,  # of a busy machine
                **{name: value for name, value in options.items() if name.isupper()},
            }
            plans.append({"settings": settings, **{k: v for k, v in options.items() if not k.isupper()}})
        started.append(CrawlProcess(forks, tmp_path_factory.mktemp("crawl"), plans))
        return started[-1]

    yield start
    for crawls in started:
        crawls.kill()  # that of a test that failed
        crawls.end()


@pytest.fixture
def crawl(start_crawls: Callable[..., CrawlProcess], prefix: str) -> Callable[..., Crawled]:
    """Do one crawl with the keys of this test, and return what came out."""

    def run(**options: object) -> Crawled:
        return start_crawls({"TAMIS_REDIS_PREFIX": prefix, **options}).results()[0]

    return run


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 14 pages of one site."""
    folder = tmp_path_factory.mktemp("site") / "harbour.example"
    folder.mkdir()
    for number in range(14):
        (folder / f"story-{number:02}.html").write_text(story(number), encoding="utf-8")
    return folder
