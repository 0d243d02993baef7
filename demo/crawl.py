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


class CrawlFiles:
    """Where a crawl leaves things.

    Attributes:
        items: The cleaned items, one JSON object a line, in the order they were stored.
        log, report: Scrapy's log, and the report of the crawl.
        urls: The addresses to start from.
        state: The private server's data.
    """

    def __init__(self, folder: Path) -> None:
        self.items, self.log, self.report = folder / "items.jsonl", folder / "crawl.log", folder / "report.html"
        self.urls, self.state = folder / "hosts.txt", folder / "state"


def crawl(urls: Collection[str], files: CrawlFiles, pages: int, progress: Callable[[float], None]) -> float:
    """Crawl hosts with cleaning on.

    Args:
        urls: Where to start, one address per host.
        files: Where to leave items, log and state.
        pages: Most pages per host.
        progress: Called several times a second with the seconds since the start.

    Returns:
        Seconds from the first request to the last item, as Scrapy measured them.

    Raises:
        RuntimeError: Where Scrapy fails; the message has the end of its log.
    """
    files.urls.write_text("".join(f"{url}\n" for url in urls), encoding="utf-8")
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"urls_file={files.urls}", "-a", f"pages={pages}"]
    command += ["-O", str(files.items), "-s", f"LOG_FILE={files.log}", "-s", "LOG_LEVEL=INFO"]
    command += ["-s", f"WINNOW_STATE_DIR={files.state}", "-s", "WINNOW_REDIS_URL="]
    command += ["-s", f"WINNOW_REPORT={files.report}"]
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
    log = files.log.read_text(encoding="utf-8", errors="replace") if files.log.exists() else ""
    if scrapy.returncode != 0 or not files.items.exists():
        raise RuntimeError(f"scrapy ended with exit code {scrapy.returncode}\n" + "\n".join(log.splitlines()[-20:]))
    measured = _ELAPSED.findall(log)
    return float(measured[-1]) if measured else wall
