"""Which files of a folder are pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
