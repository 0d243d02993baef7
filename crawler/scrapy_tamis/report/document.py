"""The report of a crawl as one HTML file: sums over its pages, what should be checked, and the document."""

from __future__ import annotations

import datetime
import shlex
from collections import Counter, defaultdict
from itertools import chain
from operator import attrgetter
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from scrapy_tamis.report.ranking import expected_loss, shared_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrapy_tamis.report.records import CrawlRecord, PageRecord
    from scrapy_tamis.storage.hosts import HostRecord

    Floats = NDArray[np.float64]

_MAX_SHOWN: Final = 8  # pages to check of a host
_MAX_CHECKED: Final = 25  # pages of all hosts
_MAX_CLUSTERS: Final = 25

_MAX_POINTS: Final = 40  # of a plot
_MAX_IN_DETAIL: Final = 40
_MAX_IN_TABLE: Final = 1_000


class PageToCheck(NamedTuple):
    """A page that should be checked, and why; those that have probably lost most words come first."""

    loss: float
    page: PageRecord
    why: str


class HostSummary:
    """One host: its pages, what Redis knows of it, sums over its pages, and pages to check, the worst first."""

    def __init__(self, name: str, pages: list[PageRecord], record: HostRecord | None) -> None:
        self.name, self.pages, self.record = name, pages, record
        self.cut = fmean(page.template_share for page in pages)
        self.words = sum(page.words for page in pages)
        self.duplicates = sum(page.duplicate_of is not None for page in pages)
        self.repeated = [page.url for page in pages if page.status == "repeated"]
        self.with_site = sum(page.source == "site" for page in pages)
        self.to_check = find_pages_to_check(pages)

    @property
    def state(self) -> str:
        """``settled`` or ``counting``."""
        if self.record is not None:
            return self.record.state
        return "settled" if self.pages[-1].label_version else "counting"

    @property
    def cuts(self) -> Floats:
        """Fraction of text cut over its pages: means of spans of some pages; none for a single page."""
        pages = len(self.pages)
        if pages < 2:
            return np.zeros(0)
        edges = np.linspace(0, pages, min(max(pages // 5, 2), _MAX_POINTS) + 1).astype(int)
        means: Floats = np.add.reduceat([page.template_share for page in self.pages], edges[:-1]) / np.diff(edges)
        return means


def summarise_hosts(record: CrawlRecord) -> list[HostSummary]:
    """Return the hosts of a crawl, those with most pages first."""
    by_host: dict[str, list[PageRecord]] = defaultdict(list)
    for page in record.pages:
        by_host[page.host].append(page)
    hosts = [HostSummary(name, pages, record.hosts.get(name)) for name, pages in by_host.items()]
    return sorted(hosts, key=lambda host: (-len(host.pages), host.name))


def find_pages_to_check(pages: list[PageRecord]) -> list[PageToCheck]:
    """Return the pages of a host that have probably lost content, or kept template, those with most of it first."""
    usual = float(np.median([page.words for page in pages])), float(np.median([page.template_share for page in pages]))
    found = []
    for page, shared in zip(pages, shared_words(pages), strict=True):
        words, reasons = expected_loss(page, shared, *usual)
        if words:
            found.append(PageToCheck(words, page, "; ".join(reasons)))
    return sorted(found, key=attrgetter("loss"), reverse=True)


def find_clusters(pages: list[PageRecord]) -> list[tuple[str, list[str], int]]:
    """Return near-duplicates, the largest clusters first: the original, its copies, and the number of their hosts."""
    copies: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        if page.duplicate_of is not None:
            copies[page.duplicate_of].append(page.url)
    host_of = {page.url: page.host for page in pages}
    largest = sorted(copies.items(), key=lambda cluster: -len(cluster[1]))[:_MAX_CLUSTERS]
    return [(first, urls, len({host_of.get(url, url) for url in [first, *urls]})) for first, urls in largest]


def _answers(stats: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the results of the requests with their numbers, from Scrapy's stats."""
    prefixes = {
        "downloader/response_status_count/": "HTTP ",
        "downloader/exception_type_count/": "",
        "retry/reason_count/": "retried: ",
        "robotstxt/forbidden": "forbidden by robots.txt",
        "offsite/filtered": "led off the site",
        "httperror/response_ignored_count": "ignored: an error status",
        "spider_exceptions/": "the spider failed: ",
    }
    found = []
    numbers = {name: value for name, value in stats.items() if isinstance(value, int)}
    if (ignored := "downloader/exception_type_count/scrapy.exceptions.IgnoreRequest") in numbers:
        numbers[ignored] -= numbers.get("robotstxt/forbidden", 0)  # which have a line of their own
    for prefix, label in prefixes.items():
        for name, value in sorted(numbers.items()):
            if name.startswith(prefix) and value > 0:
                kind = name.removeprefix(prefix)
                found.append((f"{label}{kind}" if label else kind.rpartition(".")[2], value))
    return found


def _speeds(pages: list[PageRecord], end: float) -> Floats:
    """Return the pages per second over the crawl; none where their times are unknown."""
    seconds = [page.seconds for page in pages if page.seconds >= 0]
    if len(seconds) < 2 or end <= 0:
        return np.zeros(0)
    spans = min(max(len(seconds) // 10, 4), _MAX_POINTS)
    return np.histogram(seconds, spans, (0.0, end))[0] / (end / spans)


def _line(fractions: Floats) -> str:
    """Return the points of a line in SVG: fractions of the height, at equal distances, in a square of size 1."""
    across, down = np.linspace(0, 1, len(fractions)), 1 - np.clip(fractions, 0, 1)
    return " ".join(f"{x:.3f},{y:.3f}" for x, y in zip(across.tolist(), down.tolist(), strict=True))


def render_report(record: CrawlRecord) -> str:
    """Return the report as HTML."""
    pages, hosts = record.pages, summarise_hosts(record)
    end = max((page.seconds for page in pages), default=0.0)
    return _TEMPLATES.get_template("report.html").render(
        record=record,
        most=_MAX_IN_TABLE,
        most_of_host=_MAX_SHOWN,
        pages=len(pages) + record.more_pages,
        seconds=max(float(record.stats.get("elapsed_time_seconds") or end), 0.0),
        cut=fmean([page.template_share for page in pages] or [0.0]),
        statuses=Counter(page.status for page in pages),
        answers=_answers(record.stats),
        clusters=find_clusters(pages),
        to_check=sorted(chain.from_iterable(host.to_check for host in hosts), key=attrgetter("loss"), reverse=True)[
            :_MAX_CHECKED
        ],
        hosts=hosts,
        detail=[(host, *record.samples.find_template(host.name)) for host in hosts[:_MAX_IN_DETAIL]],
        speeds=_speeds(pages, end),
        end=end,
        now=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
    )


_TEMPLATES: Final = Environment(
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    loader=PackageLoader("scrapy_tamis", "assets"),
)
_TEMPLATES.filters["number"] = "{:,}".format
_TEMPLATES.filters["percent"] = "{:.0%}".format
_TEMPLATES.filters["line"] = _line
_TEMPLATES.filters["quote"] = shlex.quote
