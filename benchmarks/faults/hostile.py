"""Hostile pages in a real crawl: what each costs in time, in memory, and in standing still, and that none is lost.

    python -m benchmarks.faults.hostile [--page NAME ...] [--json FILE]

Every page is fetched over HTTP by `scrapy` with the settings of the project and all outputs, one after the other, with
the private server. *Seconds* are of the processor, from answer to item. *Stood still* is the longest time in
which the event loop ran nothing else. *Memory* is the most that the process took above what it had before. The exit
code is 1 if a page gives no item, or is above a ceiling.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import DontCloseSpider
from scrapy.settings import Settings

from benchmarks.faults.hostile_pages import pages
from benchmarks.shared.common import parser_of, table, write_json
from scrapy_winnow.project.site import PageItem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

MOST_SECONDS: Final = 20.0
MOST_STILL: Final = 2.0
MOST_MEGABYTES: Final = 1_200
_TICK: Final = 0.01


def main() -> int:
    """Crawl all pages, print a row for each."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--page", nargs="+", metavar="NAME", help="these only")
    options = parser.parse_args()
    served = {name: page for name, page in pages().items() if name in (options.page or [name])}
    server = _serve(served)
    with tempfile.TemporaryDirectory(prefix="winnow-hostile-") as folder:
        out = Path(folder, "rows.json")
        urls = [f"http://127.0.0.1:{server.server_port}/{quote(name, safe='')}" for name in served]
        plan = json.dumps({"urls": urls, "out": str(out), "state": folder})
        done = subprocess.run([sys.executable, "-m", "benchmarks.faults.hostile", plan], check=False)
        rows = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    server.shutdown()
    found = {unquote(url.rpartition("/")[2]): row for url, row in rows.items()}
    lines, bad = [], done.returncode
    for name, (body, _) in served.items():
        row = found.get(name, {"status": "LOST", "seconds": 0.0, "still": 0.0, "megabytes": 0.0})
        too_much = row["seconds"] > MOST_SECONDS or row["still"] > MOST_STILL or row["megabytes"] > MOST_MEGABYTES
        bad |= int(too_much or row["status"] == "LOST")
        lines.append(
            [
                name,
                len(body),
                row["status"],
                *(f"{row[key]:.2f}" for key in ("seconds", "still")),
                round(row["megabytes"]),
            ]
        )
    print(table(["page", "bytes", "status", "seconds", "stood still, s", "memory, MB"], lines))
    print(f"\nceilings: {MOST_SECONDS:g} s, {MOST_STILL:g} s, {MOST_MEGABYTES:,} MB")
    write_json(options, found)
    return int(bool(bad))


def _serve(served: dict[str, tuple[bytes, str]]) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, kind = served.get(unquote(self.path[1:]), (b"", "text/plain"))
            self.send_response(200 if self.path[1:] and unquote(self.path[1:]) in served else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class OneByOne(Spider):
    """Asks for a page when all is over with the one before it."""

    name = "one-by-one"

    def __init__(self, plan: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._left = list(plan["urls"])
        self._out = Path(plan["out"])
        self._rows: dict[str, dict[str, Any]] = {}
        self._still = 0.0
        self._cpu = self._memory = 0.0
        self._ticking: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> OneByOne:
        """Make the spider, which lives from its signals."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, signals.spider_opened)
        crawler.signals.connect(spider.next_page, signals.spider_idle)
        crawler.signals.connect(spider.received, signals.response_received)
        crawler.signals.connect(spider.scraped, signals.item_scraped)
        return spider

    async def start(self) -> Any:
        """Ask for nothing yet."""
        for request in ():
            yield request

    def opened(self) -> None:
        """Begin to look how long the loop stands still."""
        self._ticking = asyncio.create_task(self._tick())

    async def _tick(self) -> None:
        while True:
            begin = time.perf_counter()
            await asyncio.sleep(_TICK)
            self._still = max(self._still, time.perf_counter() - begin - _TICK)

    def next_page(self) -> None:
        """Ask for the next page."""
        self._out.write_text(json.dumps(self._rows), encoding="utf-8")
        if not self._left:
            return
        url = self._left.pop(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
        self._memory = _megabytes("VmRSS")
        self.crawler.engine.crawl(Request(url, dont_filter=True))
        raise DontCloseSpider

    def received(self) -> None:
        """Begin to measure."""
        self._cpu, self._still = time.process_time(), 0.0

    def scraped(self, item: PageItem) -> None:
        """End a page."""
        self._rows[item["url"]] = {
            "status": item.get("status", "without"),
            "seconds": time.process_time() - self._cpu,
            "still": self._still,
            "megabytes": _megabytes("VmHWM") - self._memory,
        }

    def parse(self, response: Response) -> Iterator[PageItem]:
        """Yield the page."""
        yield PageItem(url=response.url, html=getattr(response, "text", response.body))


def _megabytes(name: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    return 0.0


def _crawl(plan: dict[str, Any]) -> None:
    settings = Settings()
    settings.setmodule("scrapy_winnow.project.settings")
    for name, value in {
        "WINNOW_STATE_DIR": plan["state"],
        "WINNOW_OUTPUTS": ["clean_html", "markdown", "segments"],
        "AUTOTHROTTLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "LOG_LEVEL": "WARNING",
    }.items():
        settings.set(name, value)
    process = AsyncCrawlerProcess(settings)
    process.crawl(OneByOne, plan=plan)
    process.start()


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        _crawl(json.loads(sys.argv[1]))
    else:
        sys.exit(main())
