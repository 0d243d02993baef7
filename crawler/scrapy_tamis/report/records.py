"""The data of a report: a record for each page, the stats of the crawl, and a sample of the pages of each host."""

from __future__ import annotations

import sys
import zlib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from scrapy_tamis.messages import loggable
from scrapy_tamis.profiles import RepeatedPart, find_repeated_parts
from scrapy_tamis.storage.evidence import HashedPage
from scrapy_tamis.storage.keys import site_of
from tamis import Page, PageTooLarge
from tamis.counting import LossyCounts
from tamis.hashing import hash_text
from tamis.page.text import count_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from scrapy_tamis.storage.hosts import HostRecord

MAX_PAGES: Final = 200_000
"""Pages that a report has records of; later ones are only counted."""

_MAX_ERRORS: Final = 200

MAX_HOSTS: Final = 20
PAGES_PER_HOST: Final = 10
_MAX_BYTES: Final = 400_000
_MAX_PARTS: Final = 30
_MAX_COUNTED: Final = 100_000  # characters; the words of a longer text are estimated, or it would hold the event loop
_MAX_NUMBER: Final = 1e9  # of a field; NaN is not below it
_LEAST_KEPT: Final = 0.01  # fraction of a text, to estimate how many words were cut where no one has counted them


LINE: Final = np.dtype([("hash", "<u8"), ("words", "<u2")])
NO_LINES: Final = np.zeros(0, LINE)
_MAX_LINES: Final = 12  # at each end of a text, where template stands
_MIN_WORDS: Final = 3  # of a line; names and dates recur in content


class PageRecord(NamedTuple):
    """One page that was cleaned, by its fields.

    Attributes:
        seconds: those since the crawl began, -1 where unknown.
        cut_words, article_words, structure_words, lost_price: as of
            :func:`scrapy_tamis.losses.measure_losses`.
        lines: the first and last lines of its text, of type :data:`LINE`.
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
    cut_words: int = 0
    article_words: int = 0
    structure_words: int = 0
    lost_price: str = ""
    lines: NDArray[np.void] = NO_LINES


class Samples:
    """A random sample of the pages of the first hosts, compressed: those whose addresses have the lowest hashes."""

    def __init__(self) -> None:
        self._pages: dict[str, dict[int, tuple[str, str | None, bytes]]] = {}

    def offer(self, host: str, url: str, html: bytes, encoding: str | None = None) -> None:
        """Add a page to the sample if it belongs there."""
        if len(html) > _MAX_BYTES or (host not in self._pages and len(self._pages) >= MAX_HOSTS):
            return
        kept, number = self._pages.setdefault(host, {}), hash_text(url)
        if len(kept) < PAGES_PER_HOST or number < max(kept):
            kept[number] = (url, encoding, zlib.compress(html, 1))
            if len(kept) > PAGES_PER_HOST:
                del kept[max(kept)]

    def find_template(self, host: str) -> tuple[int, list[RepeatedPart]]:
        """Return how many pages of a host were sampled, and the elements that they repeat."""
        pages = []
        for url, encoding, html in self._pages.get(host, {}).values():
            with suppress(PageTooLarge):
                pages.append(HashedPage.of(Page.parse(zlib.decompress(html), url, encoding=encoding)))
        counts = LossyCounts(sys.maxsize)
        for number, page in enumerate(pages):
            counts.add(number, page.fingerprints)
        return len(pages), find_repeated_parts(pages, counts)[:_MAX_PARTS] if len(pages) > 1 else []


@dataclass(eq=False)
class CrawlRecord:
    """A crawl for a report.

    Attributes:
        pages: in the order in which they were cleaned, at most :data:`MAX_PAGES`.
        settings: the ``TAMIS_*`` settings that are not the default.
        errors: messages of errors, and how often each was logged.
        inspect_options: options with which ``tamis inspect`` cleans a page as the crawl did; "" where unknown.
    """

    pages: list[PageRecord] = field(default_factory=list)
    more_pages: int = 0
    stats: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, HostRecord] = field(default_factory=dict)
    samples: Samples = field(default_factory=Samples)
    title: str = "Crawl"
    inspect_options: str = ""

    def add(self, page: PageRecord) -> None:
        """Add a page."""
        if len(self.pages) < MAX_PAGES:
            self.pages.append(page)
        else:
            self.more_pages += 1

    def add_error(self, message: str) -> None:
        """Count an error as it may be written, see :func:`loggable`; after 200 different ones all new ones together."""
        line = loggable(message)[:300]
        known = line in self.errors or len(self.errors) < _MAX_ERRORS
        self.errors[line if known else "other errors"] += 1


def page_record(values: Mapping[str, Any], seconds: float) -> PageRecord | None:
    """Return the record of an item; ``None`` if it has no address or was not cleaned."""
    value = values.get

    def number(name: str) -> float | None:
        given = value(name)
        return float(given) if isinstance(given, int | float) and abs(given) < _MAX_NUMBER else None

    url, status, share, original = value("url"), value("status"), value("template_share"), value("duplicate_of")
    if not isinstance(url, str) or (status is None and share is None):
        return None
    text = str(value("text") or "")
    words = count_words(text[:_MAX_COUNTED]) * max(len(text) / _MAX_COUNTED, 1)
    cut = min(max(number("template_share") or 0.0, 0.0), 1.0)
    given, cut_of_all = number("cut_words"), words * cut / max(1 - cut, _LEAST_KEPT)
    cut_words = cut_of_all if given is None else given
    return PageRecord(
        url=url,
        host=site_of(url) or "(no host)",
        seconds=seconds,
        words=round(words),
        template_share=cut,
        status=str(status or "cleaned"),
        source=str(value("label_source") or "page"),
        evidence_pages=int(number("evidence_pages") or 0),
        label_version=int(number("site_label_version") or 0),
        duplicate_of=original if isinstance(original, str) and original != url else None,
        confidence=number("confidence"),
        cut_words=round(cut_words),
        article_words=int(number("article_words") or 0),
        structure_words=int(number("structure_words") or 0),
        lost_price=str(value("lost_price") or ""),
        lines=_lines_at_the_ends(text),
    )


def _lines_at_the_ends(text: str) -> NDArray[np.void]:
    """Return the distinct lines of some words at both ends of a text."""
    lines = dict.fromkeys(filter(None, map(str.strip, text[:_MAX_COUNTED].splitlines())))
    chosen = list(lines)
    if len(chosen) > 2 * _MAX_LINES:
        chosen = chosen[:_MAX_LINES] + chosen[-_MAX_LINES:]
    counted = ((hash_text(line), min(count_words(line), 0xFFFF)) for line in chosen)
    return np.array([each for each in counted if each[1] >= _MIN_WORDS], LINE)
