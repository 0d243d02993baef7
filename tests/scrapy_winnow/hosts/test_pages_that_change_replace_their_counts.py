"""A page that comes again with other contents takes its old count back: counts are those of the pages as they are."""

import asyncio
import uuid
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import NodeCounts

HOST = "a.example"


def _counts(connection, prefix, *, budget=1000, settle_after=0) -> NodeCounts:
    options = {"budget": budget, "max_pages": 1000, "ttl": 1000, "settle_after": settle_after}
    return NodeCounts(connection, prefix=prefix, version=1, **options)


def _nodes(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint64)


def _id(number: int) -> bytes:
    return number.to_bytes(8, "big")


async def _held(connection, counts) -> list[int]:
    """Entries of the table, pages of the guard, pages whose contents are held."""
    _, nodes, guard, contents = counts.keys(HOST)
    calls = (lambda c: c.hlen(nodes)), (lambda c: c.strlen(guard)), (lambda c: c.hlen(contents))
    entries, bytes_of_ids, pages = [await connection.call(call) for call in calls]
    return [entries, bytes_of_ids // 16, pages]


async def test_new_contents_replace_the_old_ones(connection, prefix):
    counts = _counts(connection, prefix)
    await counts.count(HOST, _id(1), _nodes(1, 2, 3), _id(101))
    await counts.count(HOST, _id(2), _nodes(1, 2), _id(102))
    changed = await counts.count(HOST, _id(1), _nodes(1, 4), _id(103))
    assert (changed.df.tolist(), changed.pages, changed.counted, changed.replaced) == ([2, 1], 2, True, True)
    assert (await counts.read(HOST, _nodes(1, 2, 3, 4))).df.tolist() == [2, 1, 0, 1]
    assert await _held(connection, counts) == [3, 2, 2]
    again = await counts.count(HOST, _id(1), _nodes(1, 4), _id(103))
    assert (again.pages, again.counted, again.replaced) == (2, False, False)


async def test_a_page_that_becomes_a_copy_of_another_counts_no_more(connection, prefix):
    counts = _counts(connection, prefix)
    await counts.count(HOST, _id(1), _nodes(1, 2), _id(101))
    await counts.count(HOST, _id(2), _nodes(1, 3), _id(102))
    copy = await counts.count(HOST, _id(2), _nodes(1, 2), _id(101))
    assert (copy.df.tolist(), copy.pages, copy.replaced) == ([1, 1], 1, True)
    assert await _held(connection, counts) == [2, 1, 1]


STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), max_size=40)


@given(steps=STEPS, versions=st.lists(st.frozensets(st.integers(0, 20), max_size=8), min_size=8, max_size=8))
@settings(deadline=None, max_examples=40)
def test_counts_are_those_of_the_pages_as_they_came_last(redis_url, steps, versions):
    async def crawl() -> None:
        connection = Connection(redis_url, timeout=10)
        counts = _counts(connection, f"changing-{uuid.uuid4().hex}")
        counted: dict[int, int] = {}  # page to contents
        for page, version in steps:
            await counts.count(HOST, _id(page), _nodes(*versions[version]), _id(100 + version))
            if counted.get(page) != version:
                counted.pop(page, None)
                if version not in counted.values():
                    counted[page] = version
        evidence = await counts.read(HOST, _nodes(*range(21)))
        exact = Counter(node for version in counted.values() for node in versions[version])
        assert evidence.pages == len(counted)
        assert evidence.df.tolist() == [exact[node] for node in range(21)]
        assert await _held(connection, counts) == [len(exact), len(counted), len(counted)]
        await connection.close()

    asyncio.run(crawl())


async def test_a_site_recrawled_after_a_redesign_is_counted_as_if_it_had_always_looked_so(connection, prefix):
    counts = _counts(connection, prefix, settle_after=64)
    for design in (0, 1):
        for page in range(20):
            nodes = _nodes(*range(100 * design + 1, 100 * design + 11), 1000 * (design + 1) + page)
            evidence = await counts.count(
                HOST, _id(page), nodes, _id(5000 * (design + 1) + page), np.full(11, 40, np.uint8)
            )
    assert evidence.pages == 20
    assert evidence.df.tolist() == [20] * 10 + [1]
    assert await _held(connection, counts) == [30, 20, 20]


async def test_contents_are_held_only_in_memory_that_a_full_table_would_take(connection, prefix):
    counts = _counts(connection, prefix, budget=200)
    own = iter(range(1000, 10_000))
    for page in range(60):
        nodes = _nodes(*range(40), *(next(own) for _ in range(4)))
        await counts.count(HOST, _id(page), nodes, _id(500 + page))
        entries, _, _ = await _held(connection, counts)
        bytes_held = sum(map(len, await connection.call(lambda c: c.hvals(counts.keys(HOST).contents))))
        assert bytes_held <= 48 * (200 - entries)
    assert (await counts.read(HOST, _nodes(1))).undercount > 0
    assert bytes_held == 0


@pytest.mark.parametrize("evicted", ["contents", "nodes", "guard", "state"])
async def test_with_a_key_evicted_no_count_is_taken_back_that_was_not_put_on(connection, prefix, evicted):
    counts = _counts(connection, prefix)
    for page in (1, 2):
        await counts.count(HOST, _id(page), _nodes(1, 2, 10 + page), _id(100 + page))
    await connection.call(lambda client: client.delete(getattr(counts.keys(HOST), evicted)))
    changed = await counts.count(HOST, _id(1), _nodes(1, 2, 30), _id(103))
    expected = ([2, 2, 0], 2) if evicted == "contents" else ([1, 1, 1], 1)  # as it was, or anew
    assert (changed.df.tolist(), changed.pages) == expected


async def test_settling_leaves_no_contents_behind(connection, prefix):
    counts = _counts(connection, prefix, settle_after=10)
    for page in range(20):
        await counts.count(HOST, _id(page), _nodes(*range(10), 100 + page), _id(500 + page), np.full(11, 40, np.uint8))
    keys = counts.keys(HOST)
    assert await connection.call(lambda client: client.exists(keys.state)) == 1
    assert await connection.call(lambda client: client.exists(keys.nodes, keys.guard, keys.contents)) == 0
