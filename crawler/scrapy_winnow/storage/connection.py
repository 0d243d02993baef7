"""The way to Redis with circuit breakers: trouble with Redis is seen here, counted, and never leaves."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from scrapy_winnow.storage.batches import ScriptBatches
from scrapy_winnow.storage.breaker import Breaker, is_of_the_server, is_unreachable
from scrapy_winnow.storage.clients import asynchronous_client, is_cluster
from scrapy_winnow.storage.time_limit import in_time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from redis.asyncio import Redis

    from scrapy_winnow.storage.scripts import Script

T = TypeVar("T")

_PURPOSE: Final = "site evidence"

logger = logging.getLogger(__name__)


class Connection:
    """One Redis client for a crawl, with a breaker for each purpose that it serves.

    A call that finds the server in trouble, or takes longer than ``timeout``, opens the breaker of its purpose. While
    that is open calls return at once; every ``retry_interval`` a single one goes through as a probe, and the first that
    succeeds closes the breaker. So an outage holds a page up by ``timeout`` when it begins, and after that one page per
    ``retry_interval`` by as much. There is one warning when Redis goes and one line when it is back. An error that is
    about a key or a command fails that call and no other, and is said once for each kind.

    Args:
        url: see :func:`~scrapy_winnow.storage.clients.asynchronous_client`, with credentials; it is never logged.
        timeout: bound on a whole call, connecting included, in seconds.
        retry_interval: time between probes, in seconds.
        on_failure: called for each failed call with ``True`` when it begins an outage.
        revive: called before a probe, to restart a server of one's own; it may raise ``OSError`` or ``RuntimeError``.
            A probe does not wait for it longer than for an answer: it goes on, and a later probe finds the server.
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
        # The library's own ten retries would stall a page for seconds, and its time limits see no busy event loop. One
        # retry, at once, is for connections that were cut while they were idle; all that is sent may be sent twice.
        client = asynchronous_client(
            url,
            socket_timeout=None,
            socket_connect_timeout=None,
            retry=Retry(NoBackoff(), 1),
            decode_responses=False,
        )
        self._server = _Server(client, timeout, retry_interval, on_failure, revive)
        self._purpose = _PURPOSE
        self._breaker = self._server.breaker_for(_PURPOSE)

    def for_purpose(self, purpose: str) -> Connection:
        """Return the same connection with a breaker of its own, so that one purpose's trouble is not another's.

        Args:
            purpose: what the crawl goes on without when it fails, for the log.
        """
        other = object.__new__(Connection)
        other._server = self._server
        other._purpose = purpose
        other._breaker = self._server.breaker_for(purpose)
        return other

    @property
    def is_cluster(self) -> bool:
        """Whether the keys are on several servers."""
        return self._server.in_cluster

    @property
    def is_away(self) -> bool:
        """Whether the breaker is open."""
        return self._breaker.is_open

    async def call(self, work: Callable[[Redis], Awaitable[T]]) -> T | None:
        """Do some work with the client and return its result, or ``None`` when that fails or Redis is away."""
        return await self._call(work, ends_in_time=False)

    async def _call(self, work: Callable[[Redis], Awaitable[T]], *, ends_in_time: bool) -> T | None:
        is_probe = self._breaker.is_open
        if not self._breaker.lets_through():
            return None
        server = self._server
        doing = server.probe(work) if is_probe else server.do(work)
        try:
            # A limit is a task of its own and costs as much as a call: calls that go together have one.
            is_limited = ends_in_time and not is_probe and not server.in_cluster
            result = await (doing if is_limited else in_time(doing, server.timeout))
        except Exception as error:  # whatever a server answers, the page goes on
            self._failed(error)
            return None
        server.answers(self._purpose)
        return result

    async def run(
        self, script: Script, keys: Sequence[str | bytes], arguments: Sequence[Any], *, can_wait: bool = False
    ) -> Any | None:
        """Run a script and return its reply, or ``None``; see :meth:`call` and :class:`~.batches.ScriptBatches`."""
        batches = self._server.batches
        return await self._call(lambda _: batches.run(script, keys, arguments, can_wait=can_wait), ends_in_time=True)

    async def run_all(
        self,
        script: Script,
        calls: Sequence[tuple[Sequence[str | bytes], Sequence[Any]]],
        *,
        can_wait: bool = False,
    ) -> list[Any] | None:
        """Run a script several times and return the replies, or ``None`` when one of the calls fails."""
        batches = self._server.batches
        return await self._call(lambda _: batches.run_all(script, calls, can_wait=can_wait), ends_in_time=True)

    async def ping(self) -> bool:
        """Return whether Redis answers; the way to find out at the start of a crawl."""
        return bool(await self.call(lambda client: client.ping()))

    async def close(self) -> None:
        """Close the client; a server that hangs does not hold the end of a crawl up."""
        with suppress(TimeoutError, OSError, RedisError):
            await asyncio.wait_for(self._server.client.aclose(), self._server.timeout)

    def _failed(self, error: Exception) -> None:
        if is_of_the_server(error):
            self._server.is_away(self._purpose, error)
        else:
            self._server.answers(self._purpose)
            self._server.has_refused(self._purpose, error)


class _Server:
    """What the purposes share: the client, and what is known and said of the server."""

    def __init__(
        self,
        client: Redis,
        timeout: float,
        retry_interval: float,
        on_failure: Callable[[bool], object],
        revive: Callable[[], Awaitable[object]] | None,
    ) -> None:
        self.client = client
        self.in_cluster = is_cluster(client)
        self.batches = ScriptBatches(client, timeout)
        self.timeout = timeout
        self.retry_interval = retry_interval
        self._on_failure = on_failure
        self._revive = revive
        self._reviving: asyncio.Future[object] | None = None
        self._finding_out = asyncio.Lock()
        self._breakers: dict[str, Breaker] = {}
        self._refusals: set[tuple[str, str]] = set()

    def breaker_for(self, purpose: str) -> Breaker:
        """The breaker of a purpose."""
        return self._breakers.setdefault(purpose, Breaker(self.retry_interval))

    async def probe(self, work: Callable[[Redis], Awaitable[T]]) -> T:
        """Do some work, after the server was restarted where it is one's own."""
        if self._revive is not None:
            if self._reviving is None or self._reviving.done():
                self._reviving = asyncio.ensure_future(self._revive())
                self._reviving.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.shield(self._reviving)
        return await self.do(work)

    async def do(self, work: Callable[[Redis], Awaitable[T]]) -> T:
        """Do some work, in a cluster once the client knows its servers.

        Calls that come while it is finding them out go to wrong ones, and after five of these it closes the connections
        of all calls that are under way.
        """
        if self.in_cluster:
            async with self._finding_out:
                await self.client.initialize()
        return await work(self.client)

    def is_away(self, purpose: str, error: Exception) -> None:
        """Count a failure, and open the breaker; the first purpose that misses the server says so."""
        is_first = not any(breaker.is_open for breaker in self._breakers.values())
        begins = self._breakers[purpose].opens()
        if is_unreachable(error):
            for breaker in self._breakers.values():
                breaker.joins()
        self._on_failure(is_first)
        if begins:
            logger.log(
                logging.WARNING if is_first else logging.DEBUG,
                "Redis is away (%s: %s): the crawl goes on without %s and asks again every %g s",
                type(error).__name__,
                str(error) or f"no answer in {self.timeout:g} s",
                *(purpose, self.retry_interval),
            )

    def answers(self, purpose: str) -> None:
        """Close the breaker, and those that were opened in its company; the last that closes says so."""
        if self._breakers[purpose].closes():
            for breaker in self._breakers.values():
                if breaker.is_in_company:
                    breaker.closes()
            if not any(breaker.is_open for breaker in self._breakers.values()):
                logger.info("Redis is back: pages are counted again")

    def has_refused(self, purpose: str, error: Exception) -> None:
        """Count an error that is about one key or one command; the first of its kind is said."""
        self._on_failure(False)
        kind = (purpose, str(error).partition(" ")[0] or type(error).__name__)
        if kind not in self._refusals:
            self._refusals.add(kind)
            logger.warning(
                "Redis refuses (%s: %s): what was asked for %s is missing; this is said once",
                *(type(error).__name__, error, purpose),
            )
