"""A run over archives in one pass, for streams: each page with what its host had counted when it came."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import islice, repeat
from typing import TYPE_CHECKING, Final

from scrapy_winnow.archives.addresses import describe
from scrapy_winnow.archives.counting import StreamCounts
from scrapy_winnow.archives.reading import ArchiveReader, Part
from scrapy_winnow.archives.rows import clean_page, hash_page, parse_page
from scrapy_winnow.archives.runs import Run, Summary, process_pool
from scrapy_winnow.storage.evidence import HashedPage, HashedUnits
from winnow.models import load_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from scrapy_winnow.archives.reading import ArchivedPage
    from scrapy_winnow.archives.rows import Row
    from scrapy_winnow.archives.runs import Options
    from scrapy_winnow.storage.evidence import SiteEvidence

_BATCH: Final = 16
"""Pages per process that are parsed before the first of them is counted."""


class OnePassRun(Run):
    """Reads each archive once, in the order given, and cleans it into a file; see :class:`~.runs.Run`.

    The first pages of a host are cleaned by the page alone, as in a crawl; what comes out depends on the order of the
    pages and on nothing else. The counts are in a database in the work folder, one transaction per archive: a run that
    was stopped is resumed at the archive it was at, unless it read standard input (``-``).
    """

    _keeps_order = True

    def _clean(self) -> None:
        """Clean archive by archive, and write those that were cleaned before the run was stopped once more."""
        folder = self._state / "cleaned"
        folder.mkdir(exist_ok=True)
        with closing(sqlite3.connect(self._state / "one-pass.sqlite")) as database:
            database.execute("CREATE TABLE IF NOT EXISTS archives (name TEXT PRIMARY KEY, report TEXT)")
            counts = StreamCounts(database)
            for done, (source, name) in enumerate(self._names.items()):
                found = database.execute("SELECT report FROM archives WHERE name = ?", (name,)).fetchone()
                report = Summary.from_json(found[0]) if found else self._clean_one(source, folder / name, counts, done)
                self._summary.hosts = counts.save()
                if not found:
                    database.execute("INSERT INTO archives VALUES (?, ?)", (name, report.to_json()))
                    database.commit()
                self._write(source, [(folder / name, report)])
                self._progress("clean", done + 1, len(self._names), self._summary.pages)

    def _clean_one(self, source: str, file: Path, counts: StreamCounts, done: int) -> Summary:
        """Clean the pages of an archive into a file of JSON lines, and report how that went."""
        reader, report = ArchiveReader(Part(source)), Summary()
        with file.open("w", encoding="utf-8") as lines:
            for row in clean_in_order(reader, counts, self._options):
                if isinstance(row, str):
                    report.failed[row] += 1
                    continue
                lines.write(json.dumps(row) + "\n")
                report.pages += 1
                self._progress("clean", done, len(self._names), self._summary.pages + report.pages)
        report.add_reading(reader)
        return report


def clean_in_order(pages: Iterable[ArchivedPage], counts: StreamCounts, options: Options) -> Iterator[Row | str]:
    """Clean pages, each with what its host had counted when it came.

    Args:
        pages: in their order.
        counts: those of the pages before, to which each page is added.
        options: how they are cleaned, and in how many processes; the rows do not depend on that number.

    Yields:
        For each page, in that order, its row, or why it could not be cleaned.

    Raises:
        BrokenProcessPool: a process died.
    """
    if options.processes > 1:
        yield from _clean_in_processes(pages, counts, options)
        return
    model = load_model(options.model)
    for page in pages:
        try:
            hashed = hash_page(page, model)
            evidence = None if hashed is None else counts.count(page.url, page.host, hashed)
            yield clean_page(page, hashed, evidence, model, options.outputs)
        except Exception as error:
            yield describe(error)


def _clean_in_processes(pages: Iterable[ArchivedPage], counts: StreamCounts, options: Options) -> Iterator[Row | str]:
    """Fingerprint a batch of pages in processes, count them here, and clean them in processes beside the next batch."""
    left = iter(pages)
    cleaned: Iterator[Row | str] = iter(())
    with process_pool(options.processes) as pool:
        while batch := list(islice(left, _BATCH * options.processes)):
            fingerprinted = pool.map(_fingerprint, batch, repeat(options.model))
            yield from cleaned
            found = list(fingerprinted)
            counted = [
                counts.count(page.url, page.host, units) if isinstance(units, HashedUnits) else None
                for page, units in zip(batch, found, strict=True)
            ]
            cleaned = pool.map(_clean, batch, found, counted, repeat(options))
        yield from cleaned


def _fingerprint(page: ArchivedPage, model: str | None) -> HashedUnits | str | None:
    """Return what is counted of a page, or its error; ``None`` for one above the limits."""
    try:
        hashed = hash_page(page, load_model(model))
    except Exception as error:
        return describe(error)
    # Without the page itself: its tree does not leave the process.
    return hashed and HashedUnits(**hashed.values())


def _clean(
    page: ArchivedPage, units: HashedUnits | str | None, evidence: SiteEvidence | None, options: Options
) -> Row | str:
    if isinstance(units, str):
        return units
    try:
        hashed = None if units is None else HashedPage(**units.values(), page=parse_page(page))
        return clean_page(page, hashed, evidence, load_model(options.model), options.outputs)
    except Exception as error:
        return describe(error)
