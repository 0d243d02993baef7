import asyncio
import random
import uuid
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import MAX_NODES, NodeCounts
from winnow.counting import LossyCounts

BUDGET = 20_000


def _counts(connection, prefix, *, version=1, budget=BUDGET, max_pages=10_000, ttl=1000) -> NodeCounts:
    return NodeCounts(connection, prefix=prefix, version=version, budget=budget, max_pages=max_pages, ttl=ttl)


def _nodes(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint64)


def _id(number: int) -> bytes:
    return number.to_bytes(8, "big")


async def test_the_counts_come_back_in_the_order_of_the_nodes_with_the_page_in_them(connection, prefix):
    counts = _counts(connection, prefix)
    first = await counts.count("a.example", _id(1), _nodes(5, 2**64 - 1, 5, 0))
    assert (first.df.tolist(), first.pages, first.counted) == ([1, 1, 1, 1], 1, True)
    second = await counts.count("a.example", _id(2), _nodes(7, 5))
    assert (second.df.tolist(), second.pages, second.counted) == ([1, 2], 2, True)


async def test_a_page_counts_once_however_often_it_comes(connection, prefix):
    counts = _counts(connection, prefix)
    await counts.count("a.example", _id(1), _nodes(1, 2))
    for _ in range(3):
        again = await counts.count("a.example", _id(1), _nodes(1, 2, 3))
        assert (again.df.tolist(), again.pages, again.counted) == ([1, 1, 0], 1, False)


async def test_one_page_from_many_workers_at_once_counts_once(redis_url, prefix):
    connections = [Connection(redis_url, timeout=10) for _ in range(8)]
    nodes = np.arange(MAX_NODES, dtype=np.uint64)
    replies = await asyncio.gather(*(_counts(c, prefix).count("a.example", _id(1), nodes) for c in connections))
    assert sum(reply.counted for reply in replies) == 1
    evidence = await _counts(connections[0], prefix).read("a.example", nodes)
    assert evidence.pages == 1
    assert (evidence.df == 1).all()
    for connection in connections:
        await connection.close()


async def test_hosts_and_fingerprint_versions_do_not_mix(connection, prefix):
    await _counts(connection, prefix).count("a.example", _id(1), _nodes(1))
    assert (await _counts(connection, prefix).count("b.example", _id(1), _nodes(1))).pages == 1
    assert (await _counts(connection, prefix, version=2).count("a.example", _id(1), _nodes(1))).pages == 1


async def test_of_a_huge_page_the_nodes_at_both_ends_are_counted(connection, prefix):
    counts = _counts(connection, prefix, budget=3 * MAX_NODES)
    nodes = np.arange(1, MAX_NODES + 101, dtype=np.uint64)
    for number in (1, 2):
        evidence = await counts.count("a.example", _id(number), nodes)
    middle = slice(MAX_NODES // 2, MAX_NODES // 2 + 100)
    assert (evidence.df[middle] == 0).all()
    assert (np.delete(evidence.df, middle) == 2).all()


async def test_a_page_found_at_many_addresses_counts_once(connection, prefix):
    counts = _counts(connection, prefix)
    for address in range(5):
        evidence = await counts.count("a.example", _id(address), _nodes(1, 2), contents_id=_id(77))
        assert (evidence.df.tolist(), evidence.pages, evidence.counted) == ([1, 1], 1, address == 0)
    other = await counts.count("a.example", _id(9), _nodes(1, 3), contents_id=_id(78))
    assert (other.df.tolist(), other.pages, other.counted) == ([2, 1], 2, True)


async def test_reading_writes_nothing(connection, prefix):
    counts = _counts(connection, prefix)
    empty = await counts.read("a.example", _nodes(1, 2))
    assert (empty.df.tolist(), empty.pages) == ([0, 0], 0)
    assert await connection.call(lambda client: client.exists(*counts.keys("a.example"))) == 0
    await counts.count("a.example", _id(1), _nodes(1, 2))
    seen = await counts.read("a.example", _nodes(2, 3))
    assert (seen.df.tolist(), seen.pages, seen.counted) == ([1, 0], 1, False)


async def test_a_host_that_is_left_alone_expires_as_a_whole(connection, prefix):
    counts = _counts(connection, prefix, ttl=1000)
    await counts.count("a.example", _id(1), _nodes(1))
    for key in counts.keys("a.example"):
        assert 990 < await connection.call(lambda client, key=key: client.ttl(key)) <= 1000


async def test_when_one_key_of_a_host_is_evicted_the_host_starts_again(connection, prefix):
    for evicted in range(3):
        counts = _counts(connection, f"{prefix}-{evicted}")
        await counts.count("a.example", _id(1), _nodes(1))
        key = counts.keys("a.example")[evicted]
        await connection.call(lambda client, key=key: client.delete(key))
        evidence = await counts.count("a.example", _id(1), _nodes(1))
        assert (evidence.df.tolist(), evidence.pages, evidence.counted) == ([1], 1, True)


async def test_no_page_is_counted_beyond_the_most_pages(connection, prefix):
    counts = _counts(connection, prefix, max_pages=3)
    for number in range(5):
        evidence = await counts.count("a.example", _id(number), _nodes(1))
    assert (evidence.df.tolist(), evidence.pages, evidence.counted) == ([3], 3, False)
    assert await connection.call(lambda client: client.strlen(counts.keys("a.example")[2])) == 3 * 16


async def test_a_forgotten_script_is_loaded_again(connection, prefix):
    counts = _counts(connection, prefix)
    await counts.count("a.example", _id(1), _nodes(1))
    await connection.call(lambda client: client.script_flush())
    assert (await counts.count("a.example", _id(2), _nodes(1))).pages == 2


PAGES = st.lists(st.frozensets(st.integers(0, 30), min_size=1, max_size=12), min_size=1, max_size=12)


@given(pages=PAGES, replays=st.lists(st.integers(0, 11), max_size=8), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_counts_are_exact_in_any_order_with_any_replays(redis_url, pages, replays, seed):
    visits = list(range(len(pages))) + [number % len(pages) for number in replays]
    random.Random(seed).shuffle(visits)

    async def crawl() -> None:
        connection = Connection(redis_url, timeout=10)
        counts = _counts(connection, f"exact-{uuid.uuid4().hex}", ttl=60)
        for number in visits:
            await counts.count("a.example", _id(number), _nodes(*pages[number]))
        evidence = await counts.read("a.example", _nodes(*range(31)))
        await connection.close()
        exact = Counter(node for page in pages for node in page)
        assert evidence.pages == len(pages)
        assert evidence.df.tolist() == [exact[node] for node in range(31)]

    asyncio.run(crawl())


@given(seed=st.integers(0, 2**32), budget=st.integers(4, 600), page_size=st.integers(1, 300), pages=st.integers(1, 40))
@settings(deadline=None, max_examples=25)
def test_the_counts_are_those_of_the_reference_whatever_the_budget(redis_url, seed, budget, page_size, pages):
    async def crawl() -> None:
        rng = np.random.default_rng(seed)
        workers = [Connection(redis_url, timeout=10) for _ in range(2)]
        prefix = f"bound-{uuid.uuid4().hex}"
        counts = [_counts(connection, prefix, budget=budget, ttl=60) for connection in workers]
        reference = LossyCounts(budget)
        asked = np.zeros(0, np.uint64)
        for number in range(pages):
            # Few nodes are on most pages and most are on few, as on the web.
            nodes = np.unique((rng.pareto(0.6, page_size) * 10).clip(1, 2**40).astype(np.uint64))
            asked = np.union1d(asked, nodes)
            reference.add(number, nodes)
            evidence = await counts[number % 2].count("a.example", _id(number), nodes)
            assert (evidence.pages, evidence.undercount) == (reference.pages, reference.undercount)
            size = await workers[0].call(lambda client: client.hlen(counts[0].keys("a.example")[1]))
            assert size == len(reference) <= budget
        read = await counts[0].read("a.example", asked[:2000])
        assert read.df.tolist() == reference.df(asked[:2000]).tolist()
        for connection in workers:
            await connection.close()

    asyncio.run(crawl())


async def test_page_unique_nodes_do_not_push_template_nodes_out(connection, prefix):
    counts = _counts(connection, prefix, budget=2000)
    rng = np.random.default_rng(3)
    template = np.arange(100, dtype=np.uint64)
    for number in range(120):
        unique = rng.integers(2**32, 2**63, size=300, dtype=np.uint64)
        evidence = await counts.count("a.example", _id(number), np.concatenate([template, unique]))
    assert evidence.pages == 120
    assert (evidence.df[:100] == 120).all()
    assert (evidence.df[100:] == 1).all()
