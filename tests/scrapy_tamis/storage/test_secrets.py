"""No message about a connection holds a part of the user or password of its address, whatever a server answers."""

import asyncio
import logging
import re
from contextlib import asynccontextmanager
from urllib.parse import unquote

import pytest

from scrapy_tamis.commands import main
from scrapy_tamis.messages import loggable
from scrapy_tamis.report.records import CrawlRecord
from scrapy_tamis.storage.clients import blocking_client, check_address, message_of
from scrapy_tamis.storage.connection import Connection, problem_at_start

USER, PASSWORD = "counter7", "mypassword1"
ECHO = "unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `{user}`, `{password}`, "


@asynccontextmanager
async def _server(answer: str, *, from_command: int = 1):
    """A server that gives one answer to every command, from the given one of each connection on; yields its port."""

    async def serve(reader, writer):
        number = 0
        while line := await reader.readline():
            for _ in range(2 * int(line[1:])):
                await reader.readline()
            number += 1
            writer.write(f"-{answer}\r\n".encode() if number >= from_command else b"+OK\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


SAYS = {
    "no HELLO": (f"ERR {ECHO}", "lacks a command: use Valkey, or Redis from version 6.2 on"),
    "no HELLO, as Redis 7 says it": (
        "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' '{user}' '{password}' ",
        "lacks a command",
    ),
    "a wrong password": ("WRONGPASS invalid username-password pair or user is disabled.", "refused the password"),
    "protected mode": (
        "DENIED Redis is running in protected mode because protected mode is enabled and no password is set",
        "is in protected mode",
    ),
    "a user without rights": ("NOPERM User {user} has no permissions to run the 'ping' command", "refused a command"),
    "a replica without its master": ("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set", None),
    "too many clients": ("ERR max number of clients reached", None),
    "an error that quotes": ("ERR what is {password}", None),
    "an error that steers a terminal": ("ERR \x1b]0;what\x07 is \x9b{password}", None),
}


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize("options", ["", "?protocol=3"])
async def test_what_a_server_says_is_told_without_user_and_password(says, options, caplog, capsys, monkeypatch):
    answer, expected = SAYS[says]
    caplog.set_level(logging.DEBUG, "scrapy_tamis")
    async with _server(answer.format(user=USER, password=PASSWORD)) as port:
        url = f"redis://{USER}:{PASSWORD}@127.0.0.1:{port}/0{options}"
        problem = await asyncio.to_thread(problem_at_start, url, "tamis", 60)
        assert problem is None if expected is None else expected in problem
        connection = Connection(url, timeout=60)
        assert not await connection.ping()
        await connection.close()
        commands = (["hosts"], ["hosts", "--forget", "a.example"])
        for command in commands:
            assert await asyncio.to_thread(main, [*command, "--redis-url", url]) == 2
    told = f"{problem} {caplog.text} {capsys.readouterr()}"
    assert "Redis" in caplog.text
    for secret in (USER, PASSWORD):
        assert not re.search(rf"{secret}", told)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", told)


async def test_a_replica_without_its_master_is_an_outage_and_too_many_connections_say_so(caplog):
    for says, expected in (("a replica without its master", "is unreachable"), ("too many clients", "maxclients")):
        failures = []
        async with _server(SAYS[says][0]) as port:
            connection = Connection(f"redis://127.0.0.1:{port}", timeout=60, on_failure=failures.append)
            assert not await connection.ping()
            await connection.close()
        assert failures == [True]
        assert expected in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "rediss://user9:?S3cr3tPa55@h.example:6380/0?ssl_cert_reqs=none",
        "redis://user9:S3cr3tPa55?x@h.example:6380/0",
        "redis://user9:S3cr3tPa55#x@h.example:6380/0",
        "redis://user9:S3cr3tPa55/x@h.example:6380/0",
        "redis://user9:S3cr3tPa55[x@h.example:6380/0",
        "redis://user9:x:S3cr3tPa55@h.example:port/0",
        "redis+sentinel://user9:S3cr3tPa55?x@h.example,i.example/name",
        "redis+sentinel://h.example/name?sentinel_username=user9&sentinel_password=S3cr3tPa55&colour=red",
        "REDIS://user9:S3cr3tPa55@h.example",
        "redis://user9:S3cr3tPa55@h.example?retry=x",
        "redis://user9:S3cr3tPa55@h.example?decode_responses=True",
        "redis://user9:S3cr3tPa55@h.example?protocol=S3cr3tPa55",
    ],
)
def test_a_wrong_address_is_one_message_without_user_and_password(url):
    problem = check_address(url)
    assert problem
    assert not re.search("user9|S3cr3tPa55", problem)


@pytest.mark.parametrize("password", ["p", "word", "p:w", "%2Fslash", "a?b", "é", "a.b*c", "x y"])
def test_a_password_is_found_in_a_message_as_it_is_written_and_decoded(password):
    url = f"redis://user9:{password}@h.example:6379?sentinel_password=other8"

    words = f"of user9 by `{password}` and '{unquote(password)}' and other8, with args beginning with: `{password}`"
    message = message_of(ValueError(words), url)
    assert message == "ValueError: of *** by `***` and '***' and ***"


def test_no_message_of_a_crawl_has_a_key_of_an_address():
    message = "at <GET https://ann:pw7@a.example/x?q=1&api_key=k7&X-Amz-Signature=s7;session=i7#top> \x1b[31mred\nline"
    said = "at <GET https://***@a.example/x?q=1&api_key=***&X-Amz-Signature=***;session=***#top> [31mred line"
    assert loggable(message) == said
    record = CrawlRecord()
    record.add_error(message)
    assert list(record.errors) == [said]


async def test_servers_get_no_command_that_users_are_refused_and_old_ones_do_not_know(tcp_server, cluster_url):
    server = tcp_server()
    for url in (f"redis://127.0.0.1:{server.port}", cluster_url):
        with blocking_client(url) as client:
            client.config_resetstat()  # what looked whether the server is up is another's
        connection = Connection(url, timeout=60)
        assert await connection.ping()
        await connection.close()
        with blocking_client(url) as client:
            found = client.info("commandstats")
            assert "cmdstat_ping" in str(found)
            assert "setinfo" not in str(found)
            assert "errorstat_ERR" not in str(client.info("errorstats"))
