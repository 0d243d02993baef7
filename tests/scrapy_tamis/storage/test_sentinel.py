"""A master that real Sentinels watch: crawls find it, follow to the next one, and say what is wrong with an address."""

import asyncio
import signal

import numpy as np
import pytest

from benchmarks.shared.servers import running_sentinels
from scrapy_tamis.storage.clients import blocking_client
from scrapy_tamis.storage.connection import Connection, problem_at_start
from scrapy_tamis.storage.counts import NodeCounts

NODES = np.arange(40, dtype=np.uint64)


@pytest.fixture
def sentinels(tcp_server, tmp_path):
    """Starts a master with a replica and three Sentinels."""
    running = []

    def start(password=None):
        master = tcp_server("--repl-diskless-sync-delay", "0")
        tcp_server("--replicaof", "127.0.0.1", str(master.port))
        running.append(running_sentinels(master.port, tmp_path, password))
        return master, *running[-1].__enter__()

    yield start
    for each in running:
        each.__exit__(None, None, None)


async def test_a_crawl_goes_on_with_the_next_master_and_counts_no_page_twice(sentinels, prefix):
    master, hosts, processes = sentinels()
    url = f"redis+sentinel://{hosts}/mymaster/0"
    connection = Connection(url, timeout=60, retry_interval=0.05)
    counts = NodeCounts(connection, prefix=prefix, budget=1000, max_pages=1000, ttl=60)

    async def count(page):
        evidence = await counts.count("a.example", page.to_bytes(8, "big"), NODES)
        return evidence and (evidence.pages, set(evidence.df.tolist()))

    for page in range(1, 9):
        assert await count(page) == (page, {page})
    assert await connection.call(lambda client: client.wait(1, 60_000)) == 1
    processes[0].send_signal(signal.SIGSTOP)
    master.kill()
    connection._timeout = connection._batches._timeout = 0.5  # which the stopped Sentinel costs each time it is asked
    async with asyncio.timeout(120):
        while (seen := await count(9)) is None:  # noqa: ASYNC110 - the breaker has no event to wait for
            await asyncio.sleep(0.05)
    assert seen == (9, {9})
    connection._timeout = connection._batches._timeout = 60
    assert await count(5) == (9, {9})
    await connection.close()
    processes[0].send_signal(signal.SIGCONT)
    with blocking_client(url) as client:
        assert client.config_get("port") != {"port": str(master.port)}


def test_what_will_never_work_with_sentinels_is_said_at_the_start_with_what_to_do(sentinels, port):
    master, hosts, _ = sentinels("secret")
    for url, said in (
        (f"redis+sentinel://{hosts}/mymaster?sentinel_password=secret", None),
        (f"redis+sentinel://127.0.0.1:{port}/mymaster", None),
        (f"redis+sentinel://{hosts}/other?sentinel_password=secret", "check the name after the hosts"),
        (f"redis+sentinel://{hosts}/mymaster", "sentinel_password="),
        (f"redis+sentinel://{hosts}/mymaster?sentinel_password=wrong", "sentinel_password="),
        (f"redis+sentinel://127.0.0.1:{master.port}/mymaster", "is not a Sentinel"),
        (f"redis+sentinel://{hosts}/mymaster/99?sentinel_password=secret", "no such database"),
        (f"redis://:secret@{hosts.split(',')[0]}", "use redis+sentinel://"),
    ):
        problem = problem_at_start(url, "tamis", timeout=60)
        assert problem is None if said is None else said in problem, url
        assert "secret" not in (problem or "").replace("sentinel_password=", "")
