"""What a run over archives is to do, and what came of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol, Self

from scrapy_winnow.archives.counting.host_counts import HOST_PAGES
from winnow.page.page import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a run is to do.

    Attributes:
        format: one of :data:`scrapy_winnow.archives.writers.FORMATS`.
        model: name or file of the page-level model; ``None`` for the package's own.
        outputs: optional columns, as ``WINNOW_OUTPUTS``.
        duplicates: mark near-duplicates.
        processes: how many work at a time, each on a file of its own.
        ray: address of a Ray cluster whose nodes work instead, ``""`` for the default one; ``None`` for none.
        host_pages: most pages of a host that are counted.
        limits: caps above which a page is passed through.
    """

    format: str = "jsonl"
    model: str | None = None
    outputs: frozenset[str] = frozenset()
    duplicates: bool = True
    processes: int = 1
    ray: str | None = None
    host_pages: int = HOST_PAGES
    limits: Limits = DEFAULT_LIMITS


class Progress(Protocol):
    """Told now and then how far a run is."""

    def __call__(self, step: str, done: int, whole: int, read_bytes: int, pages: int, /) -> object:
        """Take the name of the step, how many of all its parts are done, bytes read and pages done."""
        ...


@dataclass(slots=True)
class FileReport:
    """What became of one archive.

    Attributes:
        pages: pages counted or cleaned.
        skipped: responses that were no pages, by reason.
        failed: pages that could not be worked on; the first of their errors is in ``error``.
        broken: what is wrong with the file, where it could not be read to its end.
    """

    pages: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    error: str | None = None
    broken: str | None = None

    def note(self, error: Exception) -> None:
        """Count a page that could not be worked on."""
        self.failed += 1
        self.error = self.error or f"{type(error).__name__}: {error}"

    def to_json(self) -> str:
        """All of it as text."""
        names = ("pages", "skipped", "failed", "error", "broken")
        return json.dumps({name: getattr(self, name) for name in names})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` gave."""
        facts = json.loads(text)
        return cls(**{**facts, "skipped": Counter(facts["skipped"])})


@dataclass(slots=True)
class Summary:
    """What came of a run.

    Attributes:
        pages, hosts, duplicates: how many.
        skipped: responses that were no pages, by reason.
        failed: pages that could not be cleaned, by the error of the first one of each archive.
        broken: what is wrong with archives that could not be read to their end, by archive.
    """

    pages: int = 0
    hosts: int = 0
    duplicates: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    broken: dict[str, str] = field(default_factory=dict)

    def add(self, source: str, report: FileReport) -> None:
        """Add what became of an archive or of a part of one; pages that came out are counted as they are written."""
        self.skipped.update(report.skipped)
        if report.failed:
            self.failed[str(report.error)] += report.failed
        if report.broken is not None:
            self.broken.setdefault(source, report.broken)
