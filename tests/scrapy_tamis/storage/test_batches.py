"""Calls of one turn of the event loop go together, near-duplicates with the counts, each with its reply or error."""

import asyncio

import pytest

from scrapy_tamis.storage.batches import Script
from scrapy_tamis.storage.connection import COUNTS, Connection
from tests.scrapy_tamis.round_trips import counted_round_trips

ECHO = Script("return ARGV[1]")
BROKEN = Script("return redis.error_reply('ERR not this one')")
KEYS = ["key"]


@pytest.fixture
async def server(tcp_server):
    """A server of its own, whose connections can be counted."""
    server = tcp_server()
    connection = Connection(server.url, timeout=60)
    assert await connection.ping()
    yield server, connection
    await connection.close()


async def test_commands_for_near_duplicates_go_along_with_the_next_script_that_counts(server):
    server, connection = server
    assert await connection.run(ECHO, KEYS, ["load"]) == b"load"
    with counted_round_trips() as trips:
        calls = [asyncio.create_task(connection.run_commands([("ECHO", n)])) for n in range(5)]
        await asyncio.sleep(0)
        now = await connection.run(ECHO, KEYS, ["now"])
        replies = await asyncio.gather(*calls)
    assert (now, replies) == (b"now", [[b"0"], [b"1"], [b"2"], [b"3"], [b"4"]])
    assert trips == [server.port]


async def test_calls_of_pages_that_come_together_share_a_round_trip(server):
    server, connection = server
    assert await connection.run(ECHO, KEYS, ["load"]) == b"load"
    with counted_round_trips() as trips:
        calls = [connection.run(ECHO, KEYS, [str(n)]) for n in range(5)]
        looks = [connection.run_commands([("ECHO", n)]) for n in range(5)]
        assert await asyncio.gather(*calls, *looks) == [
            *(b"%d" % n for n in range(5)),
            *([b"%d" % n] for n in range(5)),
        ]
    assert trips == [server.port]


async def test_a_page_that_is_given_up_takes_no_other_with_it(server):
    _, connection = server
    calls = [asyncio.create_task(connection.run(ECHO, KEYS, [str(n)])) for n in range(3)]
    await asyncio.sleep(0)
    calls[1].cancel()
    replies = await asyncio.gather(*calls, return_exceptions=True)
    assert [replies[0], replies[2]] == [b"0", b"2"]
    assert isinstance(replies[1], asyncio.CancelledError)


async def test_a_call_that_is_refused_spoils_no_other_and_scripts_that_the_server_has_forgotten_are_loaded_again(
    server,
):
    _, connection = server
    for _ in range(2):
        calls = [connection.run(script, KEYS, [str(n)]) for n, script in enumerate([ECHO, BROKEN, ECHO])]
        assert await asyncio.gather(*calls) == [b"0", None, b"2"]
        assert COUNTS not in connection._next_probes
        await connection.call(lambda client: client.script_flush())
