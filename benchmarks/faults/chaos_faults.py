"""The faults of the chaos command: what strikes, and what mends it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.faults.redis_faults import Proxy, Server

DAYS: Final = 40
"""Days that the clocks jump: further than the time to live of anything in Redis."""

_LOGGED: Final = ("--appendonly", "yes", "--appendfsync", "always")


@dataclass(frozen=True, slots=True)
class Setting:
    """What a crawl runs with.

    Attributes:
        server: the Redis that it talks to.
        replica: that of the server.
        url: address that the crawl is given.
        proxy: what is between crawl and server.
        clock: that of all processes.
        processes: cleaning processes.
    """

    server: Server
    replica: Server
    url: str
    proxy: Proxy
    clock: Clock
    processes: int


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of trouble.

    Attributes:
        strike: what happens.
        mend: what ends it.
        server: options of the server.
        workers: crawls of the same pages at the same time.
        kills: whether it is the worker that is killed with 9, and started again.
        keeps: whether all pages must be in the counts at the end; without, those counted must be right.
        sentinels: whether three Sentinels name the server to the crawl, and make the replica the server.
        in_cluster: whether the server is one of a cluster of three, and the replica another.
    """

    strike: Callable[[Setting], object] = lambda _: None
    mend: Callable[[Setting], object] = lambda _: None
    server: Sequence[str] = ()
    workers: int = 1
    kills: bool = False
    keeps: bool = False
    sentinels: bool = False
    in_cluster: bool = False


class Clock:
    """The time of day of the processes that are started with its environment, which can be made to jump.

    Args:
        folder: where the library is compiled to; without a C compiler no clock jumps.
    """

    def __init__(self, folder: Path) -> None:
        self.environment: Mapping[str, str] = {}
        self._jump = folder / "clock-jump"
        compiler, library = shutil.which("cc"), folder / "clock.so"
        if compiler is not None:
            source = Path(__file__).with_name("clock.c")
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
            self.environment = {"LD_PRELOAD": str(library), "WINNOW_CLOCK_JUMP": str(self._jump)}

    def jump(self, seconds: int) -> None:
        """Set all clocks ahead of what they are, or back."""
        self._jump.write_text(str(seconds), encoding="ascii")

    def be_right(self) -> None:
        """Set them right again."""
        self._jump.unlink(missing_ok=True)


def fail_over(setting: Setting) -> None:
    """Make the replica the server."""
    setting.replica.do("REPLICAOF", "NO", "ONE")
    setting.proxy.to = setting.replica.port
    setting.proxy.heal()


def _restart(setting: Setting) -> None:
    setting.server.start()


def _out_of_memory(setting: Setting) -> None:
    setting.server.do("CONFIG", "SET", "maxmemory", "1")


def _with_memory(setting: Setting) -> None:
    setting.server.do("CONFIG", "SET", "maxmemory", "0")


FAULTS: Final = {
    "none": Fault(keeps=True),
    "worker killed -9, started again": Fault(kills=True, keeps=True),
    "two workers, the same pages": Fault(workers=2, keeps=True),
    "Redis killed -9, back empty": Fault(lambda s: s.server.kill(), _restart),
    "Redis killed -9, back with its log": Fault(lambda s: s.server.kill(), _restart, _LOGGED),
    "Redis frozen": Fault(lambda s: s.server.freeze(), lambda s: s.server.thaw()),
    "Redis out of memory": Fault(_out_of_memory, _with_memory),
    "Redis made a read-only replica": Fault(
        lambda s: s.server.do("REPLICAOF", "127.0.0.1", "1"), lambda s: s.server.do("REPLICAOF", "NO", "ONE")
    ),
    "Redis failing over to its replica": Fault(lambda s: s.server.kill(), fail_over),
    "Redis killed -9, Sentinels fail over": Fault(lambda s: s.server.kill(), sentinels=True),
    "a server of three in a cluster killed -9, back with its log": Fault(
        lambda s: s.server.kill(), _restart, _LOGGED, in_cluster=True
    ),
    "a server of three in a cluster frozen": Fault(
        lambda s: s.server.freeze(), lambda s: s.server.thaw(), in_cluster=True
    ),
    "Redis's disk full": Fault(
        lambda s: s.server.fill_disk(),
        lambda s: s.server.empty_disk(),
        ("--appendonly", "yes", "--appendfsync", "everysec"),
    ),
    "network cut": Fault(lambda s: s.proxy.cut(), lambda s: s.proxy.heal()),
    "clocks 40 days ahead, and back": Fault(lambda s: s.clock.jump(DAYS * 86_400), lambda s: s.clock.be_right()),
    "clocks 40 days back, and ahead": Fault(lambda s: s.clock.jump(-DAYS * 86_400), lambda s: s.clock.be_right()),
    "worker and Redis killed -9 at once": Fault(lambda s: s.server.kill(), _restart, _LOGGED, kills=True),
    "network cut and Redis out of memory": Fault(
        lambda s: (s.proxy.cut(), _out_of_memory(s)), lambda s: (s.proxy.heal(), _with_memory(s))
    ),
    "Redis frozen, and killed while it is": Fault(lambda s: (s.server.freeze(), s.server.kill()), _restart, _LOGGED),
    "worker killed -9 and Redis's disk full": Fault(
        lambda s: s.server.fill_disk(),
        lambda s: s.server.empty_disk(),
        ("--appendonly", "yes", "--appendfsync", "everysec"),
        kills=True,
    ),
}
"""By name; the last four are two at once."""
