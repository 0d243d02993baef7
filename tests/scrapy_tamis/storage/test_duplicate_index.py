"""The near-duplicate index in memory, and that on a server or a cluster, whose verdicts are the same."""

import asyncio
import time
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_tamis.storage import index as stored
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.index import DuplicateIndex
from scrapy_tamis.storage.keys import near_keys
from tamis import duplicates
from tamis.duplicates import MemoryIndex, Verdict, Windows
from tests.scrapy_tamis.round_trips import counted_round_trips


def url(name) -> str:
    return f"http://{name}.example/"


def words(story, number: int = 200) -> list[str]:
    """Words that no other story has."""
    return [f"{story}word{n}" for n in range(number)]


def changed(story, fraction: float) -> str:
    """A story of 400 words whose last ones are others, so that this fraction of the windows of both is not in both."""
    same = round(400 * (1 - fraction) / (1 + fraction)) if fraction else 400
    return " ".join(words(story, same)) + (" and " + " ".join(words(f"{story}-{fraction}", 200)) if fraction else "")


def text(story) -> str:
    return " ".join(words(story))


def test_a_text_with_nearly_all_windows_of_an_earlier_one_is_its_near_duplicate():
    index = MemoryIndex()
    assert index.find(url("a"), text("storm")) == Verdict()
    assert index.find(url("b"), text("flood")) == Verdict()
    assert index.find(url("c"), text("storm")) == Verdict(url("a"), 1.0)
    more = index.find(url("d"), f"{text('storm')} and what has come of it since then in town")
    assert (more.duplicate_of, more.resemblance) == (url("a"), pytest.approx(195 / 205, abs=0.02))
    half = " ".join(words("storm", 150) + words("since", 60))
    assert index.find(url("e"), half) == Verdict()


def test_of_several_originals_the_most_similar_one_counts():
    index = MemoryIndex()
    index.find(url("a"), " ".join(words("storm", 240) + words("a", 60)))
    index.find(url("b"), " ".join(words("storm", 240) + words("b", 60)))
    assert index.find(url("c"), " ".join(words("storm", 240) + words("a", 50))).duplicate_of == url("a")
    assert index.find(url("d"), " ".join(words("storm", 240) + words("b", 50))).duplicate_of == url("b")


def test_a_page_fetched_again_is_no_duplicate_of_itself():
    index = MemoryIndex()
    for address in ("http://a.example/?x=1&y=2", "http://a.example/?y=2&x=1"):
        assert index.find(address, text("storm")) == Verdict()
    # Nor is it one of its earlier version.
    assert index.find("http://a.example/?x=1&y=2", f"{text('storm')} and more of it") == Verdict()
    assert index.find(url("b"), f"{text('storm')} and more of it").duplicate_of == "http://a.example/?x=1&y=2"


def test_a_page_with_another_text_is_an_original_of_that_too():
    index = MemoryIndex()
    index.find(url("a"), text("storm"))
    index.find(url("a"), text("flood"))
    assert index.find(url("b"), text("flood")).duplicate_of == url("a")
    assert index.find(url("c"), text("storm")).duplicate_of == url("a")


def test_a_short_text_is_a_duplicate_of_the_same_words_only():
    index = MemoryIndex()
    for number in (1, 5, 12, 29):
        assert index.find(url(number), " ".join(words("storm", number))) == Verdict()
        assert index.find(url(f"{number}-again"), " ".join(words("STORM", number))) == Verdict(url(number), 1.0)
    assert index.find(url("empty"), " ... ") == index.find(url("empty-too"), "") == Verdict()


def test_reports_of_one_series_hide_no_copies_of_each_other():
    index = MemoryIndex()
    reports = [" ".join(words("weather", 140) + words(day, 60)) for day in range(6)]
    for day, report in enumerate(reports):
        assert index.find(url(day), report) == Verdict()
    for day, report in enumerate(reports):
        assert index.find(url(f"copy-{day}"), report) == Verdict(url(day), 1.0)


def test_the_least_resemblance_may_be_another():
    strict, lax = MemoryIndex(min_resemblance=1), MemoryIndex(min_resemblance=0.5)
    for index in (strict, lax):
        index.find(url("a"), text("storm"))
    longer = " ".join(words("storm") + words("since", 60))
    assert strict.find(url("b"), longer) == strict.find(url("b"), f"{text('storm')} more") == Verdict()
    assert strict.find(url("c"), text("storm")).duplicate_of == url("a")
    assert lax.find(url("b"), longer).duplicate_of == url("a")


def test_a_memory_index_forgets_what_was_met_least_recently():
    index = MemoryIndex(max_documents=2)
    for name, story in (("a", "storm"), ("b", "flood"), ("copy", "storm"), ("c", "drought")):
        index.find(url(name), text(story))
    assert index.find(url("x"), text("storm")).duplicate_of == url("a")
    assert index.find(url("x"), text("flood")) == Verdict()
    for number in range(9):
        index.find(url(number), text(number))
    assert len(index._originals) == len(index._aliases) == 2


DOCUMENT = st.tuples(
    st.integers(0, 9), st.sampled_from(["storm", "flood"]), st.sampled_from([0, 0.05, 0.15, 0.3, 0.45]), st.booleans()
)


@pytest.mark.parametrize("servers", ["redis_url", "cluster_url"])
@settings(max_examples=12)
@given(documents=st.lists(DOCUMENT, max_size=30), least=st.sampled_from([0.8, 0.5]))
def test_memory_and_redis_agree_on_any_documents(request, servers, documents, least):
    documents = [
        (url(name), " ".join(words(story, 9)) if is_short else changed(story, fraction))
        for name, story, fraction, is_short in documents
    ]
    memory = MemoryIndex(min_resemblance=least)
    expected = [memory.find(*document) for document in documents]

    async def decide():
        connection = Connection(request.getfixturevalue(servers), timeout=60)
        index = DuplicateIndex(connection, f"test-{uuid.uuid4().hex}", min_resemblance=least)
        found = []
        for address, document in documents:
            looked = await index.find(address, Windows(document), enter=False)
            found.append(await index.find(address, Windows(document)))
            assert looked[0] == found[-1][0]
        await connection.close()
        return [verdict for verdict, _ in found]

    assert asyncio.run(decide()) == expected


@pytest.mark.parametrize("shared_words", [0, 140], ids=["of no series", "of a series"])
async def test_of_copies_that_come_to_many_workers_at_the_same_moment_one_is_the_original(
    redis_url, prefix, shared_words
):
    connections = [Connection(redis_url, timeout=60) for _ in range(5)]
    indexes = [DuplicateIndex(connection, prefix) for connection in connections]
    for turn in range(10):
        report = " ".join(words(turn, 200 - shared_words) + words(f"series-{turn}", shared_words))
        earlier = " ".join(words(f"earlier-{turn}", 60) + words(f"series-{turn}", shared_words))
        await indexes[0].find(url(f"earlier-{turn}"), Windows(earlier))
        texts = [Windows(f"{report} as {worker} says") for worker in range(5)]
        pages = [url(f"{turn}-{worker}") for worker in range(5)]
        found = await asyncio.gather(
            *(index.find(page, text) for index, page, text in zip(indexes, pages, texts, strict=True))
        )
        originals = [page for page, (verdict, _) in zip(pages, found, strict=True) if verdict.duplicate_of is None]
        assert len(originals) == 1
        again = [await indexes[0].find(page, text) for page, text in zip(pages, texts, strict=True)]
        assert {verdict.duplicate_of for verdict, _ in again} == {None, *originals}
    for connection in connections:
        await connection.close()


async def test_new_documents_copies_and_pages_that_come_again_take_one_round_trip(connection, prefix):
    index = DuplicateIndex(connection, prefix)
    await index.find(url("a"), Windows(text("storm")))  # the script is loaded
    for name, story in (("b", "flood"), ("c", "flood"), ("b", "flood"), ("c", "flood")):
        with counted_round_trips() as trips:
            verdict, _ = await index.find(url(name), Windows(text(story)))
        assert (len(trips), verdict.duplicate_of) == (1, url("b") if name == "c" else None)


async def test_an_original_is_two_keys_and_a_copy_none(connection, prefix):
    index = DuplicateIndex(connection, prefix)
    for name in ("a", "b", "c"):
        await index.find(url(name), Windows(text("storm")))
    names = await connection.call(lambda client: client.keys(f"{prefix}:*"))
    assert sorted(names) == sorted(near_keys(prefix, Windows(text("storm")).keys[:2]))


async def test_originals_are_forgotten_in_time_unless_they_are_met_where_they_are(connection, prefix):
    index, windows = DuplicateIndex(connection, prefix, ttl=1000), Windows(text("storm"))
    names = near_keys(prefix, windows.keys[:2])

    async def lives() -> list:
        return await connection.run_commands([("TTL", name) for name in names])

    await index.find(url("a"), windows)
    assert all(900 < life <= 1000 for life in await lives())
    await connection.run_commands([("EXPIRE", name, 500) for name in names])
    _, record = await index.find(url("copy"), windows)
    await index.set_kept(record, 7)
    assert all(400 < life <= 500 for life in await lives())
    assert (await index.find(url("copy"), windows))[1].kept == 7
    verdict, record = await index.find(url("a"), windows)
    assert verdict == Verdict()
    assert all(900 < life <= 1000 for life in await lives())
    assert time.time() - 60 < record.kept <= time.time()
    # What has expired, or was evicted, is taken over by the next document that has it.
    await connection.run_commands([("DEL", names[0])])
    assert (await index.find(url("b"), windows))[0] == Verdict()
    assert (await index.find(url("c"), windows))[0].duplicate_of == url("b")


@pytest.mark.parametrize("value", [b"\xff", b"\x00\x06homes!\x00", b"\x00\x30" + b"\xff" * 48, b"\x00\xff" * 90])
async def test_values_of_others_cost_their_own_documents_and_no_more(connection, cluster, prefix, value):
    for client in (connection, cluster):
        index, windows = DuplicateIndex(client, prefix), Windows(text("storm"))
        names = near_keys(prefix, windows.keys[:3])
        await client.run_commands([("SET", names[0], value), ("RPUSH", names[1], "a list"), ("SET", names[2], value)])
        assert (await index.find(url("a"), windows))[0].duplicate_of is None
        assert (await index.find(url("b"), windows))[0].duplicate_of == url("a")


async def test_a_long_address_is_cut_and_stays_its_own(connection, prefix):
    index, windows = DuplicateIndex(connection, prefix), Windows(text("storm"))
    long = [f"data:text/html,{'a' * 300_000}{number}" for number in range(2)]
    assert [
        (await index.find(address, windows))[0].duplicate_of for address in (*long, "http://odd.example/\ud800")
    ] == [
        None,
        None,
        long[0][: stored.MAX_URL_CHARS],
    ]


def test_the_index_asks_for_no_more_words_than_there_are():
    assert len(Windows(text("storm")).keys) == 10
    assert len(Windows(" ".join(words("storm", duplicates.MIN_WINDOWS))).keys) == 1
