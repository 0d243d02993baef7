"""Script calls that go to the server together: those of the pages in hand, and along with them what can wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from redis.exceptions import NoScriptError, RedisError, SlotNotCoveredError

from scrapy_winnow.storage.clients import is_cluster
from scrapy_winnow.storage.time_limit import in_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redis.asyncio import Redis

    from scrapy_winnow.storage.scripts import Script

PATIENCE: Final = 0.01
"""Seconds that a call waits for others at most."""

MOST_BYTES: Final = 1 << 16
"""Arguments of the calls of one trip, if they are several: counting these takes a server a tenth of the time limit."""


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    script: Script
    keys: Sequence[str | bytes]
    arguments: Sequence[Any]
    reply: asyncio.Future[Any]


class ScriptBatches:
    """Sends the script calls of a crawl, several in one round trip where they come close together.

    A busy event loop has several pages in hand in each of its turns, and a round trip costs it more than what is asked:
    the calls of one turn go together, seven a trip in a crawl of six hosts. A page needs the counts of its site
    to be cleaned, and nobody waits for whether it is a near-duplicate but its own item. So the look-up goes along with
    the counting of later pages. In a cluster each server gets a round trip of its own.

    Args:
        client: Redis.
        timeout: bound on a round trip, connecting included, in seconds.
    """

    def __init__(self, client: Redis, timeout: float) -> None:
        self._client: Any = client
        self._timeout = timeout
        self._in_cluster = is_cluster(client)
        self._waiting: dict[str, list[_Call]] = {}
        self._timers: dict[str, asyncio.Handle] = {}
        self._sending: set[asyncio.Task[None]] = set()

    async def run(
        self, script: Script, keys: Sequence[str | bytes], arguments: Sequence[Any], *, can_wait: bool = False
    ) -> Any:
        """Run a script and return its reply.

        Args:
            script: the script.
            keys: its keys.
            arguments: its arguments.
            can_wait: whether it may wait for a call that cannot, ``PATIENCE`` at most.

        Raises:
            redis.RedisError: the server refused this call, or could not be reached.
        """
        return await self._put(script, keys, arguments, can_wait=can_wait)

    async def run_all(
        self,
        script: Script,
        calls: Sequence[tuple[Sequence[str | bytes], Sequence[Any]]],
        *,
        can_wait: bool = False,
    ) -> list[Any]:
        """Run a script several times, in one round trip to each server that it concerns, and return the replies.

        Args:
            script: the script.
            calls: keys and arguments of each call.
            can_wait: whether they may wait for a call that cannot, ``PATIENCE`` at most.

        Raises:
            redis.RedisError: a server refused a call, or could not be reached.
        """
        return await asyncio.gather(*(self._put(script, *call, can_wait=can_wait) for call in calls))

    def _put(
        self, script: Script, keys: Sequence[str | bytes], arguments: Sequence[Any], *, can_wait: bool
    ) -> asyncio.Future[Any]:
        """Have a call sent with the others to its server, and return its reply to be."""
        loop, server = asyncio.get_running_loop(), self._server_of(keys)
        call = _Call(script, keys, arguments, loop.create_future())
        self._waiting.setdefault(server, []).append(call)
        timer = self._timers.get(server)
        if timer is None and can_wait:
            self._timers[server] = loop.call_later(PATIENCE, self._send, server)
        elif not can_wait and (timer is None or isinstance(timer, asyncio.TimerHandle)):
            if timer is not None:
                timer.cancel()
            # Not at once: the loop has others of its pages in hand, whose calls go along.
            self._timers[server] = loop.call_soon(self._send, server)
        return call.reply

    def _server_of(self, keys: Sequence[str | bytes]) -> str:
        """Name of the server that has some keys; all others that one server has go along with them."""
        if not self._in_cluster or not keys:
            return ""
        try:
            node = self._client.get_node_from_key(keys[0] if isinstance(keys[0], str) else keys[0].decode())
        except SlotNotCoveredError:
            return ""  # not known yet, or nobody has the slot, which the call will say
        return str(node.name)

    def _send(self, server: str) -> None:
        """Send what waits for a server."""
        del self._timers[server]
        for calls in _trips([call for call in self._waiting.pop(server, []) if not call.reply.done()]):
            self._make(calls)

    def _make(self, calls: list[_Call]) -> None:
        """Make a trip."""
        task = asyncio.create_task(self._sent(calls))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

        def given_up(_: object) -> None:
            if all(call.reply.done() for call in calls):
                task.cancel()  # nobody waits for the server any more; does nothing where it has answered

        for call in calls:
            call.reply.add_done_callback(given_up)

    async def _sent(self, calls: list[_Call]) -> None:
        try:
            for call, reply in zip(calls, await in_time(self._replies(calls), self._timeout), strict=True):
                if call.reply.done():
                    continue
                if isinstance(reply, Exception):
                    call.reply.set_exception(reply)
                else:
                    call.reply.set_result(reply)
        except Exception as error:
            for call in calls:
                if not call.reply.done():
                    call.reply.set_exception(error)

    async def _replies(self, calls: list[_Call]) -> list[Any]:
        """The replies, an exception for a call that was refused."""
        async with self._client.pipeline(transaction=False) as pipeline:
            for call in calls:
                pipeline.execute_command("EVALSHA", call.script.sha, len(call.keys), *call.keys, *call.arguments)
            replies = await pipeline.execute(raise_on_error=False)
        for place, call in enumerate(calls):
            if isinstance(replies[place], NoScriptError):
                try:
                    replies[place] = await call.script.run(self._client, call.keys, call.arguments)
                except RedisError as error:
                    replies[place] = error
        return list(replies)


def _trips(calls: list[_Call]) -> Iterator[list[_Call]]:
    """The calls in their order, each trip with ``MOST_BYTES`` of arguments, or with a single call of more."""
    trip: list[_Call] = []
    size = 0
    for call in calls:
        own = sum(len(argument) for argument in call.arguments if isinstance(argument, bytes))
        if trip and size + own > MOST_BYTES:
            yield trip
            trip, size = [], 0
        trip.append(call)
        size += own
    if trip:
        yield trip
