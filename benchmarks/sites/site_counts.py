"""Whether the labels of settled hosts are those of exact counts, and what such a host takes in Redis.

    python -m benchmarks.sites.site_counts SITES_DIR

Each site is counted page by page, in the order in which a crawl finds them, in random order, and in the order of their
paths, where neighbours resemble each other. The labels that it settles with, and those that are still frozen after its
last page, are compared on all its pages with the labels of exact counts of all units of all pages, by characters of
text. So is seen how many pages it takes until at most a twentieth of the template's text has another label than after
the last page. What hosts cost that do not settle, `benchmarks.scale.fleet` measures.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.shared.counting import bytes_of, counts_on
from benchmarks.shared.servers import Server
from scrapy_tamis.commands.common import with_progress
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.evidence import HashedPage
from scrapy_tamis.storage.keys import host_keys
from scrapy_tamis.storage.settled import SettledHost
from tamis.counting import MIN_DF, THETA, LossyCounts, countable
from tamis.fingerprints import node_fingerprints
from tamis_papers.experiments.harness import parser_of, table, write_json
from tamis_papers.menus import page_key, site_links
from tamis_papers.page_level import site_level_templates
from tamis_papers.pages import find_sites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import redis
    from numpy.typing import NDArray

    from scrapy_tamis.storage.counts import NodeCounts
    from tamis.folders import SitePages

Figures = dict[str, Any]

TOLERANCE = 0.05  # as in count_page.lua


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with Server() as server:
        figures = labels(server, options)
    print(table(["what", "figure"], [[name, value] for name, value in figures.items()]))
    write_json(options, figures)


def labels(server: Server, options: argparse.Namespace) -> Figures:
    """Settle real sites, their pages by links, at random and as listed, and compare labels and sizes."""
    orders = ("as linked", "random order", "as listed")
    kinds = ("labels when settled first", "labels after the last page")
    rows: dict[tuple[str, str], list[tuple[int, ...]]] = {(order, kind): [] for order in orders for kind in kinds}
    stable: dict[str, list[int]] = {order: [] for order in orders}
    elements = leaves = 0
    for site in with_progress(find_sites(options.sites), "sites"):
        pages = read_site(site)
        elements += sum(page.hashed.page.n for page in pages)
        leaves += sum(len(np.unique(page.hashed.fingerprints)) for page in pages)
        for order in orders:
            numbers = by_links(pages) if order == "as linked" else list(range(len(pages)))
            if order == "random order":
                np.random.default_rng(options.seed).shuffle(numbers)
            ordered = [pages[n] for n in numbers]
            stable[order].append(pages_until_stable(ordered))
            found = asyncio.run(settle(server, f"{order}-{site.name}", ordered))
            for kind, state in zip(kinds, found, strict=True):
                if state is not None:
                    settled, size = state
                    rows[order, kind].append((settled.pages, size, *compare(settled, pages)))
    figures: Figures = {"leaves a page of 500 elements": 500 * leaves / elements}
    for order, numbers in stable.items():
        quartiles = np.percentile(numbers, (50, 75, 100)).tolist()
        names = ("median", "of three quarters", "most")
        figures |= {
            f"{order}, pages until labels are stable: {name}": at for name, at in zip(names, quartiles, strict=True)
        }
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


def pages_until_stable(pages: Sequence[CountedPage]) -> int:
    """Pages after which the labels of a host, by text, never differ from the last ones by more than `TOLERANCE`."""
    fingerprints, first = np.unique(np.concatenate([page.hashed.fingerprints for page in pages]), return_index=True)
    masses = np.concatenate([page.hashed.masses for page in pages])[first].astype(np.int64)
    seen = np.zeros((len(pages) + 1, len(fingerprints)), np.int64)
    for number, page in enumerate(pages):
        seen[number + 1 :, fingerprints.searchsorted(np.unique(page.hashed.fingerprints))] += 1
    labels = seen >= np.maximum(THETA * np.arange(len(seen)), MIN_DF)[:, np.newaxis]
    text = seen[-1] * masses
    changed = (labels ^ labels[-1]) @ text > TOLERANCE * ((labels | labels[-1]) @ text)
    return int(changed.nonzero()[0].max(initial=-1)) + 1


State = tuple[SettledHost, int]
"""The labels of a host, and its bytes."""


async def settle(server: Server, host: str, pages: Sequence[CountedPage]) -> tuple[State | None, State | None]:
    """Count the pages of a host; return its state when it settled first, and after the last page if it is settled."""
    connection = Connection(server.url, timeout=10)
    counts = counts_on(connection, "labels")
    first = None
    for page in pages:
        hashed = page.hashed
        await counts.count(host, hashed.contents_id, hashed.fingerprints, masses=hashed.masses)
        first = first or state_of(server.client, counts, host)
    await connection.close()
    return first, state_of(server.client, counts, host)


def state_of(client: redis.Redis, counts: NodeCounts, host: str) -> State | None:
    """The frozen labels of a host, if it is settled."""
    state: Any = client.hgetall(host_keys(counts.prefix, host).state)
    if b"stamp" not in state:
        return None
    labels = int(state[b"pages"]), 1, state[b"labels"], float(state[b"expected"]), state[b"stamp"]
    return SettledHost.unpack(*labels), bytes_of(client, counts, host)


def compare(settled: SettledHost, pages: Sequence[CountedPage]) -> tuple[int, int, int]:
    """Characters of all pages that the settled host rightly takes for template, wrongly, and not though they are."""
    right = wrong = missed = 0
    for page in pages:
        hashed = page.hashed
        df = settled.frequencies(settled.fractions_of(hashed.fingerprints))
        found = site_level_templates(hashed.page, hashed.frequencies(df), settled.pages)[hashed.page.n :]
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
    number = {page_key(url): at for at, url in enumerate(urls)}
    order: list[int] = []
    waiting: deque[int] = deque()
    found: set[int] = set()
    starts = sorted(range(len(pages)), key=lambda at: (urls[at].count("/"), "index" not in urls[at], len(urls[at])))
    for start in starts:
        waiting.append(start)
        while waiting:
            at = waiting.popleft()
            if at not in found:
                found.add(at)
                order.append(at)
                waiting.extend(number[to] for to in site_links(pages[at].hashed.page) if to in number)
    return order


if __name__ == "__main__":
    main()
