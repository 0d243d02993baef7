"""The way to Redis with a circuit breaker: trouble with Redis is seen here, counted, and never leaves."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from scrapy_winnow.storage.clients import asynchronous_client

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from redis.asyncio import Redis

T = TypeVar("T")

_STEPS: Final = 5

logger = logging.getLogger(__name__)


class Connection:
    """One Redis client for a crawl, and the breaker in front of it.

    A call that fails, or takes longer than ``timeout``, opens the breaker. While it is open calls return at once; every
    ``retry_interval`` a single one goes through as a probe, and the first that succeeds closes the breaker. So an
    outage holds a page up by ``timeout`` when it begins, and after that one page per ``retry_interval`` by as much.
    There is one warning when Redis goes and one line when it is back.

    Args:
        url: see :func:`~scrapy_winnow.storage.clients.asynchronous_client`, with credentials; it is never logged.
        timeout: bound on a whole call, connecting included, in seconds.
        retry_interval: time between probes, in seconds.
        on_failure: called for each failed call with ``True`` when it begins an outage.
        revive: called before a probe, to restart a server of one's own; it may raise ``OSError`` or ``RuntimeError``.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 0.5,
        retry_interval: float = 5.0,
        on_failure: Callable[[bool], object] = lambda _: None,
        revive: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self._timeout = timeout
        self._retry_interval = retry_interval
        self._on_failure = on_failure
        self._revive = revive
        self._away = False
        self._next_probe = 0.0
        # The library's own ten retries would stall a page for seconds, and its time limits see no busy event loop. One
        # retry, at once, is for connections that were cut while they were idle; all that is sent may be sent twice.
        self._client = asynchronous_client(
            url,
            socket_timeout=None,
            socket_connect_timeout=None,
            retry=Retry(NoBackoff(), 1),
            decode_responses=False,
        )

    @property
    def is_away(self) -> bool:
        """Whether the breaker is open."""
        return self._away

    async def call(self, work: Callable[[Redis], Awaitable[T]]) -> T | None:
        """Do some work with the client and return its result, or ``None`` when Redis is away."""
        if self._away:
            if time.monotonic() < self._next_probe:
                return None
            # Moved on before the first await: whoever else comes meanwhile is turned away.
            self._next_probe = time.monotonic() + self._retry_interval
        try:
            if self._away and self._revive is not None:
                await self._revive()
            result = await self._in_time(work(self._client))
        except Exception as error:  # whatever a server answers, the page goes on
            self._failed(error)
            return None
        if self._away:
            self._away = False
            logger.info("Redis is back: pages are counted again")
        return result

    async def ping(self) -> bool:
        """Return whether Redis answers; the way to find out at the start of a crawl."""
        return bool(await self.call(lambda client: client.ping()))

    async def close(self) -> None:
        """Close the client; a server that hangs does not hold the end of a crawl up."""
        with suppress(TimeoutError, OSError, RedisError):
            await asyncio.wait_for(self._client.aclose(), self._timeout)

    async def _in_time(self, work: Awaitable[T]) -> T:
        """Wait for some work, but not for longer than the timeout.

        The time is counted in steps, each begun anew: while the event loop is busy with a page, an answer that has long
        come in cannot be read, and a single timer would take that for an outage.
        """
        task = asyncio.ensure_future(work)
        try:
            for _ in range(_STEPS):
                done, _ = await asyncio.wait({task}, timeout=self._timeout / _STEPS)
                if done:
                    return task.result()
        finally:
            task.cancel()
        raise TimeoutError

    def _failed(self, error: Exception) -> None:
        self._on_failure(not self._away)
        if not self._away:
            self._away = True
            logger.warning(
                "Redis is away (%s: %s): the crawl goes on without site evidence and asks again every %g s",
                type(error).__name__,
                str(error) or f"no answer in {self._timeout:g} s",
                self._retry_interval,
            )
        self._next_probe = time.monotonic() + self._retry_interval
