"""The index in Redis, the one in memory and comparing with every document agree on any documents."""

import asyncio
import uuid

from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_winnow.storage.connection import Connection
from tests.scrapy_winnow.duplicates.documents import made, url
from tests.scrapy_winnow.duplicates.indexes import InRedis
from winnow.duplicates.index import MemoryIndex
from winnow.duplicates.shingles import near_duplicates

OPERATIONS = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.frozensets(st.integers(1, 14), max_size=11),
        st.sampled_from([0, 0, 0, 1, 4, 9]),
        st.sampled_from([True, True, True, True, False]),
    ),
    min_size=1,
    max_size=30,
)


@given(
    OPERATIONS, st.integers(1, 3), st.sampled_from([3, 6, 100]), st.sampled_from([8, 10]), st.sampled_from([None, 0.3])
)
@settings(deadline=None, max_examples=50)
def test_memory_and_redis_say_the_same_of_any_sequence(redis_url, operations, hot, cap, keep, least):
    options = {"ttl": 8, "cap": cap, "hot": hot, "keep": keep, "least": least}
    memory = MemoryIndex(**options)

    async def compare() -> None:
        connection = Connection(redis_url, timeout=10)
        redis = InRedis(connection, f"same-{uuid.uuid4().hex}", **options)
        now = 1_000_000_000
        try:
            for document, numbers, later, enter in operations:
                now += later
                shingles = made(*numbers)[:keep]
                expected = memory.decide(url(document), shingles, now=now, enter=enter)
                assert await redis.decide(url(document), shingles, now=now, enter=enter) == expected
                assert await redis.size() == len(memory) <= cap
            hot_now = await connection.call(lambda client: client.hget(redis.options.key("m"), "hot"))
            assert int(hot_now or 0) == memory.hot_shingles
        finally:
            await connection.close()

    asyncio.run(compare())


@given(documents=st.lists(st.frozensets(st.integers(1, 20), max_size=8), min_size=1, max_size=10))
@settings(max_examples=50)
def test_the_index_finds_what_comparing_with_every_original_finds(documents):
    index = MemoryIndex(hot=100)
    originals = {}
    for number, document in enumerate(documents):
        own = made(*document)
        found = index.decide(url(number), own).duplicate_of
        near = [address for address, other in originals.items() if near_duplicates(other, own)]
        assert (found in near) if near else (found is None)
        if not near:
            originals[url(number)] = own
