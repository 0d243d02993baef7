"""Cleaning processes: a page goes to the one with the least to do, and to another if that one dies."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections import deque
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from scrapy_winnow.fields import CleanedItem
from scrapy_winnow.storage.evidence import HashedUnits
from scrapy_winnow.worker import LENGTH, pack, unpack
from winnow.page.page import PageTooLarge

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_winnow.fields import CleaningOptions
    from scrapy_winnow.storage.evidence import UnitCounts
    from winnow.rules import Rule

TIMEOUT_S: Final = 60.0
"""Time without an answer after which a process counts as hung: ten times what its start or the largest page takes."""

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
    """A process that works on tasks one after the other, in their order; :mod:`scrapy_winnow.worker` is its program.

    It is a program of its own rather than a fork or a :mod:`multiprocessing` child: none of the crawl's threads and
    sockets are copied, and the user's main module is not imported again.

    Attributes:
        pid: number of the process.
        bytes_in_hand: bytes of the pages whose tasks are not done yet.
        reading: the task that hands on results; it is done when the process takes no more tasks.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        results: asyncio.StreamReader,
        tasks: asyncio.StreamWriter,
        answered: Callable[[], object],
    ) -> None:
        self.bytes_in_hand = 0
        self.pid = process.pid
        self._process = process
        self._results = results
        self._tasks = tasks
        self._answered = answered
        self._pending: deque[tuple[asyncio.Future[Any], int]] = deque()
        self._hung: asyncio.TimerHandle | None = None
        self.reading = asyncio.create_task(self._read_results())

    @classmethod
    async def start(cls, model: str | None, options: CleaningOptions, answered: Callable[[], object]) -> Self:
        """Start a process and wait until it is ready.

        Raises:
            OSError: it cannot be started.
            ProcessDiedError: it ended at once, or was not ready in time.
        """
        own, other = socket.socketpair()
        try:
            with other:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-c", "from scrapy_winnow.worker import main; main()"),
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
        started = cls(process, results, tasks, answered)
        try:
            await started.run((model, *astuple(options)), 0)
        except BaseException:
            started.kill()
            await started.close()
            raise
        return started

    @property
    def has_ended(self) -> bool:
        """Whether the process takes no more tasks."""
        return self._tasks.is_closing()

    def has_room(self, size: int) -> bool:
        """Whether the process takes a page of so many bytes besides those that it has in hand."""
        is_light = self.bytes_in_hand + size <= _MAX_BYTES_IN_HAND
        return not self._pending or (is_light and len(self._pending) < _MAX_PAGES_IN_HAND)

    async def run(self, task: tuple[object, ...], size: int) -> Any:
        """Send a task about a page of so many bytes and return its result.

        Raises:
            ProcessDiedError: there is none.
        """
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
        self.reading.cancel()

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
        """Hand on the result of each task; when the process ends, or closes its end, give up those without one."""
        try:
            with suppress(asyncio.IncompleteReadError, OSError):
                while True:
                    (length,) = LENGTH.unpack(await self._results.readexactly(LENGTH.size))
                    found = unpack(await self._results.readexactly(length))
                    result, size = self._pending.popleft()
                    self.bytes_in_hand -= size
                    self._watch()
                    if not result.done():
                        result.set_result(found)
                    self._answered()
        finally:
            self._tasks.close()
            for result, _ in self._pending:
                if not result.done():
                    result.set_exception(ProcessDiedError())
            self._pending.clear()
            self._watch()

    def _watch(self) -> None:
        """Restart the time that the next result may take."""
        if self._hung is not None:
            self._hung.cancel()
        self._hung = asyncio.get_running_loop().call_later(TIMEOUT_S, self.kill) if self._pending else None


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

    def __init__(self, size: int, model: str | None, options: CleaningOptions, died: Callable[[], object]) -> None:
        self.waiting = 0
        self._size = size
        self._model = model
        self._options = options
        self._on_death = died
        self._processes: list[CleaningProcess] = []
        self._running: list[asyncio.Task[None]] = []
        self._next_page = asyncio.Lock()  # held by the page that looks for a process; the others wait in their order
        self._changed = asyncio.Event()
        self._failures = 0

    @property
    def is_ready(self) -> bool:
        """Whether there is a process."""
        return bool(self._processes)

    def start(self) -> None:
        """Start the processes; they are ready some time later."""
        for _ in range(self._size):
            self._running.append(asyncio.create_task(self._keep_running()))
            self._running[-1].add_done_callback(lambda _: self._changed.set())

    async def read(self, html: str | bytes, url: str | None) -> ReadPage | None:
        """Read a page, and keep it in the process, since it is probably cleaned next.

        Returns:
            The fingerprints; ``None`` if reading raises another error, if ``TRIES`` processes died of the page, and if
            there are none any more.

        Raises:
            PageTooLarge: the page is above one of the limits.
        """
        found, process = await self._run_anywhere(("read", html, url), len(html))
        if found is None or process is None:
            return None
        if isinstance(found[0], str):
            raise PageTooLarge(*found)
        number, size, units, fingerprints, masses, contents_id, main_text_id = found
        return ReadPage(
            size,
            np.frombuffer(units, np.int64),
            np.frombuffer(fingerprints, np.uint64),
            np.frombuffer(masses, np.uint8),
            contents_id,
            main_text_id,
            process,
            number,
        )

    async def clean(
        self,
        html: str | bytes,
        url: str | None,
        counts: UnitCounts | None = None,
        model: str | None = None,
        rules: tuple[Rule, ...] = (),
        read: ReadPage | None = None,
    ) -> CleanedItem | None:
        """Clean a page, in the process that has read it where :meth:`read` was called.

        Returns:
            The result of :func:`scrapy_winnow.fields.clean_item`; ``None`` if it raises an error, if ``TRIES``
            processes died of the page, and if there are none any more.
        """
        values = None
        if counts is not None:
            arrays = counts.units.tobytes(), counts.df.tobytes()
            values = (counts.size, *arrays, counts.pages, counts.label_version)
        arguments = (url, values, model, tuple(map(tuple, rules)))
        found, tries = None, TRIES
        if read is not None and not read.process.has_ended:
            try:
                found = await read.process.run(("clean", read.number, *arguments), len(html))
            except ProcessDiedError:
                tries -= 1
        if found is None:
            found, _ = await self._run_anywhere(("clean", html, *arguments), len(html), tries)
        return None if found is None else CleanedItem(found[0], np.frombuffer(found[1], np.uint64))

    async def close(self) -> None:
        """End the processes; the pages that they have in hand are given up."""
        for running in self._running:
            running.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run_anywhere(
        self, task: tuple[object, ...], size: int, tries: int = TRIES
    ) -> tuple[Any, CleaningProcess | None]:
        """Run a task in the process with the least to do, or in another if that one dies; ``None`` if none is left."""
        for _ in range(tries):
            if (process := await self._find_free_process(size)) is None:
                break
            with suppress(ProcessDiedError):
                found = await process.run(task, size)
                self._failures = 0
                return found, process
        return None, None

    async def _find_free_process(self, size: int) -> CleaningProcess | None:
        """Wait for a process that takes a page of so many bytes; ``None`` when there will be none."""
        self.waiting += 1
        try:
            async with self._next_page:
                while not all(running.done() for running in self._running):
                    free = [each for each in self._processes if not each.has_ended and each.has_room(size)]
                    if free:
                        return min(free, key=lambda process: process.bytes_in_hand)
                    self._changed.clear()
                    await self._changed.wait()
                return None
        finally:
            self.waiting -= 1

    async def _keep_running(self) -> None:
        """Run a process, and another when it has ended, until several in a row have cleaned nothing."""
        while self._failures < _MAX_FAILURES:
            try:
                await self._run_process()
            except (OSError, ProcessDiedError) as error:
                logger.debug("A cleaning process did not start: %r", error)
            self._on_death()
            self._failures += 1
            if self._failures == _MAX_FAILURES:
                logger.warning(
                    "%d cleaning processes in a row ended without having cleaned a page; there will be no others, and "
                    "the crawl's own process cleans what they cannot (docs/reference/settings.md#processes)",
                    _MAX_FAILURES,
                )

    async def _run_process(self) -> None:
        """Run a process until it ends."""
        process = await CleaningProcess.start(self._model, self._options, self._changed.set)
        self._processes.append(process)
        self._changed.set()
        try:
            await asyncio.gather(process.reading, return_exceptions=True)
            logger.warning("The cleaning process %s has died; its pages are cleaned again", process.pid)
        finally:
            self._processes.remove(process)
            await process.close()
