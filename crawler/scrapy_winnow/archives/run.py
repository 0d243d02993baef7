"""A run over archives in two passes, in as many processes as wanted, resumable by parts of files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scrapy_winnow.archives.counting.host_counts import count_shard
from scrapy_winnow.archives.counting.leaf_files import SHARDS
from scrapy_winnow.archives.folder import Run
from scrapy_winnow.archives.job import FileReport, Summary
from scrapy_winnow.archives.output import Output
from scrapy_winnow.archives.passes import clean_archive, count_archive
from scrapy_winnow.archives.reading.parts import divided
from scrapy_winnow.archives.workers import Processes, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from scrapy_winnow.archives.folder import RunFolder
    from scrapy_winnow.archives.job import Options, Progress
    from scrapy_winnow.archives.reading.parts import Part
    from scrapy_winnow.archives.workers import Workers


class ArchiveRun(Run):
    """Cleans archives into a folder, a file for each, in any order; see :class:`~scrapy_winnow.archives.folder.Run`.

    A run that was stopped goes on where it was, part by part, when it is started again with the same options. The
    output does not depend on the number of processes, nor on where it was stopped.
    """

    def _ordered(self, sources: Iterable[str]) -> list[str]:
        return sorted(set(sources))

    def run(self) -> Summary:
        """Do what is left to do; every archive's file is in the folder at the end."""
        steps = _Steps(self._folder, self._options, self._progress, _workers(self._options))
        steps.count()
        summary = Summary(hosts=steps.count_hosts())
        steps.clean()
        steps.write(summary)
        self._folder.remove_state()
        return summary


class _Steps:
    """The steps of a run, one after the other; what is done of each is in the folder, and is not done again."""

    def __init__(self, folder: RunFolder, options: Options, progress: Progress, workers: Workers) -> None:
        self._folder = folder
        self._state = folder.state
        self._options = options
        self._progress = progress
        self._workers = workers
        self._parts = {source: _named(parts, folder.names[source]) for source, parts in divided(folder.names).items()}
        for name in ("leaves", "counts", "cleaned", "reports"):
            (self._state / name).mkdir(exist_ok=True)

    def count(self) -> None:
        """First pass: the leaves of all pages."""
        further = (self._options.limits,)
        self._for_each_part(
            "count", lambda name, part: Task(count_archive, part, self._state / "leaves" / name, None, further)
        )

    def count_hosts(self) -> int:
        """Sum the leaves up for each host, and return how many hosts there are."""
        folders = [self._state / "leaves" / name for parts in self._parts.values() for name in parts]
        hosts = 0
        for shard in range(SHARDS):
            done = self._state / "counts" / f"{shard:02d}.done"
            if not done.is_file():
                found = count_shard(folders, shard, self._state / "counts", self._options.host_pages)
                done.write_text(str(found))
            hosts += int(done.read_text())
            self._progress("count hosts", shard + 1, SHARDS, 0, 0)
        return hosts

    def clean(self) -> None:
        """Second pass: all pages, each with the counts of its host."""
        options, cleaned = self._options, self._state / "cleaned"
        how = (str(options.model) if options.model is not None else None, options.limits, options.outputs)
        self._for_each_part(
            "clean",
            lambda name, part: Task(clean_archive, part, cleaned / f"{name}.jsonl", self._state / "counts", how),
        )

    def write(self, summary: Summary) -> None:
        """Mark near-duplicates in the order of the archives, write what came out as is wanted, and sum it up."""
        output = Output(self._folder.destination, self._options, summary)
        for number, (source, parts) in enumerate(self._parts.items(), 1):
            with output.file(self._folder.names[source]) as write:
                for name in parts:
                    with (self._state / "cleaned" / f"{name}.jsonl").open(encoding="utf-8") as lines:
                        for line in lines:
                            write(json.loads(line))
                    summary.add(source, FileReport.from_json(self._report_file("clean", name).read_text("utf-8")))
            self._progress("write", number, len(self._parts), 0, summary.pages)

    def _for_each_part(self, step: str, work: Callable[[str, Part], Task]) -> None:
        """Do a step for the parts of archives that it is not done for yet, and keep what it reports."""
        every = {name: part for parts in self._parts.values() for name, part in parts.items()}
        left = {name: part for name, part in every.items() if not self._report_file(step, name).is_file()}
        done = len(every) - len(left)
        for result in self._workers.each({name: work(name, part) for name, part in left.items()}):
            if result is not None:
                name, report = result
                self._report_file(step, name).write_text(report.to_json(), "utf-8")
                done += 1
            self._progress(step, done, len(every), *self._workers.progress)

    def _report_file(self, step: str, name: str) -> Path:
        return self._state / "reports" / f"{step}-{name}.json"


def _named(parts: list[Part], name: str) -> dict[str, Part]:
    """The parts of an archive by the names of what is kept of each, which say what is in it."""
    if len(parts) == 1:
        return {name: parts[0]}
    return {f"{name}@{part.begin}-{part.end if part.end is not None else ''}": part for part in parts}


def _workers(options: Options) -> Workers:
    if options.ray is None:
        return Processes(options.processes)
    from scrapy_winnow.archives.on_ray.tasks import RayCluster  # noqa: PLC0415  (an optional package, and slow to import)

    return RayCluster(options.ray)
