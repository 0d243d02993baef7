"""Folders of pages: which of their files are HTML, and the pages of one site, read again on each pass."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self, TypeAlias
from urllib.parse import quote, urljoin

from tamis.page.page import Page, PageTooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


Progress: TypeAlias = "Callable[[int, int, str], object]"
"""Takes the number of finished items, that of all of them, and the name of the last one or of the next step."""


def no_progress(_done: int, _total: int, _name: str) -> None:
    """A no-op progress callback."""


OTHER_SUFFIXES: Final = frozenset(
    """
    .css .js .json .xml .rss .txt .md .svg .png .jpg .jpeg .gif .webp .ico .bmp .pdf .ps .doc .docx .xls .xlsx .ppt
    .pptx .odt .epub .zip .gz .tgz .bz2 .xz .tar .rar .7z .exe .dmg .deb .rpm .jar .mp3 .ogg .wav .mp4 .avi .mov .webm
    .woff .woff2 .ttf
    """.split()
)
"""Suffixes of files that are not pages."""


def page_files(folder: Path) -> tuple[Path, ...]:
    """Return the HTML files anywhere below a folder, sorted by path."""
    return tuple(file for file in sorted(folder.rglob("*")) if is_page(file))


def is_page(file: Path) -> bool:
    """Whether a file is HTML, by its name or, where the name says nothing, by its first bytes."""
    suffix = file.suffix.lower()
    if not file.is_file() or suffix in OTHER_SUFFIXES:
        return False
    if suffix in {".html", ".htm", ".xhtml", ".shtml"}:
        return True
    try:
        with file.open("rb") as stream:
            start = stream.read(1_024).lower()
    except OSError:
        return True  # it may be one: who reads it says why that fails
    return b"<html" in start or b"<!doctype html" in start


class SitePage(NamedTuple):
    """One page of a site that has been read: name of its file in the folder of the site, and parsed page.

    ``number`` is its index among the pages of the site.
    """

    number: int
    name: str
    page: Page


@dataclass(eq=False)
class SitePages:
    """The pages of one site: names and addresses in memory; HTML and trees are read on each pass, one at a time.

    Attributes:
        names, urls, files: of each page its name, its address, and its file.
        folder: the folder of the files, which the names are relative to; the site is called after it.
        progress: called for each page that is done, in each pass over them.
        skipped: pages that could not be read or are too large, and why; :meth:`read_all` fills it.
    """

    names: Sequence[str]
    urls: Sequence[str]
    files: Sequence[Path]
    folder: Path = Path()
    progress: Progress = no_progress
    skipped: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_files(cls, folder: Path, files: Sequence[Path], base_url: str | None = None) -> SitePages:
        """Create from files of a folder; the address of each is ``base_url``, or ``https://FOLDER/``, and its path."""
        names = [file.relative_to(folder).as_posix() for file in files]
        base = base_url or f"https://{quote(os.fsencode(folder.resolve().name))}/"
        return cls(names, [urljoin(base.rstrip("/") + "/", quote(os.fsencode(name))) for name in names], files, folder)

    def __len__(self) -> int:
        return len(self.files)

    @property
    def name(self) -> str:
        """Name of the site."""
        return self.folder.name

    def read(self, number: int) -> SitePage:
        """Read and parse one page.

        Raises:
            OSError: it cannot be read.
            PageTooLarge: it exceeds a limit.
        """
        return SitePage(number, self.names[number], Page.parse(self.files[number].read_bytes(), self.urls[number]))

    def read_all(self) -> Iterator[SitePage]:
        """Read one page after the other; those that cannot be read are left out and listed in :attr:`skipped`."""
        for number, name in enumerate(self.names):
            try:
                read = self.read(number)
            except PageTooLarge as error:
                self.skipped[name] = str(error)
            except OSError as error:
                self.skipped[name] = (error.strerror or str(error)).lower()
            else:
                yield read
                del read  # its tree goes before the next one is made
            self.progress(number + 1, len(self), name)

    def subset(self, numbers: Sequence[int]) -> Self:
        """Return the pages with these numbers, in this order; they are numbered again from 0."""
        names, urls = ([column[number] for number in numbers] for column in (self.names, self.urls))
        return replace(self, names=names, urls=urls, files=[self.files[number] for number in numbers])
