"""What an older commit has written is read, or refused with one clear line.

``host-layout-2/`` was written by commit 15832b3 with ``record.py``, which says how: hosts were counted in layout 1.2.
"""

import gzip
import json
from pathlib import Path

import pytest
from redis import Redis

from scrapy_winnow.commands import main
from scrapy_winnow.storage.keys import describe_other_layouts
from tests.scrapy_winnow.upgrades.record import PAGES, crawl, proxy, restore

WRITTEN = Path(__file__).with_name("host-layout-2")


@pytest.fixture
def server(tcp_server):
    """A server with the keys that the older version has left; their prefix is the default one."""
    server = tcp_server()
    with Redis.from_url(server.url) as client:
        restore(client, json.loads(gzip.decompress((WRITTEN / "redis.json.gz").read_bytes())))
    return server


def test_a_crawl_on_older_counts_says_so_once(server, tmp_path):
    arguments = ["-a", "url=http://stories.example/0", "-O", "items.jsonl"]
    with proxy() as address:
        log = crawl(tmp_path, address, *arguments, WINNOW_REDIS_URL=server.url, WINNOW_REDIS_TIMEOUT=10)
    (line,) = [line for line in log.splitlines() if "another version" in line]
    assert "counts of hosts (layout 1.2, now " in line
    assert "near-duplicates (layout 2, now 4)" in line

    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert [item["status"] for item in items] == ["cleaned"] * PAGES


def test_an_older_profile_is_taken_over(server, capsys):
    assert main(["hosts", "--redis-url", server.url, "--prefix", "new", "--import", str(WRITTEN / "profile.json")]) == 0
    assert capsys.readouterr().out == "stories.example: settled with 3 labels\n"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"winnow:3:{near-duplicates-13}:d1.17", ["near-duplicates (layout 3, now 4)"]),
        (b"winnow:2:{near-duplicates}:documents", ["near-duplicates (layout 2, now 4)"]),
        (b"winnow:near:5:doc:0123456789abcdef", ["near-duplicates (layout 5, now 4)"]),
        (b"winnow:near:4:0123456789ab", []),
        (b"winnow:0.9:{host.example:8080}:h", ["counts of hosts (layout 0.9, now 7.6)"]),
        (b"winnow:7.6:{host.example}:h", []),
        (b"winnow:{learn}:blocks-9:of:host", ["examples and models of winnow learn, which is no more"]),
        (b"winnowed:0.9:{host.example}:h", []),
    ],
)
def test_names_tell_what_another_version_has_written(name, expected, monkeypatch):
    monkeypatch.setattr("scrapy_winnow.storage.keys.FINGERPRINT_VERSION", 7)
    assert describe_other_layouts([name], "winnow") == expected
