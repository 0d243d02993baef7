"""Pages per second over WARC files: each pass, one pass, a Ray cluster on this machine, and trafilatura.

    python -m benchmarks.archives.throughput WARC... [--processes 1 2] [--ray]

trafilatura reads the same archives by the same reader, in the same processes, and writes a line of JSON a page.
Starting processes is part of the time; one process does ``count hosts``, and writes, mostly during ``clean``.
"""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.shared.common import installed
from scrapy_tamis.archives import ArchiveRun, OnePassRun, Options
from scrapy_tamis.archives.counting import HostCounts
from scrapy_tamis.archives.reading import ArchiveReader, Part, split_archives
from scrapy_tamis.archives.runs import PartProcesses, Summary
from tamis_papers.experiments.harness import parser_of, say, table, write_json

STEPS = ("count", "count hosts", "clean", "write")


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("archives", nargs="+", metavar="WARC")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--ray", action="store_true", help="also on a Ray cluster that is started here")
    options = parser.parse_args()

    rows: list[list[Any]] = []
    for processes in options.processes:
        rows.append(_steps(f"two passes, {processes}", options.archives, Options(processes=processes)))
        rows.append(_whole(f"one pass, {processes}", lambda: _one_pass(options.archives, processes)))  # noqa: B023
        if installed("trafilatura"):
            rows.append(_whole(f"trafilatura, {processes}", lambda: _trafilatura(options.archives, processes)))  # noqa: B023
    if options.ray:
        rows.append(_steps("two passes on Ray, as many as cores", options.archives, Options(ray="")))
    headings = ["processes", "pages", "pages a second", *(f"{step}, s" for step in STEPS)]
    print(table(headings, rows))
    write_json(options, {row[0]: row[2] for row in rows})


def _steps(name: str, archives: list[str], options: Options) -> list[Any]:
    say(name)
    ended: dict[str, float] = {}

    def progress(step: str, *_: int) -> None:
        ended[step] = time.perf_counter()

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        summary = ArchiveRun(archives, Path(folder), options, progress).run()
        seconds = time.perf_counter() - start
    if not summary.pages:
        raise SystemExit(f"no page could be read: {summary.broken}")
    taken = [end - begin for begin, end in pairwise([start, *(ended[step] for step in STEPS)])]
    return [name, summary.pages, summary.pages / seconds, *taken]


def _whole(name: str, run: Any) -> list[Any]:
    say(name)
    start = time.perf_counter()
    pages = run()
    return [name, pages, pages / (time.perf_counter() - start), *(None for _ in STEPS)]


def _one_pass(archives: list[str], processes: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return OnePassRun(archives, Path(folder), Options(processes=processes)).run().pages


def _trafilatura(archives: list[str], processes: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        parts = [part for parts in split_archives(archives).values() for part in parts]
        tasks = {str(number): (part, Path(folder) / f"{number}.jsonl") for number, part in enumerate(parts)}
        with closing(PartProcesses(processes)) as pools:
            done = pools.run(_extracted, tasks, Options(processes=processes), HostCounts(Path(folder)))
            return sum(report.pages for _, report in done)


def _extracted(part: Part, file: Path, *_: object) -> Summary:
    """The pages of a part with the text that trafilatura finds."""
    import trafilatura  # noqa: PLC0415

    report = Summary()
    with file.open("w", encoding="utf-8", errors="replace") as lines:
        for page in ArchiveReader(part):
            text = trafilatura.extract(page.html, url=page.url)
            lines.write(json.dumps({"url": page.url, "text": text}) + "\n")
            report.pages += 1
    return report


if __name__ == "__main__":
    main()
