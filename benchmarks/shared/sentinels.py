"""Sentinels on loopback that watch a server and its replica, and make the replica the master when the server dies."""

from __future__ import annotations

import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final

import redis

from benchmarks.shared.ports import ReservedPort
from scrapy_winnow.storage.embedded import server_binary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MASTER: Final = "mymaster"
_NUMBER: Final = 3
_CONFIG: Final = """\
port {port}
dir {folder}
sentinel monitor {name} 127.0.0.1 {master} 2
sentinel down-after-milliseconds {name} 1000
sentinel failover-timeout {name} 4000
"""
_PROTECTED: Final = "requirepass {0}\nsentinel sentinel-pass {0}\n"
_SECONDS: Final = 120.0


@contextmanager
def running_sentinels(
    master: int, folder: Path, password: str | None = None
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start three, and yield their addresses behind one another, and their processes, once they see all there is.

    Args:
        master: port of the server, which has one replica.
        folder: for what they write.
        password: of the Sentinels, not of the server.

    Raises:
        RuntimeError: they have not found each other and the replica in time.
    """
    with ExitStack() as stack:
        ports = [stack.enter_context(ReservedPort()).number for _ in range(_NUMBER)]
        processes = []
        for port in ports:
            file = folder / f"sentinel-{port}.conf"
            lines = _CONFIG.format(port=port, folder=folder, master=master, name=MASTER)
            file.write_text(lines + (_PROTECTED.format(password) if password else ""), encoding="utf-8")
            command = [server_binary(), str(file), "--sentinel"]
            processes.append(stack.enter_context(subprocess.Popen(command, stdout=subprocess.DEVNULL)))
            stack.callback(processes[-1].kill)
        deadline = time.monotonic() + _SECONDS
        while not all(_sees_all(port, password) for port in ports):
            if time.monotonic() > deadline:
                raise RuntimeError("the Sentinels have not found each other")
            time.sleep(0.05)
        yield ",".join(f"127.0.0.1:{port}" for port in ports), processes


def _sees_all(port: int, password: str | None) -> bool:
    with suppress(redis.ConnectionError), redis.Redis(port=port, password=password) as client:
        seen = client.sentinel_masters()[MASTER]
        return (seen["num-slaves"], seen["num-other-sentinels"]) == (1, _NUMBER - 1)
    return False
