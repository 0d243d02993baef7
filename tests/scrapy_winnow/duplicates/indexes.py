"""The index in memory and the one in Redis behind one interface, for tests of what both promise."""

from scrapy_winnow.duplicates.index import DuplicateIndex, IndexOptions
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
        self.index = DuplicateIndex(connection, self.options)

    async def decide(self, url, shingles, *, now=1000.0, enter=True) -> Verdict:
        (verdict,) = await self.index.find_all([(url, shingles)], now=now, enter=enter)
        return verdict

    async def size(self) -> int:
        return await self.connection.call(lambda client: client.llen(self.options.key("q")))
