"""Whatever is in Redis under a host's keys, its pages are counted and its items cleaned, and so are those of others."""

import asyncio
import math

import numpy as np
import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import NodeCounts
from scrapy_winnow.storage.keys import host_keys

HOST = "a.example"
NODES = np.arange(1, 41, dtype=np.uint64)
MASSES = np.full(40, 10, np.uint8)
LABELS = b"".join(int(node).to_bytes(8, "little") + b"\xff" for node in NODES)


@pytest.fixture
async def counting(redis_url, prefix):
    """A connection with short waits, its counts, and a blocking client."""
    failures = []
    connection = Connection(redis_url, timeout=10, on_failure=failures.append)
    counts = NodeCounts(connection, prefix=prefix, version=1, budget=100, max_pages=1000, ttl=100, settle_after=20)
    with redis.Redis.from_url(redis_url) as client:
        yield counts, client, failures
    await connection.close()


def _page(number: int) -> np.ndarray:
    return np.concatenate([NODES, [np.uint64(1000 + number)]]).astype(np.uint64)


async def _count(counts, number: int, host: str = HOST):
    masses = np.append(MASSES, np.uint8(10))
    number_id = number.to_bytes(8, "big")
    return await counts.count(host, number_id, _page(number), b"c" + number_id[1:], masses)


def _settled(pages="30", labels=LABELS, expected="400.0", version="1"):
    return {"stamp": "s", "pages": pages, "labels": labels, "expected": expected, "version": version, "used": "1"}


DAMAGES = {
    "state is a list": lambda client, keys: client.rpush(keys[0], "x"),
    "nodes are a string": lambda client, keys: client.set(keys[1], "x"),
    "guard is a set": lambda client, keys: client.sadd(keys[2], "x"),
    "guard is long": lambda client, keys: client.set(keys[2], b"x" * 1_000_000),
    "contents are a list": lambda client, keys: client.rpush(keys[3], "x"),
    "contents are cut": lambda client, keys: (
        client.hset(keys[3], (1).to_bytes(8, "big"), b"x" * 13),
        client.hset(keys[0], mapping={"entries": 0, "pages": 1}),
        client.set(keys[2], (1).to_bytes(8, "big") + b"another "),
    ),
    "contents are huge": lambda client, keys: (
        client.hset(keys[3], (1).to_bytes(8, "big"), b"x" * 8_000_000),
        client.hset(keys[0], mapping={"entries": 0, "pages": 1}),
        client.set(keys[2], (1).to_bytes(8, "big") + b"another "),
    ),
    "pages are text": lambda client, keys: client.hset(keys[0], "pages", "many"),
    "pages are negative": lambda client, keys: client.hset(keys[0], "pages", "-5"),
    "pages are without end": lambda client, keys: client.hset(keys[0], "pages", "inf"),
    "pages are no number": lambda client, keys: client.hset(keys[0], "pages", "nan"),
    "undercount is huge": lambda client, keys: client.hset(keys[0], "undercount", "1e300"),
    "entries are of other lengths": lambda client, keys: (
        client.hset(keys[1], mapping={int(node).to_bytes(8, "little"): b"xyz" * int(node) for node in NODES}),
        client.hset(keys[0], mapping={"entries": len(NODES), "pages": 1}),
        client.set(keys[2], b"0123456789abcdef"),
    ),
    "labels are cut": lambda client, keys: client.hset(keys[0], mapping=_settled(labels=LABELS[:-1])),
    "labels are huge": lambda client, keys: client.hset(keys[0], mapping=_settled(labels=bytes(9 * 1_000_000))),
    "labels are missing": lambda client, keys: client.hset(keys[0], mapping={"stamp": "s", "pages": "30"}),
    "expected is text": lambda client, keys: client.hset(keys[0], mapping=_settled(expected="much")),
    "expected is no number": lambda client, keys: client.hset(keys[0], mapping=_settled(expected="nan")),
    "version is text": lambda client, keys: client.hset(keys[0], mapping=_settled(version="new")),
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_damage_is_no_evidence_and_the_host_starts_anew(counting, damage):
    counts, client, failures = counting
    keys = counts.keys(HOST)
    DAMAGES[damage](client, keys)
    looked = await counts.read(HOST, NODES)
    assert looked is None or looked.pages <= 30 or "without end" in damage
    pages = [await _count(counts, number) for number in range(1, 6)]
    assert all(evidence is not None for evidence in pages)
    if damage in {"labels are missing", "version is text"}:  # what is left makes sense
        assert pages[-1].pages in {5, 30}
    else:
        assert pages[-1].pages in {5, 6}
    other = await _count(counts, 1, "b.example")
    assert other.counted
    assert not any(failures)


async def test_an_error_of_one_key_leaves_the_breaker_closed_and_is_said_once(redis_url, prefix, caplog):
    failures = []
    connection = Connection(redis_url, timeout=10, on_failure=failures.append)
    with redis.Redis.from_url(redis_url) as client:
        client.rpush(f"{prefix}:list", "x")
    for _ in range(3):
        assert await connection.call(lambda client: client.hget(f"{prefix}:list", "x")) is None
    assert connection.is_open
    assert await connection.ping()
    assert failures == [False] * 3
    assert caplog.text.count("WRONGTYPE") == 1
    await connection.close()


async def test_a_host_lives_as_long_as_its_pages_come_again(counting):
    counts, client, _ = counting
    await _count(counts, 1)
    for key in counts.keys(HOST):
        client.expire(key, 10)
    assert not (await _count(counts, 1)).counted
    assert all(client.ttl(key) > 90 for key in counts.keys(HOST))


async def test_a_redesign_of_pages_whose_contents_are_not_held_starts_the_host_anew(counting):
    counts, client, _ = counting
    masses = np.full(10, 50, np.uint8)
    pages = 15

    async def count(design: int, number: int):
        nodes = np.arange(10, dtype=np.uint64) + np.uint64(100 * design)
        nodes[-1] = 10_000 * design + number
        return await counts.count(HOST, number.to_bytes(8, "big"), nodes, bytes([design, number] * 4), masses)

    for number in range(pages):
        evidence = await count(1, number)
    assert evidence.pages == pages
    for number in range(pages):
        client.delete(counts.keys(HOST).contents)
        evidence = await count(2, number)
    assert evidence.pages > pages / 2
    assert evidence.df[0] == evidence.pages  # its template is known, as on a host never seen before


@pytest.mark.parametrize("is_held", [True, False])
async def test_a_page_that_changes_its_story_stays_counted_once(counting, is_held):
    counts, client, _ = counting
    for number in range(6):
        await _count(counts, number)
    for version in range(20):
        if not is_held:
            client.delete(counts.keys(HOST).contents)
        nodes = np.concatenate([NODES, [np.uint64(5_000 + version)]]).astype(np.uint64)
        evidence = await counts.count(
            HOST, (0).to_bytes(8, "big"), nodes, bytes([version] * 8), np.full(41, 10, np.uint8)
        )
    assert (evidence.pages, evidence.counted) == (6, is_held)


values = st.one_of(st.binary(max_size=40), st.sampled_from([b"1e9", b"-1", b"nan", b"0x10", b" 7", b"7.5", LABELS]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    state=st.dictionaries(
        st.sampled_from(
            [
                "stamp",
                "pages",
                "undercount",
                "entries",
                "checked",
                "version",
                "labels",
                "expected",
                "changed",
                "remembered",
            ]
        ),
        values,
        max_size=8,
    ),
    nodes=st.dictionaries(st.sampled_from([int(node).to_bytes(8, "little") for node in NODES]), values, max_size=5),
    guard=st.one_of(st.binary(max_size=64), st.just((1).to_bytes(8, "big") + b"contents")),
    contents=st.dictionaries(st.sampled_from([number.to_bytes(8, "big") for number in range(3)]), values, max_size=2),
)
def test_no_contents_of_the_keys_make_a_page_fail(redis_url, prefix, state, nodes, guard, contents):
    async def look_and_count():
        failures = []
        connection = Connection(redis_url, timeout=10, on_failure=failures.append)
        options = {"budget": 30, "max_pages": 1000, "ttl": 100, "settle_after": 20}
        counts = NodeCounts(connection, prefix=prefix, version=1, **options)
        await counts.read(HOST, NODES)
        evidence = [await _count(counts, number) for number in range(3)]
        await connection.close()
        return evidence, failures

    keys = host_keys(prefix, 1, HOST)
    with redis.Redis.from_url(redis_url) as client:
        client.delete(*keys)
        if state:
            client.hset(keys[0], mapping=state)
        if nodes:
            client.hset(keys[1], mapping=nodes)
        if guard:
            client.set(keys[2], guard)
        if contents:
            client.hset(keys[3], mapping=contents)
    evidence, failures = asyncio.run(look_and_count())
    assert failures == []
    for each in evidence:
        assert each is not None
        assert (each.df >= 0).all()
        assert math.isfinite(each.undercount)
