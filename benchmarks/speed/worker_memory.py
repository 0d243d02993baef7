"""Memory of a crawl's process over many pages: whether it stays flat.

    python -m benchmarks.speed.worker_memory [--pages 50000] [--every 5000]

One `scrapy` process crawls the demo web, every page fetched over loopback, all of Winnow on: counting, near-duplicates,
the stream of documents and examples for learning, with the private Valkey. Its resident memory is read now and then;
*growth* is that of the last half of the pages. Every page has a text of its own, on one of six hosts for every 6,000
pages, so what could grow is what is kept per page and per host.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.shared.demo_pages import demo_pages
from demo.hosts import BUILDERS
from demo.server import DemoWeb

ROOT: Final = Path(__file__).resolve().parents[2]
_PER_HOST: Final = 1_000
_SECONDS: Final = 0.5


def main() -> None:
    """Crawl, watch, print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--pages", type=int, default=50_000, metavar="N", help="pages (%(default)s)")
    parser.add_argument("--every", type=int, default=5_000, metavar="N", help="pages between two rows (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other pages (%(default)s)")
    options = parser.parse_args()
    webs = -(-options.pages // (len(BUILDERS) * _PER_HOST))
    seen: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory(prefix="winnow-memory-") as folder, ExitStack() as stack:
        addresses: list[str] = []
        for number in range(webs):
            say(f"writing web {number + 1} of {webs}: {len(BUILDERS)} hosts with {_PER_HOST} pages each")
            web = DemoWeb(Path(folder, f"web-{number}"), options.seed + number, _PER_HOST)
            addresses += demo_pages(stack.enter_context(web))
        urls = Path(folder, "urls.txt")
        urls.write_text("\n".join(addresses[: options.pages]), encoding="utf-8")
        crawl = subprocess.Popen(_command(urls, Path(folder)), cwd=ROOT)
        items = Path(folder, "items.csv")
        pages = 0
        while crawl.poll() is None:
            time.sleep(_SECONDS)
            pages = _lines(items)
            if (memory := _resident(crawl.pid)) and pages >= options.every * (len(seen) + 1):
                seen.append((pages, memory))
                say(f"{pages:,} pages, {memory:.0f} MB")
    if crawl.returncode or len(seen) < 2:
        sys.exit(f"the crawl ended with {crawl.returncode} after {pages:,} pages")
    print(table(["pages", "memory, MB"], [[f"{pages:,}", f"{memory:.0f}"] for pages, memory in seen]))
    middle, last = seen[len(seen) // 2 - 1], seen[-1]
    growth = (last[1] - middle[1]) / (last[0] - middle[0]) * 1_000
    print(f"\ngrowth over the last half: {growth:.2f} MB per 1,000 pages")
    write_json(options, {"memory_mb": seen, "growth_mb_per_1000_pages": growth})


def _command(urls: Path, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "scrapy", "runspider", str(ROOT / "benchmarks" / "shared" / "listed.py")]
    command += ["-a", f"urls_file={urls}", "-O", str(folder / "items.csv")]
    for setting in (
        f"LOG_FILE={folder / 'crawl.log'}",
        "LOG_LEVEL=INFO",
        "WINNOW_REDIS_URL=",
        f"WINNOW_STATE_DIR={folder / 'state'}",
        "WINNOW_LEARN=1",
        "WINNOW_DUPLICATES_STREAM=1",
        "FEED_EXPORT_FIELDS=url",
        "AUTOTHROTTLE_ENABLED=0",
        "ROBOTSTXT_OBEY=0",
        "CONCURRENT_REQUESTS_PER_DOMAIN=16",
    ):
        command += ["-s", setting]
    return command


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def _resident(process: int) -> float | None:
    """Resident memory in megabytes; ``None`` for a process that has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return None
    return next((int(line.split()[1]) / 1_000 for line in status.splitlines() if line.startswith("VmRSS")), None)


if __name__ == "__main__":
    main()
