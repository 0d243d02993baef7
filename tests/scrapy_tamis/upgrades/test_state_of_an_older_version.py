"""What an older commit has written is read, left alone, or refused with one clear line.

``host-layout-2/`` was written by commit 15832b3 with ``record.py``, which says how: hosts were counted in layout 1.2.
"""

import gzip
import json
from pathlib import Path

import pytest
from redis import Redis

from scrapy_tamis.commands import main
from scrapy_tamis.storage.keys import host_keys
from tests.scrapy_tamis.upgrades.record import PAGES, command, proxy, restore

WRITTEN = Path(__file__).with_name("host-layout-2")


@pytest.fixture
def server(tcp_server):
    """A server with the keys that the older version has left; their prefix is the default one."""
    server = tcp_server()
    with Redis.from_url(server.url) as client:
        restore(client, json.loads(gzip.decompress((WRITTEN / "redis.json.gz").read_bytes())))
    return server


def test_a_crawl_on_older_counts_counts_anew_and_leaves_them_alone(forks, server, tmp_path):
    with Redis.from_url(server.url) as client:
        before = {name: client.dump(name) for name in client.scan_iter()}
    arguments = ["-a", "url=http://stories.example/0", "-O", "items.jsonl"]
    crawl = command(tmp_path, *arguments, TAMIS_REDIS_URL=server.url, TAMIS_REDIS_TIMEOUT=10)
    with proxy() as address:
        code, _, log = forks.scrapy(*crawl, folder=tmp_path, http_proxy=address)
    assert code == 0, log

    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert [item["status"] for item in items] == ["cleaned"] * PAGES
    assert [item["evidence_pages"] for item in items[:3]] == [1, 2, 3]
    with Redis.from_url(server.url) as client:
        assert {name: client.dump(name) for name in before} == before
        assert client.exists(host_keys("tamis", "stories.example").state)


def test_an_older_profile_is_taken_over(server, capsys):
    assert main(["hosts", "--redis-url", server.url, "--prefix", "new", "--import", str(WRITTEN / "profile.json")]) == 0
    assert capsys.readouterr().out == "stories.example: settled with 3 labels\n"
