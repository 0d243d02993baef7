import asyncio
import uuid

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.connection import Connection
from crawler.duplicates import BUCKET_CAP, DuplicateIndex
from detector.shingles import near_duplicates

STORY = np.arange(1, 9, dtype=np.uint64)
OTHER = np.arange(101, 109, dtype=np.uint64)


def _index(connection, prefix, ttl=1000) -> DuplicateIndex:
    return DuplicateIndex(connection, prefix=prefix, ttl=ttl)


async def _size(connection, prefix) -> int:
    return len(await connection.call(lambda client: client.keys(f"{prefix}:*")))


async def test_four_shingles_in_common_make_a_near_duplicate_of_the_first(connection, prefix):
    index = _index(connection, prefix)
    assert await index.find("http://a.example/", STORY) is None
    assert await index.find("http://b.example/", np.concatenate([STORY[:4], OTHER[:4]])) == "http://a.example/"
    assert await index.find("http://c.example/", np.concatenate([STORY[:3], OTHER[:5]])) is None


async def test_the_first_document_represents_its_story(connection, prefix):
    index = _index(connection, prefix)
    for name in "abcd":
        found = await index.find(f"http://{name}.example/", STORY)
        assert found == (None if name == "a" else "http://a.example/")
    assert await _size(connection, prefix) == 1 + len(STORY)


async def test_a_page_fetched_again_is_no_duplicate_of_itself(connection, prefix):
    index = _index(connection, prefix)
    for url in ("http://a.example/?x=1&y=2", "http://a.example/?y=2&x=1"):
        assert await index.find(url, STORY) is None


async def test_a_changed_page_replaces_its_own_entry(connection, prefix):
    index = _index(connection, prefix)
    await index.find("http://a.example/", STORY)
    await index.find("http://a.example/", np.concatenate([STORY[6:], OTHER[:6]]))
    assert await index.find("http://b.example/", STORY) is None
    assert await index.find("http://c.example/", OTHER) == "http://a.example/"


async def test_a_page_that_has_become_a_duplicate_gives_its_entry_up(connection, prefix):
    index = _index(connection, prefix)
    await index.find("http://a.example/", STORY)
    await index.find("http://b.example/", OTHER)
    assert await index.find("http://b.example/", STORY) == "http://a.example/"
    assert await _size(connection, prefix) == 1 + len(STORY)


async def test_looking_without_entering_writes_nothing(connection, prefix):
    index = _index(connection, prefix)
    assert await index.find("http://a.example/", STORY, enter=False) is None
    assert await _size(connection, prefix) == 0
    await index.find("http://a.example/", STORY)
    assert await index.find("http://b.example/", STORY, enter=False) == "http://a.example/"


async def test_a_document_without_shingles_is_never_a_duplicate(connection, prefix):
    index = _index(connection, prefix)
    for name in "ab":
        assert await index.find(f"http://{name}.example/", STORY[:0]) is None


async def test_a_phrase_that_everybody_uses_keeps_a_bounded_bucket(connection, prefix):
    index = _index(connection, prefix)
    for number in range(BUCKET_CAP + 10):
        own = np.array([1, *(1000 * (number + 1) + np.arange(7))], np.uint64)
        assert await index.find(f"http://{number}.example/", own) is None
    bucket = f"{prefix}:1:{{near-duplicates}}:s:".encode() + np.uint64(1).tobytes()
    assert await connection.call(lambda client: client.strlen(bucket)) == 8 * BUCKET_CAP


async def test_entries_expire_and_a_lost_record_is_passed_over(connection, prefix):
    index = _index(connection, prefix)
    await index.find("http://a.example/", STORY)
    for key in await connection.call(lambda client: client.keys(f"{prefix}:*")):
        assert 0 < await connection.call(lambda client, key=key: client.ttl(key)) <= 1000
    for key in await connection.call(lambda client: client.keys(f"{prefix}:*:d:*")):
        await connection.call(lambda client, key=key: client.delete(key))
    assert await index.find("http://b.example/", STORY) is None


async def test_a_short_text_is_only_a_duplicate_of_one_with_exactly_its_shingles(connection, prefix):
    index = _index(connection, prefix)
    await index.find("http://long.example/", STORY)
    assert await index.find("http://a.example/", STORY[:3]) is None
    assert await index.find("http://b.example/", STORY[:2]) is None
    assert await index.find("http://c.example/", STORY[:3]) == "http://a.example/"
    assert await index.find("http://d.example/", STORY[:2]) == "http://b.example/"


@given(documents=st.lists(st.frozensets(st.integers(1, 20), max_size=8), min_size=1, max_size=10))
@settings(deadline=None, max_examples=40)
def test_the_index_finds_what_comparing_with_every_original_finds(redis_url, documents):
    async def crawl() -> None:
        connection = Connection(redis_url, timeout=10)
        index = _index(connection, f"all-{uuid.uuid4().hex}", ttl=60)
        originals: dict[str, np.ndarray] = {}
        for number, document in enumerate(documents):
            own = np.array(sorted(document), np.uint64)
            found = await index.find(f"http://{number}.example/", own)
            near = [url for url, other in originals.items() if near_duplicates(other, own)]
            assert (found in near) if near else (found is None)
            if not near:
                originals[f"http://{number}.example/"] = own
        await connection.close()

    asyncio.run(crawl())
