"""Which examples are kept: so many hosts and pages, the same ones in whatever order and however often they come."""

import asyncio
import random
from dataclasses import fields

import pytest
from redis.crc import key_slot

from scrapy_winnow.learning.examples import FEATURE_VERSION
from scrapy_winnow.learning.priorities import host_priority, page_priority
from scrapy_winnow.learning.reservoir import Bounds, Reservoir
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.keys import LearningKeys

SALT = b"0123456789abcdef"
BOUNDS = Bounds(pages=3, hosts=4, bytes=1_000_000, ttl=60)
PAGES = [(f"host{host}.test", number.to_bytes(8, "big")) for host in range(9) for number in range(1, 6 + 3 * host)]


def _reservoir(connection: Connection, keys: LearningKeys, bounds: Bounds = BOUNDS, salt: bytes = SALT) -> Reservoir:
    reservoir = Reservoir(connection, keys, bounds)
    reservoir.update(salt, None)
    return reservoir


async def _stored(connection: Connection, keys: LearningKeys) -> dict[str, set[str]]:
    """Page priorities by host, after a check that the books agree with what is there."""

    async def ask(client):
        hosts = await client.zrange(keys.hosts, 0, -1)
        sizes = await client.hgetall(keys.sizes)
        total = int(await client.hget(keys.state, "bytes") or 0)
        stored = {}
        for host in hosts:
            pages = await client.hgetall(keys.examples + host.decode())
            assert int(sizes.pop(host)) == sum(map(len, pages.values()))
            total -= sum(map(len, pages.values()))
            stored[host.decode()] = {page.decode() for page in pages}
        assert (sizes, total) == ({}, 0)
        return stored

    return await connection.call(ask)


def _expected(bounds: Bounds = BOUNDS) -> dict[str, set[str]]:
    hosts = sorted({host for host, _ in PAGES}, key=lambda host: host_priority(host, SALT))[: bounds.hosts]
    return {
        host: set(sorted(page_priority(host, page, SALT) for other, page in PAGES if other == host)[: bounds.pages])
        for host in hosts
    }


@pytest.mark.parametrize("seed", range(3))
async def test_the_hosts_and_pages_of_the_smallest_hashes_are_kept_in_any_order_with_replays(connection, keys, seed):
    chance = random.Random(seed)
    stream = PAGES + chance.sample(PAGES, 30)
    chance.shuffle(stream)
    workers = [_reservoir(connection, keys) for _ in range(3)]
    for at in range(0, len(stream), 3):  # three workers at once, none of which knows of the others
        parts = zip(workers, stream[at : at + 3], strict=False)
        await asyncio.gather(*(w.add(host, page, page * 2) for w, (host, page) in parts if w.has_place(host, page)))
    assert await _stored(connection, keys) == _expected()


async def test_a_page_without_a_place_is_known_without_asking(connection, keys):
    reservoir = _reservoir(connection, keys)
    for host, page in PAGES:
        await reservoir.add(host, page, b"x")
    kept = _expected()
    for host, page in PAGES:
        assert reservoir.has_place(host, page) == (page_priority(host, page, SALT) in kept.get(host, set()))


async def test_nothing_has_a_place_before_the_salt_is_known(connection, keys):
    reservoir = Reservoir(connection, keys, BOUNDS)
    assert not reservoir.has_place("a.test", b"12345678")
    assert not await reservoir.add("a.test", b"12345678", b"x")
    assert await _stored(connection, keys) == {}


async def test_bytes_are_bounded_whatever_comes(connection, keys):
    bounds = Bounds(pages=3, hosts=100, bytes=1_000, ttl=60)
    reservoir = _reservoir(connection, keys, bounds)
    for number, (host, page) in enumerate(PAGES):
        await reservoir.add(host, page, bytes(50 + number))

        async def total(client):
            return int(await client.hget(keys.state, "bytes"))

        assert await connection.call(total) <= bounds.bytes
    stored = await _stored(connection, keys)
    hosts = sorted({host for host, _ in PAGES}, key=lambda host: host_priority(host, SALT))
    assert sorted(stored) == sorted(hosts[: len(stored)])
    assert 1 <= len(stored) < 9
    assert not await reservoir.add("giant.test", b"12345678", bytes(1_001))


async def test_a_replay_replaces_its_example_and_is_not_counted_again(connection, keys):
    reservoir = _reservoir(connection, keys)
    assert await reservoir.add("a.test", b"12345678", b"first")
    assert await reservoir.add("a.test", b"12345678", b"second")

    async def ask(client):
        return await client.hvals(keys.examples + "a.test"), await client.hget(keys.state, "taken")

    assert await connection.call(ask) == ([b"second"], b"1")


async def test_everything_expires_and_lost_books_are_made_anew(connection, keys):
    reservoir = _reservoir(connection, keys)
    for host, page in PAGES[:20]:
        await reservoir.add(host, page, b"xyz")

    async def lose_books(client):
        for key in (keys.hosts, keys.sizes, keys.state, keys.examples + PAGES[0][0]):
            assert 0 < await client.ttl(key) <= BOUNDS.ttl
        await client.delete(keys.state)

    await connection.call(lose_books)
    for host, page in PAGES:
        await reservoir.add(host, page, b"xyz")
    assert await _stored(connection, keys) == _expected()


async def test_a_host_whose_name_is_odd_stays_inside_its_key(connection, keys):
    reservoir = _reservoir(connection, keys)
    for host in ("%7bx%7d.test:8080", "long-00", "[::1]:80"):
        assert await reservoir.add(host, b"12345678", b"x")
    assert set(await _stored(connection, keys)) == {"%7bx%7d.test:8080", "long-00", "[::1]:80"}


def test_all_keys_are_in_one_slot_of_a_cluster_and_other_features_have_others():
    keys = LearningKeys.of("winnow", FEATURE_VERSION)
    names = [getattr(keys, field.name) for field in fields(keys)]
    assert len({key_slot(name.encode()) for name in [*names, keys.examples + "a.test", keys.examples + "b.test"]}) == 1
    other = LearningKeys.of("winnow", "blocks-7-00000000")
    assert not set(names) & {getattr(other, field.name) for field in fields(other)}
