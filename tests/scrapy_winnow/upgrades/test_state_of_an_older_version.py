"""What an older commit has written is read, or refused with one clear line.

``host-layout-2/`` was written by commit 15832b3 with ``record.py``, which says how: hosts were counted in layout 1.2.
"""

import gzip
import json
from pathlib import Path

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from scrapy_winnow.commands import main
from scrapy_winnow.storage.keys import find_other_layouts, host_keys, original_key
from tests.scrapy_winnow.upgrades.record import PAGES, command, proxy, restore

WRITTEN = Path(__file__).with_name("host-layout-2")


@pytest.fixture
def server(tcp_server):
    """A server with the keys that the older version has left; their prefix is the default one."""
    server = tcp_server()
    with Redis.from_url(server.url) as client:
        restore(client, json.loads(gzip.decompress((WRITTEN / "redis.json.gz").read_bytes())))
    return server


def test_a_crawl_on_older_counts_says_so_once(forks, server, tmp_path):
    arguments = ["-a", "url=http://stories.example/0", "-O", "items.jsonl"]
    crawl = command(tmp_path, *arguments, WINNOW_REDIS_URL=server.url, WINNOW_REDIS_TIMEOUT=10)
    with proxy() as address:
        code, _, log = forks.scrapy(*crawl, folder=tmp_path, http_proxy=address)
    assert code == 0, log
    (line,) = [line for line in log.splitlines() if "another version" in line]
    assert "keys winnow:1.2:*, winnow:2:* are left alone" in line

    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert [item["status"] for item in items] == ["cleaned"] * PAGES


def test_an_older_profile_is_taken_over(server, capsys):
    assert main(["hosts", "--redis-url", server.url, "--prefix", "new", "--import", str(WRITTEN / "profile.json")]) == 0
    assert capsys.readouterr().out == "stories.example: settled with 3 labels\n"


async def test_keys_tell_that_another_version_has_written_them(tcp_server, prefix):
    other = ["3:{near-duplicates-13}:d1.17", "near:5:doc:0123456789abcdef", "0.9:{host.example:8080}:h"]
    ours = [original_key(prefix, b"").decode(), *host_keys(prefix, "host.example")[:2]]
    foreign = [f"{prefix}ed:0.9:{{host.example}}:h", f"{prefix}:queue", f"{prefix}:7:requests"]
    names = [*(f"{prefix}:{name}" for name in other), *ours, *foreign]
    async with AsyncRedis.from_url(tcp_server().url) as client:  # alone there: a sample of the keys is looked at
        await client.mset(dict.fromkeys(names, ""))
        found = await find_other_layouts(client, prefix)
    assert found == [f"{prefix}:{layout}:*" for layout in ("0.9", "3", "near:5")]
