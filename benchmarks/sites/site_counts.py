"""What the counts of a host cost in Redis, and whether the labels of settled hosts are those of exact counts.

Without SITES_DIR: bytes of a host that never settles, page after page; round trips and latency per page; pages per
second that several writer processes get through. The pages are made up: 60 leaves of a template and 80 of their own,
which is what 500 elements have, and as a worst case 500 leaves of their own.

With SITES_DIR, a folder with one folder a site: each site is counted page by page, in the order in which a crawl finds
them, in random order, and in the order of their paths, where neighbours resemble each other. The labels that it settles
with, and those that are still frozen after its last page, are compared on all its pages with the labels of exact counts
of all units of all pages, by characters of text.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin

import numpy as np
import redis

from benchmarks.shared.common import parser_of, say, shown, table, write_json
from benchmarks.shared.counting import MAX_PAGES, SETTLE_AFTER, bytes_of, counts_on, made_up_pages
from benchmarks.shared.servers import script_calls
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.embedded import EmbeddedServer
from scrapy_winnow.storage.evidence import HashedPage
from scrapy_winnow.storage.settled import SettledHost
from winnow.counting import LossyCounts, countable, site_level_templates
from winnow.fingerprints import node_fingerprints
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scrapy_winnow.storage.counts import NodeCounts
    from winnow.papers.pages import SitePages

Figures = dict[str, Any]


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("sites", type=Path, nargs="?", metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--pages", type=int, default=MAX_PAGES, metavar="N", help="pages of a host (%(default)s)")
    parser.add_argument("--writers", type=int, default=4, metavar="N", help="writer processes (%(default)s)")
    parser.add_argument("--redis-url", metavar="URL", help="server to measure (default: a private one)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="winnow-counts-") as folder:
        if options.redis_url:
            figures = measure(options.redis_url, options)
        else:
            with EmbeddedServer(folder) as server:
                figures = measure(server.url, options)
    print(table(["what", "figure"], [[name, value] for name, value in figures.items()]))
    write_json(options, figures)


def measure(url: str, options: argparse.Namespace) -> Figures:
    """All figures of a server."""
    with redis.Redis.from_url(url) as client:
        information: Any = client.info("server")
        say(f"Redis {information['redis_version']}, {information.get('valkey_version', 'no Valkey')}")
        figures: Figures = {}
        for name, unique, template in (("500-node pages", 80, 60), ("500 leaves of their own a page", 500, 0)):
            say(f"counting {options.pages} {name}")
            figures |= asyncio.run(growth(url, client, name, unique, template, options))
        figures |= asyncio.run(settled_host(url, client))
        say(f"{options.writers} writers")
        figures |= writing(url, client, options.writers)
        if options.sites is not None:
            figures |= labels(url, client, options)
    return figures


async def growth(
    url: str, client: redis.Redis, name: str, unique: int, template: int, options: argparse.Namespace
) -> Figures:
    """Count pages on a host that never settles: most bytes, and the time that a page takes."""
    connection = Connection(url, timeout=10)
    counts = counts_on(connection, f"growth-{unique}", 0)
    sizes, times, pings = [], [], []
    for number, (page_id, leaves) in enumerate(islice(made_up_pages(options.seed, unique, template), options.pages)):
        begun = time.perf_counter()
        evidence = await counts.count("a.example", page_id, leaves)
        times.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        await connection.ping()
        pings.append(time.perf_counter() - begun)
        if number % 8 == 7:
            sizes.append(bytes_of(client, counts, "a.example"))
    await connection.close()
    assert evidence is not None
    return {
        f"{name}: most bytes of a host": max(sizes),
        f"{name}: undercount after {evidence.pages} pages": evidence.undercount,
        f"{name}: milliseconds a page, median": 1000 * statistics.median(times),
        f"{name}: milliseconds a page, 99th percentile": 1000 * float(np.quantile(times, 0.99)),
        f"{name}: milliseconds of a PING, median": 1000 * statistics.median(pings),
    }


async def settled_host(url: str, client: redis.Redis) -> Figures:
    """Round trips per page before and after a host settles, and the time a page of a settled host takes."""
    connection = Connection(url, timeout=10)
    counts = counts_on(connection, "settled")
    pages = made_up_pages(1)
    calls, times = [], []
    for _ in range(2 * SETTLE_AFTER):
        page_id, leaves = next(pages)
        before = script_calls(client)
        begun = time.perf_counter()
        evidence = await counts.count("a.example", page_id, leaves, masses=np.full(len(leaves), 40, np.uint8))
        times.append(time.perf_counter() - begun)
        calls.append((script_calls(client) - before, evidence is not None and evidence.settled))
    await connection.close()
    cached = [number for number, (_, is_settled) in enumerate(calls) if is_settled][1:]
    return {
        "round trips a page while counting": max(count for count, is_settled in calls if not is_settled),
        "round trips a page when settled and cached": max(calls[number][0] for number in cached),
        "milliseconds a page when settled and cached, median": 1000 * statistics.median(times[n] for n in cached),
    }


def writing(url: str, client: redis.Redis, writers: int, pages: int = 2000) -> Figures:
    """Several processes count at once: pages a second, and pages per second of the server's processor time."""
    before: Any = client.info("cpu")
    context = multiprocessing.get_context("spawn")
    with context.Pool(writers) as pool:
        pool.map(_nothing, range(writers))
        begun = time.perf_counter()
        pool.starmap(_write, [(url, number, pages) for number in range(writers)], chunksize=1)
        took = time.perf_counter() - begun
    after: Any = client.info("cpu")
    busy = sum(after[name] - before[name] for name in ("used_cpu_user", "used_cpu_sys"))
    return {
        f"pages a second, {writers} writers and the server on this machine": writers * pages / took,
        "pages a second of the server's core": writers * pages / busy,
    }


def _nothing(_: int) -> None:
    """Have a process started."""


def _write(url: str, number: int, pages: int) -> None:
    async def run() -> None:
        connection = Connection(url, timeout=30)
        counts = counts_on(connection, f"writer-{number}", 0)
        made_up = list(islice(made_up_pages(number), 200))
        at = iter(range(pages))

        async def writer() -> None:
            for page in at:
                page_id, leaves = made_up[page % 200]
                identity = (page // 200).to_bytes(1, "big") + page_id[1:]
                assert await counts.count(f"{page % 20}.example", identity, leaves ^ np.uint64(page // 200)) is not None

        await asyncio.gather(*(writer() for _ in range(8)))
        await connection.close()

    asyncio.run(run())


def labels(url: str, client: redis.Redis, options: argparse.Namespace) -> Figures:
    """Settle real sites, their pages by links, at random and as listed, and compare labels and sizes."""
    orders = ("as linked", "random order", "as listed")
    kinds = ("labels when settled first", "labels after the last page")
    rows: dict[tuple[str, str], list[tuple[int, ...]]] = {(order, kind): [] for order in orders for kind in kinds}
    elements = leaves = 0
    for site in shown(find_sites(options.sites), "sites"):
        pages = read_site(site)
        elements += sum(page.hashed.page.n for page in pages)
        leaves += sum(len(np.unique(page.hashed.fingerprints)) for page in pages)
        for order in orders:
            numbers = by_links(pages) if order == "as linked" else list(range(len(pages)))
            if order == "random order":
                np.random.default_rng(options.seed).shuffle(numbers)
            found = asyncio.run(settle(url, client, f"{order}-{site.name}", [pages[n] for n in numbers]))
            for kind, state in zip(kinds, found, strict=True):
                if state is not None:
                    settled, size = state
                    rows[order, kind].append((settled.pages, size, *compare(settled, pages)))
    figures: Figures = {"leaves a page of 500 elements": 500 * leaves / elements}
    for (order, kind), measured in rows.items():
        if measured:
            figures |= {f"{order}, {kind}: {name}": value for name, value in summary(measured).items()}
    return figures


def summary(measured: Sequence[tuple[int, ...]]) -> Figures:
    """Figures of the hosts that have settled: pages until then, bytes, characters right, wrong and missed of each."""
    right, wrong, missed = (sum(row[column] for row in measured) for column in (2, 3, 4))
    return {
        "sites": len(measured),
        "pages counted, median": statistics.median(row[0] for row in measured),
        "bytes of a host, median": statistics.median(row[1] for row in measured),
        "bytes of a host, most": max(row[1] for row in measured),
        "precision": right / max(right + wrong, 1),
        "recall": right / max(right + missed, 1),
        "recall, mean of the sites": statistics.mean(row[2] / max(row[2] + row[4], 1) for row in measured),
    }


State = tuple[SettledHost, int]
"""The labels of a host, and its bytes."""


async def settle(
    url: str, client: redis.Redis, host: str, pages: Sequence[CountedPage]
) -> tuple[State | None, State | None]:
    """Count the pages of a host; return its state when it settled first, and after the last page if it is settled."""
    connection = Connection(url, timeout=10)
    counts = counts_on(connection, "labels")
    first = None
    for page in pages:
        hashed = page.hashed
        await counts.count(host, hashed.contents_id, hashed.fingerprints, masses=hashed.masses)
        first = first or state_of(client, counts, host)
    await connection.close()
    return first, state_of(client, counts, host)


def state_of(client: redis.Redis, counts: NodeCounts, host: str) -> State | None:
    """The frozen labels of a host, if it is settled."""
    state: Any = client.hgetall(counts.keys(host)[0])
    if b"stamp" not in state:
        return None
    labels = int(state[b"pages"]), 1, state[b"labels"], float(state[b"expected"]), state[b"stamp"]
    return SettledHost.unpack(*labels), bytes_of(client, counts, host)


def compare(settled: SettledHost, pages: Sequence[CountedPage]) -> tuple[int, int, int]:
    """Characters of all pages that the settled host rightly takes for template, wrongly, and not though they are."""
    right = wrong = missed = 0
    for page in pages:
        hashed = page.hashed
        df = settled.frequencies(hashed.fingerprints)
        found = site_level_templates(hashed.page, hashed.frequencies(hashed.page, df), settled.pages)[hashed.page.n :]
        right += int(page.characters[found & page.exact].sum())
        wrong += int(page.characters[found & ~page.exact].sum())
        missed += int(page.characters[~found & page.exact].sum())
    return right, wrong, missed


@dataclass(frozen=True, eq=False)
class CountedPage:
    """A page with its leaves, and how SiteLevel labels its blocks with exact counts of all units of all pages.

    Attributes:
        hashed: the page; its tree is kept.
        exact: bool[m], blocks that are template.
        characters: int64[m], length of each block.
    """

    hashed: HashedPage
    exact: NDArray[np.bool_]
    characters: NDArray[np.int64]


def read_site(site: SitePages) -> list[CountedPage]:
    """Read the pages of a site, each content once, and label them with exact counts of all."""
    pages: dict[bytes, tuple[HashedPage, NDArray[np.uint64]]] = {}
    every = LossyCounts(sys.maxsize)
    for read in site.read_all():
        hashed = HashedPage.of(read.page)
        if hashed.contents_id not in pages and hashed.page.m:
            fingerprints = np.where(countable(hashed.page), node_fingerprints(hashed.page), np.uint64(0))
            pages[hashed.contents_id] = hashed, fingerprints
            every.add(len(pages), fingerprints)
    return [
        CountedPage(
            hashed,
            site_level_templates(hashed.page, every.df(fingerprints), every.pages)[hashed.page.n :],
            np.array([len(text) for text in hashed.page.block_texts()], np.int64),
        )
        for hashed, fingerprints in pages.values()
    ]


def by_links(pages: Sequence[CountedPage]) -> list[int]:
    """Order the pages of a site as a crawl finds them: breadth first, by links, from the one nearest to the root."""
    urls = [str(page.hashed.page.url) for page in pages]
    number = {name: at for at, url in enumerate(urls) for name in (url, url.removesuffix("index.html"))}
    order: list[int] = []
    waiting: deque[int] = deque()
    found: set[int] = set()
    for start in sorted(
        range(len(pages)), key=lambda at: (urls[at].count("/"), "index" not in urls[at], len(urls[at]))
    ):
        waiting.append(start)
        while waiting:
            at = waiting.popleft()
            if at not in found:
                found.add(at)
                order.append(at)
                links = pages[at].hashed.page.attribute("href").values()
                waiting.extend(number[to] for to in (_target(urls[at], link) for link in links) if to in number)
    return order


def _target(url: str, link: str) -> str:
    try:
        return urldefrag(urljoin(url, link.strip())).url
    except ValueError:
        return ""


if __name__ == "__main__":
    main()
