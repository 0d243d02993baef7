"""How many pages of its host have each leaf: counted exactly from files of leaves, or page by page as they come.

Two passes write the leaves of every page to disk (:class:`LeafWriter`), count them a shard of hosts at a time
(:func:`count_shard`) and look them up (:class:`HostCounts`). One pass counts as it goes (:class:`StreamCounts`).
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from scrapy_winnow.storage.evidence import SiteEvidence, look_up
from winnow.counting import LossyCounts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from scrapy_winnow.storage.evidence import HashedPage

SHARDS: Final = 64
"""Hosts are divided into so many shards by their hash; one shard is in memory at a time."""

MAX_HOST_PAGES: Final = 4_096
"""Pages of a host that are counted; of larger hosts a sample by the hash of the addresses, the same in any order."""

MAX_HELD: Final = 200_000
"""Fingerprints and addresses that :class:`StreamCounts` holds in memory."""

_PAGE: Final = np.dtype([("host", "<u8"), ("url", "<u8"), ("contents", "<u8"), ("leaves", "<u4")])
_PAGES_PER_FILE: Final = 20_000
_COUNT_ARRAYS: Final = ("hosts", "pages", "begin", "leaves", "page_counts")


def _hash(text: str) -> int:
    """64-bit hash of the name of a host or the address of a page."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class LeafWriter:
    """Writes the leaves of pages into files of a folder, each sorted by shard."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._pages: list[tuple[int, int, int, int]] = []
        self._leaves: list[NDArray[np.uint64]] = []
        self._files = 0

    def add(self, url: str, host: str, hashed: HashedPage) -> None:
        """Add the distinct leaves of a page."""
        leaves = np.unique(hashed.fingerprints)
        contents = int.from_bytes(hashed.main_text_id, "little")
        self._pages.append((_hash(host), _hash(url), contents, len(leaves)))
        self._leaves.append(leaves)
        if len(self._pages) >= _PAGES_PER_FILE:
            self.flush()

    def flush(self) -> None:
        """Write the pages that are held."""
        if not self._pages:
            return
        pages = np.array(self._pages, _PAGE)
        order = np.argsort(pages["host"] % SHARDS, kind="stable")
        leaves = np.concatenate([self._leaves[page] for page in order.tolist()])
        name = f"{self._files:05d}"
        np.save(self._folder / f"{name}.pages.npy", pages[order])
        np.save(self._folder / f"{name}.leaves.npy", leaves.astype("<u8", copy=False))
        self._files += 1
        self._pages, self._leaves = [], []


def _read_shard(
    folders: list[Path], shard: int
) -> Iterator[tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.uint64]]]:
    """Go through the files that hold pages of a shard.

    Yields:
        Pages (of the type ``_PAGE``); where the leaves of each begin, int64[pages]; all leaves of the file, uint64,
        which stay on disk until they are used.
    """
    for folder in folders:
        for file in sorted(folder.glob("*.pages.npy")):
            pages = np.load(file, mmap_mode="r")
            begin, end = np.searchsorted(pages["host"] % SHARDS, [shard, shard + 1])
            if begin == end:
                continue
            first = np.cumsum(pages["leaves"], dtype=np.int64) - pages["leaves"]
            leaves = np.load(file.with_name(file.name.replace(".pages.", ".leaves.")), mmap_mode="r")
            yield np.array(pages[begin:end]), first[begin:end], leaves


def count_shard(folders: list[Path], shard: int, output: Path, max_host_pages: int = MAX_HOST_PAGES) -> int:
    """Count the leaves of the hosts of one shard.

    As in a crawl, a page that was fetched again counts once, and so do pages with the same contents at several
    addresses. Leaves that are on one page only are not stored: a leaf that is not found has that count.

    Args:
        folders: those of the :class:`LeafWriter` of each archive.
        shard: 0 to ``SHARDS - 1``.
        output: folder that the counts are written to.
        max_host_pages: pages of a host that are counted at most.

    Returns:
        Number of hosts in the shard; without any, nothing is written.
    """
    files = list(_read_shard(folders, shard))
    if not files:
        return 0
    pages = np.concatenate([file[0] for file in files])
    first = np.concatenate([file[1] for file in files])
    file_of = np.repeat(np.arange(len(files)), [len(file[0]) for file in files])
    chosen = _choose_pages(pages, max_host_pages)
    host_of_leaf, leaf = [], []
    for number, (_, _, leaves) in enumerate(files):
        rows = chosen[file_of[chosen] == number]
        length = pages["leaves"][rows].astype(np.int64)
        offset = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        leaf.append(np.asarray(leaves[np.repeat(first[rows], length) + offset], np.uint64))
        host_of_leaf.append(np.repeat(pages["host"][rows], length))
    hosts, number_of_pages = np.unique(pages["host"][chosen], return_counts=True)
    counts = _count_repeated(hosts, np.concatenate(host_of_leaf), np.concatenate(leaf))
    folder = output / f"{shard:02d}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in zip(_COUNT_ARRAYS, (hosts, number_of_pages, *counts), strict=True):
        np.save(folder / f"{name}.npy", np.asarray(array))
    return len(hosts)


def _choose_pages(pages: NDArray[np.void], max_host_pages: int) -> NDArray[np.int64]:
    """Return int64, the rows that count: one per address, one per equal contents, then the first ones of each host."""
    order = np.lexsort((pages["contents"], pages["url"], pages["host"]))
    order = order[_begins(pages["host"][order], pages["url"][order])]
    order = order[np.lexsort((pages["url"][order], pages["contents"][order], pages["host"][order]))]
    order = order[_begins(pages["host"][order], pages["contents"][order])]
    order = order[np.lexsort((pages["url"][order], pages["host"][order]))]
    host = pages["host"][order]
    begins = np.flatnonzero(_begins(host))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    return order[rank < max_host_pages].astype(np.int64)


def _begins(*columns: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return bool, the rows that differ from the one before in any of the sorted columns."""
    begins = np.ones(len(columns[0]), bool)
    begins[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return begins


def _count_repeated(
    hosts: NDArray[np.uint64], host_of_leaf: NDArray[np.uint64], leaf: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32]]:
    """Return where the leaves of each host begin, int64[hosts + 1], its repeated leaves, sorted, and their counts."""
    order = np.lexsort((leaf, host_of_leaf))
    host_of_leaf, leaf = host_of_leaf[order], leaf[order]
    begins = np.flatnonzero(_begins(host_of_leaf, leaf)) if len(leaf) else np.zeros(0, np.int64)
    page_counts = np.diff(np.append(begins, len(leaf)))
    kept = begins[page_counts > 1]
    host = host_of_leaf[kept]
    begin = np.append(np.searchsorted(host, hosts), len(host))
    return begin.astype(np.int64), leaf[kept], page_counts[page_counts > 1].astype(np.uint32)


class HostCounts:
    """Looks up the counts of all hosts on disk, as :func:`count_shard` wrote them into ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: dict[int, dict[str, NDArray[Any]]] = {}

    def evidence(self, host: str, fingerprints: NDArray[np.uint64]) -> SiteEvidence:
        """Return how many pages of a host have each leaf (uint64[k]) of one of them."""
        name = _hash(host)
        shard = self._open_shard(name % SHARDS)
        row = int(np.searchsorted(shard["hosts"], np.uint64(name))) if shard else 0
        if not shard or row == len(shard["hosts"]) or int(shard["hosts"][row]) != name:
            return SiteEvidence(np.ones(len(fingerprints), np.int64), 1)
        begin, end = shard["begin"][row : row + 2].tolist()
        found = look_up(shard["leaves"][begin:end], shard["page_counts"][begin:end], fingerprints)
        return SiteEvidence(np.maximum(found.astype(np.int64), 1), int(shard["pages"][row]))

    def open_all(self) -> Self:
        """Open the counts of all hosts, so that a pickle holds them; return this object."""
        for number in range(SHARDS):
            self._open_shard(number)
        return self

    def _open_shard(self, number: int) -> dict[str, NDArray[Any]]:
        if number not in self._shards:
            folder = self._folder / f"{number:02d}"
            names = _COUNT_ARRAYS if folder.is_dir() else ()  # there is none for a shard without hosts
            # asarray() makes plain arrays of memory maps, which Ray shares between the tasks of a node.
            self._shards[number] = {name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in names}
        return self._shards[number]


class StreamCounts:
    """Counts pages as they come, as a crawl does: some hosts in memory, the others in a database on disk.

    A page counts once, with the contents that it has first, and so do equal contents at several addresses. A host keeps
    as many fingerprints as in a crawl, with the same bound on the error; after ``max_host_pages`` its counts stay as
    they are. The same pages in the same order give the same counts.

    Args:
        database: holds the hosts that are not in memory; the caller commits.
        max_held: fingerprints and addresses in memory at most.
    """

    def __init__(self, database: sqlite3.Connection, max_host_pages: int, max_held: int = MAX_HELD) -> None:
        self._database = database
        self._max_host_pages = max_host_pages
        self._max_held = max_held
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._held = 0
        database.execute("CREATE TABLE IF NOT EXISTS hosts (name TEXT PRIMARY KEY, urls BLOB, counts BLOB)")

    def count(self, url: str, host: str, fingerprints: NDArray[np.uint64], contents_id: bytes) -> SiteEvidence:
        """Count a page by its leaves, uint64[k], and return the counts of its host, this page included."""
        known = self._load_host(host)
        size_before = known.size
        counted = known.counts.pages < self._max_host_pages and known.add(url, fingerprints, contents_id)
        self._held += known.size - size_before
        while self._held > self._max_held and len(self._hosts) > 1:
            name, oldest = self._hosts.popitem(last=False)
            self._held -= oldest.size
            self._write_host(name, oldest)
        page_counts = np.where(fingerprints != 0, np.maximum(known.counts.df(fingerprints), 1), 0)
        return SiteEvidence(page_counts, known.counts.pages, known.counts.undercount, counted=counted)

    def save(self) -> int:
        """Write all hosts into the database, and return how many there are."""
        for name, host in self._hosts.items():
            self._write_host(name, host)
        (hosts,) = self._database.execute("SELECT count(*) FROM hosts").fetchone()
        return int(hosts)

    def _load_host(self, name: str) -> _Host:
        host = self._hosts.get(name)
        if host is None:
            found = self._database.execute("SELECT urls, counts FROM hosts WHERE name = ?", (name,)).fetchone()
            host = self._hosts[name] = _Host(*(found or ()))
            self._held += host.size
        self._hosts.move_to_end(name)
        return host

    def _write_host(self, name: str, host: _Host) -> None:
        if host.is_changed:
            urls = np.fromiter(host.urls, "<u8", len(host.urls)).tobytes()
            self._database.execute("REPLACE INTO hosts VALUES (?, ?, ?)", (name, urls, host.counts.to_bytes()))
            host.is_changed = False


class _Host:
    """The counts of one host, and the addresses whose contents were counted."""

    def __init__(self, urls: bytes = b"", counts: bytes | None = None) -> None:
        self.urls = set(np.frombuffer(urls, "<u8").tolist())
        self.counts = LossyCounts() if counts is None else LossyCounts.from_bytes(counts)
        self.is_changed = counts is None

    @property
    def size(self) -> int:
        return len(self.counts) + 2 * len(self.urls)

    def add(self, url: str, fingerprints: NDArray[np.uint64], contents_id: bytes) -> bool:
        address = _hash(url)
        if address in self.urls or not self.counts.add(int.from_bytes(contents_id, "little"), fingerprints):
            return False
        self.urls.add(address)
        self.is_changed = True
        return True
