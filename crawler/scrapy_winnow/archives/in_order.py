"""Pages in the order in which they come: read, counted for their host, cleaned; here, or in processes beside."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final, Protocol

from threadpoolctl import threadpool_limits

from scrapy_winnow.archives.rows import read, row_of
from winnow.models import load_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from scrapy_winnow.archives.reading.records import ArchivedPage
    from scrapy_winnow.archives.rows import Row
    from scrapy_winnow.hosts.evidence import SiteEvidence
    from winnow.models.base import Model
    from winnow.page.page import Limits

    Leaves = tuple[NDArray[np.uint64], bytes]

_AHEAD: Final = 4
"""Pages per process that are read before the first of them is counted, and as many that wait to be cleaned."""


class Count(Protocol):
    """Counts a page; see :meth:`scrapy_winnow.archives.counting.stream_counts.StreamCounts.count`."""

    def __call__(self, url: str, host: str, fingerprints: NDArray[np.uint64], contents_id: bytes, /) -> SiteEvidence:
        """Return what is known of its host."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """How pages are cleaned: name or file of the model, caps, optional columns."""

    model: str | None
    limits: Limits
    outputs: frozenset[str]


def cleaned_in_order(
    pages: Iterable[ArchivedPage], count: Count, work: Work, processes: int
) -> Iterator[Row | Exception]:
    """Clean pages, each with what its host had counted when it came.

    Args:
        pages: in their order.
        count: called with each that can be read, in that order, in this process.
        work: how they are cleaned.
        processes: how many read and clean; 1 is this one. What comes out does not depend on it.

    Yields:
        What came out of each page, in that order: its row, or why it could not be cleaned.

    Raises:
        BrokenProcessPool: a process died.
    """
    if processes > 1:
        yield from _in_processes(pages, count, work, processes)
        return
    model = load_model(work.model)
    for page in pages:
        try:
            hashed = read(page, work.limits)
            evidence = None
            if hashed is not None:
                evidence = count(page.url, page.host, hashed.fingerprints, hashed.contents_id)
            row = row_of(page, hashed, evidence, model=model, limits=work.limits, outputs=work.outputs)
        except Exception as error:
            yield error
        else:
            yield row


def _in_processes(pages: Iterable[ArchivedPage], count: Count, work: Work, processes: int) -> Iterator[Row | Exception]:
    reading: deque[tuple[ArchivedPage, Future[Leaves | None]]] = deque()
    cleaning: deque[Future[Row]] = deque()
    ahead = _AHEAD * processes
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin, (work,)) as pool:

        def count_next() -> None:
            page, leaves = reading.popleft()
            if (error := leaves.exception()) is not None:
                cleaning.append(_failed(error))
                return
            read_leaves = leaves.result()
            evidence = count(page.url, page.host, *read_leaves) if read_leaves is not None else None
            cleaning.append(pool.submit(_row, page, evidence))

        for page in pages:
            reading.append((page, pool.submit(_leaves, page)))
            if len(reading) > ahead:
                count_next()
            if len(cleaning) > ahead:
                yield _outcome(cleaning.popleft())
        while reading:
            count_next()
        while cleaning:
            yield _outcome(cleaning.popleft())


def _failed(error: BaseException) -> Future[Row]:
    future: Future[Row] = Future()
    future.set_exception(error)
    return future


def _outcome(future: Future[Row]) -> Row | Exception:
    try:
        return future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:
        return error


class _Process:
    """What a process beside this one works with."""

    work: Work
    model: Model


def _begin(work: Work) -> None:
    threadpool_limits(limits=1, user_api="blas")
    _Process.work, _Process.model = work, load_model(work.model)


def _leaves(page: ArchivedPage) -> Leaves | None:
    hashed = read(page, _Process.work.limits)
    return None if hashed is None else (hashed.fingerprints, hashed.contents_id)


def _row(page: ArchivedPage, evidence: SiteEvidence | None) -> Row:
    work = _Process.work
    hashed = read(page, work.limits) if evidence is not None else None
    return row_of(page, hashed, evidence, model=_Process.model, limits=work.limits, outputs=work.outputs)
