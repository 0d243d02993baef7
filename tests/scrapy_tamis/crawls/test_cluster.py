"""A real cluster: each host is in one slot, and the near-duplicate index spreads over all of them."""

import asyncio
import json

import numpy as np
import redis.crc

from benchmarks.shared.servers import SLOTS
from scrapy_tamis import stats
from scrapy_tamis.commands import main
from scrapy_tamis.storage.connection import NEAR_DUPLICATES, Connection
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.index import DuplicateIndex
from scrapy_tamis.storage.keys import host_keys, near_keys
from tamis.duplicates import Windows
from tests.scrapy_tamis.waiting import SECONDS

HOSTS = [f"{letter}.example" for letter in "abcdefgh"]
NODES = np.arange(1, 40, dtype=np.uint64)


async def test_hosts_are_counted_and_settle_wherever_they_lie(cluster, prefix):
    counts = NodeCounts(cluster, prefix=prefix, budget=4000, max_pages=1024, ttl=1000, settle_after=32)
    masses = np.full(len(NODES), 40, np.uint8)
    for host in HOSTS:
        for page in range(33):
            evidence = await counts.count(host, page.to_bytes(8, "big"), NODES, masses=masses)
            if page == 30:
                read = await counts.read(host, NODES)
                assert (read.pages, read.df.tolist()) == (31, [31] * len(NODES))
        assert (evidence.stat, evidence.pages, evidence.df[0]) == (stats.PAGES_SETTLED, 32, 32)
    slots = [redis.crc.key_slot(host_keys(counts.prefix, host)[0].encode()) for host in HOSTS]
    assert {slot * 3 // SLOTS for slot in slots} == {0, 1, 2}


async def test_a_server_that_hangs_costs_near_duplicates_and_the_hosts_that_it_has(
    cluster, cluster_servers, cluster_url, prefix
):
    connection = Connection(cluster_url, timeout=60, retry_interval=0.05)
    counts = NodeCounts(connection, prefix=prefix, budget=4000, max_pages=1024, ttl=1000)
    index = DuplicateIndex(connection, prefix)
    windows = Windows(" ".join(f"word{number}" for number in range(99)))
    places = {redis.crc.key_slot(host_keys(counts.prefix, host)[0].encode()) * 3 // SLOTS: host for host in HOSTS}
    assert (await DuplicateIndex(cluster, prefix).find("http://a.example/", windows))[0].duplicate_of is None
    assert await connection.ping()
    hung = redis.crc.key_slot(near_keys(prefix, windows.keys)[0]) * 3 // SLOTS
    running = next(place for place in places if place != hung)
    cluster_servers[hung].freeze()
    try:
        connection._timeout = connection._batches._timeout = 0.5
        assert await index.find("http://b.example/", windows) is None
        connection._timeout = connection._batches._timeout = 60
        for number in range(3):
            assert (await counts.count(places[running], bytes([number] * 8), NODES)).pages == number + 1
        assert [*connection._next_probes] == [NEAR_DUPLICATES]
    finally:
        cluster_servers[hung].thaw()
    async with asyncio.timeout(SECONDS):
        while (found := await index.find("http://b.example/", windows)) is None:  # noqa: ASYNC110 - a server is one
            await asyncio.sleep(0.1)
    assert found[0].duplicate_of == "http://a.example/"
    assert NEAR_DUPLICATES not in connection._next_probes
    await connection.close()


async def test_the_calls_that_a_crawl_begins_with_all_reach_their_servers(cluster, cluster_servers, prefix):
    counts = NodeCounts(cluster, prefix=prefix, budget=4000, max_pages=1024, ttl=1000)

    def astray():
        found = []
        for server in cluster_servers:
            with redis.Redis.from_url(server.url) as client:
                found.append(client.info("errorstats").get("errorstat_MOVED", {"count": 0})["count"])
        return found

    before = astray()
    pages = [counts.count(host, bytes([number] * 8), NODES) for host in HOSTS for number in range(8)]
    assert None not in await asyncio.gather(*pages)
    assert astray() == before


def test_a_crawl_counts_and_looks_up_and_the_commands_see_it(cluster_url, web, start_crawls, prefix, capsys, tmp_path):
    urls = web.add_articles(40)
    copy = web.add("/copy", web.pages["/7"][2])
    plan = {
        "urls": [*urls, copy],
        "TAMIS_REDIS_URL": cluster_url,
        "TAMIS_REDIS_PREFIX": prefix,
        "TAMIS_REDIS_TIMEOUT": 60,
        "TAMIS_DUPLICATES": "mark",
    }
    (crawled,) = start_crawls(plan).results()
    stats = crawled.tamis_stats
    assert not {"tamis/redis/failures", "tamis/redis/outages"} & set(stats)
    assert stats["tamis/pages/counted"] + stats.get("tamis/pages/settled", 0) == len(urls)
    found = {item["url"]: item["duplicate_of"] for item in crawled.items if item["duplicate_of"]}
    assert found in ({copy: urls[7]}, {urls[7]: copy})

    server = ["--redis-url", cluster_url, "--prefix", prefix]
    assert main(["hosts", *server, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] >= 32
