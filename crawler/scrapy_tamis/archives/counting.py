"""How many pages of its host have each leaf: counted exactly from files of leaves, or page by page as they come.

Two passes write the leaves of every page to disk (:class:`LeafWriter`), count them a shard of hosts at a time
(:func:`count_hosts`) and look them up (:class:`HostCounts`). One pass counts as it goes (:class:`StreamCounts`).
"""

from __future__ import annotations

import hashlib
from typing import IO, TYPE_CHECKING, Any, Final, Self

import numpy as np
import pyarrow as pa
from pyarrow import compute as pc

from scrapy_tamis.storage.evidence import SiteEvidence, look_up
from tamis.counting import LossyCounts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from scrapy_tamis.storage.evidence import HashedUnits

_SHARDS: Final = 64
"""Number of shards that hosts are divided into by their hash; one is in memory at a time."""

MAX_HOST_PAGES: Final = 4_096
"""Pages of a host that are counted; of larger hosts a sample by the hash of the addresses, the same in any order."""

MAX_HELD: Final = 200_000
"""Fingerprints and addresses that :class:`StreamCounts` holds in memory, about; repeated ones count again."""

_PAGES: Final = pa.schema(
    [*((name, pa.uint64()) for name in ("host", "url", "contents")), ("leaves", pa.large_list(pa.uint64()))]
)
_PAGES_AT_ONCE: Final = 8_192
"""Pages that a :class:`LeafWriter` holds, sorts by shard and writes."""


def _hash(text: str) -> int:
    """64-bit hash of the name of a host or the address of a page."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class LeafWriter:
    """Writes the leaves of pages into an Arrow file, in batches that are sorted by shard; a context."""

    def __init__(self, file: Path | IO[bytes]) -> None:
        self._writer = pa.ipc.new_file(file, _PAGES)
        self._pages: list[tuple[int, int, int, NDArray[np.uint64]]] = []

    def add(self, url: str, host: str, hashed: HashedUnits) -> None:
        """Add the distinct leaves of a page."""
        contents, leaves = int.from_bytes(hashed.main_text_id, "little"), np.unique(hashed.fingerprints)
        self._pages.append((_hash(host), _hash(url), contents, leaves))
        if len(self._pages) >= _PAGES_AT_ONCE:
            self._write()

    def _write(self) -> None:
        if self._pages:
            self._pages.sort(key=lambda page: page[0] % _SHARDS)
            *hashes, leaves = zip(*self._pages, strict=True)
            lists = pa.LargeListArray.from_arrays(np.cumsum([0, *map(len, leaves)]), np.concatenate(leaves))
            self._writer.write_batch(pa.record_batch([*np.array(hashes, np.uint64), lists], schema=_PAGES))
            self._pages.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._write()
        self._writer.close()


def _read_shard(files: list[Path], shard: int) -> Iterator[pa.RecordBatch]:
    """Go through the pages of a shard, which stay on disk until they are used."""
    for file in files:
        reader = pa.ipc.open_file(pa.memory_map(str(file)))
        for pages in map(reader.get_batch, range(reader.num_record_batches)):
            begin, end = np.searchsorted(pages["host"].to_numpy() % _SHARDS, [shard, shard + 1]).tolist()
            if begin < end:
                yield pages.slice(begin, end - begin)


def count_hosts(
    files: list[Path], folder: Path, progress: Callable[[str, int, int, int], object] = lambda *_: None
) -> int:
    """Count the leaves of all hosts in files of :class:`LeafWriter`, for :class:`HostCounts`; return how many hosts.

    As in a crawl, a page that was fetched again counts once, and so do pages with the same contents at several
    addresses. Leaves that are on one page only are not stored: a leaf that is not found has that count.
    """
    hosts = 0
    for shard in range(_SHARDS):
        hosts += _count_shard(files, shard, folder)
        progress("count hosts", shard + 1, _SHARDS, 0)
    return hosts


def _count_shard(files: list[Path], shard: int, folder: Path) -> int:
    pages = pa.Table.from_batches(_read_shard(files, shard), _PAGES)
    pages = pages.take(_choose_pages(pages)).combine_chunks()
    hosts, number_of_pages = np.unique(pages["host"], return_counts=True)
    leaves = pages["leaves"].combine_chunks()
    found = pa.table({"host": pages["host"].take(pc.list_parent_indices(leaves)), "leaf": leaves.flatten()})
    found = found.group_by(["host", "leaf"]).aggregate([([], "count_all")]).filter(pc.field("count_all") > 1)
    found = found.sort_by([("host", "ascending"), ("leaf", "ascending")])
    begin = np.append(np.searchsorted(found["host"], hosts), len(found))
    lists = (pa.LargeListArray.from_arrays(begin, found[name].combine_chunks()) for name in ("leaf", "count_all"))
    counts = pa.record_batch([hosts, number_of_pages, *lists], ["host", "pages", "leaves", "page_counts"])
    with pa.ipc.new_file(str(folder / f"{shard:02d}.arrow"), counts.schema) as writer:
        writer.write_batch(counts)
    return len(hosts)


def _choose_pages(pages: pa.Table) -> NDArray[np.int64]:
    """Return int64, the rows that count: one per address, one per equal contents, then the first ones of each host."""
    host, url, contents = (pages[name].to_numpy() for name in ("host", "url", "contents"))
    rows = np.lexsort((contents, url, host))
    for distinct in (url, contents):  # of rows with the same value on a host the first one stays, as they are sorted
        order = np.lexsort((distinct[rows], host[rows]))
        pairs = np.array([host, distinct])[:, rows[order]]
        is_first = np.ones(len(rows), bool)
        is_first[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
        rows = rows[np.sort(order[is_first])]
    rank = np.arange(len(rows)) - np.searchsorted(host[rows], host[rows])
    chosen: NDArray[np.int64] = rows[rank < MAX_HOST_PAGES]
    return chosen


class HostCounts:
    """Looks up the counts of all hosts on disk, as :func:`count_hosts` wrote them into ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: dict[int, tuple[NDArray[Any], ...]] = {}

    def evidence(self, host: str, fingerprints: NDArray[np.uint64]) -> SiteEvidence:
        """Return how many pages of a host have each leaf (uint64[k]) of one of them."""
        name = _hash(host)
        hosts, pages, begin, leaves, page_counts = self._open_shard(name % _SHARDS)
        row = int(hosts.searchsorted(np.uint64(name)))
        if row == len(hosts) or int(hosts[row]) != name:
            return SiteEvidence(np.ones(len(fingerprints), np.int64), 1)
        of_host = slice(begin[row], begin[row + 1])
        found = look_up(leaves[of_host], page_counts[of_host], fingerprints)
        return SiteEvidence(np.maximum(found, 1), int(pages[row]))

    def open_all(self) -> Self:
        """Open the counts of all hosts, so that a pickle holds them; return this object."""
        for file in self._folder.glob("*.arrow"):
            self._open_shard(int(file.stem))
        return self

    def _open_shard(self, number: int) -> tuple[NDArray[Any], ...]:
        """Return the hosts of a shard, ascending; their pages; where their leaves begin; the leaves; their counts."""
        if number not in self._shards:
            source = pa.memory_map(str(self._folder / f"{number:02d}.arrow"))
            hosts, pages, leaves, page_counts = pa.ipc.open_file(source).get_batch(0).columns
            columns = hosts, pages, leaves.offsets, leaves.values, page_counts.values
            self._shards[number] = tuple(column.to_numpy() for column in columns)
        return self._shards[number]


class StreamCounts:
    """Counts pages as they come, as a crawl does: the hosts met last in memory, the others in a database on disk.

    A page counts once, with the contents that it has first, and so do equal contents at several addresses. A host keeps
    as many fingerprints as in a crawl, with the same bound on the error; after ``MAX_HOST_PAGES`` its counts stay as
    they are. The same pages in the same order give the same counts. The caller commits to the database.
    """

    def __init__(self, database: sqlite3.Connection, max_held: int = MAX_HELD) -> None:
        self._database = database
        self._max_held = max_held
        self._hosts: dict[str, _Host] = {}
        self._held = 0
        database.execute("CREATE TABLE IF NOT EXISTS hosts (name TEXT PRIMARY KEY, urls BLOB, counts BLOB)")

    def count(self, url: str, host: str, hashed: HashedUnits) -> SiteEvidence:
        """Count a page by its leaves, and return the counts of its host, this page included."""
        if self._held > self._max_held:
            self.save()
            self._hosts.clear()
            self._held = 0
        known = self._load_host(host)
        if known.counts.pages < MAX_HOST_PAGES and known.add(url, hashed):
            self._held += len(hashed.fingerprints)
        return SiteEvidence(np.maximum(known.counts.df(hashed.fingerprints), 1), known.counts.pages)

    def save(self) -> int:
        """Write all hosts into the database, and return how many there are."""
        for name, host in self._hosts.items():
            urls = np.fromiter(host.urls, "<u8", len(host.urls)).tobytes()
            self._database.execute("REPLACE INTO hosts VALUES (?, ?, ?)", (name, urls, host.counts.to_bytes()))
        (hosts,) = self._database.execute("SELECT count(*) FROM hosts").fetchone()
        return int(hosts)

    def _load_host(self, name: str) -> _Host:
        if name not in self._hosts:
            found = self._database.execute("SELECT urls, counts FROM hosts WHERE name = ?", (name,)).fetchone()
            host = self._hosts[name] = _Host(*(found or ()))
            self._held += len(host.urls) + len(host.counts)
        return self._hosts[name]


class _Host:
    """The counts of one host, and the addresses whose contents were counted."""

    def __init__(self, urls: bytes = b"", counts: bytes | None = None) -> None:
        self.urls = set(np.frombuffer(urls, "<u8").tolist())
        self.counts = LossyCounts() if counts is None else LossyCounts.from_bytes(counts)

    def add(self, url: str, hashed: HashedUnits) -> bool:
        address, contents = _hash(url), int.from_bytes(hashed.main_text_id, "little")
        if address in self.urls or not self.counts.add(contents, hashed.fingerprints):
            return False
        self.urls.add(address)
        return True
