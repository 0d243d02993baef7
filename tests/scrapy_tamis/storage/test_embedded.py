import asyncio
import os
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest
import redis

from scrapy_tamis.storage.connection import Connection
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.embedded import MAX_SOCKET_BYTES, EmbeddedServer, EmbeddedServerError
from tests.scrapy_tamis.waiting import is_running, until


def _client(server: EmbeddedServer) -> redis.Redis:
    return redis.Redis.from_url(server.url, socket_timeout=60)


def _process_id(server: EmbeddedServer) -> int:
    with _client(server) as client:
        return client.info("server")["process_id"]


def test_data_is_there_again_at_the_next_start_for_the_owner_of_the_folder_alone(tmp_path):
    folder = tmp_path / "a b ü"
    with EmbeddedServer(folder) as server, _client(server) as client:
        client.set("page", b"\x00\xff")
        assert client.config_get("port")["port"] == "0"
        assert stat.S_IMODE((folder / "server.sock").stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert EmbeddedServer(folder).has_data
    (folder / "server.sock").touch()  # what a crash leaves
    (folder / "server.pid").write_text("1")
    with EmbeddedServer(folder) as server, _client(server) as client:
        assert client.get("page") == b"\x00\xff"
        assert _process_id(server) != 1


def test_the_last_one_out_stops_the_server(tmp_path):
    first, second = EmbeddedServer(tmp_path), EmbeddedServer(tmp_path)
    first.start()
    second.start()
    process_id = _process_id(first)
    assert _process_id(second) == process_id
    first.stop()
    assert _process_id(second) == process_id
    second.stop()
    until(lambda: not is_running(process_id))  # it has closed its socket, which is the last that it does
    assert not (tmp_path / "server.sock").exists()


def test_the_last_one_out_stops_a_server_whose_guard_was_killed_and_that_outlived_a_crawl(tmp_path):
    killed = EmbeddedServer(tmp_path, timeout=3600)
    killed.start()
    process_id = _process_id(killed)
    with _client(killed) as client:
        client.set("page", 1)
    os.kill(killed._guard, signal.SIGKILL)
    os.waitpid(killed._guard, 0)
    os.close(killed._users)  # as the kernel does it where a crawl is killed with its guard
    with EmbeddedServer(tmp_path, timeout=3600) as last:
        assert _process_id(last) == process_id
    until(lambda: not is_running(process_id))
    with EmbeddedServer(tmp_path) as server, _client(server) as client:
        assert client.get("page") == b"1"


def test_a_crawl_killed_with_9_leaves_no_server_behind_and_loses_nothing(tmp_path):
    code = (
        "import os, signal, sys, redis\n"
        "from scrapy_tamis.storage.embedded import EmbeddedServer\n"
        "server = EmbeddedServer(sys.argv[1])\n"
        "server.start()\n"
        "client = redis.Redis.from_url(server.url)\n"
        "client.set('page', 1)\n"
        "print(client.info('server')['process_id'], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    crawl = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert crawl.returncode == -signal.SIGKILL
    until(lambda: not is_running(int(crawl.stdout)))
    with EmbeddedServer(tmp_path) as server, _client(server) as client:
        assert client.get("page") == b"1"


def test_a_second_start_revives_a_server_that_was_killed(tmp_path):
    with EmbeddedServer(tmp_path) as server:
        with _client(server) as client:
            client.set("page", 1)
            client.execute_command("WAITAOF", 1, 0, 60_000)
        process_id, guard = _process_id(server), server._guard
        os.kill(process_id, signal.SIGKILL)
        until(lambda: not is_running(process_id))
        server.start()
        until(lambda: not is_running(guard))
        with _client(server) as client:
            assert client.get("page") == b"1"


def test_a_server_that_does_not_answer_in_time_is_not_taken_for_one_that_is_gone(tmp_path):
    with EmbeddedServer(tmp_path) as server:
        process_id = _process_id(server)
        os.kill(process_id, signal.SIGSTOP)
        with pytest.raises(EmbeddedServerError, match=r"has not answered in 0\.2 s"):
            EmbeddedServer(tmp_path, timeout=0.2).start()
        os.kill(process_id, signal.SIGCONT)
        with EmbeddedServer(tmp_path) as other:
            assert _process_id(other) == process_id


def test_no_second_server_gets_the_data_of_one_whose_socket_was_deleted(tmp_path):
    with EmbeddedServer(tmp_path) as server, _client(server) as client:
        client.ping()
        (tmp_path / "server.sock").rename(tmp_path / "moved.sock")
        with pytest.raises(EmbeddedServerError, match=r"has not answered in 0\.5 s"):
            EmbeddedServer(tmp_path, timeout=0.5).start()
        (tmp_path / "moved.sock").rename(tmp_path / "server.sock")


def test_the_end_of_a_server_that_was_killed_is_not_waited_for(tmp_path):
    server = EmbeddedServer(tmp_path, timeout=3600)
    server.start()
    os.kill(_process_id(server), signal.SIGKILL)
    server.stop()


def test_where_the_path_of_the_socket_is_too_long_it_is_named_from_the_working_folder(tmp_path, monkeypatch):
    folder = tmp_path / ("a ü" + "x" * MAX_SOCKET_BYTES)
    with pytest.raises(EmbeddedServerError, match=r"too long for a socket; .*TAMIS_STATE_DIR"):
        EmbeddedServer(folder / "state").start()
    monkeypatch.chdir(folder)
    with EmbeddedServer(folder / "state") as server, _client(server) as client:
        client.set("page", 1)
    with EmbeddedServer(folder / "state") as server, _client(server) as client:
        assert client.get("page") == b"1"


def test_a_server_that_cannot_read_its_data_is_a_clear_error_and_leaves_nothing_running(tmp_path):
    with EmbeddedServer(tmp_path) as server, _client(server) as client:
        client.set("page", 1)
    for file in (tmp_path / "appendonlydir").iterdir():
        file.write_bytes(b"not what a server writes\n" * 100)
    server = EmbeddedServer(tmp_path, timeout=3600)
    with pytest.raises(EmbeddedServerError, match=r"did not start; its log ends:\n.*"):
        server.start()
    server.stop()


def test_data_beyond_the_memory_goes_by_the_time_it_was_last_used(tmp_path):
    async def crawl(url: str) -> tuple[list[int], list[int], list[bool]]:
        failures: list[bool] = []
        connection = Connection(url, timeout=60, on_failure=failures.append)
        counts = NodeCounts(connection, prefix="tamis", budget=4000, max_pages=100, ttl=1000)
        seen = []
        hosts = [f"h{number}.example" for number in range(200)]
        for number, host in enumerate(hosts):
            for page in range(2):
                nodes = np.arange(1000, dtype=np.uint64) + np.uint64(1000 * page)
                evidence = await counts.count(host, page.to_bytes(8, "big"), nodes)
                seen.append(evidence.pages)
            if number == 160:
                await asyncio.sleep(1.1)  # the clock that tells the old from the new counts seconds
        left = [(await counts.read(host, nodes)).pages for host in hosts]
        await connection.close()
        return seen, left, failures

    with EmbeddedServer(tmp_path, max_bytes=4 << 20) as server, _client(server) as client:
        seen, left, failures = asyncio.run(crawl(server.url))
        assert client.info("memory")["used_memory"] < 5 << 20
        assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "volatile-lru"
    assert failures == []
    assert seen[-2:] == [1, 2]
    assert left[-1] == 2
    assert sum(left[:160]) < 300
    assert sum(left[160:]) > 70  # the server looks at some keys at a time, and may take a wrong one


def test_a_look_evicts_nothing_and_the_crawl_that_joins_it_sets_its_limit(tmp_path):
    with EmbeddedServer(tmp_path, max_bytes=64 << 20) as server, _client(server) as client:
        for number in range(100):
            client.set(f"host-{number}", b"x" * 1_000, ex=1_000)
        with EmbeddedServer(tmp_path):
            assert client.config_get("maxmemory")["maxmemory"] == str(64 << 20)
    with EmbeddedServer(tmp_path) as look, _client(look) as client:
        assert client.dbsize() == 100
        assert client.config_get("maxmemory")["maxmemory"] == "0"
    with EmbeddedServer(tmp_path) as look, EmbeddedServer(tmp_path, max_bytes=16 << 20), _client(look) as client:
        assert client.config_get("maxmemory")["maxmemory"] == str(16 << 20)
