"""Servers on loopback made one cluster: each gets as many slots as the others."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

import redis

from benchmarks.shared.local_server import LocalServer
from benchmarks.shared.ports import ReservedPort

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SLOTS: Final = 16_384
_SECONDS: Final = 120.0


def share_slots(ports: Sequence[tuple[int, int]]) -> None:
    """Part the slots among servers that were started with ``--cluster-enabled``, and wait until each knows of all.

    Args:
        ports: port of each server, and that of its bus.

    Raises:
        RuntimeError: they have not found each other in time.
    """
    for number, (port, _) in enumerate(ports):
        with redis.Redis(port=port) as client:
            first, last = SLOTS * number // len(ports), SLOTS * (number + 1) // len(ports) - 1
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            if number:
                client.execute_command("CLUSTER", "MEET", "127.0.0.1", *ports[0])
    deadline = time.monotonic() + _SECONDS
    for port, _ in ports:
        with redis.Redis(port=port) as client:
            while b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO", NEVER_DECODE=True):
                if time.monotonic() > deadline:
                    raise RuntimeError("the servers have not found each other")
                time.sleep(0.02)


@contextmanager
def local_cluster(nodes: int) -> Iterator[list[LocalServer]]:
    """Run a cluster of so many servers that keep nothing on disk."""
    with ExitStack() as stack:
        buses = [stack.enter_context(ReservedPort()).number for _ in range(nodes)]
        servers = [
            stack.enter_context(LocalServer("--cluster-enabled", "yes", "--cluster-port", str(bus))) for bus in buses
        ]
        share_slots([(server.port, bus) for server, bus in zip(servers, buses, strict=True)])
        yield servers
