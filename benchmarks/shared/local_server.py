"""A Valkey on loopback that keeps nothing on disk, for benchmarks that compare what runs on Redis."""

from __future__ import annotations

import subprocess
import tempfile
import time
from typing import Any, Self

import redis

from benchmarks.shared.ports import ReservedPort
from scrapy_winnow.storage.embedded import server_binary


class LocalServer:
    """The server of the private Valkey, on a TCP port of its own, as a context manager.

    Args:
        options: further options of its command line.

    Attributes:
        port: its port.
        url: its address.
        client: a client of it.
    """

    def __init__(self, *options: str) -> None:
        self._options = options
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self.url = f"redis://127.0.0.1:{self.port}"
        self.client: redis.Redis = redis.Redis.from_url(self.url)

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="winnow-valkey-")
        options = ["--port", str(self.port), "--dir", self._folder.name, "--save", "", "--bind", "127.0.0.1"]
        options += self._options
        self._process = subprocess.Popen([server_binary(), *options], stdout=subprocess.DEVNULL)
        for _ in range(500):
            try:
                self.client.ping()
            except redis.ConnectionError:
                time.sleep(0.02)
            else:
                return self
        self.__exit__()
        raise RuntimeError("the server did not start")

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._process.kill()
        self._process.wait()
        self._reserved.close()
        self._folder.cleanup()

    def empty(self) -> None:
        """Delete all that the server holds, and wait until it has given its memory back."""
        self.client.execute_command("FLUSHALL", "SYNC")

    def memory(self) -> int:
        """Bytes that the server has allocated."""
        about: Any = self.client.info("memory")
        return int(about["used_memory"])
