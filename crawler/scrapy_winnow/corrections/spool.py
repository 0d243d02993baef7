"""Pages of hosts whose labels are not known yet, on disk until they are: bounded, and gone with the crawl."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import tempfile
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
CREATE TABLE pages (host TEXT, url BLOB, html BLOB, is_text INTEGER, text_hash BLOB, fields BLOB);
CREATE INDEX pages_by_host ON pages (host);
"""
_LEVEL: Final = 1  # of compression: a page in a millisecond or so
_FOLDERS: Final = "spool-"
_IN_USE: Final = "in-use.lock"


@dataclass(frozen=True, slots=True)
class SpooledPage:
    """A page that may be cleaned again.

    Attributes:
        url: its address.
        html: its HTML, of the type that it had.
        text_hash: hash of the text that the first cleaning gave.
        fields: the other fields of its item, packed by :mod:`scrapy_winnow.corrections.plain_values`.
    """

    url: str
    html: str | bytes
    text_hash: bytes
    fields: bytes = b"{}"


class Spool:
    """Pages by host in a temporary SQLite file; its methods block, and one thread may call them at a time.

    Folders of crawls that were killed are removed first: a crawl holds a lock in its own as long as it lives.

    Args:
        folder: where the file is made.
        most_bytes: most bytes of compressed HTML and fields.

    Raises:
        OSError: the folder cannot be used.
        sqlite3.Error: nor can the file.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / "spools.lock"):
            _sweep(folder)
            self._folder = tempfile.TemporaryDirectory(prefix=_FOLDERS, dir=folder)
            self._in_use = os.open(Path(self._folder.name, _IN_USE), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._in_use, fcntl.LOCK_EX)
        self._database = sqlite3.connect(
            Path(self._folder.name, "pages"), check_same_thread=False, isolation_level=None
        )
        self._database.executescript(_SCHEMA)
        self._most_bytes = most_bytes
        self._bytes = 0

    def put(self, host: str, page: SpooledPage) -> bool:
        """Keep a page, unless there is no room for it; return whether it is kept."""
        is_text = isinstance(page.html, str)
        html = page.html.encode("utf-8", "surrogatepass") if isinstance(page.html, str) else page.html
        packed, fields = zlib.compress(html, _LEVEL), zlib.compress(page.fields, _LEVEL)
        size = len(packed) + len(fields)
        if self._bytes + size > self._most_bytes:
            return False
        self._database.execute(
            "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?)",
            (host, page.url.encode("utf-8", "surrogatepass"), packed, is_text, page.text_hash, fields),
        )
        self._bytes += size
        return True

    def take(self, host: str) -> SpooledPage | None:
        """Return a page of a host, the one that came first, and forget it; ``None`` when there is none left."""
        row = self._database.execute(
            "SELECT rowid, url, html, is_text, text_hash, fields FROM pages WHERE host = ? ORDER BY rowid LIMIT 1",
            (host,),
        ).fetchone()
        if row is None:
            return None
        number, url, packed, is_text, text_hash, fields = row
        self._database.execute("DELETE FROM pages WHERE rowid = ?", (number,))
        self._bytes -= len(packed) + len(fields)
        html = zlib.decompress(packed)
        page = html.decode("utf-8", "surrogatepass") if is_text else html
        return SpooledPage(url.decode("utf-8", "surrogatepass"), page, text_hash, zlib.decompress(fields))

    def close(self) -> None:
        """Remove the file; does nothing the second time."""
        self._database.close()
        self._folder.cleanup()
        if self._in_use >= 0:
            os.close(self._in_use)
            self._in_use = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Be the only process that makes or removes folders; waits for the others, which take milliseconds."""
    lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _sweep(folder: Path) -> None:
    """Remove the folders that no crawl holds any more; those of another user stay."""
    for old in folder.glob(f"{_FOLDERS}*"):
        with suppress(OSError):
            lock = os.open(old / _IN_USE, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(old, ignore_errors=True)
            finally:
                os.close(lock)
