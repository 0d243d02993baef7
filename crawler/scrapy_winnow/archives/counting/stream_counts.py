"""Counts of all hosts while their pages come: a few hosts in memory, the others in a database on disk."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import numpy as np

from scrapy_winnow.archives.counting.leaf_files import hash_of
from scrapy_winnow.hosts.evidence import SiteEvidence
from winnow.counting import LossyCounts

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

HELD: Final = 200_000
"""Fingerprints and pages that are held in memory, of as many hosts as they are of."""


class StreamCounts:
    """What the pages of each host say by the time that one of them comes, as in a crawl.

    A page counts once, with the contents that it has first, and so do equal contents at several addresses. Of a host at
    most so many fingerprints are kept as a crawl keeps, with the same bound on what that costs, and once
    ``host_pages`` are counted its counts stay as they are. The same pages in the same order give the same counts.

    Args:
        database: where the hosts that are not in memory are; the caller commits.
        host_pages: most pages of a host that are counted.
        held: most fingerprints and pages in memory.
    """

    def __init__(self, database: sqlite3.Connection, host_pages: int, held: int = HELD) -> None:
        self._database = database
        self._host_pages = host_pages
        self._most_held = held
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._held = 0
        database.execute("CREATE TABLE IF NOT EXISTS hosts (name TEXT PRIMARY KEY, urls BLOB, counts BLOB)")

    def count(self, url: str, host: str, fingerprints: NDArray[np.uint64], contents_id: bytes) -> SiteEvidence:
        """Count a page with its leaves, uint64[k], and return what is known of its host, the page itself included."""
        known = self._host(host)
        before = known.size
        counted = known.counts.pages < self._host_pages and known.add(url, fingerprints, contents_id)
        self._held += known.size - before
        self._spill()
        df = np.where(fingerprints != 0, np.maximum(known.counts.df(fingerprints), 1), 0)
        return SiteEvidence(df, known.counts.pages, known.counts.undercount, counted=counted)

    def save(self) -> int:
        """Write all hosts into the database, and return how many there are."""
        for name, host in self._hosts.items():
            self._write(name, host)
        (hosts,) = self._database.execute("SELECT count(*) FROM hosts").fetchone()
        return int(hosts)

    def _host(self, name: str) -> _Host:
        host = self._hosts.get(name)
        if host is None:
            found = self._database.execute("SELECT urls, counts FROM hosts WHERE name = ?", (name,)).fetchone()
            host = self._hosts[name] = _Host(*(found or ()))
            self._held += host.size
        self._hosts.move_to_end(name)
        return host

    def _spill(self) -> None:
        """Write hosts to disk, those first that were not met for longest, until the rest fits."""
        while self._held > self._most_held and len(self._hosts) > 1:
            name, host = self._hosts.popitem(last=False)
            self._held -= host.size
            self._write(name, host)

    def _write(self, name: str, host: _Host) -> None:
        if host.changed:
            urls = np.fromiter(host.urls, "<u8", len(host.urls)).tobytes()
            self._database.execute("REPLACE INTO hosts VALUES (?, ?, ?)", (name, urls, host.counts.to_bytes()))
            host.changed = False


class _Host:
    """One host: its counts by contents, and the addresses whose contents were counted."""

    def __init__(self, urls: bytes = b"", counts: bytes | None = None) -> None:
        self.urls = set(np.frombuffer(urls, "<u8").tolist())
        self.counts = LossyCounts() if counts is None else LossyCounts.from_bytes(counts)
        self.changed = counts is None

    @property
    def size(self) -> int:
        return len(self.counts) + 2 * len(self.urls)

    def add(self, url: str, fingerprints: NDArray[np.uint64], contents_id: bytes) -> bool:
        address = hash_of(url)
        if address in self.urls or not self.counts.add(int.from_bytes(contents_id, "little"), fingerprints):
            return False
        self.urls.add(address)
        self.changed = True
        return True
