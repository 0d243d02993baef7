"""Reads a folder of sites: one folder a site, its pages anywhere below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from pathlib import Path


_PAGE_SUFFIXES: Final = frozenset({".html", ".htm", ".xhtml", ".shtml"})
_OTHER_SUFFIXES: Final = frozenset(
    f".{name}"
    for name in (
        *("css", "js", "json", "xml", "txt", "md", "svg", "png", "jpg", "jpeg", "gif", "webp", "ico"),
        *("pdf", "zip", "gz", "woff", "woff2", "ttf", "mp3", "mp4"),
    )
)
_SNIFFED: Final = 1_024  # bytes


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of one site.

    Attributes:
        name: name of its folder.
        folder: where it is.
        files: its HTML files, sorted by path.
    """

    name: str
    folder: Path
    files: tuple[Path, ...]

    def url(self, file: Path) -> str:
        """Stable address of a page, made of the site's name and the file's path: ``https://name/path``."""
        return f"https://{self.name}/{quote(file.relative_to(self.folder).as_posix())}"


def find_sites(folder: Path, least_pages: int = 10) -> list[Site]:
    """List the sites of a folder by name, leaving out those with too few pages.

    Raises:
        FileNotFoundError: the folder does not exist.
        ValueError: there is no site with enough pages in it.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"no such folder: {folder}")
    sites = [Site(each.name, each, page_files(each)) for each in sorted(folder.iterdir()) if each.is_dir()]
    enough = [site for site in sites if len(site.files) >= least_pages]
    if not enough:
        raise ValueError(
            f"{folder} holds no folder with {least_pages} or more HTML files: one folder a site is expected"
        )
    return enough


def page_files(folder: Path) -> tuple[Path, ...]:
    """Return the HTML files anywhere below a folder, sorted by path."""
    return tuple(file for file in sorted(folder.rglob("*")) if is_page(file))


def is_page(file: Path) -> bool:
    """Whether a file is HTML, by its name or, where the name says nothing, by its first bytes."""
    suffix = file.suffix.lower()
    if not file.is_file() or suffix in _OTHER_SUFFIXES:
        return False
    if suffix in _PAGE_SUFFIXES:
        return True
    with file.open("rb") as stream:
        start = stream.read(_SNIFFED).lower()
    return b"<html" in start or b"<!doctype html" in start
