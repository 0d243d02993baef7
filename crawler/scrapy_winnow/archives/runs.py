"""A run over archives: its options, its progress on disk, and two passes over parts of archives in processes."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

from threadpoolctl import threadpool_limits

from scrapy_winnow.archives.addresses import Destination
from scrapy_winnow.archives.counting import MAX_HOST_PAGES, SHARDS, HostCounts, LeafWriter, count_shard
from scrapy_winnow.archives.reading import ArchiveReader, split_archives
from scrapy_winnow.archives.rows import Output, clean_counted, hash_page
from scrapy_winnow.fetching import STANDARD_INPUT
from winnow.models import load_model
from winnow.page.page import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from scrapy_winnow.archives.reading import ArchivedPage, Part

    PartWork = Callable[[Part, Path, "Options", HostCounts], "FileReport"]
    """Reads a part of an archive, and writes a file; the first pass has no counts yet."""

    Tasks = dict[str, tuple[Part, Path]]
    """Parts and the file to write of each, by name."""

    ReportProgress = Callable[[str, int, int, int, int], object]
    """Takes a step, how many of its items are done, of how many, pages done, and bytes read (0 if not counted)."""

_ARCHIVE_SUFFIXES: Final = (".gz", ".zst", ".zstd", ".lz4", ".warc", ".wet", ".wat")


class OtherRunError(ValueError):
    """The folder holds unfinished work of a run with other options, or of one that cannot be resumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a run.

    Attributes:
        format: one of :data:`scrapy_winnow.archives.rows.FORMATS`.
        model: name or file of the page-level model; ``None`` for the default one.
        outputs: optional columns, as in ``WINNOW_OUTPUTS``.
        ray: address of a Ray cluster to work on, ``""`` for the default one; ``None`` works on this machine.
        max_host_pages: pages of a host that are counted at most.
        limits: caps above which a page is passed through.
    """

    format: str = "jsonl"
    model: str | None = None
    outputs: frozenset[str] = frozenset()
    duplicates: bool = True
    processes: int = 1
    ray: str | None = None
    max_host_pages: int = MAX_HOST_PAGES
    limits: Limits = DEFAULT_LIMITS


@dataclass(slots=True)
class FileReport:
    """The result of one archive, or of a part of it.

    Attributes:
        pages: pages counted or cleaned.
        skipped: responses that are not pages, by reason.
        failed: pages with an error; the first of the errors is in ``error``.
        broken: what is wrong with a file that could not be read to its end.
    """

    pages: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    error: str | None = None
    broken: str | None = None

    def add_failure(self, error: Exception) -> None:
        """Count a page with an error."""
        self.failed += 1
        self.error = self.error or f"{type(error).__name__}: {error}"

    def to_json(self) -> str:
        """Return all of it as text."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` returned."""
        values = json.loads(text)
        return cls(**{**values, "skipped": Counter(values["skipped"])})


@dataclass(slots=True)
class Summary:
    """The result of a run.

    Attributes:
        pages, hosts, duplicates: how many.
        skipped: responses that are not pages, by reason.
        failed: pages that could not be cleaned, by the first error of each archive.
        broken: what is wrong with each archive that could not be read to its end.
    """

    pages: int = 0
    hosts: int = 0
    duplicates: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    broken: dict[str, str] = field(default_factory=dict)

    def add(self, source: str, report: FileReport) -> None:
        """Add the result of an archive or of a part; its pages are counted when they are written."""
        self.skipped.update(report.skipped)
        if report.failed:
            self.failed[str(report.error)] += report.failed
        if report.broken is not None:
            self.broken.setdefault(source, report.broken)


class Run(ABC):
    """A run over archives into a folder, which can be resumed with the same arguments after it was stopped.

    Args:
        output: path or address of the folder; it is made if need be.
        work: folder for unfinished work, see :class:`~scrapy_winnow.archives.addresses.Destination`.

    Attributes:
        is_resumed: whether an earlier run, which was stopped, has left unfinished work here.

    Raises:
        OtherRunError: the folder holds another run's work, or that of one that cannot be resumed.
        AddressError: the output cannot be written to.
        ValueError: this kind of run does not support the options.
    """

    def __init__(
        self,
        sources: Iterable[str],
        output: str | Path,
        options: Options | None = None,
        progress: ReportProgress = lambda *_: None,
        work: Path | None = None,
    ) -> None:
        self._options = options if options is not None else Options()
        self._progress = progress
        facts = self._facts()
        self._destination = Destination(output, work)
        self._state = self._destination.work
        ordered = self._order(sources)
        self._names = _file_names(ordered)
        facts["sources"] = ordered
        file = self._state / "run.json"
        self.is_resumed = file.is_file()
        if self.is_resumed and json.loads(file.read_text("utf-8")) != facts:
            raise OtherRunError(f"{self._state} holds another run's work: finish that one, or delete it")
        if self.is_resumed and STANDARD_INPUT in ordered:
            problem = "holds a run that was stopped, and standard input cannot be read again: delete it to start anew"
            raise OtherRunError(f"{self._state} {problem}")
        self._state.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(facts, indent=1), "utf-8")

    @abstractmethod
    def run(self) -> Summary:
        """Do the rest of the run; every archive's file is in the folder at the end."""

    @abstractmethod
    def _order(self, sources: Iterable[str]) -> list[str]:
        """Return each archive once, in the order in which they are read."""

    def _facts(self) -> dict[str, Any]:
        """Return what must be the same when the run is resumed."""
        options = self._options
        return {
            "model": load_model(options.model).version,
            "outputs": sorted(options.outputs),
            "max_host_pages": options.max_host_pages,
            "limits": asdict(options.limits),
        }


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

    def _order(self, sources: Iterable[str]) -> list[str]:
        return sorted(set(sources))

    def run(self) -> Summary:
        """Do the rest of the run, part by part, and join the parts in their order."""
        for name in ("leaves", "counts", "cleaned", "reports"):
            (self._state / name).mkdir(exist_ok=True)
        parts = {
            # The offsets of a part are in the name of its work, since the next run may split otherwise.
            source: {name if len(split) == 1 else f"{name}@{part.begin}-{part.end or ''}": part for part in split}
            for (source, split), name in zip(split_archives(self._names).items(), self._names.values(), strict=True)
        }
        all_parts = {name: part for named in parts.values() for name, part in named.items()}
        counts = self._state / "counts"
        self._run_step("count", count_archive, all_parts, self._state / "leaves", counts)
        summary = Summary(hosts=self._count_hosts([self._state / "leaves" / name for name in all_parts], counts))
        self._run_step("clean", clean_archive, all_parts, self._state / "cleaned", counts)
        output = Output(self._destination, self._options, summary)
        for number, (source, named) in enumerate(parts.items(), 1):
            with output.open_archive(self._names[source]) as write:
                for name in named:
                    with (self._state / "cleaned" / name).open(encoding="utf-8") as lines:
                        for line in lines:
                            write(json.loads(line))
                    summary.add(source, FileReport.from_json(self._report_file("clean", name).read_text("utf-8")))
            self._progress("write", number, len(parts), summary.pages, 0)
        shutil.rmtree(self._state)
        return summary

    def _run_step(self, step: str, work: PartWork, parts: dict[str, Part], folder: Path, counts: Path) -> None:
        """Do a step for the parts that have no report of it yet."""
        tasks = {
            name: (part, folder / name) for name, part in parts.items() if not self._report_file(step, name).is_file()
        }
        done, pages = len(parts) - len(tasks), 0
        self._progress(step, done, len(parts), pages, 0)
        run = run_in_processes
        if self._options.ray is not None:
            from scrapy_winnow.archives.on_ray import run_on_ray as run  # noqa: PLC0415  (optional, slow to import)
        for name, report in run(work, tasks, self._options, HostCounts(counts)):
            self._report_file(step, name).write_text(report.to_json(), "utf-8")
            done += 1
            pages += report.pages
            self._progress(step, done, len(parts), pages, 0)

    def _count_hosts(self, files: list[Path], counts: Path) -> int:
        """Sum up the leaves of each host, and return how many hosts there are."""
        hosts = 0
        for shard in range(SHARDS):
            done = counts / f"{shard:02d}.done"
            if not done.is_file():
                done.write_text(str(count_shard(files, shard, counts, self._options.max_host_pages)))
            hosts += int(done.read_text())
            self._progress("count hosts", shard + 1, SHARDS, 0, 0)
        return hosts

    def _report_file(self, step: str, name: str) -> Path:
        return self._state / "reports" / f"{step}-{name}.json"


def run_in_processes(
    work: PartWork, tasks: Tasks, options: Options, counts: HostCounts
) -> Iterator[tuple[str, FileReport]]:
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
    """Return processes with one thread each, since there is a process for each core."""
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), threadpool_limits, (1, "blas"))


def count_archive(part: Part, file: Path, options: Options, _: HostCounts) -> FileReport:
    """First pass: write the leaves of the pages of a part into a file, which appears when it is complete."""
    unfinished = file.with_name(file.name + ".part")
    model = load_model(options.model)
    with LeafWriter(unfinished) as writer:

        def add_leaves(page: ArchivedPage) -> None:
            if (hashed := hash_page(page, options.limits, model)) is not None:
                writer.add(page.url, page.host, hashed)

        report = _process_pages(part, options, add_leaves)
    unfinished.rename(file)
    return report


def clean_archive(part: Part, file: Path, options: Options, counts: HostCounts) -> FileReport:
    """Second pass: clean the pages of a part into a file of JSON lines, which appears when it is complete."""
    unfinished = file.with_name(file.name + ".part")
    model = load_model(options.model)
    with unfinished.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as lines:
        report = _process_pages(
            part, options, lambda page: lines.write(json.dumps(clean_counted(page, counts, model, options)) + "\n")
        )
    unfinished.rename(file)
    return report


def _process_pages(part: Part, options: Options, process: Callable[[ArchivedPage], object]) -> FileReport:
    """Process each page of a part, and report how that went."""
    reader, report = ArchiveReader(part, max_bytes=options.limits.max_bytes), FileReport()
    for page in reader:
        try:
            process(page)
            report.pages += 1
        except Exception as error:
            report.add_failure(error)
    report.skipped, report.broken = reader.skipped, reader.broken
    return report
