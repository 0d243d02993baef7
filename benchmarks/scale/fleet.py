"""What a fleet of crawls asks of Redis: costs of a page, the model made of them, and a simulation beside it.

    python -m benchmarks.scale.fleet [--workers 20] [--pages 500] [--hosts 10] [--nodes 3]

The pages are those of the demo web: read, fingerprinted and shingled as a crawl does, each on made-up hosts whose
fingerprints and shingles are salted, one page in ten without, which so repeats one of another host. First *one* process
replays pages through the plugin's own storage code against a cluster on loopback, once only counting and once only
looking for near-duplicates. What the servers took of processor, network, calls and memory, less what they take idle,
are the costs of a page, and the model adds them up. Then --workers processes replay pages of other hosts, counting and
looking up together as crawls do, and the same is read again.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
import time
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.shared.cluster import local_cluster
from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.shared.local_server import LocalServer
from demo.web import generate, read_resources
from scrapy_winnow.config import SETTINGS
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import NodeCounts
from scrapy_winnow.storage.evidence import HashedPage
from scrapy_winnow.storage.index import DuplicateIndex
from winnow import clean
from winnow.duplicates import shingles
from winnow.fingerprints import FINGERPRINT_VERSION
from winnow.page.page import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_AT_ONCE: Final = 8
"""Pages under way in a process, as Scrapy has items."""

_IDLE_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class ReplayedPage:
    """What a page sends to Redis."""

    fingerprints: NDArray[np.uint64]
    masses: NDArray[np.uint8]
    shingles: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Costs:
    """What the servers of a cluster took, together.

    Attributes:
        processor: microseconds.
        received, sent: bytes of the network.
        calls: script calls and commands of clients.
        reads: times that the servers read from a client: round trips.
        memory: bytes of data.
    """

    processor: float
    received: float
    sent: float
    calls: float
    reads: float
    memory: float

    def __sub__(self, other: Costs) -> Costs:
        return Costs(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __add__(self, other: Costs) -> Costs:
        return Costs(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def times(self, factor: float) -> Costs:
        """Each of them so many times."""
        return Costs(*(factor * value for value in astuple(self)))


def main() -> None:
    """Measure, predict, simulate, compare."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--workers", type=int, default=20, metavar="N", help="replaying processes (%(default)s)")
    parser.add_argument("--pages", type=int, default=500, metavar="N", help="pages of each (%(default)s)")
    parser.add_argument("--hosts", type=int, default=10, metavar="N", help="hosts of each (%(default)s)")
    parser.add_argument("--nodes", type=int, default=3, metavar="N", help="servers; 1 is no cluster (%(default)s)")
    options = parser.parse_args()
    pages = read_pages()
    measured = options.pages * max(options.workers // 10, 2)
    with ExitStack() as stack:
        if options.nodes > 1:
            servers = stack.enter_context(local_cluster(options.nodes))
            url = f"redis+cluster://127.0.0.1:{servers[0].port}"
        else:
            servers = [stack.enter_context(LocalServer())]
            url = servers[0].url
        warm = (url, pages, 50, 2, "warm", True, True)
        _replayed(servers, [warm])
        begin = _taken(servers)
        time.sleep(_IDLE_SECONDS)
        idle = (_taken(servers) - begin).times(1 / _IDLE_SECONDS)
        hosts = max(round(options.hosts * measured / options.pages), 1)
        counts = _replayed(servers, [(url, pages, measured, hosts, "counts", True, False)], idle).times(1 / measured)
        near = _replayed(servers, [(url, pages, measured, hosts, "near", False, True)], idle).times(1 / measured)
        model = counts + near
        work = [(url, pages, options.pages, options.hosts, f"w{n}", True, True) for n in range(options.workers)]
        total = options.workers * options.pages
        simulated = _replayed(servers, work, idle).times(1 / total)
    rows, names = [], ("microseconds of processor", "bytes received", "bytes sent", "calls", "reads", "bytes of memory")
    for name, *values in zip(names, *map(astuple, (counts, near, model, simulated)), strict=True):
        rows.append([name, *(f"{value:,.1f}" for value in values), f"{values[3] / values[2] - 1:+.0%}"])
    print(table(["of a page", "counts", "near-duplicates", "model", "simulated", "off by"], rows))
    print(f"{total:,} pages of {options.workers * options.hosts:,} hosts by {options.workers} processes")
    write_json(options, {"counts": astuple(counts), "near": astuple(near), "simulated": astuple(simulated)})


def read_pages() -> list[ReplayedPage]:
    """Read the pages of a small demo web, one host after the other."""
    read = []
    with tempfile.TemporaryDirectory(prefix="winnow-fleet-") as folder:
        generate(Path(folder), pages=12)
        for resources in read_resources(Path(folder)).values():
            for resource in resources.values():
                if resource.status == 200 and dict(resource.headers)["Content-Type"].startswith("text/html"):
                    page = HashedPage.of(Page.parse(resource.body.decode("utf-8", "replace")))
                    text = clean(resource.body).text
                    read.append(ReplayedPage(page.fingerprints, page.masses, shingles(text)))
    return read


def _replayed(servers: Sequence[LocalServer], work: Sequence[tuple[object, ...]], idle: Costs | None = None) -> Costs:
    """What the servers took for some processes, less what they take idle."""
    begin, begun = _taken(servers), time.monotonic()
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_replay, args=about) for about in work]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if process.exitcode:
            raise SystemExit(f"a process ended with {process.exitcode}")
    seconds = time.monotonic() - begun
    say(f"{len(work)} processes, {seconds:.1f} s")
    taken = _taken(servers) - begin
    return taken - idle.times(seconds) if idle is not None else taken


def _taken(servers: Sequence[LocalServer]) -> Costs:
    values = np.zeros(6)
    for server in servers:
        about = server.client.info("everything")
        values += (
            1e6 * (about["used_cpu_user"] + about["used_cpu_sys"]),
            about["total_net_input_bytes"],
            about["total_net_output_bytes"],
            about["total_commands_processed"],
            about["total_reads_processed"],
            about["used_memory_dataset"],
        )
    return Costs(*values.tolist())


def _replay(url: str, pages: list[ReplayedPage], number: int, hosts: int, name: str, counts: bool, near: bool) -> None:
    asyncio.run(_work(url, pages, number, hosts, name, counts, near))


async def _work(
    url: str, pages: list[ReplayedPage], number: int, hosts: int, name: str, counts: bool, near: bool
) -> None:
    connection = Connection(url, timeout=60)
    counting = NodeCounts(
        connection,
        prefix="winnow",
        version=FINGERPRINT_VERSION,
        budget=int(str(SETTINGS["WINNOW_HOST_BUDGET"].default)),
        max_pages=int(str(SETTINGS["WINNOW_HOST_PAGES"].default)),
        ttl=int(str(SETTINGS["WINNOW_HOST_TTL"].default)),
        settle_after=0,  # each page costs its call
    )
    index = DuplicateIndex(connection.for_purpose("near-duplicates"), "winnow")
    rng = np.random.default_rng(sum(name.encode()))
    salts = rng.integers(1, 2**63, hosts, np.uint64)
    free = asyncio.Semaphore(_AT_ONCE)

    async def page(place: int) -> None:
        host = place % hosts
        salt = salts[host] + np.uint64(place // hosts // len(pages))
        shown = pages[place // hosts % len(pages)]
        async with free:
            if counts:
                page_id = f"{name}{place}".encode().ljust(8)[-8:]
                salted = shown.fingerprints ^ salts[host]
                if await counting.count(f"{name}-{host}.example", page_id, salted, masses=shown.masses) is None:
                    raise SystemExit("a page was not counted")
            if near:
                own = shown.shingles if place % 10 == 0 else np.sort(shown.shingles ^ salt)
                if await index.find(f"https://{name}-{host}.example/some/story/{place}.html", own) is None:
                    raise SystemExit("a page was not looked up")

    await asyncio.gather(*(page(place) for place in range(number)))
    await connection.close()


if __name__ == "__main__":
    main()
