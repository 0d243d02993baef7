"""A real cluster: three servers on loopback that share the slots."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

SLOTS = 16_384
NODES = 3


@contextmanager
def running_cluster(new_server: Callable, folder: Path) -> Iterator[list]:
    """Start three servers of a class, and yield them once each knows of all slots."""
    servers = []
    for number in range(NODES):
        (node := folder / f"node-{number}").mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            bus = str(probe.getsockname()[1])
        servers.append(new_server(node, "--cluster-enabled", "yes", "--cluster-port", bus))
        servers[-1].start()
        with redis.Redis.from_url(servers[-1].url) as client:
            first, last = SLOTS * number // NODES, SLOTS * (number + 1) // NODES - 1
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", servers[0].port, servers[0].options[-1])
    deadline = time.monotonic() + 30
    for server in servers:
        with redis.Redis.from_url(server.url) as client:
            while b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO", NEVER_DECODE=True):
                assert time.monotonic() < deadline
                time.sleep(0.02)
    yield servers
    for server in servers:
        server.stop()
