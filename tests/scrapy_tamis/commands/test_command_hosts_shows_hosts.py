import asyncio
import json
import re
import time

import numpy as np
import pytest
import redis

from scrapy_tamis.commands import main
from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.keys import host_keys

TEMPLATE = np.arange(1, 13, dtype=np.uint64)


def count_pages(url, prefix, **pages):
    """Count so many pages of each host, ``.example`` left out."""

    async def run():
        connection = Connection(url, timeout=60)
        counts = NodeCounts(connection, prefix=prefix, budget=1000, max_pages=1000, ttl=1000, settle_after=32)
        for host, number in pages.items():
            for page in range(number):
                nodes = np.append(TEMPLATE, np.uint64(100 + page))
                masses = np.full(len(nodes), 20, np.uint8)
                await counts.count(f"{host}.example", page.to_bytes(8, "big"), nodes, masses=masses)
        await connection.close()

    asyncio.run(run())


@pytest.fixture
def hosts(redis_url, prefix, capsys):
    """Run the command on the tests' server and return exit code, standard output and standard error."""

    def run(*arguments):
        code = main(["hosts", "--redis-url", redis_url, "--prefix", prefix, *arguments])
        return code, *capsys.readouterr()

    return run


def _json(written):
    found = [json.loads(line) for line in written.splitlines()]
    return {record["host"]: record for record in found}


def test_every_host_is_shown_with_its_state_pages_labels_and_bytes(hosts, redis_url, prefix):
    count_pages(redis_url, prefix, news=5, shop=40)
    code, written, summary = hosts()
    assert code == 0
    lines = sorted(written.splitlines()[1:])
    assert re.fullmatch(r"news\.example +counting +5 +12 +100\.0% +at 32 +17 +\d+ +0  \d+ s ago", lines[0])
    assert re.fullmatch(r"shop\.example +settled +32 +12 +0\.0% +- +0 +\d+ +1  \d+ s ago", lines[1])
    assert re.search(r"^2 hosts, 1 of them settled, [\d,]+ bytes$", summary, re.MULTILINE)
    assert "1 host, 0 of them settled" in hosts("news.example")[2]
    found = _json(hosts("--json")[1])
    assert set(found) == {"news.example", "shop.example"}
    assert (found["shop.example"]["state"], found["shop.example"]["labels"]) == ("settled", 12)
    assert all(200 < record["bytes"] < 4000 for record in found.values())
    assert abs(found["news.example"]["used"] - time.time()) < 600


@pytest.mark.parametrize("scheme", ["redis", "redis+cluster", "redis+sentinel"])
def test_a_server_that_does_not_answer_is_an_error_that_says_so(capsys, monkeypatch, scheme):
    monkeypatch.setattr("redis.retry.sleep", lambda _: None)  # the library tries ten times
    assert main(["hosts", "--redis-url", f"{scheme}://127.0.0.1:1/{'master' if 'sentinel' in scheme else ''}"]) == 2
    assert re.match(r"tamis: Redis: .*refused", capsys.readouterr().err)


def test_hosts_can_be_named_by_name_or_address_and_unknown_ones_fail(hosts, redis_url, prefix):
    count_pages(redis_url, prefix, news=2, shop=2)
    code, written, error = hosts("--json", "https://NEWS.example/a/b", "nobody.example")
    assert set(_json(written)) == {"news.example"}
    assert code == 1
    assert error == "tamis: nobody.example: no such host was counted\n"


def test_a_prefix_with_signs_of_a_pattern_is_taken_to_the_letter(redis_url, prefix, capsys):
    count_pages(redis_url, f"{prefix}[a]*\\d", news=2)
    count_pages(redis_url, f"{prefix}axx", shop=1)
    assert main(["hosts", "--redis-url", redis_url, "--prefix", f"{prefix}[a]*\\d", "--json"]) == 0
    assert set(_json(capsys.readouterr().out)) == {"news.example"}


def test_damaged_keys_hide_no_other_host(hosts, redis_url, prefix):
    count_pages(redis_url, prefix, news=2, shop=40)
    with redis.Redis.from_url(redis_url) as client:
        client.set(host_keys(prefix, "list.example").state, "x")
        client.set(host_keys(prefix, "x").state.encode().replace(b"{x}", b"{\xff}"), "x")
        client.hset(host_keys(prefix, "shop.example").state, mapping={"pages": "many", "expected": "much"})
    code, written, _ = hosts("--json")
    assert (code, {name: host["pages"] for name, host in _json(written).items()}) == (
        0,
        {"news.example": 2, "shop.example": 0},
    )
    assert hosts("list.example")[0] == 1
    code, _, error = hosts("--export", "shop.example")
    assert (code, error.startswith("tamis: shop.example: its counts are damaged: ")) == (2, True)


def test_a_host_that_is_forgotten_is_gone_and_the_others_are_not(hosts, redis_url, prefix):
    count_pages(redis_url, prefix, news=5, shop=40)
    assert hosts("--forget", "shop.example", "news.example", "nobody.example") == (
        1,
        "shop.example: forgotten\nnews.example: forgotten\n",
        "tamis: nobody.example: no such host was counted\n",
    )
    assert hosts("--json")[1] == ""
    with redis.Redis.from_url(redis_url) as client:
        assert client.keys(f"{prefix}:*") == []


def test_a_settled_host_that_is_reopened_counts_again_and_keeps_its_version(hosts, redis_url, prefix):
    count_pages(redis_url, prefix, shop=40, news=5)
    code, written, error = hosts("--reopen", "shop.example", "news.example")
    assert (code, written, error) == (1, "shop.example: counts again\n", "tamis: news.example: is not settled\n")
    count_pages(redis_url, prefix, shop=3)
    shop = _json(hosts("--json", "shop.example")[1])["shop.example"]
    assert (shop["state"], shop["pages"], shop["label_version"]) == ("counting", 3, 1)


def test_without_the_right_to_ask_for_sizes_the_rest_is_shown_and_other_rights_are_named(tcp_server, capsys):
    user = "on", ">password", "~tamis:*", "+@all"
    server = tcp_server(*("--user", "looker", *user, "-memory"), *("--user", "blind", *user, "-hstrlen"))
    looker, blind = (server.url.replace("//", f"//{name}:password@") for name in ("looker", "blind"))
    count_pages(looker, "tamis", news=3, shop=2)
    assert main(["hosts", "--redis-url", looker, "--json"]) == 0
    found = _json(capsys.readouterr().out)
    assert {name: (each["pages"], each["bytes"]) for name, each in found.items()} == {
        "news.example": (3, None),
        "shop.example": (2, None),
    }
    assert main(["hosts", "--redis-url", blind]) == 2
    assert "hstrlen" in capsys.readouterr().err
