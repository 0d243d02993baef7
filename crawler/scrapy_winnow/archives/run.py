"""A run over archives in two passes, in as many processes as wanted, resumable by file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scrapy_winnow.archives.counting.host_counts import count_shard
from scrapy_winnow.archives.counting.leaf_files import SHARDS
from scrapy_winnow.archives.folder import RunFolder
from scrapy_winnow.archives.job import FileReport, Options, Summary
from scrapy_winnow.archives.output import Output
from scrapy_winnow.archives.passes import clean_archive, count_archive
from scrapy_winnow.archives.workers import Processes, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from scrapy_winnow.archives.workers import Workers


class ArchiveRun:
    """Cleans archives into a folder, a file for each.

    A run that was stopped goes on where it was, archive by archive, when it is started again with the same options. The
    output does not depend on the number of processes, nor on where it was stopped.

    Args:
        sources: paths or addresses of the archives; the order does not matter.
        output: the folder; it is made.
        options: what to do.
        progress: called now and then with the name of the step, how many of all of its parts are done, bytes read and
            pages done.

    Raises:
        OtherRunError: the folder holds another run's work.
    """

    def __init__(
        self,
        sources: Iterable[str],
        output: Path,
        options: Options | None = None,
        progress: Callable[[str, int, int, int, int], object] = lambda *_: None,
    ) -> None:
        self._options = options if options is not None else Options()
        self._progress = progress
        self._workers = _workers(self._options)
        self._folder = RunFolder(output, sorted(set(sources)), self._options)
        self._names = self._folder.names
        self._state = self._folder.state

    def run(self) -> Summary:
        """Do what is left to do; every archive's file is in the folder at the end."""
        options, state = self._options, self._state
        for name in ("leaves", "counts", "cleaned", "reports"):
            (state / name).mkdir(exist_ok=True)
        self._for_each_archive(
            "count", lambda name, source: Task(count_archive, source, state / "leaves" / name, None, (options.limits,))
        )
        summary = Summary(hosts=self._count_hosts())
        how = (str(options.model) if options.model is not None else None, options.limits, options.outputs)
        self._for_each_archive(
            "clean",
            lambda name, source: Task(
                clean_archive, source, state / "cleaned" / f"{name}.jsonl", state / "counts", how
            ),
        )
        self._write(summary)
        for source, name in self._names.items():
            summary.add(source, FileReport.from_json(self._report_file("clean", name).read_text("utf-8")))
        self._folder.remove_state()
        return summary

    def _for_each_archive(self, step: str, work: Callable[[str, str], Task]) -> None:
        """Do a step for the archives that it is not done for yet, and keep what it reports."""
        left = {name: source for source, name in self._names.items() if not self._report_file(step, name).is_file()}
        done = len(self._names) - len(left)
        for result in self._workers.each({name: work(name, source) for name, source in left.items()}):
            if result is not None:
                name, report = result
                self._report_file(step, name).write_text(report.to_json(), "utf-8")
                done += 1
            self._progress(step, done, len(self._names), *self._workers.progress)

    def _count_hosts(self) -> int:
        folders = [self._state / "leaves" / name for name in sorted(self._names.values())]
        hosts = 0
        for shard in range(SHARDS):
            done = self._state / "counts" / f"{shard:02d}.done"
            if not done.is_file():
                found = count_shard(folders, shard, self._state / "counts", self._options.host_pages)
                done.write_text(str(found))
            hosts += int(done.read_text())
            self._progress("count hosts", shard + 1, SHARDS, 0, 0)
        return hosts

    def _write(self, summary: Summary) -> None:
        """Mark near-duplicates in the order of the archives, and write what came out in the format that is wanted."""
        output = Output(self._folder.output, self._options, summary)
        for number, name in enumerate(self._names.values(), 1):
            with (
                (self._state / "cleaned" / f"{name}.jsonl").open(encoding="utf-8") as lines,
                output.file(name) as write,
            ):
                for line in lines:
                    write(json.loads(line))
            self._progress("write", number, len(self._names), 0, summary.pages)

    def _report_file(self, step: str, name: str) -> Path:
        return self._state / "reports" / f"{step}-{name}.json"


def _workers(options: Options) -> Workers:
    if options.ray is None:
        return Processes(options.processes)
    from scrapy_winnow.archives.on_ray import RayCluster  # noqa: PLC0415  (an optional package, and slow to import)

    return RayCluster(options.ray)
