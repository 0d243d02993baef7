"""Memory of a crawl of many hosts by the `site` spider, with as many links on each as it keeps.

    python -m benchmarks.scale.crawled_hosts [--hosts 10000] [--links 2200] [--pages 200]

One server on loopback is the proxy of the crawl, and so all hosts at once: the front page of each has --links links, in
100 kilobytes or so. Only front pages are answered. Once those of all hosts are stored, the spider knows all the links
that it ever keeps, and each host has as many requests waiting as it may. The memory of the crawl's process then,
less that of the same crawl of 10 hosts, is what the hosts take. Winnow itself is off: what is kept of pages and hosts
elsewhere is `benchmarks.speed.worker_memory` and `benchmarks.scale.many_hosts`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from benchmarks.shared.common import parser_of, say, table, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.http import Response

ROOT: Final = Path(__file__).resolve().parents[2]
_FEW: Final = 10
_AT_ONCE: Final = 8
_SECONDS: Final = 0.2


def main() -> None:
    """Crawl, watch, print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--hosts", type=int, default=10_000, metavar="N", help="hosts (%(default)s)")
    parser.add_argument("--links", type=int, default=2_200, metavar="N", help="links of each (%(default)s)")
    parser.add_argument("--pages", type=int, default=200, metavar="N", help="budget of pages of each (%(default)s)")
    options = parser.parse_args()
    with _all_hosts(options.links) as proxy:
        before, after = (_crawled(proxy, hosts, options.pages) for hosts in (_FEW, options.hosts))
    each = 1e6 * (after - before) / (options.hosts - _FEW)
    rows = [["MB with few hosts", f"{before:.0f}"], [f"MB with {options.hosts:,}", f"{after:.0f}"]]
    rows.append(["bytes a host", f"{each:,.0f}"])
    print(table(["figure", "seen"], rows))
    write_json(options, {"few": before, "all": after, "host": each})


class OnlyFrontPages:
    """A downloader middleware: front pages come, a few at a time, and all that comes after them waits."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._never = asyncio.Event()

    async def process_request(self, request: Request) -> None:
        """Let a front page through when there is room; anything else is left waiting."""
        if urlsplit(request.url).path != "/":
            await self._never.wait()
        await self._free.acquire()

    def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002  Scrapy's names
        """Make room."""
        self._free.release()
        return response


@contextmanager
def _all_hosts(links: int) -> Iterator[str]:
    """A proxy that answers for every host; yields its address."""
    items = "".join(f'<li><a href="/section/story-number-{n}.html">Story {n}</a></li>' for n in range(links))
    front = f"<html><title>Front page</title><body><ul>{items}</ul></body></html>".encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(front)))
            self.end_headers()
            self.wfile.write(front)

        def log_message(self, *_: object) -> None:
            """Say nothing of single requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def _crawled(proxy: str, hosts: int, pages: int) -> float:
    """Megabytes of a crawl's process once the front pages of so many hosts are stored."""
    with tempfile.TemporaryDirectory(prefix="winnow-hosts-") as folder:
        urls, items = Path(folder, "urls.txt"), Path(folder, "items.csv")
        urls.write_text("".join(f"http://host-{number}.example/\n" for number in range(hosts)), encoding="utf-8")
        settings = {
            "WINNOW_ENABLED": False,
            "ROBOTSTXT_OBEY": False,
            "AUTOTHROTTLE_ENABLED": False,
            "CONCURRENT_REQUESTS": 10**7,
            "RETRY_ENABLED": False,
            "DOWNLOADER_MIDDLEWARES": '{"benchmarks.scale.crawled_hosts.OnlyFrontPages": 1}',
            "FEED_EXPORT_FIELDS": "url",
            "LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"urls_file={urls}", "-a", f"pages={pages}"]
        command += ["-o", str(items), *(part for item in settings.items() for part in ("-s", f"{item[0]}={item[1]}"))]
        environment = {**os.environ, "http_proxy": proxy, "SCRAPY_SETTINGS_MODULE": "scrapy_winnow.project.settings"}
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        crawl = subprocess.Popen(command, cwd=folder, env=environment)
        stored = 0
        try:
            while stored < hosts:
                if crawl.poll() is not None:
                    sys.exit(f"the crawl ended with {crawl.returncode} after {stored:,} hosts")
                time.sleep(_SECONDS)
                stored = max(items.read_bytes().count(b"\n") - 1, 0) if items.exists() else 0
            time.sleep(1)
            return _resident(crawl.pid)
        finally:
            say(f"{stored:,} hosts, {_resident(crawl.pid):.0f} MB")
            crawl.send_signal(signal.SIGKILL)
            crawl.wait()


def _resident(process: int) -> float:
    """Resident memory of a process, in megabytes."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
