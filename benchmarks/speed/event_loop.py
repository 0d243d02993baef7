"""How long single pages hold a crawl's event loop: light ones, heavy ones, and some that were made to be.

    python -m benchmarks.speed.event_loop [--processes 1] [--pages PAGES_DIR] [--sample 200]

Each page is read, fingerprinted and cleaned as for an item whose page the middleware has not seen, in the own process
and in --processes beside it. Meanwhile a task asks every 2 ms for its turn; *held* is the longest that it had to wait
beyond that, and *processor* the most time of the loop's own thread in one such wait, which does not grow when other
programs are busy.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Final

from scrapy.settings import Settings

from benchmarks.shared.common import html_files, parser_of, shown, table, write_json
from scrapy_winnow.cleaner import Cleaner, tags_of
from scrapy_winnow.config import Config
from winnow.page.parsing import decode

_TICK: Final = 0.002
_URL: Final = "http://host.example/story"
MADE: Final = {
    "64,000 paragraphs, 250 KB": "<p>x" * 64_000,
    "2,900 paragraphs, just light": "<p>x" * 2_900,
    "a table of 20,000 cells": "<table>" + "<tr><td>a b c<td>d</tr>" * 10_000,
    "a paragraph of 1 MB": "<p>" + "lorem ipsum dolor sit amet " * 40_000,
    "20,000 attributes of one element": "<p " + " ".join(f'a{number}="x"' for number in range(20_000)) + ">text",
    "2,000 elements in each other": "<div>" * 2_000 + "x",
}


def main() -> None:
    """Measure every page and print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="cleaning processes (%(default)s)")
    parser.add_argument(
        "--pages", type=Path, metavar="PAGES_DIR", help="folder of HTML files to take the worst of, too"
    )
    parser.add_argument("--sample", type=int, default=200, metavar="N", help="of them, evenly spread (%(default)s)")
    options = parser.parse_args()
    pages = dict(MADE)
    if options.pages is not None:
        pages |= {file.name: decode(file.read_bytes()) for file in html_files(options.pages, options.sample)}
    figures = {number: asyncio.run(_holds(pages, number)) for number in (0, options.processes)}
    rows = []
    for name, html in MADE.items():
        cells = [f"{1_000 * seconds:.0f}" for number in figures for seconds in figures[number][name]]
        rows.append([name, f"{tags_of(html):,}", *cells])
    if options.pages is not None:
        worst = [
            f"{1_000 * max(holds[name][which] for name in pages if name not in MADE):.0f}"
            for holds in figures.values()
            for which in (0, 1)
        ]
        rows.append([f"the worst of {len(pages) - len(MADE)} pages", "", *worst])
    beside = f"with {options.processes} beside"
    print(table(["page", "tags", "held, ms", "processor, ms", f"{beside}: held, ms", "processor, ms"], rows))
    write_json(options, {"held_and_processor_seconds": figures})


async def _holds(pages: dict[str, str], processes: int) -> dict[str, tuple[float, float]]:
    """Longest hold and most processor time of the loop's thread in one, in seconds, by page."""
    settings = Settings({"WINNOW_PROCESSES": processes})
    cleaner = Cleaner(Config.from_settings(settings), lambda _: None)
    try:
        await cleaner.clean("<p>The first page finds libraries and the model.", None, None, None)
        while processes and not cleaner.is_ready:  # noqa: ASYNC110 - ready within a second
            await asyncio.sleep(0.01)
        return {name: await _hold(cleaner, pages[name]) for name in shown(list(pages), "pages")}
    finally:
        await cleaner.close()


async def _hold(cleaner: Cleaner, html: str) -> tuple[float, float]:
    held: list[tuple[float, float]] = []
    watch = asyncio.create_task(_watch(held))
    await asyncio.sleep(2 * _TICK)
    hashed = await cleaner.read(html, _URL)
    await asyncio.sleep(0)
    await cleaner.clean(html, _URL, hashed, None)
    await asyncio.sleep(2 * _TICK)
    watch.cancel()
    return max(waited for waited, _ in held), max(worked for _, worked in held)


async def _watch(held: list[tuple[float, float]]) -> None:
    while True:
        begin, worked = time.perf_counter(), time.thread_time()
        await asyncio.sleep(_TICK)
        held.append((time.perf_counter() - begin - _TICK, time.thread_time() - worked))


if __name__ == "__main__":
    main()
