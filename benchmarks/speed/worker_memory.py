"""A long crawl: whether its pages a second and the memory of its processes stay flat.

    python -m benchmarks.speed.worker_memory [--pages 50000] [--every 2500] [--processes 0] [--plot FILE]

One `scrapy` process crawls the demo web, every page fetched over loopback, all of Winnow on: counting, near-duplicates,
with the private Valkey. The resident memory of the crawl's process,
of the server, and of all cleaning processes together is read now and then, with the pages a second since the last;
*growth* is that of the crawl's process over the last half of the pages. Every page has a text of its own, on one of six
hosts for every 6,000 pages, so what could grow is what is kept per page and per host.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.shared.demo_pages import demo_pages
from benchmarks.shared.plots import Panel, add_plot_argument, draw
from demo.hosts import BUILDERS
from demo.server import DemoWeb

ROOT: Final = Path(__file__).resolve().parents[2]
_PER_HOST: Final = 1_000
_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """A crawl at one moment.

    Attributes:
        pages: pages stored so far.
        seconds: since its start.
        crawl, server, cleaning: resident memory of the crawl's process, of Valkey, of the cleaning processes, in MB.
    """

    pages: int
    seconds: float
    crawl: float
    server: float
    cleaning: float


def main() -> None:
    """Crawl, watch, print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--pages", type=int, default=50_000, metavar="N", help="pages (%(default)s)")
    parser.add_argument("--every", type=int, default=2_500, metavar="N", help="pages between two rows (%(default)s)")
    parser.add_argument("--processes", type=int, default=0, metavar="N", help="cleaning processes (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other pages (%(default)s)")
    add_plot_argument(parser)
    options = parser.parse_args()
    webs = -(-options.pages // (len(BUILDERS) * _PER_HOST))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="winnow-memory-") as folder, ExitStack() as stack:
        addresses: list[str] = []
        for number in range(webs):
            say(f"writing web {number + 1} of {webs}: {len(BUILDERS)} hosts with {_PER_HOST} pages each")
            web = DemoWeb(Path(folder, f"web-{number}"), options.seed + number, _PER_HOST)
            addresses += demo_pages(stack.enter_context(web))
        urls = Path(folder, "urls.txt")
        urls.write_text("\n".join(addresses[: options.pages]), encoding="utf-8")
        crawl = subprocess.Popen(_command(urls, Path(folder), options.processes), cwd=ROOT)
        begin, pages = time.monotonic(), 0
        while crawl.poll() is None:
            time.sleep(_SECONDS)
            pages = _lines(Path(folder, "items.csv"))
            if pages >= options.every * (len(rows) + 1) and (row := _row(crawl.pid, pages, begin, Path(folder))):
                rows.append(row)
                say(f"{pages:,} pages, {row.crawl:.0f} MB")
    if crawl.returncode or len(rows) < 2:
        sys.exit(f"the crawl ended with {crawl.returncode} after {pages:,} pages")
    speeds = [
        (after.pages - before.pages) / (after.seconds - before.seconds)
        for before, after in zip([Row(0, 0, 0, 0, 0), *rows], rows, strict=False)
    ]
    lines = [
        [f"{row.pages:,}", f"{speed:.0f}", f"{row.crawl:.0f}", f"{row.server:.0f}", f"{row.cleaning:.0f}"]
        for row, speed in zip(rows, speeds, strict=True)
    ]
    print(table(["pages", "pages a second", "crawl, MB", "Valkey, MB", "cleaning processes, MB"], lines))
    middle, last = rows[len(rows) // 2 - 1], rows[-1]
    growth = (last.crawl - middle.crawl) / (last.pages - middle.pages) * 1_000
    print(f"\ngrowth over the last half: {growth:.2f} MB per 1,000 pages")
    write_json(options, {"rows": [asdict(row) for row in rows], "growth_mb_per_1000_pages": growth})
    if options.plot is not None:
        memory = {
            "crawl": [(row.pages, row.crawl) for row in rows],
            "Valkey": [(row.pages, row.server) for row in rows],
        }
        if options.processes:
            memory["cleaning processes"] = [(row.pages, row.cleaning) for row in rows]
        speed_line = {"pages a second": [(row.pages, speed) for row, speed in zip(rows, speeds, strict=True)]}
        draw(options.plot, [Panel("pages", "memory, MB", memory, {}), Panel("pages", "pages a second", speed_line, {})])


def _row(crawl: int, pages: int, begin: float, folder: Path) -> Row | None:
    """Read the memory of all processes; ``None`` when they have just ended."""
    try:
        server = int(Path(folder, "state", "server.pid").read_text(encoding="ascii"))
        cleaning = Path(f"/proc/{crawl}/task/{crawl}/children").read_text(encoding="ascii").split()
        own = _resident(crawl)
        beside = sum(_resident(int(child)) for child in cleaning if _is_cleaning(child))
        return Row(pages, time.monotonic() - begin, own, _resident(server), beside)
    except (OSError, ValueError):
        return None


def _is_cleaning(process: str) -> bool:
    return b"scrapy_winnow.worker" in Path(f"/proc/{process}/cmdline").read_bytes()


def _command(urls: Path, folder: Path, processes: int) -> list[str]:
    command = [sys.executable, "-m", "scrapy", "runspider", str(ROOT / "benchmarks" / "shared" / "listed.py")]
    command += ["-a", f"urls_file={urls}", "-O", str(folder / "items.csv")]
    for setting in (
        f"LOG_FILE={folder / 'crawl.log'}",
        "LOG_LEVEL=INFO",
        "WINNOW_REDIS_URL=",
        f"WINNOW_PROCESSES={processes}",
        f"WINNOW_STATE_DIR={folder / 'state'}",
        "FEED_EXPORT_FIELDS=url",
        "AUTOTHROTTLE_ENABLED=0",
        "ROBOTSTXT_OBEY=0",
        "CONCURRENT_REQUESTS_PER_DOMAIN=16",
    ):
        command += ["-s", setting]
    return command


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def _resident(process: int) -> float:
    """Resident memory in megabytes."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1_000 for line in status.splitlines() if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
