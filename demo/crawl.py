"""Runs the real ``scrapy crawl site`` over the demo web and shows how far it is."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_ROOT = Path(__file__).resolve().parent.parent
_POLL_SECONDS = 0.2
_ELAPSED = re.compile(r"'elapsed_time_seconds': ([\d.]+)")


def crawl(urls: Collection[str], folder: Path, pages: int, progress: Callable[[float], None]) -> float:
    """Crawl hosts with cleaning on.

    The folder gets the cleaned items (``items.jsonl``), Scrapy's log (``crawl.log``), the report (``report.html``), the
    addresses to start from (``hosts.txt``), and the private server's data (``state``).

    Args:
        urls: Where to start, one address per host.
        folder: Where to leave all of it.
        pages: Most pages per host.
        progress: Called several times a second with the seconds since the start.

    Returns:
        Seconds from the first request to the last item, as Scrapy measured them.

    Raises:
        RuntimeError: Where Scrapy fails; the message has the end of its log.
    """
    starts, items, log_file = folder / "hosts.txt", folder / "items.jsonl", folder / "crawl.log"
    starts.write_text("".join(f"{url}\n" for url in urls), encoding="utf-8")
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"urls_file={starts}", "-a", f"pages={pages}"]
    command += ["-O", str(items), "-s", f"LOG_FILE={log_file}", "-s", "LOG_LEVEL=INFO"]
    command += ["-s", f"TAMIS_STATE_DIR={folder / 'state'}", "-s", "TAMIS_REDIS_URL="]
    command += ["-s", "TAMIS_REDIS_TIMEOUT=10"]  # a machine that does other work is no outage
    command += ["-s", f"TAMIS_REPORT={folder / 'report.html'}"]
    # All hosts are on one machine, which is ours: no need to go gently.
    command += ["-s", "AUTOTHROTTLE_ENABLED=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=16"]
    start = time.monotonic()
    with subprocess.Popen(command, cwd=_ROOT) as scrapy:  # noqa: S603 - our own project, by the running interpreter
        try:
            while scrapy.poll() is None:
                time.sleep(_POLL_SECONDS)
                progress(time.monotonic() - start)
        except BaseException:
            scrapy.terminate()
            raise
    wall = time.monotonic() - start
    log = log_file.read_text(encoding="utf-8", errors="replace") if log_file.exists() else ""
    if scrapy.returncode != 0 or not items.exists():
        raise RuntimeError(f"scrapy ended with exit code {scrapy.returncode}\n" + "\n".join(log.splitlines()[-20:]))
    measured = _ELAPSED.findall(log)
    return float(measured[-1]) if measured else wall
