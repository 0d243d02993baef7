"""The leaves of the pages of one archive on disk, sorted by shard of their host, until all are counted."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from scrapy_winnow.hosts.evidence import HashedPage

SHARDS: Final = 64
"""Parts that hosts are divided into by their hash; one of them is in memory at a time."""

PAGE: Final = np.dtype([("host", "<u8"), ("url", "<u8"), ("contents", "<u8"), ("leaves", "<u4")])
_AT_ONCE: Final = 20_000  # pages that are held in memory


def hash_of(text: str) -> int:
    """64 bits that stand for a name or an address."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def shard_of(host: int) -> int:
    """Number of the shard of a host, given by its hash."""
    return host % SHARDS


class LeafWriter:
    """Writes the leaves of pages into parts of a folder; a part is sorted by shard.

    Args:
        folder: for one archive; it is made.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._pages: list[tuple[int, int, int, int]] = []
        self._leaves: list[NDArray[np.uint64]] = []
        self._parts = 0

    def add(self, url: str, host: str, hashed: HashedPage) -> None:
        """Keep the leaves of a page, each different one once."""
        leaves = np.unique(hashed.fingerprints)
        contents = int.from_bytes(hashed.contents_id, "little")
        self._pages.append((hash_of(host), hash_of(url), contents, len(leaves)))
        self._leaves.append(leaves)
        if len(self._pages) >= _AT_ONCE:
            self.close()

    def close(self) -> None:
        """Write what is left."""
        if not self._pages:
            return
        pages = np.array(self._pages, PAGE)
        order = np.argsort(pages["host"] % SHARDS, kind="stable")
        leaves = np.concatenate([self._leaves[page] for page in order.tolist()])
        name = f"{self._parts:05d}"
        np.save(self._folder / f"{name}.pages.npy", pages[order])
        np.save(self._folder / f"{name}.leaves.npy", leaves.astype("<u8", copy=False))
        self._parts += 1
        self._pages, self._leaves = [], []


def parts_of_shard(
    folders: list[Path], shard: int
) -> Iterator[tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.uint64]]]:
    """Go through what the folders hold of one shard.

    Yields:
        Pages (of the type :data:`PAGE`), where the leaves of each begin, int64[pages], and all leaves of the part,
        uint64, which stay on disk until they are looked at.
    """
    for folder in folders:
        for file in sorted(folder.glob("*.pages.npy")):
            pages = np.load(file, mmap_mode="r")
            place = pages["host"] % SHARDS
            begin, end = np.searchsorted(place, [shard, shard + 1])
            if begin == end:
                continue
            first = np.cumsum(pages["leaves"], dtype=np.int64) - pages["leaves"]
            leaves = np.load(file.with_name(file.name.replace(".pages.", ".leaves.")), mmap_mode="r")
            yield np.array(pages[begin:end]), first[begin:end], leaves
