"""Cleaning processes: a page goes to the one with the least to do, and stays with the crawl's own if that one dies."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections import deque
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from scrapy_tamis.fields import CleanedItem
from scrapy_tamis.storage.evidence import HashedUnits
from scrapy_tamis.worker import LENGTH, pack, unpack
from tamis.page.page import PageTooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy_tamis.fields import CleaningOptions
    from scrapy_tamis.storage.evidence import SiteEvidence
    from tamis.rules import Rule

TIMEOUT_S: Final = 60.0
"""Time without an answer after which a process counts as hung: ten times what its start or the largest page takes."""

_END_TIMEOUT_S: Final = 2.0
_MAX_PAGES_IN_HAND: Final = 24  # of a process, before the crawl's own process cleans light ones itself
_MAX_FAILURES: Final = 3

logger = logging.getLogger(__name__)


class CleaningProcess(asyncio.Protocol):
    """The socket to a process that works on tasks one after the other; :mod:`scrapy_tamis.worker` is its program.

    It is a program of its own rather than a fork or a :mod:`multiprocessing` child: none of the crawl's threads and
    sockets are copied, and the user's main module is not imported again.

    Attributes:
        pid: number of the process, once it runs.
        pending: what gets the results of the tasks that were sent, in their order.
        ended: set when the process takes no more tasks: it has ended, or hangs.
    """

    def __init__(self) -> None:
        self.pid = 0
        self.pending = deque[asyncio.Future[Any]]()
        self.ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket to the process."""
        self._socket = cast("asyncio.Transport", transport)

    def connection_lost(self, _: Exception | None) -> None:
        """Give up the tasks without a result: the process has ended, or hangs."""
        self.ended.set()
        for result in self.pending:
            if not result.done():
                result.set_result(None)
        self.pending.clear()
        self._restart_timer()

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
            self._restart_timer()

    async def run(self, task: tuple[object, ...]) -> Any:
        """Send a task and return its result, or ``None`` if it fails or the process dies."""
        message = pack(task)
        if self.ended.is_set():
            return None
        result: asyncio.Future[Any] = self._loop.create_future()
        self.pending.append(result)
        self._socket.write(message)
        if self._timer is None:
            self._restart_timer()
        return await result

    def _restart_timer(self) -> None:
        """Give the process its time for the next result, if there is one to come."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(TIMEOUT_S, self._socket.abort) if self.pending else None


@asynccontextmanager
async def _running_process(model: str | None, options: CleaningOptions) -> AsyncIterator[CleaningProcess]:
    """Start a process, wait until it is ready, and end it afterwards.

    Raises:
        OSError: it cannot be started, ended at once, or was not ready in time.
    """
    # A socket holds more pages than a pipe, so that the process goes on while the event loop is busy.
    own, other = socket.socketpair()
    async with AsyncExitStack() as ends:
        with other:
            connection, process = await asyncio.get_running_loop().create_connection(CleaningProcess, sock=own)
            ends.callback(connection.abort)
            started = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-c", "from scrapy_tamis.worker import main; main()"),
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
        ends.push_async_callback(_end, started)
        process.pid = started.pid
        if await process.run((model, *astuple(options))) is None:
            raise ProcessLookupError("it ended before it was ready")
        yield process


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process at once, and wait for its end."""
    with suppress(ProcessLookupError):
        process.kill()
    ending = asyncio.create_task(process.wait())
    try:
        await asyncio.wait({ending}, timeout=_END_TIMEOUT_S)
    finally:
        await asyncio.wait({ending}, timeout=_END_TIMEOUT_S)  # if this is cancelled: the event loop may be closed next


@dataclass(frozen=True, slots=True, eq=False)
class ReadPage(HashedUnits):
    """The fingerprints of a page that a process has read, and may have kept until it is cleaned.

    Attributes:
        process: the process.
        number: number of the page there.
        links: where its links lead; ``None`` where nobody had asked for any page's links by then.
    """

    process: CleaningProcess
    number: int
    links: list[str] | None


class CleaningPool:
    """Cleans pages in processes.

    A process that dies is replaced. If several in a row end before they have cleaned a page, as without enough memory,
    no more are started, and one warning says so.

    Attributes:
        with_links: whether pages are read with their links, which whoever wants them sets.
    """

    def __init__(self, size: int, model: str | None, options: CleaningOptions, died: Callable[[], object]) -> None:
        self._size = size
        self._model = model
        self._options = options
        self._on_death = died
        self.with_links = False
        self._processes: list[CleaningProcess] = []
        self._running: list[asyncio.Task[None]] = []
        self._failures = 0

    @property
    def is_ready(self) -> bool:
        """Whether there is a process."""
        return bool(self._processes)

    @property
    def is_busy(self) -> bool:
        """Whether all processes have many pages in hand."""
        return all(len(process.pending) >= _MAX_PAGES_IN_HAND for process in self._processes)

    def start(self) -> None:
        """Start the processes; they are ready some time later."""
        self._running = [asyncio.create_task(self._keep_running()) for _ in range(self._size)]

    async def read(self, html: str | bytes, url: str | None) -> ReadPage | None:
        """Read a page, and keep it in the process, since it is probably cleaned next.

        Returns:
            The fingerprints; ``None`` if reading raises another error, or no process has answered.

        Raises:
            PageTooLarge: the page is above one of the limits.
        """
        found, process = await self._run(("read", html, url, self.with_links))
        if found is None or process is None:
            return None
        if isinstance(found[0], str):
            raise PageTooLarge(*found)
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
            The result of :func:`scrapy_tamis.fields.clean_item`; ``None`` if it raises an error, or no process has
            answered.
        """
        counts = (None, 0, 0) if evidence is None else (evidence.df, evidence.pages, evidence.label_version)
        arguments = (url, *counts, model, tuple(map(tuple, rules)))
        found = None
        if read is not None:
            found = await read.process.run(("clean", read.number, *arguments))
        if found is None:
            found, _ = await self._run(("clean", html, *arguments))
        return None if found is None else CleanedItem(*found)

    async def close(self) -> None:
        """End the processes; the pages that they have in hand are given up."""
        for running in self._running:
            running.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, task: tuple[object, ...]) -> tuple[Any, CleaningProcess | None]:
        """Run a task in the process with the least to do; return its result, and the process if there is one."""
        process = min(self._processes, key=lambda process: len(process.pending), default=None)
        if process is None:
            return None, None
        found = await process.run(task)
        if found is not None:
            self._failures = 0
        return found, process

    async def _keep_running(self) -> None:
        """Run a process, and another when it has ended, until several in a row have cleaned nothing."""
        while self._failures < _MAX_FAILURES:
            try:
                async with _running_process(self._model, self._options) as process:
                    self._processes.append(process)
                    try:
                        await process.ended.wait()
                    finally:
                        self._processes.remove(process)
                logger.warning("The cleaning process %s has died; the crawl's own cleans its pages", process.pid)
            except OSError as error:
                logger.debug("A cleaning process did not start: %r", error)
            self._on_death()
            self._failures += 1
            if self._failures == _MAX_FAILURES:
                logger.warning(
                    "%d cleaning processes in a row ended without having cleaned a page; there will be no others, and "
                    "the crawl's own process cleans what they cannot. Look at memory, or set TAMIS_PROCESSES = 0",
                    _MAX_FAILURES,
                )
