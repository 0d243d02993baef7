"""Cleaning processes: a page goes to the one with the least to do, and to another if that one dies."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy_winnow.messages import Message, MessageReader, pack_reading, pack_task, unpack_cleaned, unpack_hashed
from scrapy_winnow.storage.evidence import HashedUnits

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from scrapy_winnow.fields import CleanedItem
    from scrapy_winnow.messages import CleaningTask
    from winnow.page.page import Limits

START_TIMEOUT_S: Final = 60.0
"""Time that a process may take to be ready."""

PAGE_TIMEOUT_S: Final = 60.0
"""Time without an answer after which a process counts as hung: ten times what the largest page takes."""

_END_TIMEOUT_S: Final = 2.0
_POLL_INTERVAL_S: Final = 0.01

TRIES: Final = 2
"""Processes that are tried with a page before it counts as deadly."""

_MAX_PAGES_IN_HAND: Final = 8  # of a process, so that it can go on while the event loop is busy
_MAX_BYTES_IN_HAND: Final = 1 << 18  # of more than one page, so that light ones do not wait behind heavy ones
_MAX_FAILURES: Final = 3

logger = logging.getLogger(__name__)


class ProcessDiedError(Exception):
    """The process has ended before it answered, or was ended because it hung."""


class CleaningProcess(asyncio.Protocol):
    """A process that answers messages one after the other, in their order.

    It is a program of its own rather than a fork or a :mod:`multiprocessing` child: none of the crawl's threads and
    sockets are copied, and the user's main module is not imported again.

    Attributes:
        pid: number of the process.
        bytes_in_hand: bytes of the pages whose messages are not answered yet.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        answered: Callable[[], object],
        died: Callable[[CleaningProcess], object],
    ) -> None:
        self.bytes_in_hand = 0
        self.pid = process.pid
        self._process = process
        self._answered = answered
        self._died = died
        self._reader = MessageReader()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending: deque[tuple[asyncio.Future[Message], int]] = deque()
        self._transport: asyncio.Transport | None = None
        self._hung: asyncio.TimerHandle | None = None

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
        own.setblocking(False)
        try:
            with other:
                process = cls(_spawn(other, model), answered, died)
        except OSError:
            own.close()
            raise
        try:
            await asyncio.get_running_loop().create_connection(lambda: process, sock=own)
            await asyncio.wait_for(process._ready, START_TIMEOUT_S)
            if process.has_ended:
                raise ProcessDiedError  # noqa: TRY301
        except BaseException as error:
            own.close()
            process.kill()
            await process.close()
            if isinstance(error, TimeoutError):
                raise ProcessDiedError from None
            raise
        return process

    @property
    def has_ended(self) -> bool:
        """Whether the process takes no more messages."""
        return self._transport is None or self._transport.is_closing()

    def has_room(self, size: int) -> bool:
        """Whether the process takes a page of so many bytes besides those that it has in hand."""
        is_light = self.bytes_in_hand + size <= _MAX_BYTES_IN_HAND
        return not self._pending or (is_light and len(self._pending) < _MAX_PAGES_IN_HAND)

    async def ask(self, message: bytes, size: int) -> Message:
        """Send a message about a page of so many bytes and wait for its answer."""
        if self._transport is None or self.has_ended:
            raise ProcessDiedError
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._pending.append((answer, size))
        self.bytes_in_hand += size
        if len(self._pending) == 1:
            self._watch()
        self._transport.write(message)
        return await answer

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        if self._transport is not None:
            self._transport.abort()

    async def close(self) -> None:
        """Let the process end by itself, or end it after two seconds, and wait for its end."""
        if self._transport is not None:
            self._transport.close()
        if not await self._wait_for_end(_END_TIMEOUT_S):
            self.kill()
            await self._wait_for_end(_END_TIMEOUT_S)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - what asyncio promises of sockets
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        for message in self._reader.feed(data):
            if not self._ready.done():
                self._ready.set_result(None)
                continue
            answer, size = self._pending.popleft()
            self.bytes_in_hand -= size
            self._watch()
            if not answer.done():
                answer.set_result(message)
            self._answered()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Called by the event loop."""
        if self._hung is not None:
            self._hung.cancel()
        self._process.kill()  # gone already, unless it has closed its end without ending
        waiting: list[asyncio.Future[Any]] = [self._ready, *(answer for answer, _ in self._pending)]
        for answer in waiting:
            if not answer.done():
                answer.set_exception(ProcessDiedError())
        if not self._ready.cancelled():
            self._ready.exception()  # retrieved, where nothing awaits it any more
        self._pending.clear()
        self.bytes_in_hand = 0
        self._died(self)

    def _watch(self) -> None:
        """Restart the time that the next answer may take."""
        if self._hung is not None:
            self._hung.cancel()
        self._hung = asyncio.get_running_loop().call_later(PAGE_TIMEOUT_S, self.kill) if self._pending else None

    async def _wait_for_end(self, seconds: float) -> bool:
        """Wait for the end of the process and reap it; return whether it has ended."""
        for _ in range(int(seconds / _POLL_INTERVAL_S)):
            if self._process.poll() is not None:
                return True
            await asyncio.sleep(_POLL_INTERVAL_S)
        return False


def _spawn(other: socket.socket, model: str | None) -> subprocess.Popen[bytes]:
    number = other.fileno()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # what is importable here is importable there
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    return subprocess.Popen(  # noqa: S603 - our own module, by the running interpreter
        [sys.executable, "-P", "-m", "scrapy_winnow.worker", str(number), model or ""],
        env=environment,
        pass_fds=(number,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        process_group=0,  # Ctrl-C in a terminal is for the crawl, which has pages to finish
    )


@dataclass(frozen=True, slots=True, eq=False)
class ReadPage(HashedUnits):
    """The fingerprints of a page that a process has read, and may have kept until it is cleaned."""

    process: CleaningProcess
    number: int


class CleaningPool:
    """Cleans pages in processes.

    A process that dies is replaced, and its pages are cleaned again in another one. If several in a row end before they
    have cleaned a page, as without enough memory, no more are started, and one warning says so.
    """

    def __init__(self, size: int, model: str | None = None, *, died: Callable[[], object] = lambda: None) -> None:
        self._size = size
        self._model = model
        self._on_death = died
        self._processes: list[CleaningProcess] = []
        self._dead: list[CleaningProcess] = []
        self._starting = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._failures = 0
        self._numbers = count()
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """Numbers of the processes that are ready."""
        return [process.pid for process in self._processes]

    @property
    def is_ready(self) -> bool:
        """Whether there is a process."""
        return bool(self._processes)

    @property
    def waiting(self) -> int:
        """Number of pages that wait for a process."""
        return len(self._waiting)

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
        asked = await self._ask_any(len(html), lambda: pack_reading(number, html, url, limits, self._model))
        if asked is None or (found := unpack_hashed(asked[0])) is None:
            return None
        values: dict[str, Any] = {each.name: getattr(found, each.name) for each in fields(found)}
        return ReadPage(**values, process=asked[1], number=number)

    async def clean(self, task: CleaningTask, read: ReadPage | None = None) -> CleanedItem | None:
        """Clean a page, in the process that has read it where :meth:`read` was called.

        Returns:
            The result of :func:`scrapy_winnow.fields.clean_item`; ``None`` if it raises an error, if ``TRIES``
            processes died of the page, and if there are none any more.
        """
        tries = TRIES
        if read is not None and not read.process.has_ended:
            try:
                kept = pack_task(replace(task, kept=read.number))
                answer = await self._ask(read.process, kept, len(task.html))
                if "forgotten" not in answer.head:
                    return unpack_cleaned(answer)
            except ProcessDiedError:
                tries -= 1
        with suppress(ProcessDiedError):
            asked = await self._ask_any(len(task.html), lambda: pack_task(task), tries)
            return unpack_cleaned(asked[0]) if asked is not None else None
        return None

    async def close(self) -> None:
        """End the processes; the pages that they have in hand are given up."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(process.close() for process in [*self._processes, *self._dead]))
        self._wake(len(self._waiting))

    async def _ask_any(
        self, size: int, message: Callable[[], bytes], tries: int = TRIES
    ) -> tuple[Message, CleaningProcess] | None:
        """Ask the process with the least to do, or another if that one dies; ``None`` when there will be none."""
        for _ in range(tries):
            process = await self._find_free_process(size)
            if process is None:
                return None
            with suppress(ProcessDiedError):
                return await self._ask(process, message(), size), process
        raise ProcessDiedError

    async def _ask(self, process: CleaningProcess, message: bytes, size: int) -> Message:
        answer = await process.ask(message, size)
        self._failures = 0
        return answer

    async def _find_free_process(self, size: int) -> CleaningProcess | None:
        """Wait for a process that takes a page of so many bytes; ``None`` when there will be none."""
        is_first = True
        while not self._closed and (self._processes or self._starting):
            alive = [process for process in self._processes if not process.has_ended]
            process = min(alive, key=lambda process: process.bytes_in_hand, default=None)
            is_next = not is_first or not self._waiting
            if is_next and process is not None and process.has_room(size):
                return process
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            # A page that was woken and has to wait again is the next one.
            (self._waiting.append if is_first else self._waiting.appendleft)(waiting)
            is_first = False
            try:
                await waiting
            except asyncio.CancelledError:
                self._wake()
                raise
        return None

    def _wake(self, number: int = 1) -> None:
        """Let so many of the waiting pages look for a process again."""
        while self._waiting and number:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                number -= 1

    async def _start_one(self) -> None:
        try:
            while self._may_start:
                try:
                    process = await CleaningProcess.start(self._model, self._wake, self._died)
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
        self._dead.append(process)
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
        """Run work beside the crawl; after it, waiting pages look for a process again."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self._wake(len(self._waiting)))
