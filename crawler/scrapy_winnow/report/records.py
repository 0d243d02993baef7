"""What a report is made of: a line for each page, and what there is to say of the crawl as a whole."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scrapy_winnow.report.samples import Samples
    from scrapy_winnow.storage.hosts import HostRecord

MOST_PAGES: Final = 200_000
"""Pages that a report holds lines of; of those after them it counts the number alone."""

_MOST_FAILURES: Final = 200
_STATS: Final = re.compile(r"Dumping Scrapy stats:\s*(\{.*?\n? *[^\n]*\})\s*$", re.MULTILINE | re.DOTALL)
_FAILED: Final = re.compile(r"^\S+ \S+ \[[^\]]+\] (?:ERROR|CRITICAL): (.*)$", re.MULTILINE)


class PageRecord(NamedTuple):
    """One page that was cleaned.

    Attributes:
        url: its address.
        host: its site.
        seconds: since the crawl began; -1 where that is not known.
        words: words of the clean text.
        template_share: share of the text that was cut, 0..1.
        status: ``cleaned``, ``fallback``, ``empty`` or ``too_large``.
        source: ``page`` or ``site``.
        evidence_pages: pages of the site that had been counted.
        label_version: how often the labels of the site had settled.
        duplicate_of: address of the document that it repeats, if any.
        confidence: F1 that its text is expected to have; ``None`` where that is not known.
    """

    url: str
    host: str
    seconds: float
    words: int
    template_share: float
    status: str
    source: str
    evidence_pages: int
    label_version: int
    duplicate_of: str | None
    confidence: float | None


@dataclass(eq=False)
class CrawlRecord:
    """A crawl as a report needs it.

    Attributes:
        pages: a line for each page, in the order in which they were cleaned, at most :data:`MOST_PAGES`.
        more: pages beyond those.
        stats: Scrapy's stats.
        settings: the ``WINNOW_*`` settings that are not the default.
        versions: of what the crawl ran with.
        failures: messages of errors, and how often each came.
        hosts: what Redis knows of the hosts.
        samples: some pages of each host, with their HTML.
        title: what to call it.
    """

    pages: list[PageRecord] = field(default_factory=list)
    more: int = 0
    stats: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, HostRecord] = field(default_factory=dict)
    samples: Samples | None = None
    title: str = "Crawl"

    def add(self, page: PageRecord) -> None:
        """Add a page."""
        if len(self.pages) < MOST_PAGES:
            self.pages.append(page)
        else:
            self.more += 1

    def failed(self, message: str) -> None:
        """Note an error; when there are very many different ones, the later ones are counted together."""
        line = " ".join(message.split())[:300]
        known = line in self.failures or len(self.failures) < _MOST_FAILURES
        self.failures[line if known else "other errors"] += 1


def page_record(values: Mapping[str, Any], seconds: float, names: Mapping[str, str | None]) -> PageRecord | None:
    """Make a line of an item, ``None`` for one that was not cleaned.

    Args:
        values: its fields.
        seconds: since the crawl began.
        names: what the fields are called, by the names of :data:`scrapy_winnow.fields.FIELDS` and ``url``.
    """
    from scrapy_winnow.storage.keys import site_of  # noqa: PLC0415

    def value(name: str) -> Any:
        called = names.get(name, name)
        return values.get(called) if called is not None else None

    url, status, share = value("url"), value("status"), value("template_share")
    if not isinstance(url, str) or (status is None and share is None):
        return None
    confidence = value("confidence")
    return PageRecord(
        url=url,
        host=site_of(url) or "(no host)",
        seconds=seconds,
        words=len(str(value("text") or "").split()),
        template_share=float(share or 0.0),
        status=str(status or "cleaned"),
        source=str(value("label_source") or "page"),
        evidence_pages=int(value("evidence_pages") or 0),
        label_version=int(value("site_label_version") or 0),
        duplicate_of=value("duplicate_of") if value("duplicate_of") != url else None,
        confidence=float(confidence) if isinstance(confidence, int | float) else None,
    )


def read_items(record: CrawlRecord, path: Path) -> int:
    """Add the items of a file of JSON lines, or of one JSON array; return how many could not be used.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not such a file.
    """
    unused = 0
    with path.open(encoding="utf-8") as file:
        start = file.read(1)
        file.seek(0)
        rows = json.load(file) if start == "[" else map(json.loads, filter(str.strip, file))
        for row in rows:
            page = page_record(row, -1.0, {}) if isinstance(row, dict) else None
            if page is None:
                unused += 1
            else:
                record.add(page)
    return unused


def read_log(record: CrawlRecord, path: Path) -> None:
    """Take the stats and the errors from a log of Scrapy.

    Raises:
        OSError: it cannot be read.
        ValueError: there are no stats in it: the crawl was killed, or it is no such log.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    for message in _FAILED.findall(text):
        record.failed(message)
    found = _STATS.findall(text)
    if not found:
        raise ValueError("no stats of Scrapy in it: the crawl has not ended, or was killed")
    # Dates are not literals; everything else that stats hold is.
    literal = re.sub(r"datetime\.datetime\((?:[^()]|\([^()]*\))*\)", "None", found[-1])
    try:
        record.stats |= ast.literal_eval(literal)
    except (ValueError, SyntaxError) as error:
        raise ValueError("its stats cannot be read") from error
