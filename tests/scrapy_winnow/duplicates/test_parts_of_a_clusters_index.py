"""The index of a cluster: its parts lie on all servers, and it forgets by generations."""

import asyncio
import uuid

import pytest
import redis.crc
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.shared.cluster import SLOTS
from scrapy_winnow.duplicates.index import IndexOptions
from scrapy_winnow.duplicates.parted_index import PartedIndex, index_of
from scrapy_winnow.duplicates.stored_records import record_in
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.keys import PARTS, part_key
from tests.scrapy_winnow.duplicates.documents import made, story, url
from tests.scrapy_winnow.duplicates.indexes import InRedis
from winnow.duplicates.index import MemoryIndex

OPERATIONS = st.lists(
    st.tuples(st.integers(0, 6), st.frozensets(st.integers(1, 14), max_size=11), st.booleans()),
    min_size=1,
    max_size=12,
)


async def keys_of(connection, prefix):
    return await connection.call(lambda client: client.keys(f"{prefix}:*", target_nodes="primaries"))


def test_each_part_lies_in_another_sixteenth_of_the_slots():
    slots = [redis.crc.key_slot(part_key("winnow", part, "m").encode()) for part in range(PARTS)]
    assert [slot * PARTS // SLOTS for slot in slots] == list(range(PARTS))


async def test_documents_are_on_all_servers_and_every_key_goes_by_itself(cluster, cluster_servers, prefix):
    index = index_of(cluster, IndexOptions(prefix, ttl=1000, cap=1000))
    assert isinstance(index, PartedIndex)
    await index.find_all([(url(number), story(number)) for number in range(60)])
    for server in cluster_servers:
        with redis.Redis.from_url(server.url) as client:
            keys = client.keys(f"{prefix}:*")
            assert len(keys) > 10
            assert all(0 < client.ttl(key) <= 3000 for key in keys)


@given(OPERATIONS, st.sampled_from([8, 10]), st.sampled_from([None, 0.3]), st.integers(1, 4))
@settings(deadline=None, max_examples=15)
def test_memory_and_cluster_say_the_same_of_any_sequence_in_batches_of_any_size(
    cluster_url, operations, keep, least, size
):
    memory = MemoryIndex(keep=keep, least=least, hot=100)

    async def compare() -> None:
        connection = Connection(cluster_url, timeout=10)
        index = index_of(connection, IndexOptions(f"same-{uuid.uuid4().hex}", keep=keep, least=least, hot=100))
        try:
            for begin in range(0, len(operations), size):
                batch = [(url(name), made(*numbers)[:keep]) for name, numbers, _ in operations[begin : begin + size]]
                enter = operations[begin][2]
                expected = [memory.decide(*document, enter=enter) for document in batch]
                assert await index.find_all(batch, enter=enter) == expected
        finally:
            await connection.close()

    asyncio.run(compare())


async def test_what_is_not_met_for_a_time_to_live_is_forgotten_and_what_is_met_lives_on(cluster, prefix):
    index = InRedis(cluster, prefix, ttl=100)
    for name, number in (("a", 1), ("b", 2), ("c", 3)):
        await index.decide(url(name), story(number), now=1000)
    assert (await index.decide(url("copy"), story(1, 1), now=1150)).duplicate_of == url("a")
    assert (await index.decide(url("b"), story(2), now=1199)).duplicate_of is None
    # In the next generation but one, what only the first had is gone.
    later = [await index.decide(url(f"x{n}"), story(n, 2), now=1260, enter=False) for n in (1, 2, 3)]
    assert [verdict.duplicate_of for verdict in later] == [url("a"), url("b"), None]
    # After a long time nobody is left of either.
    assert (await index.decide(url("y"), story(1, 3), now=9000, enter=False)).duplicate_of is None


async def test_half_of_the_cap_begins_a_generation(cluster, prefix):
    index = InRedis(cluster, prefix, cap=20)
    for number in range(50):
        await index.decide(url(number), story(number))
    found = [await index.decide(url("x"), story(number, 1), enter=False) for number in range(50)]
    kept = [number for number, verdict in enumerate(found) if verdict.duplicate_of is not None]
    assert kept == list(range(min(kept), 50))
    assert 10 <= len(kept) <= 22


@pytest.mark.parametrize("lost", ["d", "s", "g"])
async def test_what_servers_have_evicted_or_others_have_damaged_costs_no_more_than_itself(cluster, prefix, lost):
    index = index_of(cluster, IndexOptions(prefix, cap=1000))
    await index.find_all([(url(number), story(number)) for number in range(10)])
    for number, key in enumerate(await keys_of(cluster, prefix)):
        if key.rpartition(b":")[2].startswith(lost.encode()):
            await cluster.call(lambda client, key=key: client.delete(key))
            if number % 2:
                await cluster.call(lambda client, key=key: client.set(key, "damaged"))
    index = index_of(cluster, IndexOptions(prefix, cap=1000))
    for number in range(10):
        verdict = await index.find(url(f"copy-{number}"), story(number, 1))
        assert verdict.duplicate_of in {None, url(number)}
        assert (await index.find(url(f"other-{number}"), story(number, 1))).duplicate_of is not None
    assert not cluster.is_away


@given(st.binary(max_size=40))
def test_a_record_of_any_bytes_is_read_or_none(data):
    record = record_in(data)
    assert record is None or record.sketch is None or len(record.compared)
