"""Runs over archives, their options and progress on disk; a run in two passes over parts of archives, in processes."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import json
import os
import resource
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, ClassVar, Final, Self

from scrapy_tamis.archives.addresses import Destination
from scrapy_tamis.archives.counting import HostCounts, LeafWriter, count_hosts
from scrapy_tamis.archives.reading import ArchiveReader, Part, split_archives
from scrapy_tamis.archives.rows import FORMATS, Failure, clean_page, hash_page
from scrapy_tamis.fetching import STANDARD_INPUT
from scrapy_tamis.fields import CleaningOptions
from scrapy_tamis.storage.evidence import HashedPage
from tamis import __version__
from tamis.duplicates import MemoryIndex
from tamis.files import write_output
from tamis.models import load_model
from tamis.processes import memory_bytes, process_pool
from tamis.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from scrapy_tamis.archives.reading import ArchivedPage
    from scrapy_tamis.archives.rows import Row
    from tamis.models.decision import Favor, Scope

    PartWork = Callable[[Part, Path, "Options", HostCounts], "Summary"]
    """Reads a part of an archive, and writes a file; the first pass has no counts yet."""

    Tasks = dict[str, tuple[Part, Path]]
    """Parts and the file to write of each, by name."""

    Rows = Generator[Row, None, None]

    ReportProgress = Callable[[str, int, int, int], object]
    """Takes a step, how many of its items are done, of how many, and pages done."""

_MAX_NAME_BYTES: Final = 200  # of 255 that a file system takes: the steps of a run add to it
_ARCHIVE_SUFFIXES: Final = (".gz", ".zst", ".zstd", ".lz4", ".warc", ".wet", ".wat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a run, as of ``tamis warc``.

    ``outputs`` are the columns of ``--with``; ``ray`` is ``""`` for the default cluster, ``None`` for this machine.
    """

    format: str = "jsonl"
    model: str | None = None
    favor: Favor = "balanced"
    scope: Scope = "auto"
    rules: Rules = field(default_factory=Rules)
    outputs: frozenset[str] = frozenset()
    processes: int = 1
    ray: str | None = None

    @property
    def cleaning(self) -> CleaningOptions:
        """What holds for all pages."""
        switches = {"favor": self.favor, "scope": self.scope}
        return CleaningOptions(outputs=tuple(self.outputs), switches=switches)


@dataclass(slots=True)
class Summary:
    """The result of a run, or of a part of an archive.

    Attributes:
        skipped: responses that are not pages, by reason.
        failed: pages that could not be counted or cleaned, by error.
        first: address of the first record of each error or damage.
        broken: what is wrong with each archive that could not be read to its end.
    """

    pages: int = 0
    hosts: int = 0
    duplicates: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    def add(self, other: Summary) -> None:
        """Add the result of a part; of a broken archive the first fault is kept."""
        self.pages += other.pages
        self.skipped += other.skipped
        self.failed += other.failed
        self.first = other.first | self.first
        self.broken = other.broken | self.broken

    def to_json(self) -> str:
        """Return all of it as text."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` returned."""
        values = json.loads(text)
        return cls(**values | {name: Counter(values[name]) for name in ("skipped", "failed")})


class Run(ABC):
    """A run over archives into a folder or address, which can be resumed with the same arguments after it was stopped.

    Attributes:
        is_resumed: whether an earlier run, which was stopped, has left unfinished work here.

    Raises:
        ValueError: the folder holds another run's work, or that of one that cannot be resumed; the output cannot be
            written to; or a file there is an archive that is read.
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
        suffix, _ = FORMATS[options.format]
        written = {os.path.realpath(f"{output}/{name}{suffix}") for name in self._names.values()}  # or an address
        if read := [source for source in ordered if os.path.realpath(source) in written]:
            raise ValueError(f"{read[0]} would be overwritten by its clean pages: give another folder than {output}")
        facts = {  # that must be the same when the run is resumed
            "version": __version__,
            "kind": type(self).__name__,
            "format": options.format,
            "model": load_model(options.model).version,
            "favor": options.favor,
            "scope": options.scope,
            "rules": options.rules.by_site,
            "outputs": sorted(options.outputs),
            "sources": ordered,
        }
        facts_json = json.dumps(facts, indent=1)
        self._destination = Destination(output)
        self._state = self._destination.work
        file = self._state / "run.json"
        self.is_resumed = file.is_file()
        if self.is_resumed and file.read_text("utf-8") != facts_json:
            raise ValueError(
                f"{self._state} holds another run's work, or one of another version: finish that one, or delete it"
            )
        if self.is_resumed and STANDARD_INPUT in ordered:
            problem = "holds a run that was stopped, and standard input cannot be read again: delete it to start again"
            raise ValueError(f"{self._state} {problem}")
        if not self.is_resumed:
            self._state.mkdir(parents=True, exist_ok=True)
            if any(self._state.iterdir()):
                raise ValueError(f"{self._state} holds something that is not the work of a run: move it away")
            write_output(file, facts_json)

    def run(self) -> Summary:
        """Do the rest of the run; every archive's file is in the folder at the end.

        Raises:
            ValueError: another process is at it.
        """
        with (self._state / "run.json").open("r+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ValueError(f"{self._state} holds the work of a run that has not ended") from error
            self._clean()
            shutil.rmtree(self._state)
            with suppress(OSError):  # others may keep something there
                self._state.parent.rmdir()
        return self._summary

    @abstractmethod
    def _clean(self) -> None:
        """Clean the archives, and write each."""

    def _write(self, source: str, parts: Iterable[tuple[Iterable[Row], Summary]]) -> None:
        """Write the clean pages of an archive, from rows and a summary for each of its parts."""
        suffix, write_rows = FORMATS[self._options.format]
        with self._destination.open_file(f"{self._names[source]}{suffix}") as file:
            write_rows(file, self._mark_duplicates(parts), self._options.outputs)

    def _mark_duplicates(self, parts: Iterable[tuple[Iterable[Row], Summary]]) -> Iterator[Row]:
        """Go through the rows of an archive, marked as near-duplicates in their order, and add to the summary."""
        for rows, summary in parts:
            for row in rows:
                verdict = self._index.find(str(row["url"]), str(row["text"]))
                self._summary.duplicates += verdict.duplicate_of is not None
                yield row | verdict._asdict()
            self._summary.add(summary)


def _file_names(sources: list[str]) -> dict[str, str]:
    """Return a file name without suffix for each archive: its own, made distinct where it cannot be."""
    names: dict[str, str] = {}
    for source in sources:
        path = source.partition("?")[0] if source.startswith(("http:", "https:")) else source
        name = path.rstrip("/").rpartition("/")[2] or "archive"
        name = "stdin" if source == STANDARD_INPUT else name
        while name.endswith(_ARCHIVE_SUFFIXES):
            name = name.rpartition(".")[0]
        whole, name = name, os.fsencode(name)[:_MAX_NAME_BYTES].decode("utf-8", "ignore")
        if name in names.values() or not name or name != whole:
            name = f"{name}-{hashlib.blake2b(os.fsencode(source), digest_size=4).hexdigest()}"
        names[source] = name
    return names


class ArchiveRun(Run):
    """Cleans archives in two passes into a file for each; see :class:`Run`.

    A run that was stopped is resumed part by part. The output depends neither on the number of processes nor on where
    the run was stopped.
    """

    _keeps_order = False

    def _clean(self) -> None:
        """Do both passes part by part, and join the parts in their order while others are cleaned."""
        parts = {
            # The offsets of a part are in the name of its work, since the next run may split otherwise.
            source: {name if len(split) == 1 else f"{name}@{part.begin}-{part.end or ''}": part for part in split}
            for (source, split), name in zip(split_archives(self._names).items(), self._names.values(), strict=True)
        }
        all_parts = {name: part for named in parts.values() for name, part in named.items()}
        leaves, counts, cleaned = (self._state / name for name in ("leaves", "counts", "cleaned"))
        for folder in (leaves, counts, cleaned, self._state / "reports"):
            folder.mkdir(exist_ok=True)
        with closing(PartProcesses(min(self._options.processes, len(all_parts)))) as self._processes:
            for _ in self._run_step("count", count_archive, all_parts, leaves, counts):
                pass
            self._summary.hosts = count_hosts([leaves / name for name in all_parts], counts, progress=self._progress)
            reports = _in_order(all_parts, self._run_step("clean", clean_archive, all_parts, cleaned, counts))
            rows = ((read_rows(cleaned / name), report) for name, report in reports)
            for number, (source, named) in enumerate(parts.items(), 1):
                self._write(source, islice(rows, len(named)))
                self._progress("write", number, len(parts), self._summary.pages)

    def _run_step(
        self, step: str, work: PartWork, parts: dict[str, Part], folder: Path, counts: Path
    ) -> Iterator[tuple[str, Summary]]:
        """Do a step for the parts that have no report of it yet; yield names and reports of all, as they come."""
        files = {name: self._state / "reports" / f"{step}-{name}.json" for name in parts}
        reports = {name: Summary.from_json(file.read_text("utf-8")) for name, file in files.items() if file.is_file()}
        tasks = {name: (part, folder / name) for name, part in parts.items() if name not in reports}
        pages = 0
        self._progress(step, len(reports), len(parts), pages)
        yield from reports.items()
        run = self._processes.run
        if self._options.ray is not None:
            from scrapy_tamis.archives.on_ray import run_on_ray as run  # noqa: PLC0415  (optional, slow to import)
        for done, (name, report) in enumerate(run(work, tasks, self._options, HostCounts(counts)), len(reports) + 1):
            write_output(files[name], report.to_json())
            parts[name] = tasks[name][0]  # less what ends processes
            pages += report.pages
            self._progress(step, done, len(parts), pages)
            yield name, report


def _in_order(names: Iterable[str], reports: Iterator[tuple[str, Summary]]) -> Iterator[tuple[str, Summary]]:
    """Yield reports in the order of their names, each as soon as that can be."""
    known: dict[str, Summary] = {}
    for name in names:
        while name not in known:
            known.update([next(reports)])
        yield name, known[name]


class PartProcesses:
    """Processes that work on parts of archives.

    Each is in a pool of its own: when it dies, the page that it died of is known. It keeps pages that it has counted,
    so it is the first to be given the same part again.
    """

    def __init__(self, number: int) -> None:
        self._pools = [process_pool(1, __name__) for _ in range(number)]  # none is started before it is asked to
        self._last: dict[str, int] = {}

    def run(self, work: PartWork, tasks: Tasks, options: Options, counts: HostCounts) -> Iterator[tuple[str, Summary]]:
        """Do the work on parts, in any order; yield name and report of each while processes work on the next ones.

        A page that processes die of is skipped, and the run goes on.
        """
        left, free = dict(tasks), list(range(len(self._pools)))
        running: dict[Future[Summary], tuple[str, int]] = {}
        died_at: dict[str, bytes] = {}
        done: list[tuple[str, Summary]] = []
        while left or running or done:
            while left and free:
                name = next((name for name in left if self._last.get(name) == free[-1]), next(iter(left)))
                try:
                    running[self._pools[free[-1]].submit(work, *left[name], options, counts)] = name, free[-1]
                    del left[name], free[-1]
                except BrokenProcessPool:  # it died while it had nothing to do
                    self._pools[free[-1]] = process_pool(1, __name__)
            yield from done
            done.clear()
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name, number = running.pop(future)
                free.append(number)
                try:
                    report = future.result()
                except BrokenProcessPool:
                    part, target = tasks[name]
                    trace = _trace_of(target)
                    if not trace.exists() or not (place := trace.read_bytes()):  # no page is to blame
                        raise
                    trace.unlink()
                    if died_at.get(name) == place:  # twice: not because memory was short for a moment
                        tasks[name] = replace(part, skip=part.skip | {int(place)}), target
                    died_at[name], left[name] = place, tasks[name]
                    self._pools[number] = process_pool(1, __name__)
                else:
                    self._last[name] = number
                    done.append((name, report))

    def close(self) -> None:
        """End the processes."""
        for pool in self._pools:
            pool.shutdown()


def _trace_of(file: Path) -> Path:
    """Return the file with the offset of the page that a process is at while it writes another."""
    return file.with_name(f"{file.name}.at")


def _traced(pages: Iterable[ArchivedPage], file: Path) -> Iterator[ArchivedPage]:
    """Go through pages; while somebody works on one, its offset is where :func:`_trace_of` says."""
    with _trace_of(file).open("wb", 0) as trace:
        for page in pages:
            os.pwrite(trace.fileno(), b"%020d" % page.place, 0)
            yield page
    _trace_of(file).unlink()


_kept: dict[Part, tuple[ArchiveReader, list[ArchivedPage]]] = {}
"""The parts that this process has counted, as long as there was room: readers, and pages without their HTML."""


def count_archive(part: Part, file: Path, options: Options, _: HostCounts) -> Summary:
    """First pass: write the leaves of the pages of a part into a file, and keep the pages if there is room."""
    reader, kept, number = ArchiveReader(part), [], 0
    room = 0 if options.ray is not None else memory_bytes() // 4 // options.processes
    for page in write_leaves(_traced(reader, file), file, options):
        number += 1
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 < room:  # macOS gives bytes, and keeps nothing
            kept.append(page)
        else:
            kept.clear()
    if len(kept) == number:
        _kept[part] = reader, kept
        gc.freeze()  # so that no collection visits them
    return Summary(pages=number)


def write_leaves(pages: Iterable[ArchivedPage], file: Path | IO[bytes], options: Options) -> Iterator[ArchivedPage]:
    """Write the leaves of pages into a file, and yield each page as it can be kept."""
    with LeafWriter(file) as writer:
        for page in pages:
            hashed = hash_page(page, options)  # the second pass reports an error
            if isinstance(hashed, HashedPage):
                writer.add(page.url, page.host, hashed)
            yield replace(page, html=b"", hashed=hashed) if isinstance(hashed, HashedPage) else page


def clean_archive(part: Part, file: Path, options: Options, counts: HostCounts) -> Summary:
    """Second pass: clean the pages of a part into a file of JSON lines."""
    reader, kept = _kept.pop(part, (ArchiveReader(part), None))
    pages = reader if kept is None else (kept.pop(0) for _ in range(len(kept)))  # each goes when it is cleaned
    report = Summary()
    for _ in keep_rows(reader, clean_counted(_traced(pages, file), counts, options), file, report):
        pass
    return report


def clean_counted(pages: Iterable[ArchivedPage], counts: HostCounts, options: Options) -> Iterator[Row | Failure]:
    """Clean pages with the final counts of their hosts; yield the row of each, or why it could not be cleaned."""
    for page in pages:
        hashed = page.hashed or hash_page(page, options)
        evidence = counts.evidence(page.host, hashed.fingerprints) if isinstance(hashed, HashedPage) else None
        yield clean_page(page, hashed, evidence, options)


def keep_rows(reader: ArchiveReader, rows: Iterable[Row | Failure], file: Path, report: Summary) -> Iterator[Row]:
    """Write the rows of the pages of a reader into a file of JSON lines, yield them, and report how that went."""
    with file.open("w", encoding="utf-8") as lines:
        for row in rows:
            if isinstance(row, Failure):
                report.failed[row.why] += 1
                report.first.setdefault(row.why, row.url)
            else:
                lines.write(json.dumps(row) + "\n")
                report.pages += 1
                yield row
    report.skipped = reader.skipped
    report.failed += reader.failed
    report.first |= reader.first
    if reader.broken is not None:
        report.broken[reader.part.source] = reader.broken


def read_rows(file: Path) -> Rows:
    """Go through the rows that :func:`keep_rows` has written into a file."""
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
