"""The links of the sites on disk: those that wait, and in ``JOBDIR`` what became of each, whole after ``kill -9``."""

from __future__ import annotations

import logging
import sqlite3
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

_SCHEMA: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS links (site TEXT, url TEXT, state INTEGER, PRIMARY KEY (site, url));
CREATE INDEX IF NOT EXISTS waiting ON links (site) WHERE state = 0;
"""
_DEPTH: Final = "ALTER TABLE links ADD COLUMN depth INTEGER DEFAULT 0"
"""For files of before there was a depth."""


class LinkState(IntEnum):
    """How far a link has got."""

    WAITING = 0
    ASKED = 1
    STORED = 2
    ENDED = 3


class Link(NamedTuple):
    """A link that waits.

    Attributes:
        url: its address.
        depth: links from the start address to it.
    """

    url: str
    depth: int = 0


class Journal:
    """The links of all sites with their states, in a SQLite file; a write takes some microseconds.

    Args:
        file: where; ``None`` is a file that goes with the process, made with the first link that waits.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._database: sqlite3.Connection | None = None
        self._is_lost = False
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._open(str(file))

    def _open(self, name: str) -> None:
        self._database = sqlite3.connect(name, isolation_level=None)
        self._database.executescript(_SCHEMA)
        if not name:
            self._database.execute("PRAGMA journal_mode = OFF")  # nobody will read it after this process
        if not any(row[1] == "depth" for row in self._database.execute("PRAGMA table_info(links)")):
            self._database.execute(_DEPTH)

    def read(self) -> Iterator[tuple[str, str, LinkState]]:
        """Go through what an earlier run has written: sites, links and states, in the order of their finding."""
        if self._database is not None:
            for site, url, state in self._database.execute("SELECT site, url, state FROM links ORDER BY rowid"):
                yield site, url, LinkState(state)

    def note(self, site: str, url: str, state: LinkState, depth: int = 0) -> None:
        """Write how far a link has got; a disk that is full costs the journal and what waits, not the crawl."""
        if self._is_lost or (self._database is None and state != LinkState.WAITING):
            return
        try:
            if self._database is None:
                self._open("")
            assert self._database is not None  # noqa: S101 - opened
            self._database.execute(
                "INSERT INTO links (site, url, state, depth) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET state = excluded.state",
                (site, url, state, depth),
            )
        except sqlite3.Error as error:
            self._lose(error)

    def waiting(self, site: str, most: int) -> list[Link]:
        """Return links of a site that wait, those first that were found first."""
        if self._database is None:
            return []
        query = "SELECT url, depth FROM links WHERE state = 0 AND site = ? ORDER BY rowid LIMIT ?"
        try:
            return [Link(url, depth or 0) for url, depth in self._database.execute(query, (site, most))]
        except sqlite3.Error as error:
            self._lose(error)
            return []

    def _lose(self, error: sqlite3.Error) -> None:
        logger.warning("The crawl goes on without its journal of links: %s", error)
        self._is_lost = True
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
