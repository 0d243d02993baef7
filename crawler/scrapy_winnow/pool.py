"""Cleaning processes: a page goes to the one with the least to do, and to another if that one dies."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy_winnow.messages import FORGOTTEN, LENGTH, CleaningTask, ReadingTask, pack, unpack
from scrapy_winnow.storage.evidence import HashedUnits
from winnow.page.page import PageTooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from scrapy_winnow.fields import CleanedItem
    from winnow.page.page import Limits

START_TIMEOUT_S: Final = 60.0
"""Time that a process may take to be ready."""

PAGE_TIMEOUT_S: Final = 60.0
"""Time without an answer after which a process counts as hung: ten times what the largest page takes."""

_END_TIMEOUT_S: Final = 2.0

TRIES: Final = 2
"""Processes that are tried with a page before it counts as deadly."""

_MAX_PAGES_IN_HAND: Final = 8  # of a process, so that it can go on while the event loop is busy
_MAX_BYTES_IN_HAND: Final = 1 << 18  # of more than one page, so that light ones do not wait behind heavy ones
_MAX_FAILURES: Final = 3
_BUFFER_BYTES: Final = 1 << 20

logger = logging.getLogger(__name__)


class ProcessDiedError(Exception):
    """The process has ended before it answered, or was ended because it hung."""


class CleaningProcess:
    """A process that works on tasks one after the other, in their order.

    It is a program of its own rather than a fork or a :mod:`multiprocessing` child: none of the crawl's threads and
    sockets are copied, and the user's main module is not imported again.

    Attributes:
        pid: number of the process.
        bytes_in_hand: bytes of the pages whose tasks are not done yet.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        results: asyncio.StreamReader,
        tasks: asyncio.StreamWriter,
        answered: Callable[[], object],
        died: Callable[[CleaningProcess], object],
    ) -> None:
        self.bytes_in_hand = 0
        self.pid = process.pid
        self._process = process
        self._results = results
        self._tasks = tasks
        self._answered = answered
        self._died = died
        self._pending: deque[tuple[asyncio.Future[Any], int]] = deque()
        self._hung: asyncio.TimerHandle | None = None
        self._reading = asyncio.create_task(self._read_results())
        self._reading.add_done_callback(self._end)

    @classmethod
    async def start(
        cls, model: str | None, answered: Callable[[], object], died: Callable[[CleaningProcess], object]
    ) -> Self:
        """Start a process and wait until it is ready.

        Raises:
            OSError: it cannot be started.
            ProcessDiedError: it ended at once, or was not ready in time.
        """
        own, other = socket.socketpair()
        try:
            with other:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-c", "from scrapy_winnow.worker import main; main()", model or ""),
                    env={
                        **os.environ,
                        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # what is importable here is so there
                        "OMP_NUM_THREADS": "1",
                        "OPENBLAS_NUM_THREADS": "1",
                        "MKL_NUM_THREADS": "1",
                    },
                    stdin=other.fileno(),
                    stdout=asyncio.subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C in a terminal is for the crawl, which has pages to finish
                )
            results, tasks = await asyncio.open_connection(sock=own, limit=_BUFFER_BYTES)
        except BaseException:
            own.close()
            raise
        started = cls(process, results, tasks, answered, died)
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        started._pending.append((ready, 0))
        try:
            await asyncio.wait_for(ready, START_TIMEOUT_S)
        except BaseException as error:
            if not started.has_ended:
                started.kill()
            await started.close()
            if isinstance(error, TimeoutError):
                raise ProcessDiedError from None
            raise
        return started

    @property
    def has_ended(self) -> bool:
        """Whether the process takes no more tasks."""
        return self._reading.done() or self._tasks.is_closing()

    def has_room(self, size: int) -> bool:
        """Whether the process takes a page of so many bytes besides those that it has in hand."""
        is_light = self.bytes_in_hand + size <= _MAX_BYTES_IN_HAND
        return not self._pending or (is_light and len(self._pending) < _MAX_PAGES_IN_HAND)

    async def run(self, task: ReadingTask | CleaningTask, size: int) -> Any:
        """Send a task about a page of so many bytes and return its result."""
        if self.has_ended:
            raise ProcessDiedError
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending.append((result, size))
        self.bytes_in_hand += size
        if len(self._pending) == 1:
            self._watch()
        self._tasks.write(pack(task))
        return await result

    def kill(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            self._process.kill()
        self._reading.cancel()

    async def close(self) -> None:
        """Let the process end by itself, or end it after two seconds, and wait for its end."""
        self._tasks.close()
        try:
            await asyncio.wait_for(self._process.wait(), _END_TIMEOUT_S)
        except TimeoutError:
            self.kill()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _END_TIMEOUT_S)

    async def _read_results(self) -> None:
        """Hand on the result of each task, until the process ends."""
        while True:
            (length,) = LENGTH.unpack(await self._results.readexactly(LENGTH.size))
            found = unpack(await self._results.readexactly(length))
            result, size = self._pending.popleft()
            self.bytes_in_hand -= size
            self._watch()
            if not result.done():
                result.set_result(found)
            self._answered()

    def _end(self, reading: asyncio.Task[None]) -> None:
        """Give up the tasks that have no result: the process has ended, or has closed its end."""
        if not reading.cancelled():
            logger.debug("A cleaning process has ended: %r", reading.exception())
        self._tasks.close()
        if self._hung is not None:
            self._hung.cancel()
        for result, _ in self._pending:
            if not result.done():
                result.set_exception(ProcessDiedError())
        self._pending.clear()
        self.bytes_in_hand = 0
        self._died(self)

    def _watch(self) -> None:
        """Restart the time that the next result may take."""
        if self._hung is not None:
            self._hung.cancel()
        self._hung = asyncio.get_running_loop().call_later(PAGE_TIMEOUT_S, self.kill) if self._pending else None


@dataclass(frozen=True, slots=True, eq=False)
class ReadPage(HashedUnits):
    """The fingerprints of a page that a process has read, and may have kept until it is cleaned."""

    process: CleaningProcess
    number: int


class CleaningPool:
    """Cleans pages in processes.

    A process that dies is replaced, and its pages are cleaned again in another one. If several in a row end before they
    have cleaned a page, as without enough memory, no more are started, and one warning says so.

    Attributes:
        waiting: number of pages that wait for a process.
    """

    def __init__(self, size: int, model: str | None = None, *, died: Callable[[], object] = lambda: None) -> None:
        self.waiting = 0
        self._size = size
        self._model = model
        self._on_death = died
        self._processes: list[CleaningProcess] = []
        self._starting = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_page = asyncio.Lock()  # held by the page that looks for a process; the others wait in their order
        self._changed = asyncio.Event()
        self._failures = 0
        self._numbers = count()
        self._closed = False

    @property
    def is_ready(self) -> bool:
        """Whether there is a process."""
        return bool(self._processes)

    def start(self) -> None:
        """Start the processes that are missing; they are ready some time later."""
        missing = self._size - len(self._processes) - self._starting
        for _ in range(missing if self._may_start else 0):
            self._starting += 1
            self._start_task(self._start_one())

    async def read(self, html: str | bytes, url: str, limits: Limits) -> ReadPage | None:
        """Read a page, and keep it in the process, since it is probably cleaned next.

        Returns:
            The fingerprints; ``None`` if reading raises another error, and if there are no processes any more.

        Raises:
            PageTooLarge: the page is above one of the limits.
            ProcessDiedError: ``TRIES`` processes died of it.
        """
        number = next(self._numbers)
        found, process = await self._run_anywhere(ReadingTask(number, html, url, limits, self._model))
        if isinstance(found, list):
            raise PageTooLarge(*found)
        return None if found is None or process is None else ReadPage(**found, process=process, number=number)

    async def clean(self, task: CleaningTask, read: ReadPage | None = None) -> CleanedItem | None:
        """Clean a page, in the process that has read it where :meth:`read` was called.

        Returns:
            The result of :func:`scrapy_winnow.fields.clean_item`; ``None`` if it raises an error, if ``TRIES``
            processes died of the page, and if there are none any more.
        """
        tries = TRIES
        cleaned: CleanedItem | None
        if read is not None and not read.process.has_ended:
            kept = replace(task, html=b"", kept=read.number)
            try:
                if (cleaned := await self._run_in(read.process, kept, len(task.html))) != FORGOTTEN:
                    return cleaned
            except ProcessDiedError:
                tries -= 1
        with suppress(ProcessDiedError):
            cleaned, _ = await self._run_anywhere(task, tries)
            return cleaned
        return None

    async def close(self) -> None:
        """End the processes; the pages that they have in hand are given up."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(process.close() for process in self._processes))
        self._changed.set()

    async def _run_anywhere(
        self, task: ReadingTask | CleaningTask, tries: int = TRIES
    ) -> tuple[Any, CleaningProcess | None]:
        """Run a task in the process with the least to do, or another if that one dies; ``None`` where there is none."""
        size = len(task.html)
        for _ in range(tries):
            process = await self._find_free_process(size)
            if process is None:
                return None, None
            with suppress(ProcessDiedError):
                return await self._run_in(process, task, size), process
        raise ProcessDiedError

    async def _run_in(self, process: CleaningProcess, task: ReadingTask | CleaningTask, size: int) -> Any:
        result = await process.run(task, size)
        self._failures = 0
        return result

    async def _find_free_process(self, size: int) -> CleaningProcess | None:
        """Wait for a process that takes a page of so many bytes; ``None`` when there will be none."""
        self.waiting += 1
        try:
            async with self._next_page:
                while not self._closed and (self._processes or self._starting):
                    free = [each for each in self._processes if not each.has_ended and each.has_room(size)]
                    if free:
                        return min(free, key=lambda process: process.bytes_in_hand)
                    self._changed.clear()
                    await self._changed.wait()
                return None
        finally:
            self.waiting -= 1

    async def _start_one(self) -> None:
        try:
            while self._may_start:
                try:
                    process = await CleaningProcess.start(self._model, self._changed.set, self._died)
                except (OSError, ProcessDiedError) as error:
                    logger.debug("A cleaning process did not start: %r", error)
                    self._on_death()
                    self._note_failure()
                else:
                    self._processes.append(process)
                    break
        finally:
            self._starting -= 1

    @property
    def _may_start(self) -> bool:
        return not self._closed and self._failures < _MAX_FAILURES

    def _died(self, process: CleaningProcess) -> None:
        """Replace a process that has ended, unless it ended before it was ready."""
        if process not in self._processes:
            return
        self._processes.remove(process)
        self._start_task(process.close())
        if not self._closed:
            self._on_death()
            logger.warning("The cleaning process %s has died; its pages are cleaned again", process.pid)
            self._note_failure()
            self.start()

    def _note_failure(self) -> None:
        self._failures += 1
        if self._failures == _MAX_FAILURES:
            logger.warning(
                "%d cleaning processes in a row ended without having cleaned a page; there will be no others, and the "
                "crawl's own process cleans what they cannot (docs/reference/settings.md#processes)", _MAX_FAILURES,
            )  # fmt: skip

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work beside the crawl; after it, the next page looks for a process again."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self._changed.set())
