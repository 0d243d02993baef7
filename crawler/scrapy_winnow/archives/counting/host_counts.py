"""On how many pages of its host each leaf is: counted from leaf files a shard at a time, then looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_winnow.archives.counting.leaf_files import hash_of, parts_of_shard, shard_of
from scrapy_winnow.hosts.evidence import SiteEvidence

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

HOST_PAGES: Final = 4_096
"""Pages of a host that are counted; of larger ones a sample by the hash of their addresses, the same in any order."""

_ARRAYS: Final = ("hosts", "pages", "begin", "leaves", "df")


def count_shard(folders: list[Path], shard: int, output: Path, host_pages: int = HOST_PAGES) -> int:
    """Count the leaves of the hosts of one shard.

    A page that was fetched again counts once, and so do pages with the same contents at several addresses, as in a
    crawl. Leaves that are on one page only are not kept: nothing else says as much.

    Args:
        folders: leaf files of all archives.
        shard: which one, from 0 to ``SHARDS - 1``.
        output: folder that the counts are written to.
        host_pages: most pages of a host that are counted.

    Returns:
        Hosts of the shard; where there are none, nothing is written.
    """
    parts = list(parts_of_shard(folders, shard))
    if not parts:
        return 0
    pages = np.concatenate([part[0] for part in parts])
    first = np.concatenate([part[1] for part in parts])
    part_of = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    chosen = _counted(pages, host_pages)
    host_of_leaf, leaf = [], []
    for number, (_, _, leaves) in enumerate(parts):
        rows = chosen[part_of[chosen] == number]
        length = pages["leaves"][rows].astype(np.int64)
        offset = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        leaf.append(np.asarray(leaves[np.repeat(first[rows], length) + offset], np.uint64))
        host_of_leaf.append(np.repeat(pages["host"][rows], length))
    hosts, number_of_pages = np.unique(pages["host"][chosen], return_counts=True)
    begin, leaves, df = _repeated(hosts, np.concatenate(host_of_leaf), np.concatenate(leaf))
    folder = output / f"{shard:02d}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in zip(_ARRAYS, (hosts, number_of_pages, begin, leaves, df), strict=True):
        np.save(folder / f"{name}.npy", np.asarray(array))
    return len(hosts)


def _counted(pages: NDArray[np.void], host_pages: int) -> NDArray[np.int64]:
    """int64, rows of the pages that count: one an address, one for equal contents, the first so many of a host."""
    order = np.lexsort((pages["contents"], pages["url"], pages["host"]))
    order = order[_first_of(pages["host"][order], pages["url"][order])]
    order = order[np.lexsort((pages["url"][order], pages["contents"][order], pages["host"][order]))]
    order = order[_first_of(pages["host"][order], pages["contents"][order])]
    order = order[np.lexsort((pages["url"][order], pages["host"][order]))]
    host = pages["host"][order]
    begins = np.flatnonzero(_first_of(host))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    return order[rank < host_pages].astype(np.int64)


def _first_of(*columns: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """bool, rows that differ from the one before in some of the columns, which are sorted."""
    first = np.ones(len(columns[0]), bool)
    first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return first


def _repeated(
    hosts: NDArray[np.uint64], host_of_leaf: NDArray[np.uint64], leaf: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32]]:
    """Where the leaves of each host begin, int64[hosts + 1], its repeated leaves, sorted, and on how many pages."""
    order = np.lexsort((leaf, host_of_leaf))
    host_of_leaf, leaf = host_of_leaf[order], leaf[order]
    begins = np.flatnonzero(_first_of(host_of_leaf, leaf)) if len(leaf) else np.zeros(0, np.int64)
    df = np.diff(np.append(begins, len(leaf)))
    kept = begins[df > 1]
    host = host_of_leaf[kept]
    begin = np.append(np.searchsorted(host, hosts), len(host))
    return begin.astype(np.int64), leaf[kept], df[df > 1].astype(np.uint32)


class HostCounts:
    """The counts of all hosts, as :func:`count_shard` wrote them; they stay on disk.

    Args:
        folder: that of the counts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shards: dict[int, dict[str, NDArray[Any]] | None] = {}

    def _shard(self, number: int) -> dict[str, NDArray[Any]] | None:
        """The arrays of a shard, opened when its first host is asked for; ``None`` where it has no hosts."""
        if number not in self._shards:
            folder = self._folder / f"{number:02d}"
            opened = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS if folder.is_dir()}
            self._shards[number] = opened or None
        return self._shards[number]

    def evidence(self, host: str, fingerprints: NDArray[np.uint64]) -> SiteEvidence:
        """Look up what the pages of a host say of the leaves of one of them (uint64[k])."""
        name = hash_of(host)
        shard = self._shard(shard_of(name))
        row = int(np.searchsorted(shard["hosts"], np.uint64(name))) if shard is not None else 0
        if shard is None or row == len(shard["hosts"]) or int(shard["hosts"][row]) != name:
            return SiteEvidence(np.ones(len(fingerprints), np.int64), 1, 0, counted=True)
        begin, end = shard["begin"][row : row + 2].tolist()
        leaves, df = shard["leaves"][begin:end], shard["df"][begin:end]
        found = np.ones(len(fingerprints), np.int64)
        if len(leaves):
            place = np.minimum(np.searchsorted(leaves, fingerprints), len(leaves) - 1)
            found = np.where(leaves[place] == fingerprints, df[place].astype(np.int64), 1)
        return SiteEvidence(found, int(shard["pages"][row]), 0, counted=True)
