"""Real servers on loopback: Valkeys that can be killed, frozen, filled and failed over, and a wire that can be cut."""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self

import redis

from scrapy_tamis.storage.embedded import server_binary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

SLOTS: Final = 16_384
MASTER: Final = "mymaster"
_SENTINELS: Final = 3
_SENTINEL_CONFIG: Final = """\
port {port}
dir {folder}
sentinel monitor {name} 127.0.0.1 {master} 2
sentinel down-after-milliseconds {name} 1000
sentinel failover-timeout {name} 4000
"""


class ReservedPort:
    """A port of loopback that is nobody else's until it is closed, as a context manager.

    A port that was only looked for can be taken before the server listens at it, or while the server is down: by
    another process that looks for one, or by any outgoing connection. So it is held by a socket that never listens,
    beside which Linux lets a server listen that reuses addresses, as servers do.

    Attributes:
        number: the port.
    """

    def __init__(self) -> None:
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(("127.0.0.1", 0))
        self.number: int = self._held.getsockname()[1]
        if sys.platform != "linux":  # elsewhere an address that is held cannot be listened at
            self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give it back."""
        self._held.close()


class Server:
    """A Valkey that listens on a TCP port of its own and writes no snapshots, as a context manager.

    Args:
        folder: where its data goes; a temporary folder without.
        options: further options of its command line.
        environment: further variables of its environment.

    Attributes:
        port, url: where it listens.
        client: a client of it.
    """

    def __init__(
        self, folder: Path | None = None, *options: str, environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._stack = ExitStack()
        self.port = self._stack.enter_context(ReservedPort()).number
        self.url = f"redis://127.0.0.1:{self.port}"
        if folder is None:
            data = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tamis-valkey-"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            data = str(folder)
        self._command = [str(server_binary()), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", data]
        self._command += ["--save", "", *options]
        self._environment = {**os.environ, **environment}
        self.client: redis.Redis = self._stack.enter_context(redis.Redis.from_url(self.url))
        self._process: subprocess.Popen[bytes]
        self.start()

    def start(self) -> None:
        """Start it, with the data that is in its folder.

        Raises:
            RuntimeError: it does not answer in time.
        """
        self._process = subprocess.Popen(
            self._command,
            stdout=subprocess.DEVNULL,
            env=self._environment,
            restore_signals=False,  # so that a file that may not grow is an error of the server's, and not its end
        )
        _wait_until(self._answers, "the server does not answer")

    def _answers(self) -> bool:
        with suppress(redis.ConnectionError), redis.Redis.from_url(self.url, retry=None) as client:
            try:
                return bool(client.ping())
            except redis.AuthenticationError:  # it asks for a password
                return True
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.thaw()
        self.kill()
        self._stack.close()

    def kill(self) -> None:
        """Kill it with 9."""
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Stop it in the middle of whatever it does; it keeps its connections and answers nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def limit_files(self, size: int = resource.RLIM_INFINITY) -> None:
        """Let its files grow to so many bytes: with 0 its disk is full."""
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def do(self, *command: str) -> None:
        """Send it one command."""
        self.client.execute_command(*command)  # type: ignore[no-untyped-call]

    def empty(self) -> None:
        """Delete all that the server holds, and wait until it has given its memory back."""
        self.client.execute_command("FLUSHALL", "SYNC")  # type: ignore[no-untyped-call]

    def info(self, name: str) -> Any:
        """Return a section of what the server says of itself."""
        return self.client.info(name)

    def used_bytes(self) -> int:
        """Return how much memory the server has allocated."""
        return int(self.info("memory")["used_memory"])


def start_cluster(stack: ExitStack, folder: Path, *options: str) -> list[Server]:
    """Start three servers that share the slots, each with some options; they end with the stack.

    Raises:
        RuntimeError: they have not found each other in time.
    """
    buses = [stack.enter_context(ReservedPort()).number for _ in range(3)]
    servers = [
        Server(folder / f"node-{number}", "--cluster-enabled", "yes", "--cluster-port", str(bus), *options)
        for number, bus in enumerate(buses)
    ]
    for server in servers:
        stack.enter_context(server)
    for number, server in enumerate(servers):
        server.do("CLUSTER", "ADDSLOTSRANGE", str(SLOTS * number // 3), str(SLOTS * (number + 1) // 3 - 1))
        if number:
            server.do("CLUSTER", "MEET", "127.0.0.1", str(servers[0].port), str(buses[0]))
    _wait_until(lambda: all(map(_knows_all, servers)), "the servers have not found each other")
    return servers


def _knows_all(server: Server) -> bool:
    found: bytes = server.client.execute_command("CLUSTER", "INFO", NEVER_DECODE=True)  # type: ignore[no-untyped-call]
    return b"cluster_state:ok" in found


@contextmanager
def running_sentinels(
    master: int, folder: Path, password: str | None = None
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start three Sentinels that make the replica the master when the master dies.

    Yields their addresses, with commas between, and their processes, once they see each other and the replica.

    Args:
        master: port of the server, which has one replica.
        folder: for what they write.
        password: of the Sentinels, not of the server.

    Raises:
        RuntimeError: they have not found each other and the replica in time.
    """
    with ExitStack() as stack:
        ports = [stack.enter_context(ReservedPort()).number for _ in range(_SENTINELS)]
        processes = []
        for port in ports:
            file = folder / f"sentinel-{port}.conf"
            lines = _SENTINEL_CONFIG.format(port=port, folder=folder, master=master, name=MASTER)
            if password:
                lines += f"requirepass {password}\nsentinel sentinel-pass {password}\n"
            file.write_text(lines, encoding="utf-8")
            command = [str(server_binary()), str(file), "--sentinel"]
            processes.append(stack.enter_context(subprocess.Popen(command, stdout=subprocess.DEVNULL)))
            stack.callback(processes[-1].kill)
        _wait_until(lambda: all(_sees_all(port, password) for port in ports), "the Sentinels have not found each other")
        yield ",".join(f"127.0.0.1:{port}" for port in ports), processes


def _sees_all(port: int, password: str | None) -> bool:
    with suppress(redis.ConnectionError), redis.Redis(port=port, password=password) as client:
        seen = client.sentinel_masters()[MASTER]
        return (seen["num-slaves"], seen["num-other-sentinels"]) == (1, _SENTINELS - 1)
    return False


def _wait_until(is_so: Callable[[], bool], else_: str) -> None:
    deadline = time.monotonic() + 120.0
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError(else_)
        time.sleep(0.02)


class Proxy:
    """A wire to a server, which can be cut: then bytes get lost without a word, as behind a firewall that drops.

    Args:
        port: port of the server on loopback.
    """

    def __init__(self, port: int) -> None:
        self.to = port
        self._is_cut = self._is_closing = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}"
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def cut(self) -> None:
        """Lose all bytes from now on."""
        self._is_cut = True

    def heal(self) -> None:
        """Carry bytes again; what was under way is lost, and so are its connections."""
        for connection in list(self._pairs):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._is_cut = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closing = True
        self._thread.join()
        for connection in [self._listener, *self._pairs]:
            connection.close()

    def _run(self) -> None:
        while not self._is_closing:
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
            received = connection.recv(65_536)
            if received and not self._is_cut:
                other.sendall(received)
        except OSError:
            received = b""
        if not received:
            for end in (connection, other):
                self._pairs.pop(end, None)
                end.close()
