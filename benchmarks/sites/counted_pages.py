"""What the benchmarks of counting send: the leaves of real pages, or made-up ones with as many."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urldefrag, urljoin

import numpy as np

from benchmarks.shared.common import say
from scrapy_winnow.storage.evidence import HashedPage
from winnow.counting import MemoryCounts, countable, frequencies_from_leaves, site_level_templates
from winnow.fingerprints import node_fingerprints
from winnow.page.page import Page, PageTooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from winnow.training.sites import Site

    Hashes = NDArray[np.uint64]

LEAVES: Final = 140
"""Leaves of a page of 500 elements, the mean of `benchmarks.sites.site_counts` over 25 sites."""

TEMPLATE: Final = 60
"""How many of them other pages of the site have, too."""


@dataclass(frozen=True, eq=False)
class CountedPage:
    """A page with its leaves, and how SiteLevel labels its blocks with exact counts of all units of all pages.

    Attributes:
        hashed: the page; its tree is kept.
        exact: bool[m], blocks that are template.
        exact_by_leaves: the same from exact counts of the leaves alone.
        characters: int64[m], length of each block.
    """

    hashed: HashedPage
    exact: NDArray[np.bool_]
    exact_by_leaves: NDArray[np.bool_]
    characters: NDArray[np.int64]

    @property
    def page_id(self) -> bytes:
        """What the page is counted by."""
        return self.hashed.contents_id


def read_site(site: Site) -> list[CountedPage]:
    """Read the pages of a site, each content once, and label them with exact counts of all."""
    pages: dict[bytes, HashedPage] = {}
    every, leaves = MemoryCounts(), MemoryCounts()
    fingerprints: dict[bytes, Hashes] = {}
    for file in site.files:
        try:
            hashed = HashedPage.of(Page.parse(file.read_bytes(), site.url(file)))
        except PageTooLarge:
            say(f"{file} is above the caps and left out")
            continue
        if hashed.contents_id in pages or not hashed.page.m:
            continue
        pages[hashed.contents_id] = hashed
        fingerprints[hashed.contents_id] = np.where(
            countable(hashed.page), node_fingerprints(hashed.page), np.uint64(0)
        )
        every.add(len(pages), fingerprints[hashed.contents_id])
        leaves.add(len(pages), hashed.fingerprints)
    counted = []
    for name, hashed in pages.items():
        page = hashed.page
        df = np.zeros(page.n + page.m, np.int64)
        df[hashed.units] = leaves.df(hashed.fingerprints)
        counted.append(
            CountedPage(
                hashed,
                site_level_templates(page, every.df(fingerprints[name]), every.pages)[page.n :],
                site_level_templates(page, frequencies_from_leaves(page, df), leaves.pages)[page.n :],
                np.array([len(text) for text in page.block_texts()], np.int64),
            )
        )
    return counted


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


def made_up_pages(
    seed: int, unique: int = LEAVES - TEMPLATE, template: int = TEMPLATE
) -> Iterator[tuple[bytes, Hashes]]:
    """Endless pages with a template in common: the id of each and its leaves."""
    rng = np.random.default_rng(seed)
    common = rng.integers(1, 2**64, template, np.uint64)
    while True:
        yield rng.bytes(8), np.concatenate([common, rng.integers(1, 2**64, unique, np.uint64)])
