"""The near-duplicate index in memory, and that on a server or a cluster, whose verdicts are the same."""

import asyncio
import time
import uuid

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_tamis.storage import index as stored
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.index import DuplicateIndex
from scrapy_tamis.storage.keys import index_key, original_key
from tamis.duplicates import MemoryIndex, Verdict, document_id
from tests.scrapy_tamis.round_trips import counted_round_trips


def made(*numbers: int) -> np.ndarray:
    """Shingles; different numbers differ in the bits that the index uses."""
    return np.array(sorted(set(numbers)), np.uint64) << np.uint64(16)


def url(name) -> str:
    return f"http://{name}.example/"


def id_of(name) -> str:
    return document_id(url(name)).hex()


STORY = made(*range(1, 9))
OTHER = made(*range(101, 109))


def test_four_shingles_in_common_make_a_near_duplicate_of_the_first():
    index = MemoryIndex()
    assert index.find(url("a"), STORY) == Verdict(None, None, id_of("a"))
    four = np.concatenate([STORY[:4], OTHER[:4]])
    for _ in range(2):
        assert index.find(url("b"), four) == Verdict(url("a"), 0.5, id_of("a"))
    assert index.find(url("c"), np.concatenate([STORY[:3], OTHER[3:]])).duplicate_of is None
    assert index.find(url("d"), STORY) == Verdict(url("a"), 1.0, id_of("a"))


def test_of_several_originals_the_most_similar_counts():
    index = MemoryIndex()
    index.find(url("a"), made(1, 2, 3, 4, 11, 12, 13, 14))
    index.find(url("b"), made(5, 6, 7, 8, 21, 22, 23, 24))
    assert index.find(url("c"), STORY).duplicate_of == url("a")
    assert index.find(url("d"), made(4, 5, 6, 7, 8, 41, 42, 43)).duplicate_of == url("b")


def test_a_page_fetched_again_is_no_duplicate_of_itself():
    index = MemoryIndex()
    for address in ("http://a.example/?x=1&y=2", "http://a.example/?y=2&x=1"):
        assert index.find(address, STORY).duplicate_of is None
    # Nor is it one of its earlier version, which it replaces.
    changed = np.concatenate([STORY[:6], OTHER[:2]])
    assert index.find("http://a.example/?x=1&y=2", changed).duplicate_of is None


def test_a_changed_page_replaces_its_earlier_version():
    index = MemoryIndex()
    index.find(url("a"), STORY)
    index.find(url("b"), STORY)
    index.find(url("a"), OTHER)
    assert index.find(url("c"), OTHER).duplicate_of == url("a")
    # The copy's original has another text now, so the copy is the first with this one.
    assert index.find(url("b"), STORY).duplicate_of is None
    assert index.find(url("d"), STORY).duplicate_of == url("b")


def test_a_page_that_has_become_a_copy_or_empty_is_no_original_any_more():
    index = MemoryIndex()
    index.find(url("a"), STORY)
    index.find(url("b"), OTHER)
    assert index.find(url("b"), STORY).duplicate_of == url("a")
    assert index.find(url("c"), OTHER).duplicate_of is None
    assert index.find(url("a"), STORY[:0]) == Verdict()
    assert index.find(url("d"), STORY).duplicate_of is None


def test_looking_without_entering_changes_nothing():
    index = MemoryIndex()
    for _ in range(2):
        assert index.find(url("a"), STORY, enter=False) == Verdict(cluster=id_of("a"))
    assert index.find(url("b"), STORY).duplicate_of is None
    assert index.find(url("c"), STORY, enter=False).duplicate_of == url("b")
    assert index.find(url("b"), OTHER, enter=False).duplicate_of is None
    assert index.find(url("d"), STORY).duplicate_of == url("b")


def test_a_short_text_is_only_a_duplicate_of_one_with_exactly_its_shingles():
    index = MemoryIndex()
    index.find(url("long"), STORY)
    assert index.find(url("a"), STORY[:3]).duplicate_of is None
    assert index.find(url("b"), STORY[:2]).duplicate_of is None
    assert index.find(url("c"), STORY[:3]) == Verdict(url("a"), 1.0, id_of("a"))
    assert index.find(url("d"), STORY[:2]).duplicate_of == url("b")


def test_text_of_a_template_that_many_documents_share_hides_no_copies():
    index = MemoryIndex()
    template = (1, 2, 3)
    for number in range(1, 12):
        page = made(*template, *(100 * number + k for k in range(5)))
        assert index.find(url(number), page).duplicate_of is None
    assert index.find(url("near"), made(*template, 700, *range(9001, 9005))).duplicate_of == url(7)
    assert index.find(url("far"), made(1, 2, 701, *range(9011, 9016))).duplicate_of is None
    # Exact copies are found where each single shingle has another holder.
    for first in range(5001, 5009):
        index.find(url(f"of-{first}"), made(first, *range(first * 100, first * 100 + 7)))
    shared = made(*range(5001, 5009))
    assert index.find(url("shared"), shared).duplicate_of is None
    assert index.find(url("copy"), shared).duplicate_of == url("shared")


def test_with_a_least_resemblance_one_shingle_leads_and_the_sketch_decides():
    index = MemoryIndex(keep=64, min_resemblance=0.4)
    rest = range(100, 156)
    index.find(url("a"), made(*range(1, 9), *rest))
    # One of the eight smallest in common is less than the paper asks for; of all that is kept it is most.
    verdict = index.find(url("b"), made(*range(8, 16), *rest)[:64])
    assert (verdict.duplicate_of, verdict.resemblance) == (url("a"), pytest.approx(50 / 64, abs=1e-4))
    # All but one of the eight smallest are more than enough for the paper; of all that is kept they are little.
    assert index.find(url("c"), made(*range(2, 9), *range(300, 357))).duplicate_of is None
    for name, shingles in (("f", made(7001, 7002)), ("g", made(*range(2, 9), *range(400, 457)))):
        index.find(url(name), shingles)
        assert index.find(url(f"{name}-copy"), shingles).resemblance == 1.0


DOCUMENT = st.tuples(st.integers(0, 9), st.sets(st.integers(0, 24), max_size=9), st.sampled_from([True, True, False]))


@pytest.mark.parametrize("servers", ["redis_url", "cluster_url"])
@settings(max_examples=20)
@given(documents=st.lists(DOCUMENT, max_size=30), min_resemblance=st.sampled_from([None, 0.3]))
def test_memory_and_redis_agree_on_any_documents(request, servers, documents, min_resemblance):
    documents = [(url(name), made(*numbers), enter) for name, numbers, enter in documents]
    memory = MemoryIndex(keep=9, min_resemblance=min_resemblance)
    expected = [memory.find(*document, enter=enter) for *document, enter in documents]

    async def decide():
        connection = Connection(request.getfixturevalue(servers), timeout=60)
        index = DuplicateIndex(connection, f"test-{uuid.uuid4().hex}", keep=9, min_resemblance=min_resemblance)
        found = [await index.find(*document, enter=enter) for *document, enter in documents]
        await connection.close()
        return found

    assert asyncio.run(decide()) == expected


async def test_of_copies_that_come_to_many_workers_at_the_same_moment_one_is_the_original(redis_url, prefix):
    connections = [Connection(redis_url, timeout=60) for _ in range(5)]
    indexes = [DuplicateIndex(connection, prefix) for connection in connections]
    for turn in range(10):
        texts = [made(*range(100 * turn, 100 * turn + 6), 10_000 + 8 * turn + worker) for worker in range(5)]
        pages = [url(f"{turn}-{worker}") for worker in range(5)]
        found = await asyncio.gather(
            *(index.find(page, text) for index, page, text in zip(indexes, pages, texts, strict=True))
        )
        originals = [page for page, verdict in zip(pages, found, strict=True) if verdict.duplicate_of is None]
        assert len(originals) == 1
        again = [await indexes[0].find(page, text) for page, text in zip(pages, texts, strict=True)]
        assert {verdict.duplicate_of for verdict in again} == {None, *originals}
    for connection in connections:
        await connection.close()


async def test_a_document_that_shares_nothing_with_others_is_entered_in_one_round_trip(connection, prefix):
    index = DuplicateIndex(connection, prefix)
    await index.find(url("a"), STORY)  # the script is loaded
    with counted_round_trips() as trips:
        assert (await index.find(url("b"), OTHER)).duplicate_of is None
    assert len(trips) == 1
    assert (await index.find(url("c"), OTHER)).duplicate_of == url("b")


async def test_documents_are_forgotten_in_time_unless_they_are_met(connection, prefix, monkeypatch):
    index = DuplicateIndex(connection, prefix, ttl=1000)
    await index.find(url("a"), STORY)
    await index.find(url("b"), OTHER)
    names = [original_key(prefix, document_id(url("a"))), index_key(prefix, (1).to_bytes(6, "big"))]

    async def lives(commands) -> list:
        return await connection.run_commands(commands)

    assert all(900 < life <= 1000 for life in await lives([("TTL", name) for name in names]))
    await lives([("EXPIRE", name, 500) for name in names])
    await index.find(url("c"), STORY)  # too early to renew anything
    assert await lives([("TTL", name) for name in names]) <= [500, 500]
    now = time.time() + 500
    monkeypatch.setattr(stored.time, "time", lambda: now)
    assert (await index.find(url("c"), STORY)).duplicate_of == url("a")
    assert min(await lives([("TTL", name) for name in names])) > 900
    # What has expired, or was evicted, is taken over by the next document that has it.
    await lives([("DEL", original_key(prefix, document_id(url("b"))))])
    assert (await index.find(url("d"), OTHER)).duplicate_of is None
    assert (await index.find(url("e"), OTHER)).duplicate_of == url("d")


async def test_a_memory_index_forgets_what_was_met_least_recently():
    index = MemoryIndex(max_documents=2)
    index.find(url("a"), STORY)
    index.find(url("b"), OTHER)
    index.find(url("copy"), STORY)
    index.find(url("c"), made(*range(200, 208)))
    assert index.find(url("x"), STORY, enter=False).duplicate_of == url("a")
    assert index.find(url("x"), OTHER, enter=False).duplicate_of is None
    assert len(index.holders) == 18


async def test_values_of_others_cost_their_own_documents_and_no_more(connection, prefix):
    index = DuplicateIndex(connection, prefix)
    names = [original_key(prefix, document_id(url("a"))), index_key(prefix, (1).to_bytes(6, "big"))]
    await connection.run_commands([("SET", names[0], b"\xff"), ("RPUSH", names[1], "a list")])
    assert (await index.find(url("a"), STORY)).duplicate_of is None
    assert (await index.find(url("b"), STORY)).duplicate_of == url("a")


async def test_a_long_address_is_cut_and_stays_its_own(connection, prefix):
    index = DuplicateIndex(connection, prefix)
    long = [f"data:text/html,{'a' * 300_000}{number}" for number in range(2)]
    assert [(await index.find(address, STORY)).duplicate_of for address in (*long, long[0])] == [
        None,
        long[0][: stored.MAX_URL_CHARS],
        None,
    ]
