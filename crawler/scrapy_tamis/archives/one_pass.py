"""A run over archives in one pass: each page is cleaned with what its host had counted when it came."""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Final

from scrapy_tamis.archives.counting import StreamCounts
from scrapy_tamis.archives.reading import ENDED_PROCESS, ArchiveReader, Part
from scrapy_tamis.archives.rows import Failure, clean_page, hash_page, row_of
from scrapy_tamis.archives.runs import Run, Summary, write_json_rows
from scrapy_tamis.pool import CleaningPool, PageFailedError, ReadPage
from scrapy_tamis.storage.evidence import HashedUnits
from tamis.page.page import PageTooLarge
from tamis.page.parsing import decode, kind_of_data

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator
    from pathlib import Path

    from scrapy_tamis.archives.reading import ArchivedPage
    from scrapy_tamis.archives.rows import Row
    from scrapy_tamis.archives.runs import Options
    from scrapy_tamis.storage.evidence import SiteEvidence

_BATCH: Final = 16
"""Pages per process that are read before the first of them is counted."""


class OnePassRun(Run):
    """Reads each archive once, in the order given, and cleans it into a file; see :class:`Run`.

    The first pages of a host are cleaned by the page alone, as in a crawl; what comes out depends on the order of the
    pages and on nothing else. The counts are in a database in the work folder, one transaction per archive: a run that
    was stopped is resumed at the archive it was at, unless it read standard input (``-``).
    """

    _keeps_order = True

    def _clean(self) -> None:
        """Clean archive by archive, also where an event loop runs already, as in a notebook."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._clean_all()
        else:
            with ThreadPoolExecutor(1) as thread:
                thread.submit(self._clean_all).result()

    def _clean_all(self) -> None:
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

        def progress(pages: int) -> None:
            self._progress("clean", done, len(self._names), self._summary.pages + pages)

        reader = ArchiveReader(Part(source))
        return write_json_rows(reader, clean_in_order(reader, counts, self._options), file, progress)


def clean_in_order(pages: Iterable[ArchivedPage], counts: StreamCounts, options: Options) -> Iterator[Row | Failure]:
    """Clean pages, each with what its host had counted when it came; yield as :func:`clean_counted`, in their order."""
    with asyncio.Runner() as runner:
        batches = _clean_batches(pages, counts, options)
        try:
            while rows := runner.run(anext(batches, None)):
                yield from rows
        finally:
            runner.run(batches.aclose())


async def _clean_batches(
    pages: Iterable[ArchivedPage], counts: StreamCounts, options: Options
) -> AsyncGenerator[list[Row | Failure]]:
    """Read the next pages in processes while the last ones are cleaned there; count them here, in their order."""
    pool = CleaningPool(options.processes, options.model, options.cleaning, lambda: None)
    pool.start()
    left = iter(pages)
    cleaning: list[asyncio.Task[Row | Failure]] = []
    try:
        while batch := list(islice(left, _BATCH * options.processes)):
            reading = [asyncio.create_task(_read_page(page, pool, options)) for page in batch]
            if cleaning:
                yield await asyncio.gather(*cleaning)
            cleaning = []
            for page, task in zip(batch, reading, strict=True):
                hashed = await task
                evidence = counts.count(page.url, page.host, hashed) if isinstance(hashed, HashedUnits) else None
                cleaning.append(asyncio.create_task(_clean_read(page, hashed, evidence, pool, options)))
        if cleaning:
            yield await asyncio.gather(*cleaning)
    finally:
        await pool.close()


async def _read_page(page: ArchivedPage, pool: CleaningPool, options: Options) -> HashedUnits | str | None:
    """As :func:`hash_page`, in a process; in this one where none can be started."""
    if kind_of_data(page.html) is not None:
        return None
    try:
        return await pool.read(_text_of(page), page.url) or hash_page(page, options)
    except PageTooLarge:
        return None
    except PageFailedError:
        return ENDED_PROCESS
    except RuntimeError as error:
        return _last_line(error)


async def _clean_read(
    page: ArchivedPage,
    hashed: HashedUnits | str | None,
    evidence: SiteEvidence | None,
    pool: CleaningPool,
    options: Options,
) -> Row | Failure:
    """As :func:`clean_page`, where the page was read."""
    if isinstance(hashed, str):
        return Failure(hashed, page.url)
    read = hashed if isinstance(hashed, ReadPage) else None
    try:
        item = await pool.clean(_text_of(page), page.url, evidence, None, options.rules.for_url(page.url), read)
    except PageFailedError:
        return Failure(ENDED_PROCESS, page.url)
    except RuntimeError as error:
        return Failure(_last_line(error), page.url)
    if item is None:
        return clean_page(page, hash_page(page, options), evidence, options)
    return row_of(page, item, options)


def _text_of(page: ArchivedPage) -> str | bytes:
    return page.html if page.charset is None else decode(page.html, page.charset)


def _last_line(error: RuntimeError) -> str:
    """Return the kind and message of an error, of whose traceback they are the end."""
    return str(error).rstrip().rpartition("\n")[2]
