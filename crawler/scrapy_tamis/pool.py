"""Cleaning processes: a page goes to the one with the least to do, and no other sees what several have died of."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
import weakref
from collections import deque
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import astuple, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast

from scrapy_tamis.fields import CleanedItem
from scrapy_tamis.storage.evidence import HashedUnits
from scrapy_tamis.worker import DONE, GONE, LENGTH, TOO_LARGE, PageGoneError, pack, unpack
from tamis.page.page import PageTooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy_tamis.fields import CleaningOptions
    from scrapy_tamis.storage.evidence import SiteEvidence
    from tamis.rules import Rule

TIMEOUT_S: Final = 60.0
"""Time without an answer after which a process counts as hung: ten times what its start or the largest page takes."""

_END_TIMEOUT_S: Final = 2.0
_MAX_RECEIVED: Final = 1 << 18  # bytes at a time
_MAX_FAILURES: Final = 3  # starts in a row
_MAX_CRASHES: Final = 2
"""Processes that may die while they work on a page: the first may have been killed by something else."""

CRASHED, TIMED_OUT = "crashed", "timed_out"
"""Status of an item whose page a process has died of, or not come to an end with."""

logger = logging.getLogger(__name__)


class PageFailedError(Exception):
    """A page that processes die of, or hang on: it is not read again.

    Attributes:
        status: ``crashed`` or ``timed_out``.
    """

    def __init__(self, status: str) -> None:
        super().__init__(f"its cleaning process {'died of' if status == CRASHED else 'hung on'} the page")
        self.status = status


class _ProcessLostError(Exception):
    """The process has ended, or hangs; ``status`` is that of the page that it was at, "" for those that waited."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class CleaningProcess(asyncio.Protocol):
    """The socket to a process that works on tasks one after the other; :mod:`scrapy_tamis.worker` is its program.

    It is a program of its own rather than a fork or a :mod:`multiprocessing` child: none of the crawl's threads and
    sockets are copied, and the user's main module is not imported again.

    Attributes:
        pid: number of the process, once it runs.
        pending: what gets the results of the tasks that were sent, in their order.
        ended: set when the process takes no more tasks: it has ended, or hangs.
        end_status: what becomes of the page that it is at if it ends; "" once it is to end.
    """

    def __init__(self, own: socket.socket) -> None:
        self.pid = 0
        self.pending = deque[asyncio.Future[Any]]()
        self.ended = asyncio.Event()
        self.end_status = CRASHED
        self._loop = asyncio.get_running_loop()
        self._own = own
        self._received = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0  # when the next result is late

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket to the process."""
        self._socket = cast("asyncio.Transport", transport)

    def connection_lost(self, _: Exception | None) -> None:
        """Give up the tasks without a result: the process has ended, or hangs."""
        self.ended.set()
        with suppress(Exception):  # asyncio leaves unread what has arrived when it can write no more
            while data := self._own.recv(_MAX_RECEIVED):
                self.data_received(data)
        for number, result in enumerate(self.pending):
            if not result.done():
                result.set_exception(_ProcessLostError("" if number else self.end_status))
        self.pending.clear()

    def data_received(self, data: bytes) -> None:
        """Hand on the results that are complete."""
        self._received += data
        at = 0
        while len(self._received) >= (begin := at + LENGTH.size):
            end = begin + LENGTH.unpack_from(self._received, at)[0]
            if len(self._received) < end:
                break
            found = unpack(bytes(self._received[begin:end]))
            if not (result := self.pending.popleft()).done():
                result.set_result(found)
            at = end
        del self._received[:at]
        if at:
            self._due = self._loop.time() + TIMEOUT_S

    async def run(self, task: tuple[object, ...]) -> list[Any]:
        """Send a task and return its result.

        Raises:
            PageTooLarge: the page is above one of the limits.
            PageGoneError: the page is not kept any more.
            RuntimeError: reading or cleaning it has raised an error, whose traceback is in the message.
            _ProcessLostError: the process has ended, or hangs.
        """
        message = pack(task)
        if self.ended.is_set():
            raise _ProcessLostError("")
        if not self.pending:
            self._due = self._loop.time() + TIMEOUT_S
        result: asyncio.Future[Any] = self._loop.create_future()
        self.pending.append(result)
        self._socket.write(message)
        if self._timer is None:
            self._check_time()
        how, *values = cast("list[Any]", await result)
        if how == TOO_LARGE:
            raise PageTooLarge(*values)
        if how == GONE:
            raise PageGoneError
        if how != DONE:
            raise RuntimeError(f"in a cleaning process:\n{values[0]}")
        return values

    def _check_time(self) -> None:
        """Give the process up if its next result is late; else look again when that may be, if there is one to come."""
        now, timer, self._timer = self._loop.time(), self._timer, None
        if not self.pending:
            return
        if timer is not None and now - timer.when() > 1.0:  # the crawl itself was stopped, and has read no results
            self._due = now + TIMEOUT_S
        if (left := self._due - now) > 0:  # there were results since this was to be looked at
            self._timer = self._loop.call_later(left, self._check_time)
        else:
            self.end_status = TIMED_OUT
            self._socket.abort()


@asynccontextmanager
async def _ready_process(
    started: _StartedProgram, model: str | None, options: CleaningOptions
) -> AsyncIterator[CleaningProcess]:
    """Wait until a process is ready, and end it afterwards.

    Raises:
        OSError: it ended at once, or was not ready in time.
    """
    connection = None
    try:
        protocol = partial(CleaningProcess, started.socket)
        connection, process = await asyncio.get_running_loop().create_connection(protocol, sock=started.socket)
        process.pid = started.program.pid
        try:
            await process.run((model, *astuple(options)))
        except _ProcessLostError as error:
            raise ProcessLookupError("it ended before it was ready") from error
        yield process
    finally:
        if connection is not None:
            connection.abort()
        started.end()


class _StartedProgram(NamedTuple):
    """A process that imports what it needs, and the socket to it."""

    socket: socket.socket
    program: subprocess.Popen[bytes]

    @classmethod
    def start(cls) -> Self:
        """Start one; raise ``OSError`` where that cannot be."""
        # A socket holds more pages than a pipe, so that the process goes on while the event loop is busy.
        own, other = socket.socketpair()
        with ExitStack() as unused, other:
            unused.enter_context(own).setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)  # or what may be
            program = subprocess.Popen(
                [sys.executable, "-P", "-c", "from scrapy_tamis.worker import main; main()"],
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # what is importable here is so there
                    "OMP_NUM_THREADS": "1",
                    "OPENBLAS_NUM_THREADS": "1",
                    "MKL_NUM_THREADS": "1",
                },
                stdin=other.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C in a terminal is for the crawl, which has pages to finish
            )
            unused.pop_all()
        return cls(own, program)

    def end(self) -> None:
        """End it at once; the system takes milliseconds for one that is killed."""
        self.socket.close()
        self.program.kill()
        with suppress(subprocess.TimeoutExpired):
            self.program.wait(_END_TIMEOUT_S)


def _end_all(programs: list[_StartedProgram]) -> None:
    while programs:
        programs.pop().end()


@dataclass(frozen=True, slots=True, eq=False)
class ReadPage(HashedUnits):
    """The fingerprints of a page that a process has read, and may have kept until it is cleaned.

    Attributes:
        process: the process.
        number: number of the page there.
        links: where its links lead; ``None`` as long as no component has set :attr:`CleaningPool.with_links`.
    """

    process: CleaningProcess
    number: int
    links: list[str] | None


class CleaningPool:
    """Reads and cleans pages in processes, which are replaced when they die.

    A page that a process died of goes to one more, a page that it hung on to none. If several in a row end before they
    are ready, as without enough memory, no more are started, and one warning says so.

    Attributes:
        with_links: whether pages are read with their links; set by a component that needs them.
    """

    def __init__(self, size: int, model: str | None, options: CleaningOptions, died: Callable[[], object]) -> None:
        self._size = size
        self._model = model
        self._options = options
        self._on_death = died
        self.with_links = False
        self._early: list[_StartedProgram] = []
        self._processes: list[CleaningProcess] = []
        self._running: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()  # a process is ready, or there will be none
        self._failures = 0

    def start_early(self) -> None:
        """Start the programs of the processes, which import what they need while the crawl is set up."""
        with suppress(OSError):  # it is tried again, and is said then
            while len(self._early) < self._size:
                self._early.append(_StartedProgram.start())
        weakref.finalize(self, _end_all, self._early)  # of a crawl that does not open its spider

    def start(self) -> None:
        """Start the processes; pages wait until one is ready."""
        for _ in range(self._size):
            running = asyncio.create_task(self._keep_running())
            self._running.add(running)
            running.add_done_callback(self._stopped)

    async def read(self, html: str | bytes, url: str | None) -> ReadPage | None:
        """Read a page, and keep it in the process, since it is probably cleaned next.

        Returns:
            The fingerprints; ``None`` without processes.

        Raises:
            PageTooLarge: the page is above one of the limits.
            PageFailedError: processes died of it, or hung.
            RuntimeError: reading raised another error.
        """
        found, process = await self._run(("read", html, url, self.with_links))
        if process is None:
            return None
        number, links, *values = found
        return ReadPage(*(*values, process, number, links))

    async def clean(
        self,
        html: str | bytes,
        url: str | None,
        evidence: SiteEvidence | None = None,
        model: str | None = None,
        rules: tuple[Rule, ...] = (),
        read: ReadPage | None = None,
    ) -> CleanedItem | None:
        """Clean a page, in the process that has read it where :meth:`read` was called.

        Returns:
            The result of :func:`scrapy_tamis.fields.clean_item`; ``None`` without processes.

        Raises:
            PageFailedError: processes died of it, or hung.
            RuntimeError: cleaning raised another error.
        """
        counts = (None, 0, 0) if evidence is None else (evidence.df, evidence.pages, evidence.label_version)
        arguments = (url, *counts, model, tuple(map(tuple, rules)))
        found, process = await self._run(("clean", html, *arguments), (read, arguments) if read else None)
        return None if process is None else CleanedItem(*found)

    async def close(self) -> None:
        """End the processes, and give up the pages that they work on."""
        running = list(self._running)
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _run(
        self, task: tuple[object, ...], kept: tuple[ReadPage, tuple[object, ...]] | None = None
    ) -> tuple[list[Any], CleaningProcess | None]:
        """Run a task, first where a page is kept; return its result and the process, which is ``None`` without any."""
        crashes = 0
        while (process := kept[0].process if kept else await self._next_process()) is not None:
            try:
                return await process.run(("clean", kept[0].number, *kept[1]) if kept else task), process
            except PageGoneError:
                pass
            except _ProcessLostError as lost:
                crashes += lost.status == CRASHED
                if lost.status == TIMED_OUT or crashes == _MAX_CRASHES:
                    raise PageFailedError(lost.status) from None
            kept = None
        if crashes:
            raise PageFailedError(CRASHED)
        return [], None

    async def _next_process(self) -> CleaningProcess | None:
        """Return the process with the least to do, as soon as there is one; ``None`` if there will be none."""
        while self._running:
            ready = [process for process in self._processes if not process.ended.is_set()]
            if ready:
                return min(ready, key=lambda process: len(process.pending))
            self._changed.clear()
            await self._changed.wait()
        return None

    def _stopped(self, running: asyncio.Task[None]) -> None:
        self._running.discard(running)
        self._changed.set()

    async def _keep_running(self) -> None:
        """Run a process, and another when it has ended, until several in a row have not become ready."""
        while self._failures < _MAX_FAILURES:
            try:
                program = self._early.pop() if self._early else _StartedProgram.start()
                async with _ready_process(program, self._model, self._options) as process:
                    self._failures = 0
                    self._processes.append(process)
                    self._changed.set()
                    try:
                        await process.ended.wait()
                    finally:
                        self._processes.remove(process)
                        process.end_status = ""  # if it is this crawl that ends it
                logger.warning("The cleaning process %s has died; another takes its place", process.pid)
            except OSError as error:
                logger.debug("A cleaning process did not start: %r", error)
                self._failures += 1
                if self._failures == _MAX_FAILURES:
                    logger.warning(
                        "%d cleaning processes in a row ended before they were ready; there will be no others, and the "
                        "crawl's own process cleans its pages. Look at memory, or set TAMIS_PROCESSES = 0",
                        _MAX_FAILURES,
                    )
            self._on_death()
