"""The hosts of a crawl that runs, on the screen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from scrapy_winnow.commands.shared.failures import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from scrapy_winnow.hosts.records import HostRecord, HostRecords

_EVERY: Final = 2.0  # seconds
_AROUND: Final = 6  # lines of the screen that are not hosts


def watch(records: HostRecords, names: Sequence[str]) -> None:
    """Show hosts until it is interrupted, those first whose pages came last.

    Raises:
        CommandError: the package that draws is not installed.
    """
    try:
        from rich.live import Live  # noqa: PLC0415
    except ImportError as error:
        raise CommandError("--watch needs more than the core: pip install 'scrapy-winnow[inspect]'") from error
    before: dict[str, int] = {}
    with Live(screen=True, auto_refresh=False) as live:
        while True:
            found = sorted(records.named(names) if names else records.all(), key=lambda host: (-host.used, host.host))
            live.update(table(found, before, max(live.console.height - _AROUND, 1)), refresh=True)
            before = {host.host: host.pages for host in found}
            time.sleep(_EVERY)


def table(hosts: Sequence[HostRecord], before: dict[str, int], most: int) -> Table:
    """Lay hosts out: with what has come since the last look, and the sums of all."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from scrapy_winnow.hosts.records import ago  # noqa: PLC0415

    settled = sum(host.state == "settled" for host in hosts)
    size = sum(host.bytes or 0 for host in hosts)
    drawn = Table(
        title=f"{len(hosts):,} hosts, {settled:,} settled, {sum(host.pages for host in hosts):,} pages, {size:,} bytes",
        caption=f"and {len(hosts) - most:,} more" if len(hosts) > most else None,
        expand=True,
    )
    drawn.add_column("host", overflow="ellipsis", no_wrap=True, ratio=1)
    drawn.add_column("state")
    for name in ("pages", "new", "nodes", "labels", "bytes", "used"):
        drawn.add_column(name, justify="right")
    for host in hosts[:most]:
        new = host.pages - before.get(host.host, host.pages)
        drawn.add_row(
            Text(host.host),
            f"[green]{host.state}" if host.state == "settled" else host.state,
            *(f"{host.pages:,}", f"+{new:,}" if new > 0 else "", f"{host.nodes:,}", f"{host.labels:,}"),
            *("-" if host.bytes is None else f"{host.bytes:,}", f"{ago(host.used)} ago"),
        )
    return drawn
