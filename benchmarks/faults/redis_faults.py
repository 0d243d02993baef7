"""A real server on a TCP port that can be killed, frozen, filled and failed over, and a proxy whose wire can be cut."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import subprocess
import threading
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

import redis

from benchmarks.shared.cluster import share_slots
from benchmarks.shared.ports import ReservedPort
from scrapy_winnow.storage.embedded import server_binary

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import ExitStack
    from pathlib import Path

_START_SECONDS: Final = 20.0
_CHUNK: Final = 65_536


class Server:
    """A Valkey of one's own on loopback.

    Args:
        folder: where its data goes.
        options: further options of its command line.
        environment: further variables of its environment.
    """

    def __init__(self, folder: Path, *options: str, environment: Mapping[str, str] = MappingProxyType({})) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self._folder = folder
        self._options = options
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def client(self) -> redis.Redis:
        """A client of it; close it after use."""
        return redis.Redis(port=self.port)

    def start(self) -> None:
        """Start it, with the data that is in its folder.

        Raises:
            RuntimeError: it does not answer in time.
        """
        self._process = subprocess.Popen(
            [server_binary(), "--port", str(self.port), "--dir", str(self._folder), "--save", "", *self._options],
            stdout=subprocess.DEVNULL,
            env=self._environment,
            restore_signals=False,  # so that a file that may not grow is an error of the server's, and not its end
        )
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(redis.ConnectionError), self.client as client:
                client.ping()
                return
            time.sleep(0.01)
        raise RuntimeError("the server does not answer")

    def kill(self) -> None:
        """Kill it with 9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def fill_disk(self) -> None:
        """Let none of its files grow any more, as on a disk that is full."""
        self._limit_files(0)

    def empty_disk(self) -> None:
        """Let its files grow again."""
        self._limit_files(resource.RLIM_INFINITY)

    def _limit_files(self, size: int) -> None:
        if self._process is not None:
            resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def freeze(self) -> None:
        """Stop it in the middle of whatever it does; it keeps its connections and answers nothing."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def do(self, *command: str) -> None:
        """Send it one command."""
        with self.client as client:
            client.execute_command(*command)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.thaw()
        self.kill()
        self._reserved.close()


def start_cluster(stack: ExitStack, folder: Path, *options: str) -> list[Server]:
    """Start three servers that share the slots, each with some options; they end with the stack."""
    buses = [stack.enter_context(ReservedPort()).number for _ in range(3)]
    of_cluster = [("--cluster-enabled", "yes", "--cluster-port", str(bus)) for bus in buses]
    servers = [
        stack.enter_context(Server(folder / f"node-{number}", *its_own, *options))
        for number, its_own in enumerate(of_cluster)
    ]
    share_slots([(server.port, bus) for server, bus in zip(servers, buses, strict=True)])
    return servers


class Proxy:
    """A wire to a server, which can be cut: then bytes get lost without a word, as behind a firewall that drops.

    Args:
        port: port of the server on loopback.
    """

    def __init__(self, port: int) -> None:
        self.to = port
        self._cut = False
        self._closing = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the near end."""
        return f"redis://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Lose all bytes from now on."""
        self._cut = True

    def heal(self) -> None:
        """Carry bytes again; what was under way is lost, and so are its connections."""
        for connection in list(self._pairs):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._cut = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        self._thread.join()
        for connection in [self._listener, *self._pairs]:
            connection.close()

    def _run(self) -> None:
        while not self._closing:
            readable, _, _ = select.select([self._listener, *self._pairs], [], [], 0.05)
            for connection in readable:
                if connection is self._listener:
                    self._accept()
                elif connection in self._pairs:
                    self._carry(connection)

    def _accept(self) -> None:
        near, _ = self._listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self.to), 1)
        except OSError:
            near.close()
            return
        self._pairs |= {near: far, far: near}

    def _carry(self, connection: socket.socket) -> None:
        other = self._pairs[connection]
        try:
            received = connection.recv(_CHUNK)
            if received and not self._cut:
                other.sendall(received)
        except OSError:
            received = b""
        if not received:
            for end in (connection, other):
                self._pairs.pop(end, None)
                end.close()
