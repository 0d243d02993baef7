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
import random
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

from benchmarks.shared.common import process_megabytes
from scrapy_tamis.project.site import PageItem
from tamis_papers.experiments.harness import parser_of, table, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.http import Response

MOST_SECONDS: Final = 20.0
MOST_STILL: Final = 2.0
MOST_MEGABYTES: Final = 1_200
_TICK: Final = 0.01

HTML: Final = "text/html"
MAIN: Final = (
    "<p>The words that a reader has come for stand in the middle of this page, and there are a few of them.</p>"
)
_CODECS: Final = "utf-8 utf-16 utf-7 cp1251 shift_jis gb18030 iso-2022-jp big5 euc-kr cp037".split()


def pages() -> dict[str, tuple[bytes, str]]:
    """All of them by name: body and content type."""
    found = {name: (make(), "text/html; charset=utf-8") for name, make in _MADE.items()}
    text = f"<title>Łódź</title><p>Zażółć gęślą jaźń, Привет, 日本語の文章です。</p>{MAIN}" * 20
    for real in _CODECS:
        for claimed in ("utf-8", "utf-16", "iso-2022-jp", "x-user-defined", "klingon"):
            if real != claimed:
                found[f"{real} called {claimed}"] = text.encode(real, "replace"), f"{HTML}; charset={claimed}"
    return found


def _nested(levels: int, tag: str) -> bytes:
    return (f"<{tag}>" * levels + MAIN + f"</{tag}>" * levels).encode()


def _tables(levels: int) -> bytes:
    return ("<table><tr><td>" * levels + MAIN + "</td></tr></table>" * levels).encode()


def _words(number: int) -> str:
    chance = random.Random(number)
    return " ".join(f"{chance.randrange(1 << 30):x}" for _ in range(number))


def _class_names() -> bytes:
    blocks = (f'<div class="{_words(2_000 + number)}"><p>Block number {number}.</p></div>' for number in range(200))
    return ("".join(blocks) + MAIN).encode()


_MADE: Final[dict[str, Callable[[], bytes]]] = {
    "nothing": lambda: b"",
    "90,000 nodes in 1.2 MB": lambda: b"<b>word</b>\n" * 90_000 + MAIN.encode(),
    "90,000 nodes without text": lambda: b"<b></b>" * 90_000 + MAIN.encode(),
    "64,000 paragraphs": lambda: "".join(f"<p>par {number}" for number in range(64_000)).encode(),
    "2,900 paragraphs": lambda: b"<p>x" * 2_900,
    "a table of 20,000 cells": lambda: b"<table>" + b"<tr><td>a b c<td>d</tr>" * 10_000,
    "20,000 attributes": ("<div " + "".join(f'a{n}="x" ' for n in range(20_000)) + f">{MAIN}</div>").encode,
    "one attribute of 8 MB": f'<div title="{"x" * 8_000_000}">{MAIN}</div>'.encode,
    "depth 2,000": lambda: _nested(2_000, "div"),
    "depth 100,000": lambda: _nested(100_000, "div"),
    "depth 5,000 of inline tags": lambda: _nested(5_000, "b"),
    "one text of 10 MB": ("<p>" + "word " * 2_000_000).encode,
    "one word of 10 MB": ("<p>" + "w" * 10_000_000).encode,
    "10 MB of spaces": (f"<p>{MAIN}" + " " * 10_000_000).encode,
    "400,000 entities": ("<p>" + "&amp;&#x41;&bogus;&#0;&#xD800;&#x110000;" * 66_000).encode,
    "NUL": lambda: b"<p>be\x00fore" * 50_000 + MAIN.encode(),
    "lone surrogates": lambda: b"<p>\xed\xa0\x80\xed\xb0\x80 words" * 50_000 + MAIN.encode(),
    "10,000 links": ("".join(f"<a href=/{n}>link {n}</a> " for n in range(10_000)) + MAIN).encode,
    "tables 400 deep": lambda: _tables(400),
    "tables 5,000 deep": lambda: _tables(5_000),
    "cells over 1,000 columns": (MAIN + "<table>" + "<tr><td colspan=1000 rowspan=2>a<td>b" * 20_000).encode,
    "megabytes of class names": _class_names,
    "a list of 50,000 items": ("<ul>" + "<li>an item that is like the others" * 50_000 + "</ul>").encode,
    "text after </html>": (f"<html><body>{MAIN}</body></html>" + f"{MAIN}<!-- x -->" * 20_000).encode,
    "5 MB of comments": lambda: b"<!-- a comment -->" * 280_000 + MAIN.encode(),
    "a comment without end": lambda: MAIN.encode() + b"<!-- " + b"x " * 1_000_000,
    "5 MB of scripts": lambda: b"<script>var x = '<p>no text</p>';</script>" * 120_000 + MAIN.encode(),
    "unclosed quotes": lambda: b"<a href=\"x ><p title='" * 50_000 + MAIN.encode(),
    "misnested tags": lambda: b"<b><i><p></b></i><table><p><form><td>x</form>" * 8_000 + MAIN.encode(),
    "15 MB of random bytes": lambda: random.Random(1).randbytes(15_000_000),
    "17 MB": lambda: b"<p>word</p>" * 1_600_000,
    "gzip called HTML": lambda: b"\x1f\x8b\x08\x00" + random.Random(2).randbytes(100_000),
}


def main() -> int:
    """Crawl all pages, print a row for each."""
    parser = parser_of(__doc__)
    parser.add_argument("--page", nargs="+", metavar="NAME", help="these only")
    options = parser.parse_args()
    served = {name: page for name, page in pages().items() if name in (options.page or [name])}
    if missing := set(options.page or ()) - served.keys():
        parser.error(f"no such page: {', '.join(sorted(missing))}")
    server = _serve(served)
    with tempfile.TemporaryDirectory(prefix="tamis-hostile-") as folder:
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
        seconds = [f"{row[key]:.2f}" for key in ("seconds", "still")]
        lines.append([name, len(body), row["status"], *seconds, round(row["megabytes"])])
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
        nothing: tuple[Any, ...] = ()
        for request in nothing:
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
        self._memory = process_megabytes("VmRSS")
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
            "megabytes": process_megabytes("VmHWM") - self._memory,
        }

    def parse(self, response: Response) -> Iterator[PageItem]:
        """Yield the page."""
        yield PageItem(url=response.url, html=getattr(response, "text", response.body))


def _crawl(plan: dict[str, Any]) -> None:
    settings = Settings()
    settings.setmodule("scrapy_tamis.project.settings")
    for name, value in {
        "TAMIS_STATE_DIR": plan["state"],
        "TAMIS_OUTPUTS": ["clean_html", "markdown", "segments"],
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
