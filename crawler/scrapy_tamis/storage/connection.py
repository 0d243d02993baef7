"""The way to Redis with circuit breakers: failures of Redis are seen here, counted, and never leave this module."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from redis import exceptions
from redis import retry as blocking
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError
from redis.sentinel import MasterNotFoundError

from scrapy_tamis.storage.batches import MAX_TRIPS, CommandBatches, Script, run_with_timeout
from scrapy_tamis.storage.clients import (
    CLIENT_ERRORS,
    asynchronous_client,
    blocking_client,
    is_cluster,
    message_of,
    options_of,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from redis.asyncio import Redis

    from scrapy_tamis.storage.batches import Command

T = TypeVar("T")

COUNTS: Final = "site evidence"
NEAR_DUPLICATES: Final = "near-duplicates"
"""Purposes of calls, each with a circuit breaker of its own: the failures of one do not stop the other."""

_JITTER: Final = 0.2
"""Fraction of the interval that a probe comes earlier or later, so that workers do not come all at once."""

_REFUSAL_INTERVAL_S: Final = 3_600.0
"""Time before a kind of refusal is logged again: crawls last for weeks, and logs are rotated."""

_LOST: Final = (exceptions.ConnectionError, exceptions.TimeoutError, RedisClusterException, OSError, RuntimeError)
"""What no server has answered; ``RuntimeError`` is for an embedded one that does not start."""

_TROUBLES: Final = (
    (r"AuthenticationError|unauthenticated|\b(?:NOAUTH|WRONGPASS)\b", "refused the password"),
    (r"max number of clients", "has as many connections as its maxclients allows"),
    (r"(?:ClusterDown|MasterDown)Error|[ -](?:BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|TRYAGAIN)\b", "is unreachable"),
)
"""Errors about the server itself; old servers send the code of a script's error in the middle of another one."""

_PERMANENT: Final = (
    (
        r"MasterNotFound.*Authentication",
        "Sentinel refused the password",
        "check ?sentinel_username=, sentinel_password=",
    ),
    (r"the Sentinels watch", "Sentinel has no master of this name", "check the name after the hosts"),
    (r"protected mode", "is in protected mode", "give its user a password, or set protected-mode no, on the server"),
    (r"unknown command .SENTINEL", "is not a Sentinel", "name the Sentinels, whose port is 26379, or use redis://"),
    (r"mode sentinel", "is a Sentinel", "use redis+sentinel:// or rediss+sentinel://, with the name of the master"),
    (r"[Uu]nknown (?:\w+ )?command", "lacks a command", "use Valkey, or Redis from version 6.2 on"),
    (
        r"HELLO must be called|NOAUTH",
        "wants a password",
        "set TAMIS_REDIS_URL to redis://:PASSWORD@HOST:PORT, best in the environment",
    ),
    (  # where a password was given: it went with HELLO
        r"Authentication required",
        "lacks a command, HELLO, or wants a password",
        "use Valkey, or Redis from version 6.2 on; a password is given as in redis://:PASSWORD@HOST:PORT",
    ),
    (
        r"AuthenticationError|WRONGPASS|invalid (?:username-)?password",
        "refused the password",
        "check user and password; where there is no user, a colon comes first, as in redis://:PASSWORD@HOST:PORT",
    ),
    (
        r"NoPermissionError|NOPERM",
        "refused a command",
        "give its user the rights in the settings' reference, and the keys of TAMIS_REDIS_PREFIX",
    ),
    (r"DB index is out of range|Invalid Database", "has no such database", "check the number after the host"),
    (r"CERTIFICATE_VERIFY_FAILED", "has a certificate that is not trusted", "name its authority by ?ssl_ca_certs=FILE"),
    # A connection that was closed while TLS began is an EOF: the server may only be down behind a proxy.
    (r"\bSSL\b(?!.*EOF)|WRONG_VERSION_NUMBER", "does not speak TLS at this port", "use redis:// or the port for TLS"),
    (r"closed by server|reset by peer", "closed the connection at once", "if the port is for TLS, use rediss://"),
    (
        r"cluster (?:support|mode)|Cluster mode",
        "is not a cluster",
        "use redis:// or rediss://, or give its user +cluster",
    ),
    (r"MovedError|MOVED", "is a server of a cluster", "use redis+cluster:// or rediss+cluster://"),
    (r"InvalidResponse: Protocol error", "is not what answers there", "check host and port"),
)
"""Errors that no retry cures: words of the error or its type, what Redis does, what helps."""

_PROBE: Final = Script("return redis.call('SMISMEMBER', KEYS[1], 0)")
"""Calls the newest of the commands that scripts need."""

logger = logging.getLogger(__name__)


class Connection:
    """One Redis client for a crawl, with a breaker for each purpose of its calls.

    A call that finds the server in trouble, or takes longer than ``timeout``, opens the breaker of its purpose. While
    that is open calls return at once; every ``retry_interval`` a single one goes through as a probe, and the first that
    succeeds closes the breaker. So an outage holds a page up by ``timeout`` when it begins, and after that one page per
    ``retry_interval`` by as much. There is one warning when an outage begins and one line when it ends. A server that
    refuses a command, as one that is full refuses writes, fails that call and no other; each kind is logged
    once an hour.

    Args:
        url: see :func:`~scrapy_tamis.storage.clients.asynchronous_client`, with credentials; it is never logged.
        timeout: limit on a whole call, connecting included, in seconds.
        retry_interval: time between probes, in seconds.
        on_failure: called for each failed call with ``True`` when it begins an outage.
        revive: called before a probe, to restart an embedded server; it may raise ``OSError`` or ``RuntimeError``.
            The first probe comes at once then, since no other process restarts the server. A probe does not wait for
            it longer than for an answer: it goes on, and a later probe finds the server.

    Attributes:
        is_cluster: whether the keys are on several servers.
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
        # The library's own ten retries would stall a page for seconds, and its timeouts ignore a busy event loop. One
        # retry, at once, is for connections that were cut while they were idle; all that is sent may be sent twice.
        self._client = asynchronous_client(
            url, socket_timeout=None, socket_connect_timeout=None, retry=Retry(NoBackoff(), 1), decode_responses=False
        )
        self.is_cluster = is_cluster(url)
        self._url = url
        self._timeout = timeout
        self._retry_interval = retry_interval
        self._on_failure = on_failure
        self._revive = revive
        max_trips = min(MAX_TRIPS, int(options_of(url).get("max_connections", MAX_TRIPS)))
        self._batches = CommandBatches(self._client, timeout, in_cluster=self.is_cluster, max_trips=max_trips)
        self._reviving: asyncio.Future[object] | None = None
        self._next_probes: dict[str, float] = {}  # of the purposes whose breaker is open: when, monotonic, in seconds
        self._refusals: dict[tuple[str, str], float] = {}  # kinds that were logged: until when, monotonic, in seconds

    async def call(self, work: Callable[[Redis], Awaitable[T]], purpose: str = COUNTS) -> T | None:
        """Do some work with the client and return its result, or ``None`` when that fails or Redis is unreachable."""
        return await self._call(lambda: run_with_timeout(work(self._client), self._timeout), purpose)

    async def run(
        self, script: Script, keys: Sequence[str | bytes], arguments: Sequence[Any], purpose: str = COUNTS
    ) -> Any | None:
        """Run a script and return its reply, or ``None``; see :class:`~.batches.CommandBatches`."""
        can_wait = purpose != COUNTS  # a page needs its counts to be cleaned
        return await self._call(lambda: self._batches.run_script(script, keys, arguments, can_wait=can_wait), purpose)

    async def run_commands(self, commands: Sequence[Command]) -> list[Any] | None:
        """Run commands for near-duplicates and return their replies, or ``None`` when one of them fails."""
        return await self._call(lambda: self._batches.run_commands(commands), NEAR_DUPLICATES)

    async def _call(self, work: Callable[[], Awaitable[T]], purpose: str) -> T | None:
        is_probe = purpose in self._next_probes
        if is_probe and time.monotonic() < self._next_probes[purpose]:
            return None
        try:
            if is_probe:
                self._schedule_probe(purpose, self._retry_interval)
                await self._restart_server()
            result = await work()
        except Exception as error:  # whatever a server answers, the page goes on
            self._note_failure(purpose, error)
            return None
        self._note_answer(purpose)
        return result

    async def _restart_server(self) -> None:
        """Restart an embedded server, unless that is under way; wait for it no longer than for an answer."""
        if self._revive is None:
            return
        if self._reviving is None or self._reviving.done():
            self._reviving = asyncio.ensure_future(self._revive())
            self._reviving.add_done_callback(lambda done: done.cancelled() or done.exception())
        await run_with_timeout(asyncio.shield(self._reviving), self._timeout)

    async def ping(self) -> bool:
        """Return whether Redis answers; for the start of a crawl."""
        return bool(await self.call(lambda client: client.ping()))

    async def close(self) -> None:
        """Close the client; a server that hangs does not hold the end of a crawl up."""
        with suppress(OSError, *CLIENT_ERRORS):
            await asyncio.wait_for(self._client.aclose(), self._timeout)

    def _note_failure(self, purpose: str, error: Exception) -> None:
        """Count a failed call; open the breaker if the server is in trouble, rather than one key or one command."""
        if (trouble := _trouble_with_server(error)) is None:
            self._note_answer(purpose)
            self._note_refusal(purpose, error)
            return
        begins_outage = not self._next_probes
        self._on_failure(begins_outage)
        if purpose not in self._next_probes:
            self._schedule_probe(purpose, 0.0 if self._revive is not None else self._retry_interval)
            logger.log(
                logging.WARNING if begins_outage else logging.DEBUG,
                "Redis %s (%s): the crawl goes on without %s and tries again every %g s; no item is lost",
                trouble,
                message_of(error, self._url) if str(error) else f"no answer in {self._timeout:g} s",
                *(purpose, self._retry_interval),
            )

    def _note_answer(self, purpose: str) -> None:
        """Close the breaker; the last that closes ends the outage."""
        if self._next_probes.pop(purpose, None) is not None and not self._next_probes:
            logger.info("Redis is back: pages are counted again")

    def _schedule_probe(self, purpose: str, interval: float) -> None:
        self._next_probes[purpose] = time.monotonic() + interval * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311

    def _note_refusal(self, purpose: str, error: Exception) -> None:
        self._on_failure(False)
        message = message_of(error, self._url)
        kind = (purpose, " ".join(message.split()[:2]))
        now = time.monotonic()
        if now >= self._refusals.get(kind, 0.0):
            self._refusals[kind] = now + _REFUSAL_INTERVAL_S
            logger.warning(
                "Redis refused a command for %s (%s): its result is missing, no item is lost. Errors of this kind are "
                "logged once an hour",
                *(purpose, message),
            )


def problem_at_start(url: str, prefix: str, timeout: float) -> str | None:
    """Try the commands of a crawl once; say what is wrong with an address that will never work, and what to do.

    ``None`` where all is well, and where the server does not answer, which may be over when the crawl needs it.
    """
    try:
        _try_commands(url, prefix, timeout)
    except (*CLIENT_ERRORS, OSError) as error:
        if isinstance(error, exceptions.TimeoutError | MasterNotFoundError) and url.startswith("rediss"):
            # A server without TLS waits for the end of what it takes for a command.
            with suppress(OSError, *CLIENT_ERRORS):
                _try_commands(re.sub(r"(?<=[?&])ssl_[^&]*&?", "", url).replace("rediss", "redis", 1), prefix, timeout)
                return permanent_problem(RedisError(f"SSL: {error}"), url)
        if re.search("closed by server|reset by peer|EOF occurred", str(error)):
            try:  # to tell a port for TLS from a proxy whose server is down
                options = f"{'&' if '?' in url else '?'}ssl_cert_reqs=none"
                _try_commands(re.sub(r"^redis\b", "rediss", url) + options, prefix, timeout)
            except (*CLIENT_ERRORS, OSError, TypeError):
                return None
        return permanent_problem(error, url)
    return None


def _try_commands(url: str, prefix: str, timeout: float) -> None:
    retry = blocking.Retry(NoBackoff(), 0)
    client = blocking_client(url, socket_timeout=timeout, socket_connect_timeout=timeout, retry=retry)
    with closing(client):
        client.ping()
        if not is_cluster(url):
            hello: Any = client.execute_command("HELLO")  # type: ignore[no-untyped-call]
            said = hello.values() if isinstance(hello, dict) else hello
            if b"cluster" in said:
                raise exceptions.MovedError("0 cluster:0")
            if b"sentinel" in said:
                raise RedisError("mode sentinel")
        key = f"{prefix}:{{start}}"
        client.exists(key)
        client.eval(_PROBE.source, 1, key)
        client.evalsha(_PROBE.sha, 1, key)


def permanent_problem(error: Exception, url: str) -> str | None:
    """Say what is wrong where no retry cures an error of a server at ``url``, and what to do; ``None`` for others."""
    message = words_of(error)
    found = (f"Redis {what}: {to_do}" for words, what, to_do in _PERMANENT if re.search(words, message))
    problem = next(found, None)
    return problem and f"{problem} ({message_of(error, url)})"


def _trouble_with_server(error: Exception) -> str | None:
    """Say what the server does; ``None`` for an error that is about one key or one command."""
    message = words_of(error)[:250]
    found = (what for words, what in _TROUBLES if re.search(words, message))
    is_lost = isinstance(error, _LOST) and not isinstance(error, exceptions.MaxConnectionsError)
    return next(found, "is unreachable" if is_lost else None)
