"""Real servers for the crawler's tests: Redis or Valkey, and a web on loopback."""

import os
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from crawler.connection import Connection
from crawler.embedded import EmbeddedServer, server_binary


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real server: ``TEST_REDIS_URL`` when it is set, otherwise the embedded one."""
    if url := os.environ.get("TEST_REDIS_URL"):
        yield url
        return
    with EmbeddedServer(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


@pytest.fixture
def prefix() -> str:
    """First part of the keys of one test."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
async def connection(redis_url: str) -> AsyncIterator[Connection]:
    """A connection that waits long enough for a busy machine."""
    connection = Connection(redis_url, timeout=10)
    yield connection
    await connection.close()


class TcpServer:
    """A Valkey on a TCP port of its own, to be killed, frozen and restarted."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [server_binary(), "--port", str(self.port), "--dir", self.folder, "--save", "", *self.options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            else:
                return

    def signal(self, number: int) -> None:
        self._process.send_signal(number)
        if number == signal.SIGKILL:
            self._process.wait()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def tcp_server(tmp_path: Path) -> Iterator[Callable[..., TcpServer]]:
    """Starts servers with options of one's own."""
    started: list[TcpServer] = []

    def start(*options: str) -> TcpServer:
        server = TcpServer(tmp_path, *options)
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.stop()
