"""A run over archives: both passes, near-duplicates and output, in as many processes as wanted, resumable by file."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from scrapy_winnow.archives.host_counts import HOST_PAGES, count_shard
from scrapy_winnow.archives.leaf_files import SHARDS
from scrapy_winnow.archives.passes import FileReport, clean_archive, count_archive
from scrapy_winnow.archives.workers import Processes, Task
from scrapy_winnow.archives.writers import FORMATS
from winnow.duplicates.index import MemoryIndex
from winnow.models import load_model
from winnow.page.page import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from scrapy_winnow.archives.workers import Workers

_STATE: Final = ".winnow"
_ENDINGS: Final = (".gz", ".zst", ".zstd", ".lz4", ".warc", ".wet", ".wat")
_FOREVER: Final = 1 << 31  # seconds; in an archive no document is too old to be repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a run is to do.

    Attributes:
        format: one of :data:`scrapy_winnow.archives.writers.FORMATS`.
        model: name or file of the page-level model; ``None`` for the package's own.
        outputs: optional columns, as ``WINNOW_OUTPUTS``.
        duplicates: mark near-duplicates.
        processes: how many work at a time, each on a file of its own.
        ray: address of a Ray cluster whose nodes work instead, ``""`` for the default one; ``None`` for none.
        host_pages: most pages of a host that are counted.
        limits: caps above which a page is passed through.
    """

    format: str = "jsonl"
    model: str | None = None
    outputs: frozenset[str] = frozenset()
    duplicates: bool = True
    processes: int = 1
    ray: str | None = None
    host_pages: int = HOST_PAGES
    limits: Limits = DEFAULT_LIMITS


class OtherRunError(ValueError):
    """The folder holds what another run, with other options, has begun."""


@dataclass(slots=True)
class Summary:
    """What came of a run.

    Attributes:
        pages, hosts, duplicates: how many.
        skipped: responses that were no pages, by reason.
        failed: pages that could not be cleaned, by the error of the first one of each archive.
        broken: what is wrong with archives that could not be read to their end, by archive.
    """

    pages: int = 0
    hosts: int = 0
    duplicates: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    broken: dict[str, str] = field(default_factory=dict)


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
        self._sources = sorted(set(sources))
        self._output = output
        self._options = options if options is not None else Options()
        self._progress = progress
        self._state = output / _STATE
        self._names = _distinct_names(self._sources)
        self._workers = _workers(self._options)
        output.mkdir(parents=True, exist_ok=True)
        self._check_state()

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
        for name in self._names.values():
            report = self._report("clean", name)
            summary.skipped.update(report.skipped)
            if report.failed:
                summary.failed[str(report.error)] += report.failed
        for source, name in self._names.items():
            if (broken := self._report("clean", name).broken) is not None:
                summary.broken[source] = broken
        shutil.rmtree(state)
        return summary

    def _check_state(self) -> None:
        options = self._options
        facts = {
            "sources": self._sources,
            "model": load_model(options.model).version,
            "outputs": sorted(options.outputs),
            "host_pages": options.host_pages,
            "limits": [options.limits.max_bytes, options.limits.max_nodes, options.limits.max_depth],
        }
        file = self._state / "run.json"
        if file.is_file() and json.loads(file.read_text("utf-8")) != facts:
            raise OtherRunError(f"{self._state} holds another run's work: finish that one, or delete it")
        self._state.mkdir(exist_ok=True)
        file.write_text(json.dumps(facts, indent=1), "utf-8")

    def _for_each_archive(self, step: str, work: Callable[[str, str], Task]) -> None:
        """Do a step for the archives that it is not done for yet, and keep what it reports."""
        left = {name: source for source, name in self._names.items() if not self._report_file(step, name).is_file()}
        done = len(self._names) - len(left)
        for result in self._workers.each({name: work(name, source) for name, source in left.items()}):
            if result is not None:
                name, report = result
                facts = {
                    **{key: getattr(report, key) for key in ("pages", "failed", "error", "broken")},
                    "skipped": dict(report.skipped),
                }
                self._report_file(step, name).write_text(json.dumps(facts), "utf-8")
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
        ending, writer_type = FORMATS[self._options.format]
        index = MemoryIndex(ttl=_FOREVER) if self._options.duplicates else None
        for number, name in enumerate(self._names.values(), 1):
            final = self._output / f"{name}{ending}"
            making = final.with_name(f"{final.name}.part")
            with (
                (self._state / "cleaned" / f"{name}.jsonl").open(encoding="utf-8") as lines,
                writer_type(making, self._options.outputs) as writer,
            ):
                for line in lines:
                    row = json.loads(line)
                    if index is not None:
                        shingles = np.array([int(shingle, 16) for shingle in row["shingles"]], np.uint64)
                        row["duplicate_of"] = index.decide(row["url"], shingles, now=0).duplicate_of
                    summary.pages += 1
                    summary.duplicates += row["duplicate_of"] is not None
                    writer.write(row)
            making.rename(final)
            self._progress("write", number, len(self._names), 0, summary.pages)

    def _report_file(self, step: str, name: str) -> Path:
        return self._state / "reports" / f"{step}-{name}.json"

    def _report(self, step: str, name: str) -> FileReport:
        facts = json.loads(self._report_file(step, name).read_text("utf-8"))
        return FileReport(**{**facts, "skipped": Counter(facts["skipped"])})


def _workers(options: Options) -> Workers:
    if options.ray is None:
        return Processes(options.processes)
    from scrapy_winnow.archives.on_ray import RayCluster  # noqa: PLC0415  (an optional package, and slow to import)

    return RayCluster(options.ray)


def _distinct_names(sources: list[str]) -> dict[str, str]:
    """A file name for each archive, by source: its own without its endings, made distinct where two are the same."""
    names: dict[str, str] = {}
    for source in sources:
        name = source.rstrip("/").rpartition("/")[2] or "archive"
        while name.endswith(_ENDINGS):
            name = name.rpartition(".")[0]
        if name in names.values() or not name:
            name = f"{name}-{hashlib.blake2b(source.encode(), digest_size=4).hexdigest()}"
        names[source] = name
    return names
