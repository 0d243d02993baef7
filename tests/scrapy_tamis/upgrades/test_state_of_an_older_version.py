"""What an older commit has written is read, left alone, or refused with one clear line.

``host-layout-1/`` was written with ``record.py``, which says how, by the first version with the name Tamis.
"""

import gzip
import json
from pathlib import Path

import pytest
from redis import Redis

from scrapy_tamis.commands import main
from tests.scrapy_tamis.upgrades.record import command, proxy, restore

WRITTEN = Path(__file__).with_name("host-layout-1")


@pytest.fixture
def server(tcp_server):
    """A server with the keys that the older version has left; their prefix is the default one."""
    server = tcp_server()
    with Redis.from_url(server.url) as client:
        restore(client, json.loads(gzip.decompress((WRITTEN / "redis.json.gz").read_bytes())))
    return server


def test_a_crawl_goes_on_with_the_counts_of_an_older_version_of_the_same_layout(forks, server, tmp_path):
    arguments = ["-a", "url=http://counting.example/0", "-a", "pages=14", "-O", "items.jsonl"]
    crawl = command(tmp_path, *arguments, TAMIS_REDIS_URL=server.url, TAMIS_REDIS_TIMEOUT=10)
    with proxy() as address:
        code, _, log = forks.scrapy(*crawl, folder=tmp_path, http_proxy=address)
    assert code == 0, log

    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert [item["status"] for item in items] == ["cleaned"] * 14
    assert [item["evidence_pages"] for item in items] == [*[11] * 11, 12, 12, 12], "the 12th page settles the host"


def test_an_older_profile_is_taken_over(server, capsys):
    assert main(["hosts", "--redis-url", server.url, "--prefix", "new", "--import", str(WRITTEN / "profile.json")]) == 0
    assert capsys.readouterr().out == "stories.example: settled with 18 labels\n"
