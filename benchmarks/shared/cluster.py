"""Servers on loopback made one cluster: each gets as many slots as the others."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import redis

if TYPE_CHECKING:
    from collections.abc import Sequence

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
