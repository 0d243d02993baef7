"""All keys of a host, of the index and of the reservoir are in one slot each: a real cluster takes them."""

import json
import socket
import time

import numpy as np
import pytest
import redis
import redis.crc

from scrapy_winnow.commands import main
from scrapy_winnow.hosts.counts import NodeCounts
from scrapy_winnow.storage.connection import Connection

SLOTS = 16_384
HOSTS = [f"{letter}.example" for letter in "abcdefgh"]
NODES = np.arange(1, 40, dtype=np.uint64)


@pytest.fixture(scope="module")
def cluster_url(tmp_path_factory, new_tcp_server):
    """Address of one of three servers that share the slots."""
    servers = []
    for number in range(3):
        folder = tmp_path_factory.mktemp(f"node-{number}")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            bus = str(probe.getsockname()[1])
        servers.append(new_tcp_server(folder, "--cluster-enabled", "yes", "--cluster-port", bus))
        servers[-1].start()
        with redis.Redis.from_url(servers[-1].url) as client:
            first, last = SLOTS * number // 3, SLOTS * (number + 1) // 3 - 1
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", servers[0].port, servers[0].options[-1])
    deadline = time.monotonic() + 30
    for server in servers:
        with redis.Redis.from_url(server.url) as client:
            while b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO", NEVER_DECODE=True):
                assert time.monotonic() < deadline
                time.sleep(0.02)
    yield f"redis+cluster://127.0.0.1:{servers[0].port}"
    for server in servers:
        server.stop()


@pytest.fixture
async def cluster(cluster_url):
    connection = Connection(cluster_url, timeout=10)
    yield connection
    await connection.close()


async def test_hosts_are_counted_and_settle_wherever_they_lie(cluster, prefix):
    counts = NodeCounts(cluster, prefix=prefix, version=1, budget=4000, most_pages=1024, ttl=1000, settle_after=32)
    masses = np.full(len(NODES), 40, np.uint8)
    for host in HOSTS:
        for page in range(33):
            evidence = await counts.count(host, page.to_bytes(8, "big"), NODES, masses=masses)
            if page == 30:
                read = await counts.read(host, NODES)
                assert (read.pages, read.df.tolist()) == (31, [31] * len(NODES))
        assert (evidence.settled, evidence.pages, evidence.df[0]) == (True, 32, 32)
    slots = [redis.crc.key_slot(counts.keys(host)[0].encode()) for host in HOSTS]
    assert {slot * 3 // SLOTS for slot in slots} == {0, 1, 2}


def test_a_crawl_counts_looks_up_streams_and_teaches_and_the_commands_see_it(
    cluster_url, web, start_crawls, prefix, capsys, tmp_path
):
    urls = web.add_articles(40)
    plan = {"urls": urls, "WINNOW_REDIS_URL": cluster_url, "WINNOW_REDIS_PREFIX": prefix, "WINNOW_REDIS_TIMEOUT": 10}
    (crawled,) = start_crawls({**plan, "WINNOW_LEARN": True, "WINNOW_DUPLICATES_STREAM": True}).results()
    stats = crawled.winnow_stats
    assert not {"winnow/redis/failures", "winnow/redis/outages"} & set(stats)
    assert stats["winnow/pages/counted"] + stats.get("winnow/pages/settled", 0) == len(urls)
    assert stats["winnow/items/streamed"] == len(urls)
    assert stats["winnow/learning/examples"] > 0

    server = ["--redis-url", cluster_url, "--prefix", prefix]
    assert main(["hosts", *server, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] >= 32
    assert main(["dedup", *server, "--until-empty", "--out", str(tmp_path / "verdicts.jsonl")]) == 0
    verdicts = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    assert {verdict["url"] for verdict in verdicts} == set(urls)
    capsys.readouterr()
    assert main(["learn", *server, "--status"]) == 0
    assert "examples  1 hosts" in capsys.readouterr().out
