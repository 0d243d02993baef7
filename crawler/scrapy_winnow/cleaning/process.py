"""One cleaning process, as the crawl's event loop sees it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy_winnow.cleaning.messages import Message, MessageReader

if TYPE_CHECKING:
    from collections.abc import Callable

START_SECONDS: Final = 60.0
"""Time that a process may take to be ready."""

PAGE_SECONDS: Final = 60.0
"""Time without an answer after which a process counts as hung: ten times what the largest page takes."""

_END_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.01


class ProcessDiedError(Exception):
    """The process has ended, or was ended because it hung, before it answered."""


class CleaningProcess(asyncio.Protocol):
    """A process that answers one message after the other, in their order.

    It is a program of its own rather than a fork or a :mod:`multiprocessing` child: nothing of the crawl's threads and
    sockets is copied, and the user's main module is not imported again.

    Attributes:
        bytes_in_hand: bytes of the pages whose messages were not answered.
    """

    def __init__(self, answered: Callable[[], object], died: Callable[[CleaningProcess], object]) -> None:
        self.bytes_in_hand = 0
        self._answered = answered
        self._died = died
        self._reader = MessageReader()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked: deque[tuple[asyncio.Future[Message], int]] = deque()
        self._process: subprocess.Popen[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._hung: asyncio.TimerHandle | None = None

    @classmethod
    async def start(
        cls, model: str | None, answered: Callable[[], object], died: Callable[[CleaningProcess], object]
    ) -> Self:
        """Start a process and wait until it is ready.

        Args:
            model: name or path of the model that it loads first; ``None`` for the package's own.
            answered: called when it has one message less in hand.
            died: called when it has ended, however that came about.

        Raises:
            OSError: it cannot be started.
            ProcessDiedError: it ended at once, or was not ready in time.
        """
        process = cls(answered, died)
        own, other = socket.socketpair()
        own.setblocking(False)
        try:
            with other:
                process._process = _spawn(other, model)
            await asyncio.get_running_loop().create_connection(lambda: process, sock=own)
            await asyncio.wait_for(process._ready, START_SECONDS)
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
    def pid(self) -> int | None:
        """Its number."""
        return self._process.pid if self._process is not None else None

    @property
    def has_ended(self) -> bool:
        """Whether it takes no messages any more."""
        return self._transport is None or self._transport.is_closing()

    @property
    def in_hand(self) -> int:
        """Messages that were sent and not answered."""
        return len(self._asked)

    async def ask(self, message: bytes, size: int) -> Message:
        """Send a message about a page of so many bytes and wait for its answer.

        Raises:
            ProcessDiedError: the process has ended.
        """
        if self._transport is None or self._transport.is_closing():
            raise ProcessDiedError
        answer = self._expect(size)
        self._transport.write(message)
        return await answer

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.kill()
        if self._transport is not None:
            self._transport.abort()

    async def close(self) -> None:
        """Have the process end after what it has in hand, but soon, and wait for it."""
        if self._transport is not None:
            self._transport.close()
        if not await self._ended(_END_SECONDS):
            self.kill()
            await self._ended(_END_SECONDS)

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
            answer, size = self._asked.popleft()
            self.bytes_in_hand -= size
            self._watch()
            if not answer.done():
                answer.set_result(message)
            self._answered()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Called by the event loop."""
        if self._hung is not None:
            self._hung.cancel()
        if self._process is not None:
            self._process.kill()  # gone already, unless it has closed its end without ending
        waiting: list[asyncio.Future[Any]] = [self._ready, *(answer for answer, _ in self._asked)]
        for answer in waiting:
            if not answer.done():
                answer.set_exception(ProcessDiedError())
        if not self._ready.cancelled():
            self._ready.exception()  # seen, where nobody waits for it any more
        self._asked.clear()
        self.bytes_in_hand = 0
        self._died(self)

    def _expect(self, size: int) -> asyncio.Future[Message]:
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._asked.append((answer, size))
        self.bytes_in_hand += size
        if len(self._asked) == 1:
            self._watch()
        return answer

    def _watch(self) -> None:
        """Begin to wait for the next answer."""
        if self._hung is not None:
            self._hung.cancel()
            self._hung = None
        if self._asked:
            self._hung = asyncio.get_running_loop().call_later(PAGE_SECONDS, self.kill)

    async def _ended(self, seconds: float) -> bool:
        """Wait for the end of the process, and take note of it, so that nothing is left of it."""
        for _ in range(int(seconds / _POLL_SECONDS)):
            if self._process is None or self._process.poll() is not None:
                return True
            await asyncio.sleep(_POLL_SECONDS)
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
        [sys.executable, "-P", "-m", "scrapy_winnow.cleaning.worker", str(number), model or ""],
        env=environment,
        pass_fds=(number,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        process_group=0,  # Ctrl-C in a terminal is for the crawl, which has pages to finish
    )
