"""Redis memory and writes of a crawl of very many hosts, measured on a sample and extrapolated.

The number of pages per host follows a power law, density ~ pages^-1.8 (Huberman and Adamic, "Growth dynamics of the
World-Wide Web", Nature 401, 1999: exponents of 1.65 to 1.91 over two crawls), from 1 page to --largest. The crawl takes
--pages-per-host of each host at most, as crawls do. A page has 140 leaves, which is what 500 elements have: 60 of the
host's template and 80 of its own. A share of the hosts, --unsettled, does not settle before WINNOW_HOST_PAGES. --hosts
hosts are drawn and really counted, as many of each class of size, so that large ones, which are rare, are there too.
Means of the classes, weighted by their probability, make the figures.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import redis

from benchmarks.shared.common import parser_of, say, shown, table, write_json
from benchmarks.sites.counted_pages import made_up_pages
from scrapy_winnow.config import SETTINGS
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import NodeCounts
from scrapy_winnow.storage.embedded import EmbeddedServer
from winnow.fingerprints import FINGERPRINT_VERSION

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from numpy.typing import NDArray

EXPONENT: Final = 1.8
STRATA: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Least pages of each stratum."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """What was measured of the hosts of one class of size.

    Attributes:
        least, most: pages crawled per host.
        share: share of all hosts.
        pages: pages per host, the mean over the class.
        bytes: of Redis per host when its pages are counted; ``peak`` while they are.
        counted: pages per host that cost a call and a write.
    """

    least: int
    most: int
    share: float
    pages: float
    bytes: float
    peak: float
    counted: float


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--hosts", type=int, default=330, metavar="N", help="hosts of the sample (%(default)s)")
    parser.add_argument(
        "--largest", type=int, default=100_000, metavar="N", help="pages of the largest host (%(default)s)"
    )
    parser.add_argument(
        "--pages-per-host", type=int, default=2_000, metavar="N", help="pages crawled, at most (%(default)s)"
    )
    parser.add_argument(
        "--total", type=int, default=1_000_000, metavar="N", help="hosts to extrapolate to (%(default)s)"
    )
    parser.add_argument(
        "--unsettled", type=float, default=0.25, metavar="X", help="share of hosts that settle late (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    probability = np.arange(1, options.largest + 1, dtype=float) ** -EXPONENT
    probability /= probability.sum()
    with tempfile.TemporaryDirectory(prefix="winnow-hosts-") as folder, EmbeddedServer(folder) as server:
        strata = asyncio.run(measure(server.url, probability, options))
    headings = ["pages of a host", "share of hosts", "pages, mean", "bytes, mean", "bytes at most", "pages written"]
    rows = [[f"{s.least}-{s.most}", s.share, s.pages, round(s.bytes), round(s.peak), s.counted] for s in strata]
    print(table(headings, rows))
    figures = extrapolated(strata, options.total)
    print(table(["what", "figure"], [[name, value] for name, value in figures.items()]))
    write_json(options, figures)


async def measure(url: str, probability: NDArray[np.float64], options: argparse.Namespace) -> list[Stratum]:
    """Count the pages of the sample's hosts, and look at what each leaves in Redis."""
    rng = np.random.default_rng(options.seed)
    connection, client = Connection(url, timeout=10), redis.Redis.from_url(url)
    strata = []
    bounds = [least for least in STRATA if least <= min(options.pages_per_host, options.largest)]
    for least, after in shown(list(zip(bounds, [*bounds[1:], options.largest + 1], strict=True)), "classes of hosts"):
        among = probability[least - 1 : after - 1]
        sizes = np.arange(least, after).clip(max=options.pages_per_host)
        drawn = rng.choice(sizes, max(options.hosts // len(bounds), 1), p=among / among.sum())
        kinds = []
        for settles in (True, False):
            hosts = [f"h{least}-{number}-{settles}" for number in range(len(drawn))]
            found = [await crawl(connection, client, h, int(n), settles) for h, n in zip(hosts, drawn, strict=True)]
            kinds.append(np.mean(found, axis=0))
        left, peak, counted = kinds[0] * (1 - options.unsettled) + kinds[1] * options.unsettled
        mean = float((among * sizes).sum() / among.sum())
        if after <= int(str(SETTINGS["WINNOW_SETTLE_PAGES"].default)):
            counted = mean
        strata.append(Stratum(least, int(sizes[-1]), float(among.sum()), mean, left, peak, min(counted, mean)))
        say(f"{least} to {sizes[-1]} pages: {2 * len(drawn)} hosts")
    client.close()
    await connection.close()
    return strata


async def crawl(
    connection: Connection, client: redis.Redis, host: str, pages: int, settles: bool
) -> tuple[int, int, int]:
    """Count the pages of one host; return its bytes in the end and at most, and the pages that were counted."""
    limits = {
        name: int(str(SETTINGS[f"WINNOW_{name.upper()}"].default))
        for name in ("host_budget", "host_pages", "settle_pages")
    }
    counts = NodeCounts(
        connection,
        prefix="many",
        version=FINGERPRINT_VERSION,
        budget=limits["host_budget"],
        max_pages=limits["host_pages"],
        settle_after=limits["settle_pages"] if settles else 4 * limits["host_pages"],
        ttl=86_400,
    )
    peak = counted = 0
    masses = np.full(140, 40, np.uint8)
    for number, (page_id, leaves) in enumerate(islice(made_up_pages(hash_of(host)), pages), 1):
        evidence = await counts.count(host, page_id, leaves, masses=masses)
        if evidence is None:
            raise SystemExit("Redis has gone")
        counted += evidence.counted
        if evidence.settled:
            break  # from here on nothing is sent
        if number & (number - 1) == 0 or number == pages or number % 64 == 31:
            peak = max(peak, size_of(client, counts.keys(host)))
    left = size_of(client, counts.keys(host))
    return left, max(peak, left), counted


def hash_of(host: str) -> int:
    """A seed of a host's own."""
    return int.from_bytes(host.encode(), "big")


def size_of(client: redis.Redis, keys: Sequence[str]) -> int:
    """Bytes of some keys."""
    sizes: list[Any] = [client.memory_usage(key, samples=0) for key in keys]
    return sum(int(size or 0) for size in sizes)


def extrapolated(strata: Sequence[Stratum], total: int) -> dict[str, float]:
    """The figures of so many hosts."""
    hosts = [total * stratum.share for stratum in strata]
    pages = sum(n * stratum.pages for n, stratum in zip(hosts, strata, strict=True))
    written = sum(n * stratum.counted for n, stratum in zip(hosts, strata, strict=True))
    gigabytes = 1e9
    return {
        f"pages of {total:,} hosts, millions": pages / 1e6,
        "gigabytes when all are crawled": sum(n * s.bytes for n, s in zip(hosts, strata, strict=True)) / gigabytes,
        "gigabytes if all were at their largest at once": sum(n * s.peak for n, s in zip(hosts, strata, strict=True))
        / gigabytes,
        "bytes per host, mean": sum(s.share * s.bytes for s in strata),
        "share of the pages that cost a call": written / pages,
        "calls a second of a crawl of 10,000 pages a second": 10_000 * written / pages,
    }


if __name__ == "__main__":
    main()
