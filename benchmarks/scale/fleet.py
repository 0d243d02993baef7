"""What a fleet of crawls asks of Redis when it meets its hosts by turns, as a breadth-first crawl does.

    python -m benchmarks.scale.fleet settled [--hosts 100 900 1100 5000 20000]
    python -m benchmarks.scale.fleet counting [--hosts 50] [--pages 128]
    python -m benchmarks.scale.fleet workers [--workers 1 10 50 100] [--pace 5] [--seconds 40]
    python -m benchmarks.scale.fleet million [--hosts 66]

Pages are made up: 60 leaves of their host's template and 80 of their own, which is what 500 elements have. All go
through the plugin's own storage code to one Valkey on loopback. *settled*: one worker meets so many settled hosts by
turns; calls a page after the first round, and memory of the worker. *counting*: one worker counts hosts by turns;
memory of a host, bytes written to the append-only file (replicas get the same) and processor time of the server for a
page, by pages of a host; then the same of hosts whose only page has 4,096 leaves. *workers*: processes of their own
meet hosts by turns, each at its pace; pages counted and not counted in time, share of pages that cost a call, waiting
time, and load of the server. *million*: memory and calls of a crawl of a million hosts. The number of pages of a host
follows a power law, density ~ pages^-1.8 (Huberman and Adamic, "Growth dynamics of the World-Wide Web", Nature 401,
1999: exponents of 1.65 to 1.91 over two crawls), up to 100,000, of which 2,000 are crawled; a quarter of them never
settle. As many hosts of each class of size are really counted, and the means of the classes, weighted by their
probability, make the figures.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import time
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.shared.counting import MAX_PAGES, SETTLE_AFTER, bytes_of, counts_on
from benchmarks.shared.servers import Server
from scrapy_tamis.commands.common import with_progress
from scrapy_tamis.stats import PAGES_COUNTED, PAGES_SETTLED
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.hosts import HostRecords
from scrapy_tamis.storage.settled import Labels
from tamis_papers.experiments.harness import parser_of, table, write_json

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

_PREFIX: Final = "fleet"
_LEAVES: Final = 140  # of a page of 500 elements: the mean over 25 sites
_TEMPLATE: Final = 60  # leaves that other pages of the site have, too
_MASSES: Final = np.full(_LEAVES, 40, np.uint8)
_HUGE: Final = 4_096
_ROUNDS: Final = 2
_EXPONENT, _LARGEST, _CRAWLED, _UNSETTLED = 1.8, 100_000, 2_000, 0.25
_CLASSES: Final = tuple(2**power for power in range(11))  # least pages of each
_SERVER: Final = ("--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0")

Row = dict[str, float]


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["settled", "counting", "workers", "million"])
    parser.add_argument("--hosts", type=int, nargs="+", metavar="N", help="hosts that are met by turns")
    parser.add_argument("--pages", type=int, default=128, metavar="N", help="pages of each host (%(default)s)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 10, 50, 100], metavar="N", help="processes")
    parser.add_argument("--pace", type=float, default=5.0, metavar="X", help="pages a second of each (%(default)s)")
    parser.add_argument("--seconds", type=float, default=40.0, metavar="S", help="length of each run (%(default)s)")
    parser.add_argument("--timeout", type=float, default=0.5, metavar="S", help="as TAMIS_REDIS_TIMEOUT (%(default)s)")
    options = parser.parse_args()
    with Server(None, *_SERVER) as server:
        if options.what == "settled":
            rows = [asyncio.run(meet_settled(server, n)) for n in options.hosts or [100, 900, 1_100, 5_000, 20_000]]
        elif options.what == "counting":
            rows = asyncio.run(count_by_turns(server, (options.hosts or [50])[0], options.pages))
        elif options.what == "million":
            rows = [asyncio.run(count_million(server, (options.hosts or [66])[0]))]
        else:
            rows = [run_workers(server, n, options) for n in options.workers]
    cells = [[f"{value:.3g}" if value < 10 else round(value) for value in row.values()] for row in rows]
    print(table(list(rows[0]), cells))
    write_json(options, {"rows": rows})


def page_of(host: int, number: int, leaves: int = _LEAVES) -> tuple[str, bytes, NDArray[np.uint64]]:
    """Name of a host, id of one of its pages, and the fingerprints of that page."""
    rng = np.random.default_rng([host, number])
    own = rng.integers(1, 2**63, leaves, np.uint64)
    own[:_TEMPLATE] = np.random.default_rng(host).integers(1, 2**63, _TEMPLATE, np.uint64)
    return f"h{host}.example", (host << 32 | number).to_bytes(8, "big"), own


async def meet_settled(server: Server, hosts: int) -> Row:
    """Calls a page of one worker that meets settled hosts by turns, after the first round."""
    server.empty()
    for host in range(hosts):
        name, _, leaves = page_of(host, 0)
        template = np.sort(leaves[:_TEMPLATE])
        fractions = np.full(_TEMPLATE, 255, np.uint8)
        labels = Labels(64, 1, template, fractions, 40.0 * _TEMPLATE)
        HostRecords(server.client, _PREFIX).settle(name, labels, 86_400)
    connection = Connection(server.url, timeout=60)
    counts = counts_on(connection, _PREFIX)
    calls, begun = 0, 0.0
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for turn in range(_ROUNDS):
        if turn == 1:
            calls, begun = _script_calls(server), time.process_time()
        for host in range(hosts):
            name, page_id, leaves = page_of(host, turn)
            assert await counts.count(name, page_id, leaves, masses=_MASSES) is not None
    pages = hosts * (_ROUNDS - 1)
    row = {"settled hosts": hosts, "calls a page": (_script_calls(server) - calls) / pages}
    row["milliseconds of the worker a page"] = 1000 * (time.process_time() - begun) / pages
    row["growth of the worker, MB"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1000
    await connection.close()
    return row


def _script_calls(server: Server) -> int:
    return int(server.info("commandstats").get("cmdstat_evalsha", {"calls": 0})["calls"])


async def count_by_turns(server: Server, hosts: int, pages: int) -> list[Row]:
    """Memory, bytes written and processor time while hosts grow, and for hosts with one page of very many leaves."""
    connection = Connection(server.url, timeout=60)
    counts = counts_on(connection, _PREFIX, 0)
    rows = []
    bounds = [number for number in (0, 1, 2, 6, 12, 30, 63, 128, 256, 512, 1_024) if number <= pages]
    for begin, end in pairwise(bounds):
        before = _state(server)
        for number in range(begin, end):
            for host in range(hosts):
                name, page_id, leaves = page_of(host, number)
                assert await counts.count(name, page_id, leaves, masses=_MASSES) is not None
        rows.append({"pages of a host": end} | _difference(server, before, hosts, hosts * (end - begin)))
    server.empty()
    before = _state(server)
    for host in range(hosts):
        name, page_id, leaves = page_of(host, 0, _HUGE)
        assert await counts.count(name, page_id, leaves, masses=np.full(_HUGE, 40, np.uint8)) is not None
    rows.append({"pages of a host": 1} | _difference(server, before, hosts, hosts))
    await connection.close()
    return rows


def _state(server: Server) -> tuple[float, float]:
    """The file of the server in bytes, and its processor time in microseconds."""
    about = server.info("everything")
    return about["aof_current_size"], 1e6 * (about["used_cpu_user"] + about["used_cpu_sys"])


def _difference(server: Server, before: tuple[float, float], hosts: int, pages: int) -> Row:
    written, processor = (b - a for a, b in zip(before, _state(server), strict=True))
    sizes: list[Any] = [server.client.memory_usage(key, samples=0) for key in server.client.keys(f"{_PREFIX}:*")]
    return {
        "bytes of a host": sum(sizes) / hosts,
        "bytes written a page": written / pages,
        "microseconds of the server a page": processor / pages,
    }


def run_workers(server: Server, workers: int, options: argparse.Namespace) -> Row:
    """A fleet of processes that meets the hosts by turns, each worker at its pace."""
    server.empty()
    hosts = max(round(workers * options.pace * options.seconds / options.pages), 1)
    context = multiprocessing.get_context("fork")  # a hundred imports of the package would take minutes
    results: Any = context.Queue()
    start = context.Barrier(workers + 1)
    arguments = (server.url, options.timeout, hosts, workers, options.pace, options.seconds, start, results)
    processes = [context.Process(target=_work, args=(number, *arguments)) for number in range(workers)]
    for process in processes:
        process.start()
    start.wait()
    before, begun = _state(server), time.monotonic()
    found = [results.get() for _ in processes]
    seconds = time.monotonic() - begun
    for process in processes:
        process.join()
    written, processor = (b - a for a, b in zip(before, _state(server), strict=True))
    waits = np.concatenate([waits for waits, _, _ in found])
    counted, missed = (sum(result[k] for result in found) for k in (1, 2))
    return {
        "workers": workers,
        "hosts": hosts,
        "pages a second": len(waits) / seconds,
        "calls a page": counted / len(waits),
        "not counted in time, %": 100 * missed / len(waits),
        "milliseconds, median": 1000 * float(np.median(waits)),
        "milliseconds, 99th percentile": 1000 * float(np.percentile(waits, 99)),
        "server, % of a core": processor / seconds / 1e4,
        "microseconds of the server a call": processor / max(counted, 1),
        "bytes written a call": written / max(counted, 1),
    }


def _work(worker: int, *arguments: Any) -> None:
    *meeting, results = arguments
    results.put(asyncio.run(_meet_hosts(worker, *meeting)))


async def _meet_hosts(
    worker: int, url: str, limit: float, hosts: int, workers: int, pace: float, seconds: float, start: Any
) -> tuple[list[float], int, int]:
    """How long each page of a worker took, how many cost a call, and how many were not counted in time."""
    connection = Connection(url, timeout=limit)
    counts = counts_on(connection, _PREFIX)
    await connection.ping()
    start.wait()
    begun, waits, called, missed = time.monotonic() + worker / workers / pace, [], 0, 0
    for number in range(int(seconds * pace)):
        # Made before its time: it is not what is measured.
        name, page_id, leaves = page_of((number + worker * hosts // workers) % hosts, worker << 20 | number)
        await asyncio.sleep(max(begun + number / pace - time.monotonic(), 0))
        at = time.monotonic()
        evidence = await counts.count(name, page_id, leaves, masses=_MASSES)
        waits.append(time.monotonic() - at)
        missed += evidence is None
        called += evidence is None or evidence.stat != PAGES_SETTLED
    await connection.close()
    return waits, called, missed


async def count_million(server: Server, sample: int) -> Row:
    """What a million hosts take, from a sample of hosts of each class of size."""
    probability = np.arange(1, _LARGEST + 1, dtype=float) ** -_EXPONENT
    probability /= probability.sum()
    rng, connection, numbers = np.random.default_rng(0), Connection(server.url, timeout=60), count()
    totals = np.zeros(4)
    for least, after in with_progress(list(pairwise([*_CLASSES, _LARGEST + 1])), "classes of hosts"):
        among = probability[least - 1 : after - 1]
        sizes = np.arange(least, after).clip(max=_CRAWLED)
        drawn = rng.choice(sizes, max(sample // len(_CLASSES), 1), p=among / among.sum()).tolist()
        mean = float((among * sizes).sum() / among.sum())
        kinds = []
        for settle_after in (SETTLE_AFTER, 4 * MAX_PAGES):
            found = [await _count_host(server, connection, next(numbers), pages, settle_after) for pages in drawn]
            kinds.append(np.mean(found, axis=0))
        left, peak, counted = (1 - _UNSETTLED) * kinds[0] + _UNSETTLED * kinds[1]
        counted = mean if after <= SETTLE_AFTER else min(counted, mean)
        totals += among.sum() * np.array([mean, left, peak, counted])
    await connection.close()
    pages, left, peak, counted = totals.tolist()
    return {
        "pages, millions": pages,
        "gigabytes when all are crawled": left / 1e3,
        "gigabytes if all were at their largest at once": peak / 1e3,
        "pages that cost a call, %": 100 * counted / pages,
    }


async def _count_host(
    server: Server, connection: Connection, host: int, pages: int, settle_after: int
) -> tuple[int, int, int]:
    """Count the pages of one host; return its bytes in the end and at most, and the pages that were counted."""
    counts = counts_on(connection, _PREFIX, settle_after)
    peak = counted = 0
    for number in range(1, pages + 1):
        name, page_id, leaves = page_of(host, number)
        evidence = await counts.count(name, page_id, leaves, masses=_MASSES)
        assert evidence is not None
        counted += evidence.stat == PAGES_COUNTED
        if evidence.stat == PAGES_SETTLED:
            break  # from here on nothing is sent
        if number & (number - 1) == 0 or number == pages or number % 64 == 31:
            peak = max(peak, bytes_of(server.client, counts, name))
    left = bytes_of(server.client, counts, name)
    return left, max(peak, left), counted


if __name__ == "__main__":
    main()
