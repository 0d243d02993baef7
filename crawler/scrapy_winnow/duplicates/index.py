"""The index of near-duplicates in Redis: which earlier document, of any host, has the same story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy_winnow.storage.keys import index_key
from scrapy_winnow.storage.scripts import Script
from winnow.duplicates.documents import Verdict, document_id, packed_keys
from winnow.duplicates.index import CANDIDATES, CAP, FORGOTTEN, HOT, TTL
from winnow.duplicates.shingles import COMMON, KEEP

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from scrapy_winnow.config import Config
    from scrapy_winnow.storage.connection import Connection

    Document = tuple[str, NDArray[np.uint64]]

INDEX_SCRIPTS: Final = ("duplicates/records", "duplicates/shingles", "duplicates/buckets", "duplicates/verdicts")
"""What every script of the index begins with."""

FIELDS_PER_SHARD: Final = 70
"""Entries of a hash of buckets when the index is full; Redis and Valkey pack hashes of up to 128 and more."""


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Where the index is, and its bounds; for one index they have to be the same everywhere.

    Attributes:
        prefix: first part of every key.
        ttl: how long a document is remembered after it was last met, in seconds.
        cap: most documents remembered.
        hot: most originals that a shingle leads to.
        keep: shingles kept of a document, from 8 on.
        least: resemblance from which on documents are near-duplicates; ``None`` goes by the shingles in common.
    """

    prefix: str
    ttl: int = TTL
    cap: int = CAP
    hot: int = HOT
    keep: int = KEEP
    least: float | None = None

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return what the settings of a crawl say."""
        return cls(
            prefix=config.redis_prefix,
            ttl=config.duplicates_ttl,
            cap=config.duplicates_cap,
            keep=config.duplicates_sketch,
            least=config.duplicates_resemblance,
        )

    def key(self, name: str) -> str:
        """Return the name of a key of the index."""
        return index_key(self.prefix, name)

    def arguments(self, now: float | None, *, enter: bool) -> list[str | int | float]:
        """Return what every script of the index begins its arguments with."""
        shards = 16
        while shards * FIELDS_PER_SHARD < self.cap * (KEEP + 1):
            shards *= 2
        bounds = (self.ttl, self.cap, shards, self.hot)
        return [
            self.key(""),
            "" if now is None else int(now),
            *bounds,
            KEEP,
            COMMON,
            self.least or 0,
            CANDIDATES,
            FORGOTTEN,
            int(enter),
        ]


class DuplicateIndex:
    """The index of :class:`winnow.duplicates.index.MemoryIndex` in Redis: the same rules, the same verdicts.

    One script call per batch of documents, in one piece; nobody sees a document half entered. A call may be repeated,
    since a document that comes again with the same shingles keeps its verdict.

    Args:
        connection: the way to Redis.
        options: where the index is, and its bounds.
    """

    def __init__(self, connection: Connection, options: IndexOptions) -> None:
        self._connection = connection
        self._options = options
        self._script = Script(*INDEX_SCRIPTS, "duplicates/find_duplicates")

    async def find(
        self, url: str, shingles: NDArray[np.uint64], *, enter: bool = True, can_wait: bool = True
    ) -> Verdict | None:
        """Return the verdict on a document, and remember it; ``None`` when Redis is away.

        Args:
            url: address of the document.
            shingles: uint64, the shingles of its clean text.
            enter: ``False`` only looks, and writes nothing.
            can_wait: whether the call may wait a little, to go along with another one.
        """
        verdicts = await self.find_all([(url, shingles)], enter=enter, can_wait=can_wait)
        return None if verdicts is None else verdicts[0]

    async def find_all(
        self, documents: Sequence[Document], *, now: float | None = None, enter: bool = True, can_wait: bool = False
    ) -> list[Verdict] | None:
        """Return the verdicts on documents, decided in their order; ``None`` when Redis is away.

        Args:
            documents: addresses with their shingles.
            now: time in seconds; by default the server's, which all workers share.
            enter: ``False`` only looks, and writes nothing.
            can_wait: whether the call may wait a little, to go along with another one.
        """
        arguments: list[Any] = self._options.arguments(now, enter=enter)
        for url, shingles in documents:
            complete = int(len(shingles) < self._options.keep)
            arguments += [document_id(url), url.encode("utf-8", "surrogatepass"), packed_keys(shingles), complete]
        keys = [self._options.key("m")]
        replies = await self._connection.run(self._script, keys, arguments, can_wait=can_wait)
        return None if replies is None else [_verdict(*reply) for reply in replies]


def _verdict(url: bytes, share: bytes, cluster: bytes, hot: int) -> Verdict:
    return Verdict(
        url.decode("utf-8", "surrogatepass") if url else None,
        float(share) if share else None,
        cluster.hex() or None,
        hot,
    )
