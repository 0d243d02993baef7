"""A run over archives: its options, its progress on disk, and two passes over parts of archives in processes."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, Self

from threadpoolctl import threadpool_limits

from scrapy_winnow.archives.addresses import Destination, describe
from scrapy_winnow.archives.counting import SHARDS, HostCounts, LeafWriter, count_shard
from scrapy_winnow.archives.reading import ArchiveReader, split_archives
from scrapy_winnow.archives.rows import FORMATS, clean_counted, hash_page, shingles_of
from scrapy_winnow.fetching import STANDARD_INPUT
from winnow.duplicates import MemoryIndex
from winnow.models import load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from scrapy_winnow.archives.reading import ArchivedPage, Part

    PartWork = Callable[[Part, Path, "Options", HostCounts], "Summary"]
    """Reads a part of an archive, and writes a file; the first pass has no counts yet."""

    Tasks = dict[str, tuple[Part, Path]]
    """Parts and the file to write of each, by name."""

    ReportProgress = Callable[[str, int, int, int], object]
    """Takes a step, how many of its items are done, of how many, and pages done."""

_ARCHIVE_SUFFIXES: Final = (".gz", ".zst", ".zstd", ".lz4", ".warc", ".wet", ".wat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a run.

    Attributes:
        format: one of :data:`scrapy_winnow.archives.rows.FORMATS`.
        model: name or file of the page-level model; ``None`` for the default one.
        outputs: optional columns, as in ``WINNOW_OUTPUTS``.
        processes: how many work here.
        ray: address of a Ray cluster for two passes, ``""`` for the default one; ``None`` works on this machine.
    """

    format: str = "jsonl"
    model: str | None = None
    outputs: frozenset[str] = frozenset()
    processes: int = 1
    ray: str | None = None


@dataclass(slots=True)
class Summary:
    """The result of a run, or of a part of an archive.

    Attributes:
        pages, hosts, duplicates: how many.
        skipped: responses that are not pages, by reason.
        failed: pages that could not be counted or cleaned, by error.
        broken: what is wrong with each archive that could not be read to its end.
    """

    pages: int = 0
    hosts: int = 0
    duplicates: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    broken: dict[str, str] = field(default_factory=dict)

    def add(self, other: Summary) -> None:
        """Add the result of a part; of a broken archive the first fault is kept."""
        self.pages += other.pages
        self.skipped += other.skipped
        self.failed += other.failed
        self.broken = other.broken | self.broken

    def add_reading(self, reader: ArchiveReader) -> None:
        """Add what a reader has skipped, and what is wrong with its archive."""
        self.skipped += reader.skipped
        if reader.broken is not None:
            self.broken[reader.part.source] = reader.broken

    def to_json(self) -> str:
        """Return all of it as text."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` returned."""
        values = json.loads(text)
        return cls(**values | {name: Counter(values[name]) for name in ("skipped", "failed")})


class Run(ABC):
    """A run over archives into a folder, which can be resumed with the same arguments after it was stopped.

    Args:
        output: path or address of the folder; it is made if need be.

    Attributes:
        is_resumed: whether an earlier run, which was stopped, has left unfinished work here.

    Raises:
        ValueError: the folder holds another run's work, or that of one that cannot be resumed; or the output cannot be
            written to.
    """

    _keeps_order: ClassVar[bool]

    def __init__(
        self,
        sources: Iterable[str],
        output: str | Path,
        options: Options | None = None,
        progress: ReportProgress = lambda *_: None,
    ) -> None:
        self._options = options = options if options is not None else Options()
        self._progress = progress
        self._summary = Summary()
        self._index = MemoryIndex()
        ordered = list(dict.fromkeys(sources)) if self._keeps_order else sorted(set(sources))
        self._names = _file_names(ordered)
        facts = {  # that must be the same when the run is resumed
            "kind": type(self).__name__,
            "format": options.format,
            "model": load_model(options.model).version,
            "outputs": sorted(options.outputs),
            "sources": ordered,
        }
        self._destination = Destination(output)
        self._state = self._destination.work
        file = self._state / "run.json"
        self.is_resumed = file.is_file()
        if self.is_resumed and json.loads(file.read_text("utf-8")) != facts:
            raise ValueError(f"{self._state} holds another run's work: finish that one, or delete it")
        if self.is_resumed and STANDARD_INPUT in ordered:
            problem = "holds a run that was stopped, and standard input cannot be read again: delete it to start anew"
            raise ValueError(f"{self._state} {problem}")
        self._state.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(facts, indent=1), "utf-8")

    def run(self) -> Summary:
        """Do the rest of the run; every archive's file is in the folder at the end."""
        self._clean()
        shutil.rmtree(self._state)
        return self._summary

    @abstractmethod
    def _clean(self) -> None:
        """Clean the archives, and write each."""

    def _write(self, source: str, parts: Iterable[tuple[Path, Summary]]) -> None:
        """Write the clean pages of an archive, marked as near-duplicates in their order; its file appears when whole.

        Args:
            source: the archive.
            parts: for each of its parts a file of rows, one JSON object a line, and what is to be added to the summary.
        """
        suffix, open_format = FORMATS[self._options.format]
        with (
            self._destination.open_file(f"{self._names[source]}{suffix}") as file,
            open_format(file, self._options.outputs) as write_row,
        ):
            for rows, summary in parts:
                self._summary.add(summary)
                with rows.open(encoding="utf-8") as lines:
                    for row in map(json.loads, lines):
                        row["duplicate_of"] = self._index.find(row["url"], shingles_of(row)).duplicate_of
                        self._summary.duplicates += row["duplicate_of"] is not None
                        write_row(row)


def _file_names(sources: list[str]) -> dict[str, str]:
    """Return a file name without suffix for each archive: its own, made distinct where two are the same."""
    names: dict[str, str] = {}
    for source in sources:
        name = source.rstrip("/").rpartition("/")[2] or "archive"
        name = "stdin" if source == STANDARD_INPUT else name
        while name.endswith(_ARCHIVE_SUFFIXES):
            name = name.rpartition(".")[0]
        if name in names.values() or not name:
            name = f"{name}-{hashlib.blake2b(source.encode(), digest_size=4).hexdigest()}"
        names[source] = name
    return names


class ArchiveRun(Run):
    """Cleans archives in two passes into a file for each; see :class:`Run`.

    A run that was stopped is resumed part by part. The output depends neither on the number of processes nor on where
    the run was stopped.
    """

    _keeps_order = False

    def _clean(self) -> None:
        """Do both passes part by part, and join the parts in their order."""
        parts = {
            # The offsets of a part are in the name of its work, since the next run may split otherwise.
            source: {name if len(split) == 1 else f"{name}@{part.begin}-{part.end or ''}": part for part in split}
            for (source, split), name in zip(split_archives(self._names).items(), self._names.values(), strict=True)
        }
        all_parts = {name: part for named in parts.values() for name, part in named.items()}
        leaves, counts, cleaned = (self._state / name for name in ("leaves", "counts", "cleaned"))
        for folder in (leaves, counts, cleaned, self._state / "reports"):
            folder.mkdir(exist_ok=True)
        self._run_step("count", count_archive, all_parts, leaves, counts)
        files = [leaves / name for name in all_parts]
        for shard in range(SHARDS):
            self._summary.hosts += count_shard(files, shard, counts)
            self._progress("count hosts", shard + 1, SHARDS, 0)
        reports = self._run_step("clean", clean_archive, all_parts, cleaned, counts)
        for number, (source, named) in enumerate(parts.items(), 1):
            self._write(source, [(cleaned / name, reports[name]) for name in named])
            self._progress("write", number, len(parts), self._summary.pages)

    def _run_step(
        self, step: str, work: PartWork, parts: dict[str, Part], folder: Path, counts: Path
    ) -> dict[str, Summary]:
        """Do a step for the parts that have no report of it yet, and return the reports of all."""
        files = {name: self._state / "reports" / f"{step}-{name}.json" for name in parts}
        reports = {name: Summary.from_json(file.read_text("utf-8")) for name, file in files.items() if file.is_file()}
        tasks = {name: (part, folder / name) for name, part in parts.items() if name not in reports}
        pages = 0
        self._progress(step, len(reports), len(parts), pages)
        run = run_in_processes
        if self._options.ray is not None:
            from scrapy_winnow.archives.on_ray import run_on_ray as run  # noqa: PLC0415  (optional, slow to import)
        for name, report in run(work, tasks, self._options, HostCounts(counts)):
            files[name].write_text(report.to_json(), "utf-8")
            reports[name] = report
            pages += report.pages
            self._progress(step, len(reports), len(parts), pages)
        return reports


def run_in_processes(
    work: PartWork, tasks: Tasks, options: Options, counts: HostCounts
) -> Iterator[tuple[str, Summary]]:
    """Do the work on parts in one or several processes, in any order; yield name and report of each."""
    processes = min(options.processes, len(tasks))
    if processes <= 1:
        for name, (part, target) in tasks.items():
            yield name, work(part, target, options, counts)
        return
    with process_pool(processes) as pool:
        names = {pool.submit(work, part, target, options, counts): name for name, (part, target) in tasks.items()}
        for future in as_completed(names):
            yield names[future], future.result()


def process_pool(processes: int) -> ProcessPoolExecutor:
    """Return processes with one thread each, since there is a process for each core; they import nothing anew."""
    # They do on macOS, where spawning is the default: its libraries do not survive a fork.
    is_spawned = multiprocessing.get_all_start_methods()[0] == "spawn"
    context = multiprocessing.get_context("spawn" if is_spawned else "forkserver")
    context.set_forkserver_preload([__name__])
    return ProcessPoolExecutor(processes, context, threadpool_limits, (1, "blas"))


def count_archive(part: Part, file: Path, options: Options, _: HostCounts) -> Summary:
    """First pass: write the leaves of the pages of a part into a file."""
    model = load_model(options.model)
    with LeafWriter(file) as writer:

        def add_leaves(page: ArchivedPage) -> None:
            if (hashed := hash_page(page, model)) is not None:
                writer.add(page.url, page.host, hashed)

        return _process_pages(part, add_leaves)


def clean_archive(part: Part, file: Path, options: Options, counts: HostCounts) -> Summary:
    """Second pass: clean the pages of a part into a file of JSON lines."""
    model = load_model(options.model)
    with file.open("w", encoding="utf-8") as lines:

        def write_row(page: ArchivedPage) -> None:
            lines.write(json.dumps(clean_counted(page, counts, model, options.outputs)) + "\n")

        return _process_pages(part, write_row)


def _process_pages(part: Part, process: Callable[[ArchivedPage], object]) -> Summary:
    """Process each page of a part, and report how that went."""
    reader, report = ArchiveReader(part), Summary()
    for page in reader:
        try:
            process(page)
            report.pages += 1
        except Exception as error:
            report.failed[describe(error)] += 1
    report.add_reading(reader)
    return report
