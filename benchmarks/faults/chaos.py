"""What faults cost a crawl: items lost, pages counted wrongly, and how long the crawl stood still.

    python -m benchmarks.faults.chaos [--pages 20] [--pause 30] [--fault NAME ...] [--processes 1]

Every row is a real crawl (`scrapy`, one process, two where it says so) over the demo web with a real Valkey on TCP. The
fault strikes when a third of the pages has been asked for, and is mended --pause seconds later. Then the counts in
Redis are compared with those of the same pages counted without any fault, node by node.

*Lost* are pages that were asked for and gave no item. *Stood still* is the longest time without a request to the web;
a call to Redis may take TAMIS_REDIS_TIMEOUT (0.5 s), plus what a crawl without fault stands still anyway. The exit
code is 1 if something is lost, counted wrongly, or stands still for longer than the bound. For clocks that jump, a
library is compiled that the processes are started with; without a C compiler they do not.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.request import RequestFingerprinter

from benchmarks.shared.counting import counted_nodes, counted_pages
from benchmarks.shared.crawls import QUICK, ROOT, crawl_command, demo_pages
from benchmarks.shared.servers import MASTER, Proxy, Server, running_sentinels, start_cluster
from demo.server import DemoWeb
from scrapy_tamis.storage.clients import blocking_client
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.evidence import HashedPage, page_id_of
from scrapy_tamis.storage.keys import site_of
from tamis.models import load_model
from tamis.page.page import Page
from tamis_papers.experiments.harness import parser_of, say, table, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from demo.site import Resource

    Strike = Callable[["Setting"], object]

TIMEOUT: Final = 0.5
"""Seconds that a call to Redis may take, TAMIS_REDIS_TIMEOUT's default."""

DAYS: Final = 40
"""Days that the clocks jump: further than the time to live of anything in Redis."""

_LOGGED: Final = ("--appendonly", "yes", "--appendfsync", "always")


@dataclass(frozen=True, slots=True)
class Setting:
    """What a crawl runs with.

    Attributes:
        server: the Redis that it talks to.
        replica: that of the server.
        url: address that the crawl is given.
        proxy: what is between crawl and server.
        clock: that of all processes.
        processes: cleaning processes.
    """

    server: Server
    replica: Server
    url: str
    proxy: Proxy
    clock: Clock
    processes: int


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of trouble.

    Attributes:
        strike: what happens.
        mend: what ends it.
        server: options of the server.
        workers: crawls of the same pages at the same time.
        kills: whether it is the worker that is killed with 9, and started again.
        keeps: whether all pages must be in the counts at the end; without, those counted must be right.
        sentinels: whether three Sentinels name the server to the crawl, and make the replica the server.
        in_cluster: whether the server is one of a cluster of three, and the replica another.
    """

    strike: Strike = lambda _: None
    mend: Strike = lambda _: None
    server: Sequence[str] = ()
    workers: int = 1
    kills: bool = False
    keeps: bool = False
    sentinels: bool = False
    in_cluster: bool = False


class Clock:
    """The time of day of the processes that are started with its environment, which can be made to jump.

    Args:
        folder: where the library is compiled to; without a C compiler no clock jumps.
    """

    def __init__(self, folder: Path) -> None:
        self.environment: Mapping[str, str] = {}
        self._jump = folder / "clock-jump"
        compiler, library = shutil.which("cc"), folder / "clock.so"
        if compiler is not None:
            source = Path(__file__).with_name("clock.c")
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
            self.environment = {"LD_PRELOAD": str(library), "TAMIS_CLOCK_JUMP": str(self._jump)}

    def jump(self, seconds: int) -> None:
        """Set all clocks ahead of what they are, or back."""
        self._jump.write_text(str(seconds), encoding="ascii")

    def be_right(self) -> None:
        """Set them right again."""
        self._jump.unlink(missing_ok=True)


def fail_over(setting: Setting) -> None:
    """Make the replica the server."""
    setting.replica.do("REPLICAOF", "NO", "ONE")
    setting.proxy.to = setting.replica.port
    setting.proxy.heal()


def _limit_memory(setting: Setting, bytes_: int) -> None:
    setting.server.do("CONFIG", "SET", "maxmemory", str(bytes_))


def _both(first: Strike, second: Strike) -> Strike:
    def strike(setting: Setting) -> None:
        first(setting)
        second(setting)

    return strike


_EVERY_SECOND: Final = ("--appendonly", "yes", "--appendfsync", "everysec")
_KILL: Final[Strike] = lambda s: s.server.kill()  # noqa: E731
_RESTART: Final[Strike] = lambda s: s.server.start()  # noqa: E731
_FREEZE: Final[Strike] = lambda s: s.server.freeze()  # noqa: E731
_THAW: Final[Strike] = lambda s: s.server.thaw()  # noqa: E731
_FILL_DISK: Final[Strike] = lambda s: s.server.limit_files(0)  # noqa: E731
_EMPTY_DISK: Final[Strike] = lambda s: s.server.limit_files()  # noqa: E731

FAULTS: Final = {
    "none": Fault(keeps=True),
    "worker killed -9, started again": Fault(kills=True, keeps=True),
    "two workers, the same pages": Fault(workers=2, keeps=True),
    "Redis killed -9, back empty": Fault(_KILL, _RESTART),
    "Redis killed -9, back with its log": Fault(_KILL, _RESTART, _LOGGED),
    "Redis frozen": Fault(_FREEZE, _THAW),
    "Redis out of memory": Fault(lambda s: _limit_memory(s, 1), lambda s: _limit_memory(s, 0)),
    "Redis made a read-only replica": Fault(
        lambda s: s.server.do("REPLICAOF", "127.0.0.1", "1"), lambda s: s.server.do("REPLICAOF", "NO", "ONE")
    ),
    "Redis failing over to its replica": Fault(_KILL, fail_over),
    "Redis killed -9, Sentinels fail over": Fault(_KILL, sentinels=True),
    "a server of three in a cluster killed -9, back with its log": Fault(_KILL, _RESTART, _LOGGED, in_cluster=True),
    "a server of three in a cluster frozen": Fault(_FREEZE, _THAW, in_cluster=True),
    "Redis's disk full": Fault(_FILL_DISK, _EMPTY_DISK, _EVERY_SECOND),
    "network cut": Fault(lambda s: s.proxy.cut(), lambda s: s.proxy.heal()),
    "clocks 40 days ahead, and back": Fault(lambda s: s.clock.jump(DAYS * 86_400), lambda s: s.clock.be_right()),
    "clocks 40 days back, and ahead": Fault(lambda s: s.clock.jump(-DAYS * 86_400), lambda s: s.clock.be_right()),
    "worker and Redis killed -9 at once": Fault(_KILL, _RESTART, _LOGGED, kills=True),
    "network cut and Redis out of memory": Fault(
        _both(lambda s: s.proxy.cut(), lambda s: _limit_memory(s, 1)),
        _both(lambda s: s.proxy.heal(), lambda s: _limit_memory(s, 0)),
    ),
    "Redis frozen, and killed while it is": Fault(_both(_FREEZE, _KILL), _RESTART, _LOGGED),
    "worker killed -9 and Redis's disk full": Fault(_FILL_DISK, _EMPTY_DISK, _EVERY_SECOND, kills=True),
}
"""By name; the last four are two at once."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a crawl with a fault came to.

    Attributes:
        asked: pages of the demo web.
        lost: of these, those without an item.
        counted: pages in the counts at the end.
        missing: pages that a crawl without fault counts and this one has not, where it must.
        wrong: nodes whose entry differs from that of the same pages without a fault.
        still: longest time without a request, in seconds.
        outages: times that the crawl saw Redis go.
    """

    asked: int
    lost: int
    counted: int
    missing: int
    wrong: int
    still: float
    outages: int


def main() -> int:
    """Run every fault, print a row for each."""
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=int, default=20, metavar="N", help="content pages per host (%(default)s)")
    parser.add_argument(
        "--pause", type=float, default=30.0, metavar="S", help="seconds until it is mended (%(default)s)"
    )
    parser.add_argument(
        "--fault", nargs="+", choices=list(FAULTS), metavar="NAME", help="these only: " + "; ".join(FAULTS)
    )
    parser.add_argument("--seed", type=int, default=1, help="another seed, other pages (%(default)s)")
    parser.add_argument("--processes", type=int, default=0, metavar="N", help="cleaning processes (%(default)s)")
    options = parser.parse_args()
    names = ["none", *(name for name in options.fault or FAULTS if name != "none")]
    outcomes: dict[str, Outcome] = {}
    with (
        tempfile.TemporaryDirectory(prefix="tamis-chaos-") as folder,
        DemoWeb(Path(folder, "web"), options.seed, options.pages) as web,
    ):
        pages = demo_pages(web)
        for number, name in enumerate(names):
            say(f"{name} ({number + 1} of {len(names)})")
            outcomes[name] = _run(
                *(FAULTS[name], web, pages, Path(folder, str(number)), options.pause, outcomes.get("none")),
                processes=options.processes,
            )
    bound = outcomes["none"].still + TIMEOUT + 0.5  # which a busy machine may add
    rows = [
        [name, each.asked, each.lost, each.counted, each.missing, each.wrong, f"{each.still:.1f}", each.outages]
        for name, each in outcomes.items()
    ]
    print(table(["fault", "pages", "lost", "counted", "missing", "wrong", "stood still, s", "outages"], rows))
    print(f"\nbound on standing still: {bound:.1f} s")
    write_json(options, {"bound": bound, "faults": {name: asdict(each) for name, each in outcomes.items()}})
    still = all(each.still <= bound for name, each in outcomes.items() if not FAULTS[name].kills)
    return int(not still or any(each.lost or each.missing or each.wrong for each in outcomes.values()))


def _run(
    fault: Fault,
    web: DemoWeb,
    pages: dict[str, Resource],
    folder: Path,
    pause: float,
    without: Outcome | None,
    *,
    processes: int,
) -> Outcome:
    with ExitStack() as stack:
        folder.mkdir()
        clock = Clock(folder)
        if fault.in_cluster:
            server, replica, *_ = start_cluster(stack, folder, *fault.server)
        else:
            server = stack.enter_context(Server(folder / "primary", *fault.server, environment=clock.environment))
            replica = stack.enter_context(Server(folder / "replica", "--replicaof", "127.0.0.1", str(server.port)))
        proxy = stack.enter_context(Proxy(server.port))
        url = server.url.replace("redis", "redis+cluster") if fault.in_cluster else proxy.url
        if fault.sentinels:
            url = f"redis+sentinel://{stack.enter_context(running_sentinels(server.port, folder))[0]}/{MASTER}"
        setting = Setting(server, replica, url, proxy, clock, processes)
        still = _crawl(fault, setting, web, pages, folder, pause)
        survivor = replica if fault.mend is fail_over or fault.sentinels else server
        counted, wrong = asyncio.run(_compared(url if fault.in_cluster else survivor.url, pages, folder))
        log = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.log"))
    items = {
        json.loads(line)["url"]
        for file in folder.glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.endswith("}")  # the last line of a killed crawl may be a torso
    }
    return Outcome(
        asked=len(pages),
        lost=len(pages.keys() - items),
        counted=counted,
        missing=without.counted - counted if fault.keeps and without is not None else 0,
        wrong=wrong,
        still=still,
        outages=log.count("the crawl goes on without site evidence and tries again"),
    )


def _crawl(
    fault: Fault, setting: Setting, web: DemoWeb, pages: dict[str, Resource], folder: Path, pause: float
) -> float:
    """Crawl with the fault; return the longest time without a request, in seconds."""
    before = {name: len(web.requests(name)) for name in web.urls}

    def asked() -> int:
        return sum(len(web.requests(name)) - before[name] for name in web.urls)

    # The crawl goes on for about as long as the fault lasts, and half as long again before and after it.
    delay = 2 * pause / len(pages)
    crawls = [_start(setting, pages, folder, number, delay) for number in range(fault.workers)]
    mended_at = seen_at = still = 0.0
    seen = 0
    while any(crawl.poll() is None for crawl in crawls):
        now = time.monotonic()
        if (requests := asked()) != seen or not seen:
            still = max(still, now - seen_at) if seen else 0.0
            seen, seen_at = requests, now
        if not mended_at and requests >= fault.workers * len(pages) // 3:
            mended_at = now + pause
            fault.strike(setting)
            if fault.kills:
                crawls[0].kill()
                crawls[0].wait()
                crawls = [_start(setting, pages, folder, len(crawls), delay)]
        if 0 < mended_at < now:
            fault.mend(setting)
            mended_at = float("inf")
        time.sleep(0.01)
    if mended_at not in {0.0, float("inf")}:
        fault.mend(setting)
    return still


def _start(
    setting: Setting, pages: dict[str, Resource], folder: Path, number: int, delay: float
) -> subprocess.Popen[bytes]:
    urls = folder / "urls.txt"
    urls.write_text("\n".join(pages), encoding="utf-8")
    settings = QUICK | {
        "LOG_FILE": folder / f"{number}.log",
        "TAMIS_REDIS_URL": setting.url,
        "TAMIS_REDIS_TIMEOUT": TIMEOUT,
        "TAMIS_REDIS_RETRY_INTERVAL": 1,
        "TAMIS_SETTLE_PAGES": 0,
        "TAMIS_PROCESSES": setting.processes,
        "FEED_EXPORT_FIELDS": "url,text",
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": delay,  # the hosts share an address, and so the delay
        "RANDOMIZE_DOWNLOAD_DELAY": 0,
    }
    command = crawl_command(urls, folder / f"{number}.jsonl", settings)
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **setting.clock.environment})


async def _compared(address: str, pages: dict[str, Resource], folder: Path) -> tuple[int, int]:
    """Pages in the counts behind an address, and entries that differ from those of the same pages counted anew."""
    fingerprint = RequestFingerprinter().fingerprint
    url_of = {page_id_of(fingerprint(Request(url))): url for url in pages}
    counted, wrong = 0, 0
    with Server(folder / "again") as again, blocking_client(address) as here:
        there = again.client
        connection = Connection(again.url, timeout=10)
        counts = NodeCounts(connection, prefix="tamis", budget=1 << 20, max_pages=1 << 14, ttl=1 << 20)
        for host in sorted({str(site_of(url)) for url in pages}):
            ids = counted_pages(here, host)
            counted += len(ids)
            for page_id in [*ids, *ids[:1]]:  # the first is counted when one comes after it
                hashed = _hashed(url_of[page_id], pages)
                await counts.count(
                    *(host, page_id, hashed.fingerprints, hashed.contents_id, hashed.masses),
                    main_text_id=hashed.main_text_id,
                )
            found, expected = (counted_nodes(client, host) for client in (here, there))
            wrong += sum(found.get(key) != expected.get(key) for key in found.keys() | expected.keys())
        await connection.close()
    return counted, wrong


def _hashed(url: str, pages: dict[str, Resource]) -> HashedPage:
    response = HtmlResponse(url, body=pages[url].body, headers=dict(pages[url].headers))
    return HashedPage.of(Page.parse(response.text, url), load_model())


if __name__ == "__main__":
    sys.exit(main())
