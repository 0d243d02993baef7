"""A real cluster: three servers on loopback that share the slots."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.shared.servers import ReservedPort, share_slots

NODES = 3


@contextmanager
def running_cluster(new_server: Callable, folder: Path) -> Iterator[list]:
    """Start three servers of a class, and yield them once each knows of all slots."""
    servers = []
    with ExitStack() as stack:
        buses = [stack.enter_context(ReservedPort()).number for _ in range(NODES)]
        for number, bus in enumerate(buses):
            (node := folder / f"node-{number}").mkdir()
            servers.append(new_server(node, "--cluster-enabled", "yes", "--cluster-port", str(bus)))
            stack.callback(servers[-1].close)
            servers[-1].start()
        share_slots([(server.port, bus) for server, bus in zip(servers, buses, strict=True)])
        yield servers
