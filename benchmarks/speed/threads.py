"""Pages a second that `tamis.clean` reads in one thread, in several, and in as many processes.

    python -m benchmarks.speed.threads [PAGES_DIR] [--sample 400] [--workers 2] [--rounds 7]

Without a folder the pages are those of the demo web. Rounds alternate between the three, and the medians count. Two
threads of a Python with a global lock hardly gain; how to start one without is in docs/guides/library.md.
"""

from __future__ import annotations

import sys
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.shared.common import html_files, pages_or_demo_web
from tamis import clean
from tamis_papers.experiments.harness import parser_of, say, table, write_json


def main() -> None:
    """Clean the pages in turn in each way and print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("pages", type=Path, nargs="?", metavar="PAGES_DIR", help="folder of HTML files (demo web)")
    parser.add_argument("--sample", type=int, default=400, metavar="N", help="pages, evenly spread (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="threads and processes (%(default)s)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="runs of each kind (%(default)s)")
    options = parser.parse_args()
    with pages_or_demo_web(options.pages) as folder:
        pages = [file.read_bytes() for file in html_files(folder, options.sample)]
    number, has_lock = options.workers, getattr(sys, "_is_gil_enabled", lambda: True)()
    with (
        ThreadPoolExecutor(1) as thread,
        ThreadPoolExecutor(number) as threads,
        ProcessPoolExecutor(number, get_context("spawn")) as processes,
    ):
        kinds = {"one thread": thread, f"{number} threads": threads, f"{number} processes": processes}
        for pool in kinds.values():
            _seconds(pool, pages)  # until all have loaded the model
        seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
        for round_number in range(options.rounds):
            say(f"round {round_number + 1} of {options.rounds}")
            for kind, pool in kinds.items():
                seconds[kind].append(_seconds(pool, pages))
    alone = median(seconds["one thread"])
    rows = [[kind, f"{len(pages) / median(each):.0f}", f"{alone / median(each):.2f}"] for kind, each in seconds.items()]
    print(f"Python {sys.version.split()[0]}, {'with' if has_lock else 'without'} a global lock, {len(pages)} pages")
    print(table(["in", "pages a second", "of one thread"], rows))
    write_json(options, {"pages": len(pages), "has_lock": has_lock, "seconds": seconds})


def _seconds(pool: Executor, pages: list[bytes]) -> float:
    start = perf_counter()
    assert sum(pool.map(_text_length, pages, chunksize=8)) > 0
    return perf_counter() - start


def _text_length(html: bytes) -> int:
    return len(clean(html, "https://example.org/a").text)


if __name__ == "__main__":
    main()
