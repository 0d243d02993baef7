"""Counts after ``kill -9``: a crawl is killed in the middle, started again, and what Redis holds is compared.

    python -m benchmarks.faults.crash_resume [--pages 40] [--kills 1] [--seed 1]

The real `scrapy crawl site` over the demo web with JOBDIR set is killed --kills times, each time after so many requests
more, then left to end. A second crawl that nothing disturbs fetches the pages that were counted, and counts in a Redis
of its own. Page ids and node counts of every host must be the same; the exit code is 1 if one is not.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

import redis
from scrapy import Request
from scrapy.utils.request import RequestFingerprinter

from benchmarks.shared.common import parser_of, say, table, write_json
from demo.server import DemoWeb
from scrapy_winnow.storage.embedded import EmbeddedServer
from scrapy_winnow.storage.evidence import page_id_of
from scrapy_winnow.storage.keys import host_keys, site_of
from winnow.fingerprints import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from collections.abc import Collection

ROOT: Final = Path(__file__).resolve().parents[2]

Counts = tuple[dict[bytes, bytes], set[bytes]]
"""What Redis holds of a host: pages that hold each node, and the ids of the pages."""


def main() -> int:
    """Kill, resume, compare, and print a row per host."""
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=int, default=40, metavar="N", help="content pages per host (%(default)s)")
    parser.add_argument(
        "--kills", type=int, default=1, metavar="N", help="times that the crawl is killed (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="another seed, other pages (%(default)s)")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="winnow-crash-"))
    try:
        with DemoWeb(folder / "web", options.seed, options.pages) as web:
            starts = folder / "starts.txt"
            starts.write_text("\n".join(web.urls.values()), encoding="utf-8")
            interrupted = folder / "interrupted"
            command = [*_scrapy("crawl", "site", urls=starts, state=interrupted), "-a", f"pages={2 * options.pages}"]
            command += ["-s", f"JOBDIR={folder / 'job'}"]
            step = len(web.urls) * options.pages // (options.kills + 1)
            for number in range(1, options.kills + 1):
                at = _run_until(command, web, number * step)
                pages = sum(len(pages) for _, pages in _read(interrupted, web.urls.values()).values())
                say(f"killed after {at} requests; {pages} pages are counted")
            subprocess.run(command, cwd=ROOT, check=True)
            resumed = _read(interrupted, web.urls.values())

            say("ended; now the same pages without interruption")
            fetched = folder / "fetched.txt"
            fetched.write_text("\n".join(_counted_urls(web, resumed)), encoding="utf-8")
            whole = folder / "whole"
            spider = str(ROOT / "benchmarks" / "shared" / "listed.py")
            subprocess.run(_scrapy("runspider", spider, urls=fetched, state=whole), cwd=ROOT, check=True)
            expected = _read(whole, web.urls.values())
    finally:
        shutil.rmtree(folder)

    rows = []
    for name, url in web.urls.items():
        (nodes, pages), (nodes_whole, pages_whole) = resumed[url], expected[url]
        differing = sum(nodes.get(key) != nodes_whole.get(key) for key in nodes.keys() | nodes_whole.keys())
        rows.append([name, len(pages), len(pages_whole), len(pages ^ pages_whole), len(nodes), differing])
    headings = ["host", "pages, killed", "uninterrupted", "differing", "nodes counted", "counts differing"]
    print(table(headings, rows))
    write_json(options, {row[0]: dict(zip(headings[1:], row[1:], strict=True)) for row in rows})
    return int(any(row[3] or row[5] or not row[1] for row in rows))


def _scrapy(*what: str, urls: Path, state: Path) -> list[str]:
    settings = [
        f"WINNOW_STATE_DIR={state}",
        "WINNOW_REDIS_URL=",
        "WINNOW_SETTLE_PAGES=0",
        f"LOG_FILE={state}.log",
        "AUTOTHROTTLE_ENABLED=0",
        "CONCURRENT_REQUESTS_PER_DOMAIN=8",
        "ROBOTSTXT_OBEY=0",
    ]
    command = [sys.executable, "-m", "scrapy", *what, "-a", f"urls_file={urls}"]
    for setting in settings:
        command += ["-s", setting]
    return command


def _run_until(command: list[str], web: DemoWeb, requests: int) -> int:
    """Start a crawl and kill it with 9 as soon as the web has been asked so often; return how often it was."""
    with subprocess.Popen(command, cwd=ROOT) as crawl:
        while (asked := sum(len(web.requests(name)) for name in web.urls)) < requests:
            if crawl.poll() is not None:
                sys.exit("the crawl ended before it could be killed; more --pages or fewer --kills")
            time.sleep(0.01)
        crawl.kill()
    return asked


def _read(state: Path, urls: Collection[str]) -> dict[str, Counts]:
    """Read what a crawl left of each host in its state folder."""
    found: dict[str, Counts] = {}
    with EmbeddedServer(state) as server, redis.Redis.from_url(server.url) as client:
        for url in urls:
            _, nodes, guard, _ = host_keys("winnow", FINGERPRINT_VERSION, str(site_of(url)))
            counts: Any = client.hgetall(nodes)
            ids: Any = client.get(guard) or b""
            found[url] = counts, {ids[at : at + 8] for at in range(0, len(ids), 16)}
    return found


def _counted_urls(web: DemoWeb, counts: dict[str, Counts]) -> list[str]:
    """Return the addresses of the pages that were counted, of all that were asked for."""
    fingerprint = RequestFingerprinter().fingerprint
    found = []
    for name, base in web.urls.items():
        asked = sorted({urljoin(base, target) for target in web.requests(name)})
        found += [url for url in asked if page_id_of(fingerprint(Request(url))) in counts[base][1]]
    return found


if __name__ == "__main__":
    sys.exit(main())
