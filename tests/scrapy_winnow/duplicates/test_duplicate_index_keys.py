"""The index in Redis: its keys, how long they live, and what is lost with them."""

import numpy as np
import pytest

from scrapy_winnow.duplicates.index import DuplicateIndex, IndexOptions


def made(*numbers: int) -> np.ndarray:
    """Shingles; different numbers differ in the bits that the index goes by."""
    return np.array(sorted(set(numbers)), np.uint64) << np.uint64(16)


STORY = made(*range(1, 9))
OTHER = made(*range(101, 109))


def _url(name) -> str:
    return f"http://{name}.example/"


async def test_a_batch_is_decided_in_its_order(connection, prefix):
    index = DuplicateIndex(connection, IndexOptions(prefix))
    verdicts = await index.find_all([(_url("a"), STORY), (_url("b"), OTHER), (_url("c"), STORY), (_url("d"), OTHER)])
    assert [verdict.duplicate_of for verdict in verdicts] == [None, None, _url("a"), _url("b")]


async def test_every_key_goes_by_itself_when_nobody_uses_the_index_any_more(connection, prefix):
    index = DuplicateIndex(connection, IndexOptions(prefix, ttl=1000, cap=100))
    for number in range(60):
        await index.find(_url(number), made(*range(8 * number, 8 * number + 8)))
    keys = await connection.call(lambda client: client.keys(f"{prefix}:*"))
    assert len(keys) > 10
    for key in keys:
        assert 0 < await connection.call(lambda client, key=key: client.ttl(key)) <= 3000


async def test_the_keys_of_a_document_that_is_met_live_on_with_it(connection, prefix):
    options = IndexOptions(prefix, ttl=1000, cap=100)
    index = DuplicateIndex(connection, options)
    await index.find_all([(_url("a"), STORY)], now=5000)
    keys = await connection.call(lambda client: client.keys(options.key("[sd]*")))
    assert len(keys) > 3
    for key in keys:
        await connection.call(lambda client, key=key: client.expire(key, 50))
    await index.find_all([(_url("copy"), STORY)], now=5010)
    await index.find_all([(_url("b"), STORY[:0])], now=6000)  # a is due, has been met, and gets another turn
    assert (await index.find_all([(_url("x"), STORY)], now=6000, enter=False))[0].duplicate_of == _url("a")
    for key in keys:
        assert await connection.call(lambda client, key=key: client.ttl(key)) > 2000


async def test_the_first_write_of_a_period_gives_a_key_another_life(connection, prefix):
    options = IndexOptions(prefix, ttl=1000, cap=1)
    index = DuplicateIndex(connection, options)

    async def enter(now, first) -> None:
        documents = [(_url(number), made(*range(8 * number, 8 * number + 8))) for number in range(first, first + 40)]
        await index.find_all(documents, now=now)

    await enter(5000, 0)
    keys = await connection.call(lambda client: client.keys(options.key("[sd]*")))
    for key in keys:
        await connection.call(lambda client, key=key: client.expire(key, 50))
    await enter(5999, 100)
    assert max([await connection.call(lambda client, key=key: client.ttl(key)) for key in keys]) <= 50
    await enter(6000, 200)
    assert min([await connection.call(lambda client, key=key: client.ttl(key)) for key in keys]) > 2000


@pytest.mark.parametrize("lost", ["d", "s", "m", "q"])
async def test_keys_that_a_server_has_evicted_cost_no_more_than_what_they_held(connection, prefix, lost):
    options = IndexOptions(prefix, cap=10)
    index = DuplicateIndex(connection, options)
    for name in ("a", "b"):
        await index.find(_url(name), STORY)
    for key in await connection.call(lambda client: client.keys(options.key(f"{lost}*"))):
        await connection.call(lambda client, key=key: client.delete(key))
    assert (await index.find(_url("b"), STORY)).duplicate_of in {None, _url("a")}
    for number in range(30):
        shingles = made(*range(8 * number, 8 * number + 8))
        assert (await index.find(_url(number), shingles)).duplicate_of in {None, _url("a"), _url("b")}
        assert (await index.find(_url("copy"), shingles)).duplicate_of is not None


async def test_a_short_text_is_found_again_after_its_keys_were_lost(connection, prefix):
    options = IndexOptions(prefix)
    index = DuplicateIndex(connection, options)
    for lost, first, second in (("d", "a", "b"), ("s", "c", "d")):
        short = made(*range(ord(lost), ord(lost) + 2))
        await index.find(_url(first), short)
        for key in await connection.call(lambda client, lost=lost: client.keys(options.key(f"{lost}*"))):
            await connection.call(lambda client, key=key: client.delete(key))
        assert (await index.find(_url(second), short)).duplicate_of is None
        await index.find(_url(first), STORY)  # whatever is left of the first does not belong to the second
        assert (await index.find(_url("copy"), short)).duplicate_of == _url(second)
