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
from winnow.models import load_model

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

_PLOT: Final = Markup("""<svg class="plot" viewBox="0 0 {w} {h}" role="img" aria-label="{title}">
<path class="grid" d="M44 {top}H{right}M44 {base}H{right}"/>
<polygon class="area" points="44,{base} {points} {last},{base}"/><polyline points="{points}"/>
<text x="40" y="{label}" text-anchor="end">{largest}</text><text x="40" y="{base}" text-anchor="end">0</text>
<text x="44" y="{under}">{begin}</text><text x="{right}" y="{under}" text-anchor="end">{end}</text></svg>""")
_SPARK: Final = Markup("""<svg class="spark" viewBox="0 0 80 20" role="img" aria-label="{title}">
<polyline points="{points}"/></svg>""")
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
        speed: ends of equal intervals, in seconds, and pages per second in each interval.
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
        self.speed = _speed([page.seconds for page in record.pages])
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


def _speed(seconds: list[float]) -> tuple[Floats, Floats]:
    known = np.array([each for each in seconds if each >= 0])
    if len(known) < 2 or known.max() <= 0:
        return np.zeros(0), np.zeros(0)
    spans = int(np.clip(len(known) // 10, 4, 60))
    pages, edges = np.histogram(known, spans, (0.0, float(known.max())))
    return edges[1:], pages / np.diff(edges)


def _line_plot(x: Floats, y: Floats, *, title: str, x_label: str, percent: bool = False) -> Markup:
    """Draw a line over its area, with its maximum and both ends of the x axis; ``percent`` for fractions, 0 to 1."""
    if len(x) < 2:
        return Markup("")
    xs, ys = _thin_out(x, y, 160)
    width, height, top, bottom = 420, 120, 8, 18
    most = 1.0 if percent else max(float(ys.max()), 1e-9)
    across = 44 + (xs - xs[0]) / max(xs[-1] - xs[0], 1e-9) * (width - 52)
    down = top + (1 - np.clip(ys / most, 0, 1)) * (height - top - bottom)
    largest = "100 %" if percent else f"{most:,.0f}" if most >= 10 else f"{most:.1f}"
    places = {"w": width, "h": height, "top": top, "base": height - bottom, "label": top + 8, "under": height - 4}
    labels = {"title": title, "largest": largest, "begin": f"{xs[0]:,.0f}", "end": f"{xs[-1]:,.0f} {x_label}"}
    line = {"points": _points(across, down), "last": f"{across[-1]:.1f}", "right": width - 8}
    return _PLOT.format(**places, **labels, **line)


def _points(across: Floats, down: Floats) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across.tolist(), down.tolist(), strict=True))


def _curve(host: HostSummary) -> Markup:
    """Draw the fraction of text cut on a host over its pages."""
    fractions = _smoothed_fractions(host)
    title = f"Fraction of text cut on {host.name} by pages seen"
    return _line_plot(np.arange(1.0, len(fractions) + 1), fractions, title=title, x_label="pages", percent=True)


def _spark(host: HostSummary) -> Markup:
    """Draw the same as a sparkline."""
    if len(host.pages) < 2:
        return Markup("")
    xs, ys = _thin_out(np.arange(len(host.pages), dtype=float), _smoothed_fractions(host), 40)
    return _SPARK.format(
        title=f"Fraction of text cut on {host.name}",
        points=_points(1 + xs / xs[-1] * 78, 2 + (1 - np.clip(ys, 0, 1)) * 16),
    )


def _smoothed_fractions(host: HostSummary) -> Floats:
    """Return running means of the fractions of text cut, of nine pages each, fewer at the ends."""
    sums = np.append(0.0, np.cumsum([page.template_share for page in host.pages]))
    at = np.arange(len(host.pages))
    begin, end = np.maximum(at - 4, 0), np.minimum(at + 5, len(at))
    means: Floats = (sums[end] - sums[begin]) / (end - begin)
    return means


def _thin_out(x: Floats, y: Floats, most: int) -> tuple[Floats, Floats]:
    """Return at most ``most`` points: means of spans of points, with the ends unchanged."""
    if len(x) <= most:
        return x, y
    edges = np.linspace(0, len(x), most + 1).astype(int)
    starts, sizes = edges[:-1], np.diff(edges)
    xs, ys = np.add.reduceat(x, starts) / sizes, np.add.reduceat(y, starts) / sizes
    xs[0], xs[-1] = x[0], x[-1]
    return xs, ys


def render_report(record: CrawlRecord, model: Model | None = None) -> str:
    """Return the report as HTML."""
    model = model or load_model()
    found = CrawlSummary(record)
    times, speeds = found.speed
    samples = {host.name: record.samples.analyse(host.name, model) for host in found.hosts[:_MAX_IN_DETAIL]}
    return _TEMPLATES.get_template("report.html").render(
        record=record,
        stored=[] if record.pages else sorted(record.hosts.values(), key=lambda host: (-host.pages, host.host)),
        most=_MAX_IN_TABLE,
        all=found,
        samples=samples,
        table=found.hosts[:_MAX_IN_TABLE],
        detail=found.hosts[:_MAX_IN_DETAIL],
        speed=_line_plot(times, speeds, title="Pages per second over the crawl", x_label="seconds"),
        curve=_curve,
        spark=_spark,
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
