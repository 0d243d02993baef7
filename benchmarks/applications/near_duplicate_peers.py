"""Ways to find near-duplicates behind one interface: which earlier documents does each repeat?"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

from benchmarks.shared.common import installed
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.index import DuplicateIndex
from winnow.duplicates import KEEP, MemoryIndex, shingles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from urllib.parse import SplitResult

    from benchmarks.applications.near_duplicate_texts import Document

    Maker = Callable[[], "Finder"]

PERMUTATIONS: Final = 128

SKETCH: Final = 64
"""Shingles of a document where it goes by the resemblance."""


class Finder(Protocol):
    """A way to find near-duplicates.

    Attributes:
        label: what the table calls it.
    """

    label: str

    def hashed(self, text: str) -> Any:
        """Return what the way knows of a text."""

    def decide(self, documents: Sequence[tuple[Document, Any]]) -> list[list[str]]:
        """Return for each document, in this order, the addresses it was found to repeat."""


def finders(url: str, least: float, thresholds: Sequence[float], distances: Sequence[int]) -> list[Maker]:
    """Return what makes each way, for what is installed.

    Args:
        url: address of a server on TCP.
        least: resemblance that Winnow goes by in a second round; in the first it is the paper's rule.
        thresholds: of datasketch, least Jaccard similarity of near-duplicates.
        distances: of simhash, most bits that near-duplicates differ in.
    """
    makers: list[Maker] = []
    for rule in (None, least):
        makers += [partial(_Memory, rule), partial(_LookUps, rule, url, 1), partial(_LookUps, rule, url, 500)]
    there = installed("datasketch", "simhash")
    if "datasketch" in there:
        makers += [partial(_Datasketch, threshold) for threshold in thresholds]
        makers += [partial(_Datasketch, threshold, urlsplit(url)) for threshold in thresholds]
    if "simhash" in there:
        makers += [partial(_Simhash, distance) for distance in distances]
    return makers


class _Winnow:
    """What Winnow's ways share: the rule they go by, and so the shingles they need."""

    def __init__(self, what: str, least: float | None) -> None:
        self.label = f"Winnow, {what}" + ("" if least is None else f", resemblance {least:g}")
        self.keep = KEEP if least is None else SKETCH

    def hashed(self, text: str) -> Any:
        return shingles(text, keep=self.keep)


class _Memory(_Winnow):
    """The index in memory."""

    def __init__(self, least: float | None) -> None:
        super().__init__("in memory", least)
        self._index = MemoryIndex(keep=self.keep, min_resemblance=least)

    def decide(self, documents: Sequence[tuple[Document, Any]]) -> list[list[str]]:
        found = [self._index.find(document.url, own).duplicate_of for document, own in documents]
        return [[url] if url else [] for url in found]


class _LookUps(_Winnow):
    """The index in Redis, with so many documents a call: one in a crawl, 500 in `winnow dedup`."""

    def __init__(self, least: float | None, url: str, batch: int) -> None:
        super().__init__(f"Redis, {batch} documents a call", least)
        self._url = url
        self._least = least
        self._batch = batch

    def decide(self, documents: Sequence[tuple[Document, Any]]) -> list[list[str]]:
        async def look_up() -> list[list[str]]:
            connection = Connection(self._url, timeout=60)
            index = DuplicateIndex(connection, "look-up", keep=self.keep, min_resemblance=self._least)
            found: list[list[str]] = []
            for at in range(0, len(documents), self._batch):
                batch = [(document.url, own) for document, own in documents[at : at + self._batch]]
                verdicts = await index.find_all(batch)
                assert verdicts is not None
                found += [[verdict.duplicate_of] if verdict.duplicate_of else [] for verdict in verdicts]
            await connection.close()
            return found

        return asyncio.run(look_up())


class _Datasketch:
    """datasketch's MinHashLSH over the same windows of 6 words, in memory or on Redis."""

    def __init__(self, threshold: float, redis: SplitResult | None = None) -> None:
        from datasketch import MinHashLSH  # noqa: PLC0415

        self.label = f"datasketch, {'Redis' if redis else 'in memory'}, threshold {threshold:g}"
        storage = None
        if redis is not None:
            about = {"host": redis.hostname, "port": redis.port}
            storage = {"type": "redis", "basename": f"lsh-{time.time_ns()}".encode(), "redis": about}
        self._index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS, storage_config=storage)

    def hashed(self, text: str) -> Any:
        from datasketch import MinHash  # noqa: PLC0415

        words = text.split()
        windows = {" ".join(words[at : at + 6]).encode() for at in range(max(1, len(words) - 5))}
        own = MinHash(num_perm=PERMUTATIONS)
        own.update_batch(windows)
        return own

    def decide(self, documents: Sequence[tuple[Document, Any]]) -> list[list[str]]:
        found = []
        for document, own in documents:
            near = self._index.query(own)
            if not near:
                self._index.insert(document.url, own)
            found.append([str(url) for url in near])
        return found


class _Simhash:
    """The package simhash, over the same windows."""

    def __init__(self, distance: int) -> None:
        from simhash import SimhashIndex  # noqa: PLC0415

        logging.getLogger("simhash").setLevel(logging.ERROR)
        self.label = f"simhash, in memory, distance {distance}"
        self._index = SimhashIndex([], k=distance)

    def hashed(self, text: str) -> Any:
        from simhash import Simhash as Hash  # noqa: PLC0415

        words = text.split()
        return Hash([" ".join(words[at : at + 6]) for at in range(max(1, len(words) - 5))])

    def decide(self, documents: Sequence[tuple[Document, Any]]) -> list[list[str]]:
        found = []
        for document, own in documents:
            near = self._index.get_near_dups(own)
            if not near:
                self._index.add(document.url, own)
            found.append(list(near))
        return found
