"""Script calls that go to the server together: what can wait a little is sent along with what cannot."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from redis.exceptions import NoScriptError, RedisError, SlotNotCoveredError

from scrapy_winnow.storage.clients import is_cluster

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
    item. So the look-up goes along with the counting of the next page. In a cluster calls wait for others to the same
    server, and each server gets a round trip of its own.

    Args:
        client: Redis.
    """

    def __init__(self, client: Redis) -> None:
        self._client: Any = client
        self._in_cluster = is_cluster(client)
        self._waiting: dict[str, list[_Call]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
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
        if not can_wait and self._server_of(keys) not in self._waiting:
            return await script.run(self._client, keys, arguments)
        (reply,) = await self.run_all(script, [(keys, arguments)], can_wait=can_wait)
        return reply

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
        loop = asyncio.get_running_loop()
        made = [_Call(script, keys, arguments, loop.create_future()) for keys, arguments in calls]
        for call in made:
            self._waiting.setdefault(self._server_of(call.keys), []).append(call)
        for server in dict.fromkeys(self._server_of(call.keys) for call in made):
            if not can_wait:
                self._send(server)
            elif server not in self._timers:
                self._timers[server] = loop.call_later(PATIENCE, self._send, server)
        return await asyncio.gather(*(call.reply for call in made))

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
        if (timer := self._timers.pop(server, None)) is not None:
            timer.cancel()
        calls = [call for call in self._waiting.pop(server, []) if not call.reply.done()]
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
                pipeline.execute_command("EVALSHA", call.script.sha, len(call.keys), *call.keys, *call.arguments)
            replies = await pipeline.execute(raise_on_error=False)
        for place, call in enumerate(calls):
            if isinstance(replies[place], NoScriptError):
                try:
                    replies[place] = await call.script.run(self._client, call.keys, call.arguments)
                except RedisError as error:
                    replies[place] = error
        return list(replies)
