"""A run over archives in one pass, for streams: each page with what its host had counted when it came."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from scrapy_winnow.archives.counting.stream_counts import StreamCounts
from scrapy_winnow.archives.folder import Run
from scrapy_winnow.archives.in_order import Work, cleaned_in_order
from scrapy_winnow.archives.job import FileReport, Summary
from scrapy_winnow.archives.output import Output, shingles_of
from scrapy_winnow.archives.reading.parts import Part
from scrapy_winnow.archives.reading.records import ArchiveReader
from winnow.duplicates.index import CAP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_winnow.archives.folder import RunFolder
    from scrapy_winnow.archives.job import Options, Progress


class OnePassRun(Run):
    """Cleans archives into a folder, a file for each, and reads each of them once, in the order given.

    The first pages of a host are cleaned by the page alone, as in a crawl; what comes out depends on the order of the
    pages and on nothing else. Counts and what was met of near-duplicates are in a database in the folder, a transaction
    an archive: a run over files that was stopped goes on with the archive that it was at. One that read standard input
    (``-``) cannot. Nor is it for a Ray cluster. See :class:`~scrapy_winnow.archives.folder.Run`.
    """

    def _ordered(self, sources: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(sources))

    def _facts(self) -> dict[str, Any]:
        if self._options.ray is not None:
            raise ValueError("one pass goes through the pages in their order, which a Ray cluster does not")
        return {"passes": 1, "format": self._options.format, "duplicates": self._options.duplicates}

    def run(self) -> Summary:
        """Do what is left to do; every archive's file is in the folder at the end."""
        with closing(sqlite3.connect(self._folder.state / "one-pass.sqlite")) as database:
            one = _Pass(self._folder, self._options, self._progress, database)
            for source, name in self._folder.names.items():
                one.take(source, name)
        self._folder.remove_state()
        return one.summary


class _Pass:
    """Goes through archives one after the other; what is done is in a database, and is not done again.

    Attributes:
        summary: what came of those that were taken.
    """

    def __init__(self, folder: RunFolder, options: Options, progress: Progress, database: sqlite3.Connection) -> None:
        self.summary = Summary()
        self._options = options
        self._output = Output(folder.destination, options, self.summary)
        self._state = _State(database)
        self._counts = StreamCounts(database, options.host_pages)
        self._progress = progress
        self._archives = len(folder.names)
        self._done = self._read_bytes = self._pages = 0
        self.summary.hosts = self._counts.save()
        for url, shingles in self._state.documents():
            self._output.original_of(url, shingles)

    def take(self, source: str, name: str) -> None:
        """Clean an archive, if that is not done."""
        known, summary = self._state.report(name), self.summary
        if known is not None:
            report, duplicates = known
            summary.pages += report.pages
            summary.duplicates += duplicates
        else:
            before = summary.duplicates
            report = self._clean(source, name)
            summary.hosts = self._counts.save()
            self._state.add_report(name, report, summary.duplicates - before)
        summary.add(source, report)
        self._done += 1
        self._say(self._read_bytes)

    def _clean(self, source: str, name: str) -> FileReport:
        options, report = self._options, FileReport()
        before = self._read_bytes
        reader = ArchiveReader(
            Part(source), max_bytes=options.limits.max_bytes, at=lambda place: self._say(before + place)
        )
        work = Work(str(options.model) if options.model is not None else None, options.limits, options.outputs)
        with self._output.file(name) as write:
            for outcome in cleaned_in_order(reader, self._counts.count, work, options.processes):
                if isinstance(outcome, Exception):
                    report.note(outcome)
                    continue
                write(outcome)
                if options.duplicates:
                    self._state.add_document(str(outcome["url"]), shingles_of(outcome))
                report.pages += 1
                self._pages += 1
        report.skipped, report.broken = reader.skipped, reader.broken
        return report

    def _say(self, read_bytes: int) -> None:
        self._read_bytes = read_bytes
        self._progress("clean", self._done, self._archives, read_bytes, self._pages)


class _State:
    """What a run that goes on has to know besides the counts, in the same database and the same transactions."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.execute("CREATE TABLE IF NOT EXISTS archives (name TEXT PRIMARY KEY, report TEXT, duplicates INTEGER)")
        database.execute("CREATE TABLE IF NOT EXISTS documents (number INTEGER PRIMARY KEY, url TEXT, shingles BLOB)")

    def documents(self) -> Iterator[tuple[str, np.ndarray[tuple[int], np.dtype[np.uint64]]]]:
        """Addresses and shingles of the pages of archives that are done, in their order."""
        for url, shingles in self._database.execute("SELECT url, shingles FROM documents ORDER BY number"):
            yield url, np.frombuffer(shingles, "<u8").astype(np.uint64)

    def add_document(self, url: str, shingles: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> None:
        """Keep a page."""
        packed = shingles.astype("<u8").tobytes()
        self._database.execute("INSERT INTO documents (url, shingles) VALUES (?, ?)", (url, packed))

    def report(self, name: str) -> tuple[FileReport, int] | None:
        """What became of an archive that is done, and near-duplicates in it."""
        query = "SELECT report, duplicates FROM archives WHERE name = ?"
        found = self._database.execute(query, (name,)).fetchone()
        return None if found is None else (FileReport.from_json(found[0]), found[1])

    def add_report(self, name: str, report: FileReport, duplicates: int) -> None:
        """Note that an archive is done, with all that goes with it."""
        self._database.execute("INSERT INTO archives VALUES (?, ?, ?)", (name, report.to_json(), duplicates))
        self._database.execute("DELETE FROM documents WHERE number <= (SELECT max(number) FROM documents) - ?", (CAP,))
        self._database.commit()
