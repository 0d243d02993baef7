"""A run over archives in one pass: each page is cleaned with what its host had counted when it came."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from concurrent.futures import Future
from contextlib import closing
from threading import Thread
from typing import TYPE_CHECKING, Final

from scrapy_tamis.archives.counting import StreamCounts
from scrapy_tamis.archives.reading import ENDED_PROCESS, ArchiveReader, Part
from scrapy_tamis.archives.rows import Failure, clean_page, hash_page, row_of
from scrapy_tamis.archives.runs import Run, Summary, keep_rows, read_rows
from scrapy_tamis.pool import CleaningPool, PageFailedError, ReadPage
from scrapy_tamis.storage.evidence import HashedUnits
from tamis.page.page import PageTooLarge
from tamis.page.parsing import decode, kind_of_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from scrapy_tamis.archives.reading import ArchivedPage
    from scrapy_tamis.archives.rows import Row
    from scrapy_tamis.archives.runs import Options, Rows

_AT_ONCE: Final = 8
"""Pages per process that are read, counted and cleaned at a time."""


class OnePassRun(Run):
    """Reads each archive once, in the order given, and cleans it into a file; see :class:`Run`.

    The first pages of a host are cleaned by the page alone, as in a crawl; what comes out depends on the order of the
    pages and on nothing else. The counts are in a database in the work folder, one transaction per archive: a run that
    was stopped is resumed at the archive it was at, unless it read standard input (``-``).
    """

    _keeps_order = True

    def _clean(self) -> None:
        """Clean archive by archive, and write those that were cleaned before the run was stopped once more."""
        folder = self._state / "cleaned"
        folder.mkdir(exist_ok=True)
        # A thread counts, while this one waits or writes.
        with closing(sqlite3.connect(self._state / "one-pass.sqlite", check_same_thread=False)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS archives (name TEXT PRIMARY KEY, report TEXT)")
            counts = StreamCounts(database)
            for done, (source, name) in enumerate(self._names.items()):
                found = database.execute("SELECT report FROM archives WHERE name = ?", (name,)).fetchone()
                report = Summary.from_json(found[0]) if found else Summary()
                file = folder / name
                rows = read_rows(file) if found else self._clean_one(source, file, counts, report, done)
                with closing(rows):  # nothing is counted any more after an error
                    self._write(source, [(rows, report)])
                self._summary.hosts = counts.save()
                if not found:
                    database.execute("INSERT INTO archives VALUES (?, ?)", (name, report.to_json()))
                    database.commit()
                self._progress("clean", done + 1, len(self._names), self._summary.pages)

    def _clean_one(self, source: str, file: Path, counts: StreamCounts, report: Summary, done: int) -> Rows:
        """Clean the pages of an archive into a file of JSON lines, yield their rows, and report how that went."""
        reader = ArchiveReader(Part(source))
        for row in keep_rows(reader, clean_in_order(reader, counts, self._options), file, report):
            self._progress("clean", done, len(self._names), self._summary.pages + report.pages)
            yield row


def clean_in_order(pages: Iterable[ArchivedPage], counts: StreamCounts, options: Options) -> Iterator[Row | Failure]:
    """Clean pages, each with what its host had counted when it came; yield as :func:`clean_counted`, in their order.

    An event loop in a thread counts the next ones and has them cleaned while the last ones are used here. So are pages
    read here: no interrupt gets at a thread that waits for standard input.
    """
    loop = asyncio.new_event_loop()
    pool = CleaningPool(options.processes, options.model, options.cleaning, lambda: None)
    running = deque[Future["Row | Failure"]]()
    (counted := loop.create_future()).set_result(None)
    (thread := Thread(target=loop.run_forever)).start()
    try:
        loop.call_soon_threadsafe(pool.start)
        for page in pages:
            before, counted = counted, loop.create_future()
            work = _clean_page(page, before, counted, counts, pool, options)
            running.append(asyncio.run_coroutine_threadsafe(work, loop))
            if len(running) == _AT_ONCE * options.processes:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for each in running:
            each.cancel()
        asyncio.run_coroutine_threadsafe(pool.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _read_page(
    page: ArchivedPage, html: str | bytes, pool: CleaningPool, options: Options
) -> HashedUnits | str | None:
    """As :func:`hash_page`, in a process; in this one where none can be started."""
    if kind_of_data(page.html) is not None:
        return None
    try:
        return await pool.read(html, page.url) or hash_page(page, options)
    except PageTooLarge:
        return None
    except PageFailedError:
        return ENDED_PROCESS
    except RuntimeError as error:
        return _last_line(error)


async def _clean_page(
    page: ArchivedPage,
    before: asyncio.Future[None],
    counted: asyncio.Future[None],
    counts: StreamCounts,
    pool: CleaningPool,
    options: Options,
) -> Row | Failure:
    """As :func:`clean_page`, once the page before it was counted."""
    html = page.html if page.charset is None else decode(page.html, page.charset)
    hashed = await _read_page(page, html, pool, options)
    await before
    evidence = counts.count(page.url, page.host, hashed) if isinstance(hashed, HashedUnits) else None
    counted.set_result(None)
    if isinstance(hashed, str):
        return Failure(hashed, page.url)
    read = hashed if isinstance(hashed, ReadPage) else None
    try:
        item = await pool.clean(html, page.url, evidence, None, options.rules.for_url(page.url), read)
    except PageFailedError:
        return Failure(ENDED_PROCESS, page.url)
    except RuntimeError as error:
        return Failure(_last_line(error), page.url)
    if item is None:
        return clean_page(page, hash_page(page, options), evidence, options)
    return row_of(page, item, options)


def _last_line(error: RuntimeError) -> str:
    """Return the kind and message of an error, of whose traceback they are the end."""
    return str(error).rstrip().rpartition("\n")[2]
