"""The report of a crawl as one HTML file: sums over its pages, plots as SVG, and the document."""

from __future__ import annotations

import datetime
import shlex
from collections import Counter, defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from scrapy_winnow.storage.hosts import ago

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrapy_winnow.report.records import CrawlRecord, PageRecord
    from scrapy_winnow.storage.hosts import HostRecord
    from winnow.models.scores import Model

    Floats = NDArray[np.float64]

_MIN_PAGES_TO_COMPARE: Final = 8
_OUTLIER: Final = 5.0  # median absolute deviations
_MIN_DEVIATION: Final = 0.03
_MAX_SHOWN: Final = 8
_LOW_CONFIDENCE: Final = 0.5
_MAX_CLUSTERS: Final = 25

_PLOT: Final = Markup("""<svg class="plot" viewBox="0 0 420 120" role="img" aria-label="{title}">
<path class="grid" d="M44 8H412M44 102H412"/>
<polygon class="area" points="44,102 {points} 412,102"/><polyline points="{points}"/>
<text x="40" y="16" text-anchor="end">{largest}</text><text x="40" y="102" text-anchor="end">0</text>
<text x="44" y="116">{begin}</text><text x="412" y="116" text-anchor="end">{end}</text></svg>""")
_SPARK: Final = Markup("""<svg class="spark" viewBox="0 0 80 20" role="img" aria-label="{title}">
<polyline points="{points}"/></svg>""")
_MAX_POINTS: Final = 40
_MAX_IN_DETAIL: Final = 40
_MAX_IN_TABLE: Final = 1_000


class PageToCheck(NamedTuple):
    """A page that should be checked, and why."""

    page: PageRecord
    why: str


class Cluster(NamedTuple):
    """Documents that are near-duplicates of each other."""

    original: str
    copies: list[str]
    hosts: int


class HostSummary:
    """One host: its pages, what Redis knows of it, sums over its pages, and pages to check, the worst first."""

    def __init__(self, name: str, pages: list[PageRecord], record: HostRecord | None) -> None:
        self.name, self.pages, self.record = name, pages, record
        self.cut = fmean(page.template_share for page in pages)
        self.words = sum(page.words for page in pages)
        self.duplicates = sum(page.duplicate_of is not None for page in pages)
        self.with_site = sum(page.source == "site" for page in pages)
        self.to_check = _find_pages_to_check(pages)

    @property
    def state(self) -> str:
        """``settled`` or ``counting``."""
        if self.record is not None:
            return self.record.state
        return "settled" if self.pages[-1].label_version else "counting"


class CrawlSummary:
    """The whole crawl.

    Attributes:
        pages, words: number of pages, and of words that were kept.
        seconds: duration of the crawl; 0 if unknown.
        cut: mean fraction of text that was cut.
        statuses: pages by status.
        answers: responses by HTTP status, and failed requests by reason.
        hosts: the hosts, those with most pages first.
        clusters: near-duplicates, the largest first.
        to_check: pages of all hosts that should be checked.
    """

    def __init__(self, record: CrawlRecord) -> None:
        by_host: dict[str, list[PageRecord]] = defaultdict(list)
        for page in record.pages:
            by_host[page.host].append(page)
        hosts = [HostSummary(name, pages, record.hosts.get(name)) for name, pages in by_host.items()]
        self.hosts = sorted(hosts, key=lambda host: (-len(host.pages), host.name))
        seconds = record.stats.get("elapsed_time_seconds") or max((page.seconds for page in record.pages), default=0.0)
        self.seconds = max(float(seconds), 0.0)
        self.pages = len(record.pages) + record.more_pages
        self.cut = fmean([page.template_share for page in record.pages] or [0.0])
        self.words = sum(page.words for page in record.pages)
        self.statuses = Counter(page.status for page in record.pages)
        self.answers = _answers(record.stats)
        self.clusters = _clusters(record.pages)
        self.to_check = sorted((entry for host in self.hosts for entry in host.to_check), key=_sort_key)[:25]


_NOTES: Final = {
    "fallback": "all of it looked like template; its least template-like section was kept",
    "too_large": "too large: passed through uncut",
    "empty": "has no text",
}


def _find_pages_to_check(pages: list[PageRecord]) -> list[PageToCheck]:
    """Return pages of a host with low confidence, and pages unlike the others."""
    fractions = np.array([page.template_share for page in pages])
    middle = float(np.median(fractions))
    deviation = max(float(np.median(np.abs(fractions - middle))), _MIN_DEVIATION)
    found = []
    for page in pages:
        off = (page.template_share - middle) / deviation
        why = _NOTES.get(page.status)
        if why is None and page.confidence is not None and page.confidence < _LOW_CONFIDENCE:
            why = f"low confidence: an expected F1 of {page.confidence:.2f}"
        if why is None and len(pages) >= _MIN_PAGES_TO_COMPARE and abs(off) > _OUTLIER:
            why = f"{page.template_share:.0%} of it was cut; {middle:.0%} is usual on this host"
        if why is not None:
            found.append(PageToCheck(page, why))
    return sorted(found, key=_sort_key)[:_MAX_SHOWN]


def _sort_key(entry: PageToCheck) -> tuple[int, float, float]:
    order = {"fallback": 0, "too_large": 2, "empty": 3}
    confidence = entry.page.confidence if entry.page.confidence is not None else 1.0
    return order.get(entry.page.status, 1), confidence, -entry.page.template_share


def _clusters(pages: list[PageRecord]) -> list[Cluster]:
    copies: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        if page.duplicate_of is not None:
            copies[page.duplicate_of].append(page.url)
    host_of = {page.url: page.host for page in pages}
    largest = sorted(copies.items(), key=lambda cluster: -len(cluster[1]))[:_MAX_CLUSTERS]
    return [Cluster(first, urls, len({host_of.get(url, url) for url in [first, *urls]})) for first, urls in largest]


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
    for prefix, label in prefixes.items():
        for name, value in sorted(stats.items()):
            if name.startswith(prefix) and isinstance(value, int):
                kind = name.removeprefix(prefix)
                found.append((f"{label}{kind}" if label else kind.rpartition(".")[2], value))
    return found


def _draw_speed(pages: list[PageRecord]) -> Markup:
    """Draw the pages per second over the crawl."""
    seconds = [page.seconds for page in pages if page.seconds >= 0]
    end = max(seconds, default=0.0)
    if len(seconds) < 2 or end <= 0:
        return Markup("")
    spans = min(max(len(seconds) // 10, 4), _MAX_POINTS)
    speeds = np.histogram(seconds, spans, (0.0, end))[0] / (end / spans)
    top = float(speeds.max())
    largest = f"{top:,.0f}" if top >= 10 else f"{top:.1f}"
    points = _points(speeds / top, 44, 412, 8, 102)
    return _PLOT.format(
        title="Pages per second over the crawl", points=points, largest=largest, begin="0", end=f"{end:,.0f} seconds"
    )


def _draw_cut(host: HostSummary, *, small: bool = False) -> Markup:
    """Draw the fraction of text cut on a host over its pages: means of spans of some pages."""
    pages = len(host.pages)
    if pages < 2:
        return Markup("")
    edges = np.linspace(0, pages, min(max(pages // 5, 2), _MAX_POINTS) + 1).astype(int)
    means = np.add.reduceat([page.template_share for page in host.pages], edges[:-1]) / np.diff(edges)
    title = f"Fraction of text cut on {host.name} by pages seen"
    if small:
        return _SPARK.format(title=title, points=_points(means, 1, 79, 2, 18))
    points = _points(means, 44, 412, 8, 102)
    return _PLOT.format(title=title, points=points, largest="100 %", begin="1", end=f"{pages:,} pages")


def _points(fractions: Floats, left: float, right: float, top: float, bottom: float) -> str:
    """Return the points of a line: fractions of the height, at equal distances."""
    across = np.linspace(left, right, len(fractions))
    down = bottom - np.clip(fractions, 0, 1) * (bottom - top)
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across.tolist(), down.tolist(), strict=True))


def render_report(record: CrawlRecord, model: Model | None = None) -> str:
    """Return the report as HTML."""
    found = CrawlSummary(record)
    samples = {host.name: record.samples.analyse(host.name, model) for host in found.hosts[:_MAX_IN_DETAIL]}
    return _TEMPLATES.get_template("report.html").render(
        record=record,
        stored=[] if record.pages else sorted(record.hosts.values(), key=lambda host: (-host.pages, host.host)),
        most=_MAX_IN_TABLE,
        all=found,
        samples=samples,
        table=found.hosts[:_MAX_IN_TABLE],
        detail=found.hosts[:_MAX_IN_DETAIL],
        speed=_draw_speed(record.pages),
        draw_cut=_draw_cut,
        now=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
    )


_TEMPLATES: Final = Environment(
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    loader=PackageLoader("scrapy_winnow.report", "assets"),
)
_TEMPLATES.filters["number"] = "{:,}".format
_TEMPLATES.filters["percent"] = "{:.0%}".format
_TEMPLATES.filters["ago"] = ago
_TEMPLATES.filters["quote"] = shlex.quote
