"""Script calls that go to the server together: what can wait a little is sent along with what cannot."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from redis.asyncio.cluster import RedisCluster
from redis.exceptions import NoScriptError, RedisError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis

    from scrapy_winnow.storage.scripts import Script

PATIENCE: Final = 0.01
"""Seconds that a call waits for others at most."""


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    script: Script
    keys: Sequence[str | bytes]
    arguments: Sequence[Any]
    reply: asyncio.Future[Any]


class ScriptBatches:
    """Sends the script calls of a crawl, several in one round trip where they come close together.

    A page needs the counts of its site to be cleaned, and nobody waits for whether it is a near-duplicate but its own
    item. So the look-up goes along with the counting of the next page. In a cluster, where the keys are on different
    servers, every call goes alone.

    Args:
        client: Redis.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._alone = isinstance(client, RedisCluster)
        self._waiting: list[_Call] = []
        self._timer: asyncio.TimerHandle | None = None
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
        if self._alone or not (can_wait or self._waiting):
            return await script.run(self._client, keys, arguments)
        loop = asyncio.get_running_loop()
        call = _Call(script, keys, arguments, loop.create_future())
        self._waiting.append(call)
        if not can_wait:
            self._send()
        elif self._timer is None:
            self._timer = loop.call_later(PATIENCE, self._send)
        return await call.reply

    def _send(self) -> None:
        """Send what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        calls = [call for call in self._waiting if not call.reply.done()]
        self._waiting = []
        if not calls:
            return
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
            for call, reply in zip(calls, await self._replies(calls), strict=True):
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
                pipeline.evalsha(call.script.sha, len(call.keys), *call.keys, *call.arguments)
            replies = await pipeline.execute(raise_on_error=False)
        for place, call in enumerate(calls):
            if isinstance(replies[place], NoScriptError):
                try:
                    replies[place] = await call.script.run(self._client, call.keys, call.arguments)
                except RedisError as error:
                    replies[place] = error
        return list(replies)
