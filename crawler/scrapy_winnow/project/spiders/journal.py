"""What became of every link of the sites, on disk in ``JOBDIR``: whole after ``kill -9``, whatever was under way."""

from __future__ import annotations

import logging
import sqlite3
from enum import IntEnum
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

_SCHEMA: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS links (site TEXT, url TEXT, state INTEGER, PRIMARY KEY (site, url));
"""


class LinkState(IntEnum):
    """How far a link has got."""

    WAITING = 0
    ASKED = 1
    STORED = 2
    ENDED = 3


class Journal:
    """The links of all sites with their states, in a SQLite file; a write takes some microseconds.

    Args:
        file: where; ``None`` keeps nothing.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._database: sqlite3.Connection | None = None
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(file, isolation_level=None)
            self._database.executescript(_SCHEMA)

    def read(self) -> Iterator[tuple[str, str, LinkState]]:
        """Go through what an earlier run has written: sites, links and states, in the order of their finding."""
        if self._database is not None:
            for site, url, state in self._database.execute("SELECT site, url, state FROM links ORDER BY rowid"):
                yield site, url, LinkState(state)

    def note(self, site: str, url: str, state: LinkState) -> None:
        """Write how far a link has got; a disk that is full costs the journal, not the crawl."""
        if self._database is None:
            return
        try:
            self._database.execute(
                "INSERT INTO links VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state",
                (site, url, state),
            )
        except sqlite3.Error as error:
            logger.warning("The crawl goes on without its journal of links: %s", error)
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
