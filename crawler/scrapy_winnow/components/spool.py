"""Pages of hosts whose labels are not known yet, on disk until they are: bounded, and gone with the crawl."""

from __future__ import annotations

import sqlite3
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
CREATE TABLE pages (host TEXT, url BLOB, html BLOB, is_text INTEGER, text_hash BLOB);
CREATE INDEX pages_by_host ON pages (host);
"""
_LEVEL: Final = 1  # of compression: a page in a millisecond or so


@dataclass(frozen=True, slots=True)
class SpooledPage:
    """A page that may be cleaned again.

    Attributes:
        url: its address.
        html: its HTML, of the type that it had.
        text_hash: hash of the text that the first cleaning gave.
    """

    url: str
    html: str | bytes
    text_hash: bytes


class Spool:
    """Pages by host in a temporary SQLite file; its methods block, and one thread may call them at a time.

    Args:
        folder: where the file is made.
        most_bytes: most bytes of compressed HTML.

    Raises:
        OSError: the folder cannot be used.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(prefix="spool-", dir=folder)
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
        packed = zlib.compress(html, _LEVEL)
        if self._bytes + len(packed) > self._most_bytes:
            return False
        self._database.execute(
            "INSERT INTO pages VALUES (?, ?, ?, ?, ?)",
            (host, page.url.encode("utf-8", "surrogatepass"), packed, is_text, page.text_hash),
        )
        self._bytes += len(packed)
        return True

    def take(self, host: str) -> SpooledPage | None:
        """Return a page of a host, the one that came first, and forget it; ``None`` when there is none left."""
        row = self._database.execute(
            "SELECT rowid, url, html, is_text, text_hash FROM pages WHERE host = ? ORDER BY rowid LIMIT 1", (host,)
        ).fetchone()
        if row is None:
            return None
        number, url, packed, is_text, text_hash = row
        self._database.execute("DELETE FROM pages WHERE rowid = ?", (number,))
        self._bytes -= len(packed)
        html = zlib.decompress(packed)
        page = html.decode("utf-8", "surrogatepass") if is_text else html
        return SpooledPage(url.decode("utf-8", "surrogatepass"), page, text_hash)

    def close(self) -> None:
        """Remove the file; does nothing the second time."""
        self._database.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
