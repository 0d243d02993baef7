"""A run and what it works in: where its files go, one for each archive, and the folder of what is half done."""

from __future__ import annotations

import hashlib
import json
import shutil
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

from scrapy_winnow.archives.destination import Destination
from scrapy_winnow.archives.job import Options
from scrapy_winnow.archives.reading.stream import STANDARD_INPUT
from winnow.models import load_model

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from scrapy_winnow.archives.job import Progress, Summary

_ENDINGS: Final = (".gz", ".zst", ".zstd", ".lz4", ".warc", ".wet", ".wat")


class OtherRunError(ValueError):
    """The folder holds what another run, with other options, has begun."""


class RunFolder:
    """The folder of what is half done of one run, made if need be.

    Args:
        destination: of the files that come out.
        sources: paths or addresses of the archives, each once.
        options: what the run is to do.
        further: what else has to be the same when a run goes on.

    Attributes:
        destination: of the files that come out.
        state: what is half done; it goes when all is done.
        goes_on: whether there is something half done.
        names: file name of each archive's output without its ending, by source, in the order given.

    Raises:
        OtherRunError: the folder holds another run's work, or that of one that cannot go on.
    """

    def __init__(self, destination: Destination, sources: list[str], options: Options, **further: Any) -> None:
        self.destination = destination
        self.state = destination.work
        self.names = _distinct_names(sources)
        limits = options.limits
        facts = {
            "sources": sources,
            "model": load_model(options.model).version,
            "outputs": sorted(options.outputs),
            "host_pages": options.host_pages,
            "limits": [limits.max_bytes, limits.max_nodes, limits.max_depth],
            **further,
        }
        file = self.state / "run.json"
        self.goes_on = file.is_file()
        if self.goes_on:
            if json.loads(file.read_text("utf-8")) != facts:
                raise OtherRunError(f"{self.state} holds another run's work: finish that one, or delete it")
            if STANDARD_INPUT in sources:
                raise OtherRunError(
                    f"{self.state} holds a run that was stopped, and standard input cannot be read again: delete it to "
                    "begin anew"
                )
        self.state.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(facts, indent=1), "utf-8")

    def remove_state(self) -> None:
        """Remove what is needed no longer."""
        shutil.rmtree(self.state)


class Run(ABC):
    """A run over archives into a folder.

    Args:
        sources: paths or addresses of the archives.
        output: path or address of the folder; it is made.
        options: what to do.
        progress: told now and then how far it is.
        work: folder for what is half done, see :class:`~scrapy_winnow.archives.destination.Destination`.

    Raises:
        OtherRunError: the folder holds another run's work, or that of one that cannot go on.
        AddressError: the output cannot be written to.
        ValueError: this kind of run cannot do what the options ask for.
    """

    def __init__(
        self,
        sources: Iterable[str],
        output: str | Path,
        options: Options | None = None,
        progress: Progress = lambda *_: None,
        work: Path | None = None,
    ) -> None:
        self._options = options if options is not None else Options()
        self._progress = progress
        self._folder = RunFolder(Destination(output, work), self._ordered(sources), self._options, **self._facts())

    @property
    def goes_on(self) -> bool:
        """Whether an earlier run, which was stopped, has done some of it."""
        return self._folder.goes_on

    @abstractmethod
    def run(self) -> Summary:
        """Do what is left to do; every archive's file is in the folder at the end."""

    @abstractmethod
    def _ordered(self, sources: Iterable[str]) -> list[str]:
        """Return each archive once, in the order in which they are read."""

    def _facts(self) -> dict[str, Any]:
        """What else has to be the same when the run goes on."""
        return {}


def _distinct_names(sources: list[str]) -> dict[str, str]:
    """A file name for each archive, by source: its own without its endings, made distinct where two are the same."""
    names: dict[str, str] = {}
    for source in sources:
        name = source.rstrip("/").rpartition("/")[2] or "archive"
        name = "stdin" if source == STANDARD_INPUT else name
        while name.endswith(_ENDINGS):
            name = name.rpartition(".")[0]
        if name in names.values() or not name:
            name = f"{name}-{hashlib.blake2b(source.encode(), digest_size=4).hexdigest()}"
        names[source] = name
    return names
