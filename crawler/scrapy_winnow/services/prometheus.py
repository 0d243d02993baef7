"""Figures for Prometheus, served at ``/metrics`` by a thread of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def serve(address: tuple[str, int], collector: Any) -> Callable[[], None]:
    """Serve what a collector of ``prometheus_client`` gives, and return what ends that.

    Raises:
        ImportError: ``prometheus_client`` is not installed, ``pip install 'scrapy-winnow[metrics]'``.
        OSError: the port is taken.
    """
    from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415  (an extra)

    registry = CollectorRegistry()
    registry.register(collector)
    host, port = address
    server, thread = start_http_server(port, host, registry)

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return close


def address_in(text: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``.

    Raises:
        ValueError: it is no such address.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"must be an address to listen at, as 127.0.0.1:9410, not {text!r}")
    return host.strip("[]"), int(port)
