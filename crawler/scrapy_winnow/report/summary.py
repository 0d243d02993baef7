"""Sums over the pages of a crawl: of all, and of each host."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_winnow.report.records import CrawlRecord, PageRecord
    from scrapy_winnow.storage.hosts import HostRecord

_LEAST_TO_COMPARE: Final = 8
_UNLIKE: Final = 5.0  # median absolute deviations
_LEAST_DEVIATION: Final = 0.03
_MOST_SHOWN: Final = 8
_LOW_CONFIDENCE: Final = 0.5
_MOST_CLUSTERS: Final = 25


@dataclass(frozen=True, slots=True)
class Noted:
    """A page that is worth a look, and why."""

    page: PageRecord
    why: str


@dataclass(frozen=True, slots=True)
class HostSummary:
    """One host.

    Attributes:
        name: its name.
        pages: its pages.
        cut: mean share of text that was cut.
        words: words that were kept, of all pages.
        duplicates: pages that repeat another.
        with_site: pages whose decision the counts of the site took part in.
        record: what Redis knows of it, where that is known.
        noted: pages that are worth a look, the worst first.
    """

    name: str
    pages: list[PageRecord]
    cut: float
    words: int
    duplicates: int
    with_site: int
    record: HostRecord | None
    noted: list[Noted]

    @property
    def state(self) -> str:
        """``settled`` or ``counting``, with what is known."""
        if self.record is not None:
            return self.record.state
        return "settled" if self.pages and self.pages[-1].label_version else "counting"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Documents that are near-duplicates of each other."""

    original: str
    copies: list[str]
    hosts: int


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """The whole crawl.

    Attributes:
        pages: number of pages.
        seconds: how long it took; 0 where that is not known.
        cut: mean share of text that was cut.
        words: words that were kept.
        statuses: pages by status.
        answers: answers of servers by HTTP status, and what else became of requests.
        hosts: the hosts, those with most pages first.
        clusters: near-duplicates, the largest first.
        speed: pages per second in each of equal stretches of time, and when each ends.
        noted: pages worth a look, of all hosts.
    """

    pages: int
    seconds: float
    cut: float
    words: int
    statuses: Counter[str]
    answers: list[tuple[str, int]]
    hosts: list[HostSummary]
    clusters: list[Cluster]
    speed: tuple[list[float], list[float]]
    noted: list[Noted]


def summary(record: CrawlRecord) -> CrawlSummary:
    """Sum a crawl up."""
    by_host: dict[str, list[PageRecord]] = defaultdict(list)
    for page in record.pages:
        by_host[page.host].append(page)
    hosts = [_host(name, pages, record.hosts.get(name)) for name, pages in by_host.items()]
    hosts.sort(key=lambda host: (-len(host.pages), host.name))
    seconds = record.stats.get("elapsed_time_seconds") or max((page.seconds for page in record.pages), default=0.0)
    return CrawlSummary(
        pages=len(record.pages) + record.more,
        seconds=max(float(seconds), 0.0),
        cut=_mean(page.template_share for page in record.pages),
        words=sum(page.words for page in record.pages),
        statuses=Counter(page.status for page in record.pages),
        answers=_answers(record.stats),
        hosts=hosts,
        clusters=_clusters(record.pages),
        speed=_speed([page.seconds for page in record.pages]),
        noted=sorted((noted for host in hosts for noted in host.noted), key=_badness)[:25],
    )


def _host(name: str, pages: list[PageRecord], record: HostRecord | None) -> HostSummary:
    return HostSummary(
        name=name,
        pages=pages,
        cut=_mean(page.template_share for page in pages),
        words=sum(page.words for page in pages),
        duplicates=sum(page.duplicate_of is not None for page in pages),
        with_site=sum(page.source == "site" for page in pages),
        record=record,
        noted=_noted(pages),
    )


def _noted(pages: list[PageRecord]) -> list[Noted]:
    """Pages of a host that could not be decided well, or came out unlike the rest."""
    shares = np.array([page.template_share for page in pages])
    middle = float(np.median(shares)) if len(shares) else 0.0
    deviation = max(float(np.median(np.abs(shares - middle))), _LEAST_DEVIATION) if len(shares) else 1.0
    found = []
    for page in pages:
        off = (page.template_share - middle) / deviation
        if page.status == "fallback":
            found.append(Noted(page, "all of it looked like template; its best section was kept"))
        elif page.status == "too_large":
            found.append(Noted(page, "too large: passed through uncut"))
        elif page.status == "empty":
            found.append(Noted(page, "has no text"))
        elif page.confidence is not None and page.confidence < _LOW_CONFIDENCE:
            found.append(Noted(page, f"expected to be right by {page.confidence:.0%} only"))
        elif len(pages) >= _LEAST_TO_COMPARE and abs(off) > _UNLIKE:
            found.append(Noted(page, f"{page.template_share:.0%} of it was cut; {middle:.0%} is usual on this host"))
    return sorted(found, key=_badness)[:_MOST_SHOWN]


def _badness(noted: Noted) -> tuple[int, float, float]:
    order = {"fallback": 0, "too_large": 2, "empty": 3}
    confidence = noted.page.confidence if noted.page.confidence is not None else 1.0
    return order.get(noted.page.status, 1), confidence, -noted.page.template_share


def _clusters(pages: list[PageRecord]) -> list[Cluster]:
    copies: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        if page.duplicate_of is not None:
            copies[page.duplicate_of].append(page.url)
    host_of = {page.url: page.host for page in pages}
    found = [
        Cluster(original, urls, len({host_of.get(url, url) for url in [original, *urls]}))
        for original, urls in copies.items()
    ]
    return sorted(found, key=lambda cluster: -len(cluster.copies))[:_MOST_CLUSTERS]


def _answers(stats: dict[str, Any]) -> list[tuple[str, int]]:
    """What became of requests, from Scrapy's stats."""
    prefixes = {
        "downloader/response_status_count/": "HTTP ",
        "downloader/exception_type_count/": "",
        "retry/reason_count/": "retried: ",
        "robotstxt/forbidden": "forbidden by robots.txt",
        "offsite/filtered": "led off the site",
        "httperror/response_ignored_count": "ignored: an error status",
        "spider_exceptions/": "the spider failed: ",
    }
    found = [
        (f"{says}{name.removeprefix(prefix)}", int(value))
        for prefix, says in prefixes.items()
        for name, value in sorted(stats.items())
        if name.startswith(prefix) and isinstance(value, int)
    ]
    return [(says.rpartition(".")[2] if "." in says and " " not in says else says, value) for says, value in found]


def _speed(seconds: list[float]) -> tuple[list[float], list[float]]:
    known = np.array([each for each in seconds if each >= 0])
    if len(known) < 2 or known.max() <= 0:
        return [], []
    stretches = int(np.clip(len(known) // 10, 4, 60))
    pages, edges = np.histogram(known, stretches, (0.0, float(known.max())))
    return edges[1:].tolist(), (pages / np.diff(edges)).tolist()


def _mean(values: Iterable[float]) -> float:
    array = np.fromiter(values, float)
    return float(array.mean()) if len(array) else 0.0
