"""Who does the work on archives: this process, processes beside it, or the nodes of a Ray cluster."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from scrapy_winnow.archives.passes import share_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scrapy_winnow.archives.job import FileReport
    from scrapy_winnow.archives.reading.parts import Part


@dataclass(frozen=True, slots=True)
class Task:
    """The work on one part of an archive in one pass.

    Attributes:
        function: called with ``part``, ``target`` and what follows; writes the target, a file or a folder, at once.
        part: what is read; mostly a whole archive.
        target: what it writes.
        counts: folder of the hosts' counts, where the function needs them, its first further argument.
        arguments: its other arguments.
    """

    function: Callable[..., FileReport]
    part: Part
    target: Path
    counts: Path | None
    arguments: tuple[Any, ...]

    def do(self) -> FileReport:
        """Do it here."""
        counts = () if self.counts is None else (self.counts,)
        return self.function(self.part, self.target, *counts, *self.arguments)


class Workers(Protocol):
    """Does tasks, in any order."""

    def each(self, tasks: dict[str, Task]) -> Iterator[tuple[str, FileReport] | None]:
        """Do tasks and give the name and the report of each that is done; ``None`` now and then while none is."""
        ...

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes read and pages done by now."""
        ...


class Processes:
    """Works in this process, or in several beside it.

    Args:
        number: how many at a time.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._context = multiprocessing.get_context("spawn")
        self._read_bytes = self._context.Value("Q", 0)
        self._pages = self._context.Value("Q", 0)

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes read and pages done by now."""
        return self._read_bytes.value, self._pages.value

    def each(self, tasks: dict[str, Task]) -> Iterator[tuple[str, FileReport] | None]:
        """Do tasks; see :class:`Workers`."""
        self._read_bytes.value = self._pages.value = 0
        processes = min(self._number, len(tasks))
        shared = (self._read_bytes, self._pages)
        if processes <= 1:
            share_progress(*shared)
            for name, task in tasks.items():
                yield name, task.do()
            return
        with ProcessPoolExecutor(processes, self._context, share_progress, shared) as pool:
            names = {pool.submit(task.do): name for name, task in tasks.items()}
            while names:
                ready, _ = wait(names, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in ready:
                    yield names.pop(future), future.result()
                if not ready:
                    yield None
