"""A few pages of each host, kept while a crawl runs, and what they show of its template in the end."""

from __future__ import annotations

import random
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from scrapy_winnow.profiles.repeated import Repeated, repeated_parts
from scrapy_winnow.storage.evidence import HashedPage
from winnow import Page, PageTooLarge, clean
from winnow.counting import MemoryCounts

if TYPE_CHECKING:
    from winnow.models.scores import Model

MOST_HOSTS: Final = 20
PAGES_PER_HOST: Final = 10
_MOST_BYTES: Final = 400_000
_JUDGED: Final = 5  # pages of a host that are cleaned again, to see where the model is in doubt
_DOUBT: Final = 0.12  # distance of a score from the threshold
_MOST_PARTS: Final = 30
_MOST_DOUBTS: Final = 8


@dataclass(frozen=True, slots=True)
class Doubt:
    """A kind of section whose scores are near the line, on several pages.

    Attributes:
        path: its path, without numbers.
        pages: on how many of the sampled pages.
        kept: how often it was kept.
        score: mean distance from the threshold, below 0 for content.
        text: an example.
    """

    path: str
    pages: int
    kept: int
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class HostSample:
    """What some pages of a host show.

    Attributes:
        pages: how many there are.
        parts: what most of them repeat.
        doubts: the sections most often in doubt.
    """

    pages: int
    parts: list[Repeated]
    doubts: list[Doubt]


@dataclass(eq=False)
class Samples:
    """Pages of the first hosts, an even choice of each host's pages, compressed."""

    _pages: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)
    _met: Counter[str] = field(default_factory=Counter)
    _chance: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311

    def offer(self, host: str, url: str, html: bytes) -> None:
        """Keep a page, or not: each of a host's pages has the same chance."""
        if len(html) > _MOST_BYTES or (host not in self._pages and len(self._pages) >= MOST_HOSTS):
            return
        kept = self._pages.setdefault(host, [])
        self._met[host] += 1
        place = len(kept) if len(kept) < PAGES_PER_HOST else self._chance.randrange(self._met[host])
        if place < PAGES_PER_HOST:
            kept[place : place + 1] = [(url, zlib.compress(html, 1))]

    def look(self, host: str, model: Model) -> HostSample | None:
        """Find out what the pages of a host repeat, and where the model is in doubt; ``None`` without pages."""
        pages = []
        for url, html in self._pages.get(host, ()):
            try:
                pages.append(HashedPage.of(Page.parse(zlib.decompress(html), url)))
            except PageTooLarge:
                continue
        if not pages:
            return None
        counts = MemoryCounts()
        for number, page in enumerate(pages):
            counts.add(number, page.fingerprints)
        parts = repeated_parts(pages, counts)[:_MOST_PARTS] if len(pages) > 1 else []
        return HostSample(len(pages), parts, _doubts(pages, model))


def _doubts(pages: list[HashedPage], model: Model) -> list[Doubt]:
    found: dict[str, list[tuple[float, str]]] = {}
    for hashed in pages[:_JUDGED]:
        page = hashed.page
        if not page.m:
            continue
        cleaned = clean(page, model=model)
        threshold = cleaned.decided.choice.threshold if cleaned.decided is not None else 0.5
        seen: set[str] = set()
        for section in cleaned.segments:
            distance = section.score - threshold
            path = re.sub(r"\[\d+\]", "", section.path)
            if abs(distance) < _DOUBT and section.characters > 1 and path not in seen:
                seen.add(path)
                found.setdefault(path, []).append((distance, section.text))
    doubts = [
        Doubt(
            path=path,
            pages=len(rows),
            kept=sum(distance < 0 for distance, _ in rows),
            score=float(np.mean([distance for distance, _ in rows])),
            text=" ".join(rows[0][1].split())[:160],
        )
        for path, rows in found.items()
    ]
    return sorted(doubts, key=lambda doubt: (-doubt.pages, abs(doubt.score)))[:_MOST_DOUBTS]
