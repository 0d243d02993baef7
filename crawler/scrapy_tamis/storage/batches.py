"""Round trips to Redis: Lua scripts, batches of calls that come close together, and a time limit for a busy loop."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from functools import partial
from importlib import resources
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from hiredis import pack_command
from redis.exceptions import NoScriptError, ResponseError, SlotNotCoveredError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from redis.asyncio import Redis as AsyncRedis

T = TypeVar("T")
Command = tuple[Any, ...]
"""Name of a command of Redis, its key, further arguments."""

Call = tuple["Sequence[Command]", "asyncio.Future[list[Any]]"]
"""Commands that go to one server together, and what gets their replies."""

MAX_WAIT_S: Final = 0.01
"""Seconds that a call waits for others at most, where the server has a connection to spare."""

MAX_TRIPS: Final = 8
"""Round trips to a server at a time, each on a connection of its own; what comes meanwhile goes along with the next."""

_STEPS: Final = 5
_MAX_EXTENSION: Final = 6
"""Times the limit that a call may take where the event loop holds it up; then every step counts."""


class Script:
    """A Lua script, called by its hash; every call of it must be safe to repeat."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.sha = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()

    @classmethod
    def load(cls, name: str) -> Self:
        """Return a script of ``storage/lua``."""
        return cls(resources.files(__package__).joinpath("lua", f"{name}.lua").read_text(encoding="utf-8"))


async def run_with_timeout(work: Awaitable[T], seconds: float) -> T:
    """Wait for some work, at most ``seconds``.

    The time is counted in steps, each timed by itself: while the event loop is busy with a page, an answer that has
    long arrived cannot be read, and a single timer would take that for an outage. To connect takes several turns of the
    loop, and at the start of a crawl there is a page in each: steps that were held up do not count, up to six times
    the limit.

    Raises:
        TimeoutError: the time is over; the work is cancelled.
    """
    loop, step, left = asyncio.get_running_loop(), seconds / _STEPS, _STEPS
    begun = loop.time()
    deadline = begun + _MAX_EXTENSION * seconds
    timer: asyncio.TimerHandle

    def end_step() -> None:
        nonlocal begun, left, timer
        now = loop.time()
        left -= now > deadline or now - begun < 1.5 * step
        begun = now
        if left:
            timer = loop.call_later(step, end_step)
        else:
            limit.reschedule(now)

    timer = loop.call_later(step, end_step)
    async with asyncio.timeout(None) as limit:
        try:
            return await work
        finally:
            timer.cancel()


class CommandBatches:
    """Sends the commands of a crawl, those of several pages in one round trip where they come close together.

    A busy event loop works on several pages in each of its turns, and a round trip costs it more than the commands:
    the calls of one turn go together, seven a trip in a crawl of six hosts. A page needs the counts of its site
    to be cleaned, while only its own item waits for whether it is a near-duplicate. So that look-up goes along with
    the counting of later pages. In a cluster each server gets a round trip of its own.
    """

    def __init__(self, client: AsyncRedis, timeout: float, *, in_cluster: bool, max_trips: int = MAX_TRIPS) -> None:
        self._client: Any = client
        self._timeout = timeout
        self._in_cluster = in_cluster
        self._max_trips = max_trips
        self._trips = Counter[str]()
        self._held = set[str]()  # servers whose calls wait for the end of a trip
        self._waiting: dict[str, list[Call]] = {}
        self._due = set[str]()  # servers whose calls go after this turn of the loop
        self._sending: set[asyncio.Task[None]] = set()

    async def run_script(
        self, script: Script, keys: Sequence[str | bytes], arguments: Sequence[Any], *, can_wait: bool = False
    ) -> Any:
        """Run a script, soon and with all that waits, and return its reply; it may wait itself as commands do.

        Raises:
            redis.RedisError: the server refused this call, or could not be reached.
        """
        wait = MAX_WAIT_S if can_wait else 0.0
        server, arguments = self._server_of(keys[0]), (len(keys), *keys, *arguments)
        try:
            (reply,) = await self._enqueue(server, [("EVALSHA", script.sha, *arguments)], wait)
        except NoScriptError:  # the server has forgotten it, or never had it
            (reply,) = await self._enqueue(server, [("EVAL", script.source, *arguments)], wait)
        return reply

    async def run_commands(self, commands: Sequence[Command]) -> list[Any]:
        """Run commands, in one round trip to each server that they concern, and return their replies.

        They wait for a script that goes to their server, ``MAX_WAIT_S`` at most.

        Args:
            commands: each with a key after its name; those on one server are carried out in their order.

        Raises:
            redis.RedisError: a server refused a command, or could not be reached.
        """
        if not self._in_cluster:
            return await self._enqueue("", commands, MAX_WAIT_S)
        places: dict[str, list[int]] = {}
        for place, command in enumerate(commands):
            places.setdefault(self._server_of(command[1]), []).append(place)
        parts = [(server, [commands[place] for place in own]) for server, own in places.items()]
        found = await asyncio.gather(*(self._enqueue(server, part, MAX_WAIT_S) for server, part in parts))
        replies = dict(zip(chain(*places.values()), chain(*found), strict=True))
        return [replies[place] for place in range(len(commands))]

    def _enqueue(self, server: str, commands: Sequence[Command], seconds: float = 0.0) -> asyncio.Future[list[Any]]:
        """Have commands sent with the others to their server, after ``seconds`` at most.

        Never at once: calls of other pages in this turn of the loop go along.
        """
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[list[Any]] = loop.create_future()
        waiting = self._waiting.setdefault(server, [])
        if not seconds and server not in self._due:
            self._due.add(server)
            loop.call_later(0.0, self._send, server)
        elif not waiting:
            loop.call_later(seconds, self._send, server)
        waiting.append((commands, reply))
        return reply

    def _server_of(self, key: str | bytes) -> str:
        """Return the name of the server that has a key; "" if there is only one, or the client does not know it yet."""
        if not self._in_cluster:
            return ""
        try:
            return str(self._client.get_node_from_key(key).name)
        except SlotNotCoveredError:
            return ""  # not known yet, or no server has the slot, and then the call fails

    def _send(self, server: str) -> None:
        """Send what waits for a server, if a call before has not sent it; at most ``max_trips`` are under way."""
        self._due.discard(server)
        if self._trips[server] >= self._max_trips:
            self._held.add(server)
            return
        if calls := [(commands, reply) for commands, reply in self._waiting.pop(server, []) if not reply.done()]:
            self._trips[server] += 1
            task = asyncio.create_task(self._make_trip(server, calls))
            self._sending.add(task)
            task.add_done_callback(partial(self._end_trip, server))

    def _end_trip(self, server: str, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        self._trips[server] -= 1
        if server in self._held:
            self._held.discard(server)
            self._send(server)

    async def _make_trip(self, server: str, calls: list[Call]) -> None:
        try:
            await run_with_timeout(self._exchange(calls), self._timeout)
        except Exception as error:
            held = self._waiting.pop(server, []) if server in self._held else []  # they have waited as long
            for _, reply in calls + held:
                if not reply.done():
                    reply.set_exception(error)

    async def _exchange(self, calls: list[Call]) -> None:
        """Send the commands, and give each call its replies, or the error of the command that was refused."""
        sent = [command for commands, _ in calls for command in commands]
        if self._in_cluster:
            # Calls that come while it discovers its servers go to wrong ones, and after five of these it closes the
            # connections of all calls that are under way.
            await self._client.initialize()
            async with self._client.pipeline() as pipeline:
                for command in sent:
                    pipeline.execute_command(*command)
                found = iter(await pipeline.execute(raise_on_error=False))
        else:
            found = iter(await self._run_on_server(sent))
        for commands, reply in calls:
            own = [next(found) for _ in commands]
            refusal = next((each for each in own if isinstance(each, Exception)), None)
            if reply.done():
                continue
            if refusal is not None:
                reply.set_exception(refusal)
            else:
                reply.set_result(own)

    async def _run_on_server(self, commands: Sequence[Command]) -> list[Any]:
        """As a pipeline of redis-py does, which packs commands in Python and so takes three times as long."""
        packed, pool = b"".join(map(pack_command, commands)), self._client.connection_pool
        connection = await pool.get_connection()

        async def exchange() -> list[Any]:
            await connection.send_packed_command(packed)
            replies: list[Any] = []
            for _ in commands:
                try:
                    replies.append(await connection.read_response())
                except ResponseError as refusal:
                    replies.append(refusal)
            return replies

        try:
            return list(await connection.retry.call_with_retry(exchange, lambda _: connection.disconnect()))
        finally:
            await pool.release(connection)
