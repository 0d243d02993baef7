"""What an older commit has written is read, or refused with one clear line.

``host-layout-2/`` was written by commit 15832b3 with ``record.py``, which says how: hosts were counted in layout 1.2.
"""

import gzip
import json
import shutil
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from redis import Redis

from scrapy_winnow.commands import main
from scrapy_winnow.duplicates.index import DuplicateIndex, IndexOptions
from scrapy_winnow.learning.examples import FEATURE_VERSION, Example
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.left_behind import kinds_left_behind
from tests.scrapy_winnow.upgrades.record import PAGES, Handler, crawl, restore
from winnow.fingerprints.units import FINGERPRINT_VERSION

WRITTEN = Path(__file__).with_name("host-layout-2")
ITEMS = [json.loads(line) for line in (WRITTEN / "items.jsonl").read_text().splitlines()]


@pytest.fixture
def server(tcp_server):
    """A server with the keys that the older version has left; their prefix is the default one."""
    server = tcp_server()
    with Redis.from_url(server.url) as client:
        restore(client, json.loads(gzip.decompress((WRITTEN / "redis.json.gz").read_bytes())))
    return server


def test_a_crawl_on_older_counts_says_so_once_and_goes_on_with_the_job_that_was_stopped(server, tmp_path):
    shutil.copytree(WRITTEN / "job", tmp_path / "job")
    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    log = crawl(
        tmp_path,
        f"http://127.0.0.1:{web.server_port}",
        *("-a", "url=http://stories.example/0", "-O", "items.jsonl"),
        JOBDIR="job",
        WINNOW_REDIS_URL=server.url,
        WINNOW_REDIS_TIMEOUT=10,
    )
    web.shutdown()
    web.server_close()
    (line,) = [line for line in log.splitlines() if "another version" in line]
    assert "counts of hosts (layout 1.2, now " in line
    assert "near-duplicates" not in line

    rest = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert {item["status"] for item in rest} == {"cleaned"}
    stored = [item["url"] for item in ITEMS + rest]
    assert sorted(stored) == sorted(f"http://stories.example/{number}" for number in range(PAGES))


async def test_older_near_duplicates_are_found_and_the_older_stream_is_decided(server, connection, tmp_path):
    own = Connection(server.url, timeout=10)
    index = DuplicateIndex(own, IndexOptions("winnow"))
    shingles = np.array([int(shingle, 16) for shingle in ITEMS[3]["shingles"]], np.uint64)
    verdict = await index.find("http://another.example/", shingles)
    assert verdict.duplicate_of == ITEMS[3]["url"]
    await own.close()

    out = tmp_path / "verdicts.jsonl"
    assert main(["dedup", "--redis-url", server.url, "--until-empty", "--out", str(out)]) == 0
    verdicts = [json.loads(line) for line in out.read_text().splitlines()]
    assert {line["url"] for line in verdicts} >= {item["url"] for item in ITEMS}


def test_older_examples_are_read_or_named_as_left_behind(server):
    with Redis.from_url(server.url) as client:
        names = list(client.keys("winnow:{learn}:*:of:*"))
        assert names
        if f":{FEATURE_VERSION}:".encode() in names[0]:
            for name in names:
                for data in client.hvals(name):
                    assert len(Example.from_bytes(data).words)
        else:
            (kind,) = kinds_left_behind(names, "winnow", fingerprints=FINGERPRINT_VERSION, features=FEATURE_VERSION)
            assert kind.startswith("examples and models (layout blocks-")


def test_an_older_profile_is_taken_over(server, capsys):
    assert main(["hosts", "--redis-url", server.url, "--prefix", "new", "--import", str(WRITTEN / "profile.json")]) == 0
    assert capsys.readouterr().out == "stories.example: settled with 3 labels\n"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"winnow:2:{near-duplicates}:m", ["near-duplicates (layout 2, now 3)"]),
        (b"winnow:2:{near-duplicates}:s17", ["near-duplicates (layout 2, now 3)"]),
        (b"winnow:2:{near-duplicates}:documents", []),
        (b"winnow:2:{near-duplicates}:verdicts", []),
        (b"winnow:3:{near-duplicates-13}:s1.17", []),
        (b"winnow:3:{near-duplicates}:lease:dedup", []),
    ],
)
def test_the_index_of_one_server_is_named_in_a_cluster_and_the_streams_are_not(name, expected):
    assert kinds_left_behind([name], "winnow", fingerprints=7, in_cluster=True) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"winnow:3:{near-duplicates-13}:d1.17", ["near-duplicates (layout 3, now 2)"]),
        (b"winnow:1:{near-duplicates}:m", ["near-duplicates (layout 1, now 2)"]),
        (b"winnow:2:{near-duplicates}:m", []),
        (b"winnow:0.9:{host.example:8080}:h", ["counts of hosts (layout 0.9, now 7.3)"]),
        (b"winnow:{learn}:blocks-9:of:host", ["examples and models (layout blocks-9, now blocks-10)"]),
        (b"winnow:{learn}:blocks-10:current", []),
        (b"winnowed:0.9:{host.example}:h", []),
    ],
)
def test_names_tell_what_another_version_has_written(name, expected):
    assert kinds_left_behind([name], "winnow", fingerprints=7, features="blocks-10") == expected
