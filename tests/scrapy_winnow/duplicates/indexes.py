"""The index in memory and those in Redis behind one interface, for tests of what all of them promise."""

from scrapy_winnow.duplicates.index import IndexOptions
from scrapy_winnow.duplicates.parted_index import index_of
from winnow.duplicates.documents import Verdict
from winnow.duplicates.index import MemoryIndex


class InMemory:
    def __init__(self, **options) -> None:
        self.memory = MemoryIndex(**options)

    async def decide(self, url, shingles, *, now=1000.0, enter=True) -> Verdict:
        return self.memory.decide(url, shingles, now=now, enter=enter)

    async def size(self) -> int:
        return len(self.memory)


class InRedis:
    def __init__(self, connection, prefix, **options) -> None:
        self.connection = connection
        self.options = IndexOptions(prefix, **options)
        self.index = index_of(connection, self.options)

    async def decide(self, url, shingles, *, now=1000.0, enter=True) -> Verdict:
        (verdict,) = await self.index.find_all([(url, shingles)], now=now, enter=enter)
        return verdict

    async def size(self) -> int:
        if not self.connection.is_cluster:
            return await self.connection.call(lambda client: client.llen(self.options.key("q")))
        keys = await self.connection.call(
            lambda client: client.keys(f"{self.options.prefix}:3:*:d*", target_nodes="primaries")
        )
        return sum([await self.connection.call(lambda client, key=key: client.hlen(key)) for key in keys])
