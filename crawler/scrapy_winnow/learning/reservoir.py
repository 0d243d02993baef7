"""The reservoir of examples in Redis: so many hosts, so many pages of each, so many bytes, whoever adds to it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scrapy_winnow.learning.priorities import host_priority, page_priority
from scrapy_winnow.storage.scripts import Script

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from scrapy_winnow.storage.connection import Connection
    from scrapy_winnow.storage.keys import LearningKeys

_HOSTS_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much the reservoir holds.

    Attributes:
        pages: pages per host.
        hosts: hosts.
        bytes: bytes of all examples.
        ttl: life of a host's examples after the last one came in, in seconds.
    """

    pages: int
    hosts: int
    bytes: int
    ttl: int


class Reservoir:
    """The crawl's side: tells pages that have no place apart without asking, and adds the others.

    Args:
        connection: the way to Redis.
        keys: names of the keys.
        bounds: how much there may be.
    """

    def __init__(self, connection: Connection, keys: LearningKeys, bounds: Bounds) -> None:
        self._connection = connection
        self._keys = keys
        self._bounds = bounds
        self._script = Script("learning/take_example")
        self._salt: bytes | None = None
        self._limit: int | None = None
        self._page_limits: OrderedDict[str, str] = OrderedDict()

    def update(self, salt: bytes | None, limit: bytes | None) -> None:
        """Take over the key of the priorities, and the priority from which on hosts have no place, from Redis."""
        if salt != self._salt:
            self._page_limits.clear()
        self._salt = salt
        self._limit = int(limit) if limit else None

    def has_place(self, host: str, contents_id: bytes) -> bool:
        """Whether a page may have a place in the reservoir; two hashes and no round trip.

        Nothing has one until :meth:`update` was told a salt.
        """
        if self._salt is None or (self._limit is not None and host_priority(host, self._salt) >= self._limit):
            return False
        page_limit = self._page_limits.get(host)
        return page_limit is None or page_priority(host, contents_id, self._salt) <= page_limit

    async def add(self, host: str, contents_id: bytes, example: bytes) -> bool:
        """Add a page's example, in place of an earlier one of the same page; safe to repeat.

        Returns:
            Whether it was taken; not if it has no place, nor while Redis is away.
        """
        if self._salt is None:
            return False
        keys, bounds = self._keys, self._bounds
        page = page_priority(host, contents_id, self._salt)
        names = (keys.hosts, keys.sizes, keys.state, keys.examples + host)
        arguments = (host, host_priority(host, self._salt), page, example, bounds.pages, bounds.hosts, bounds.bytes)

        async def send(client: Redis) -> list[Any]:
            reply: list[Any] = await self._script.run(client, names, (*arguments, bounds.ttl, keys.examples))
            return reply

        reply = await self._connection.call(send)
        if reply is None:
            return False
        taken, limit, page_limit = reply
        self._limit = int(limit) if limit else None
        if page_limit:
            self._page_limits[host] = page_limit.decode()
            self._page_limits.move_to_end(host)
            if len(self._page_limits) > _HOSTS_REMEMBERED:
                self._page_limits.popitem(last=False)
        return bool(taken)
