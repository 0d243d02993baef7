"""What a crawl of the demo web came to: one row per host, measured against the truth."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import redis

from demo.truth import Accuracy, compare, total
from scrapy_winnow.storage.embedded import EmbeddedServer
from scrapy_winnow.storage.hosts import HostLabels
from scrapy_winnow.storage.keys import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from demo.server import DemoWeb

_HEADINGS = (
    ("", "", "pages", "text cut as", "site-level", "near-", "template", "content"),
    ("host", "address", "crawled", "template", "labels", "duplicates", "recall *", "recall *"),
)


@dataclass(frozen=True, slots=True)
class HostReport:
    """One host's row.

    Attributes:
        name: The host's name.
        url: Its address.
        pages: Pages stored.
        template_share: Mean share of a page's text that was cut as template.
        labels: Nodes that at least a tenth of the host's pages repeat.
        duplicates: Pages that are near-duplicates of another address.
        accuracy: Words against the truth, over the second half of the pages in crawl order.
    """

    name: str
    url: str
    pages: int
    template_share: float
    labels: int
    duplicates: int
    accuracy: Accuracy


def read_items(path: Path) -> list[dict[str, Any]]:
    """Read items in the order they were stored."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def site_level_labels(state: Path, urls: Iterable[str]) -> dict[str, int]:
    """Count the nodes of each host that are template by the counts a crawl left in its state folder."""
    found: dict[str, int] = {}
    with EmbeddedServer(state) as server, redis.Redis.from_url(server.url) as client:
        for url in urls:
            labels = HostLabels.read(client, "winnow", str(site_of(url)))
            found[url] = 0 if labels is None else len(labels.fingerprints)
    return found


def host_reports(web: DemoWeb, items: list[dict[str, Any]], labels: dict[str, int]) -> list[HostReport]:
    """Sum up the items of each host."""
    by_host: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in items:
        by_host[web.host(item["url"])].append(item)
    reports = []
    for name, url in web.urls.items():
        pages = by_host[name]
        cut = sum(item.get("template_share") or 0.0 for item in pages) / max(1, len(pages))
        twins = sum(item.get("duplicate_of") not in {None, item["url"]} for item in pages)
        reports.append(
            HostReport(name, url, len(pages), cut, labels[url], twins, accuracy(web, pages[len(pages) // 2 :]))
        )
    return reports


def accuracy(web: DemoWeb, items: list[dict[str, Any]]) -> Accuracy:
    """Compare items with the truth about their pages."""
    return total(compare(web.truth(item["url"]), _written(item)) for item in items)


def _written(item: dict[str, Any]) -> str:
    """What people wrote on a page: for the truth, comments are content."""
    return "\n".join(item.get(field) or "" for field in ("text", "comments"))


def table(reports: list[HostReport]) -> str:
    """Return the rows and their sum as text."""
    pages = sum(report.pages for report in reports)
    everything = HostReport(
        name="all",
        url="",
        pages=pages,
        template_share=sum(report.template_share * report.pages for report in reports) / max(1, pages),
        labels=sum(report.labels for report in reports),
        duplicates=sum(report.duplicates for report in reports),
        accuracy=total(report.accuracy for report in reports),
    )
    rows = [*_HEADINGS, *(_cells(report) for report in [*reports, everything])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        words = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join(words + figures).rstrip())
    rule = "-" * max(map(len, lines))
    return "\n".join([*lines[:2], rule, *lines[2:-1], rule, lines[-1]])


def _cells(report: HostReport) -> tuple[str, ...]:
    counts = (str(report.pages), f"{report.template_share:.0%}", str(report.labels), str(report.duplicates))
    recalls = (f"{report.accuracy.template_recall:.3f}", f"{report.accuracy.content_recall:.3f}")
    return report.name, report.url, *counts, *recalls
