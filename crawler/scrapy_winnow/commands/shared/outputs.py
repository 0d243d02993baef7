"""Where cleaned pages are written to: standard output, one file, or a folder with a file for each page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, Self

from scrapy_winnow.commands.shared.failures import CommandError
from scrapy_winnow.commands.shared.inputs import InputError

if TYPE_CHECKING:
    from scrapy_winnow.commands.shared.cleaning import Source


class Output(Protocol):
    """Takes the content of one page after another; ``quiet`` says that standard output stays free."""

    quiet: bool

    def write(self, source: Source, content: str) -> None:
        """Write the content of a page."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class StandardOutput:
    """Standard output; ``headed`` writes the name of each page before it."""

    quiet = False

    def __init__(self, *, headed: bool) -> None:
        self._headed = headed

    def write(self, source: Source, content: str) -> None:
        """Write the content of a page."""
        sys.stdout.write(f"==> {source.name} <==\n{content}\n" if self._headed else content)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing has to be closed."""


class FileOutput:
    """One file for all pages, begun with the first."""

    quiet = True

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stream: IO[str] | None = None

    @classmethod
    def of(cls, name: str) -> Self:
        """Write to the file of a name.

        Raises:
            CommandError: there is no folder for it.
        """
        file = Path(name)
        if not file.parent.is_dir():
            raise CommandError(f"-o: no such folder: {file.parent}")
        return cls(file)

    def write(self, source: Source, content: str) -> None:  # noqa: ARG002  (a line of JSON says which page it is)
        """Write the content of a page."""
        if self._stream is None:
            self._stream = self._file.open("w", encoding="utf-8")
        self._stream.write(content)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()


class FolderOutput:
    """A folder with a file for each page, in the same folders below it as the page was in."""

    quiet = True

    def __init__(self, folder: Path, suffix: str) -> None:
        self._folder = folder
        self._suffix = suffix
        self._written: set[Path] = set()

    @classmethod
    def of(cls, name: str, suffix: str) -> Self:
        """Write into the folder of a name, which is made if need be."""
        folder = Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, suffix)

    def write(self, source: Source, content: str) -> None:
        """Write the content of a page.

        Raises:
            InputError: another page has been written there.
        """
        file = self._folder / f"{source.stem}{self._suffix}"
        if file in self._written:
            raise InputError(f"would overwrite {file}, written for another FILE")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
        self._written.add(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing has to be closed."""
