"""A run over archives in one pass, for streams: each page with what its host had counted when it came."""

from __future__ import annotations

import shutil
import sqlite3
from collections import deque
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np

from scrapy_winnow.archives.counting import StreamCounts
from scrapy_winnow.archives.reading import ArchiveReader, Part
from scrapy_winnow.archives.rows import Output, clean_hashed, hash_page, shingles_of
from scrapy_winnow.archives.runs import FileReport, Options, Run, Summary, process_pool
from winnow.duplicates import MAX_DOCUMENTS
from winnow.models import load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from scrapy_winnow.archives.reading import ArchivedPage
    from scrapy_winnow.archives.rows import Row
    from scrapy_winnow.storage.evidence import SiteEvidence

    CountPage = Callable[[str, str, NDArray[np.uint64], bytes], SiteEvidence]
    """:meth:`scrapy_winnow.archives.counting.StreamCounts.count`"""

T = TypeVar("T")

_PAGES_AHEAD: Final = 4
"""Pages per process that are parsed before the first of them is counted, and as many that wait to be cleaned."""


class OnePassRun(Run):
    """Reads each archive once, in the order given, and cleans it into a file; see :class:`~.runs.Run`.

    The first pages of a host are cleaned by the page alone, as in a crawl; what comes out depends on the order of the
    pages and on nothing else. Counts and near-duplicates are in a database in the work folder, one transaction per
    archive: a run that was stopped is resumed at the archive it was at, unless it read standard input (``-``).
    """

    def _order(self, sources: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(sources))

    def _facts(self) -> dict[str, Any]:
        if self._options.ray is not None:
            raise ValueError("one pass reads the pages in their order, which a Ray cluster does not")
        options = self._options
        return {**super()._facts(), "passes": 1, "format": options.format, "duplicates": options.duplicates}

    def run(self) -> Summary:
        """Do the rest of the run; every archive's file is in the folder at the end."""
        summary = Summary()
        output = Output(self._destination, self._options, summary)
        pages = bytes_read = 0
        with closing(sqlite3.connect(self._state / "one-pass.sqlite")) as database:
            counts = StreamCounts(database, self._options.max_host_pages)
            state = _State(database)
            for url, shingles in state.documents():
                output.find_original(url, shingles)
            for done, (source, name) in enumerate(self._names.items()):
                stored = state.find_report(name)
                if stored is not None:
                    report, duplicates = stored
                    summary.pages += report.pages
                    summary.duplicates += duplicates
                else:
                    before = summary.duplicates
                    reader = ArchiveReader(Part(source), max_bytes=self._options.limits.max_bytes)
                    report = FileReport()
                    with output.open_archive(name) as write:
                        for result in clean_in_order(reader, counts.count, self._options):
                            if isinstance(result, Exception):
                                report.add_failure(result)
                                continue
                            write(result)
                            if self._options.duplicates:
                                state.add_document(str(result["url"]), shingles_of(result))
                            report.pages += 1
                            self._report(done, pages + report.pages, bytes_read + reader.bytes_read)
                    report.skipped, report.broken = reader.skipped, reader.broken
                    counts.save()
                    state.add_report(name, report, summary.duplicates - before)
                    pages += report.pages
                    bytes_read += reader.bytes_read
                summary.add(source, report)
                self._report(done + 1, pages, bytes_read)
            summary.hosts = counts.save()
        shutil.rmtree(self._state)
        return summary

    def _report(self, done: int, pages: int, bytes_read: int) -> None:
        self._progress("clean", done, len(self._names), pages, bytes_read)


class _State:
    """What a resumed run needs besides the counts, in the same database and the same transactions."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.execute("CREATE TABLE IF NOT EXISTS archives (name TEXT PRIMARY KEY, report TEXT, duplicates INTEGER)")
        database.execute("CREATE TABLE IF NOT EXISTS documents (number INTEGER PRIMARY KEY, url TEXT, shingles BLOB)")

    def documents(self) -> Iterator[tuple[str, NDArray[np.uint64]]]:
        """Go through the addresses and shingles of pages of finished archives, in their order."""
        for url, shingles in self._database.execute("SELECT url, shingles FROM documents ORDER BY number"):
            yield url, np.frombuffer(shingles, "<u8").astype(np.uint64)

    def add_document(self, url: str, shingles: NDArray[np.uint64]) -> None:
        """Store the shingles of a page."""
        packed = shingles.astype("<u8").tobytes()
        self._database.execute("INSERT INTO documents (url, shingles) VALUES (?, ?)", (url, packed))

    def find_report(self, name: str) -> tuple[FileReport, int] | None:
        """Return the report of a finished archive and its number of near-duplicates; ``None`` for one to do."""
        query = "SELECT report, duplicates FROM archives WHERE name = ?"
        found = self._database.execute(query, (name,)).fetchone()
        return None if found is None else (FileReport.from_json(found[0]), found[1])

    def add_report(self, name: str, report: FileReport, duplicates: int) -> None:
        """Commit a finished archive with all that belongs to it."""
        self._database.execute("INSERT INTO archives VALUES (?, ?, ?)", (name, report.to_json(), duplicates))
        query = "DELETE FROM documents WHERE number <= (SELECT max(number) FROM documents) - ?"
        self._database.execute(query, (MAX_DOCUMENTS,))
        self._database.commit()


def clean_in_order(pages: Iterable[ArchivedPage], count: CountPage, options: Options) -> Iterator[Row | Exception]:
    """Clean pages, each with what its host had counted when it came.

    Args:
        pages: in their order.
        count: called with each page that can be parsed, in that order, in this process.
        options: how they are cleaned, and in how many processes; the rows do not depend on that number.

    Yields:
        For each page, in that order, its row, or why it could not be cleaned.

    Raises:
        BrokenProcessPool: a process died.
    """
    if options.processes > 1:
        yield from _clean_in_processes(pages, count, options)
        return
    model = load_model(options.model)
    for page in pages:
        try:
            hashed = hash_page(page, options.limits, model)
            evidence = None
            if hashed is not None:
                evidence = count(page.url, page.host, hashed.fingerprints, hashed.main_text_id)
            row = clean_hashed(page, hashed, evidence, model, options)
        except Exception as error:
            yield error
        else:
            yield row


def _clean_in_processes(pages: Iterable[ArchivedPage], count: CountPage, options: Options) -> Iterator[Row | Exception]:
    ahead = _PAGES_AHEAD * options.processes

    def count_and_clean(page: ArchivedPage, parsed: Future[tuple[NDArray[np.uint64], bytes] | None]) -> Future[Row]:
        if parsed.exception() is not None:
            return cast("Future[Row]", parsed)
        leaves = parsed.result()
        evidence = count(page.url, page.host, *leaves) if leaves is not None else None
        return pool.submit(_clean, page, evidence, options)

    with process_pool(options.processes) as pool:
        parsing = ((page, pool.submit(_parse, page, options)) for page in pages)
        cleaning = (count_and_clean(page, parsed) for page, parsed in _keep_ahead(parsing, ahead))
        for cleaned in _keep_ahead(cleaning, ahead):
            error = cleaned.exception()
            if isinstance(error, BrokenProcessPool) or not isinstance(error, Exception | None):
                raise error
            yield cleaned.result() if error is None else error


def _keep_ahead(items: Iterable[T], number: int) -> Iterator[T]:
    """Yield items in their order, each once ``number`` more were taken, so that their work has begun by then."""
    taken: deque[T] = deque()
    for item in items:
        taken.append(item)
        if len(taken) > number:
            yield taken.popleft()
    yield from taken


def _parse(page: ArchivedPage, options: Options) -> tuple[NDArray[np.uint64], bytes] | None:
    hashed = hash_page(page, options.limits, load_model(options.model))
    return None if hashed is None else (hashed.fingerprints, hashed.main_text_id)


def _clean(page: ArchivedPage, evidence: SiteEvidence | None, options: Options) -> Row:
    model = load_model(options.model)
    hashed = hash_page(page, options.limits, model) if evidence is not None else None
    return clean_hashed(page, hashed, evidence, model, options)
