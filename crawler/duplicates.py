"""The index of near-duplicates: which earlier document, of any host, has the same story."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from w3lib.url import canonicalize_url

from crawler.scripts import Script
from detector.shingles import COMMON

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from redis.asyncio import Redis

    from crawler.connection import Connection

INDEX_VERSION: Final = 1
"""Version of the layout and of the shingles in it; a part of every key."""

BUCKET_CAP: Final = 64
"""Most documents remembered per shingle; a phrase that half the web uses says nothing about a document."""


class DuplicateIndex:
    """Documents by their shingles, in Redis, one script call per document.

    The first document with a story represents it: later near-duplicates are not entered, so each story has one entry,
    and the address that is reported is the one that came first. Fetching a page again replaces its own entry. All keys
    share one hash tag, so in a cluster the index lives on one of the nodes; an entry takes about 1 KB.

    Args:
        connection: the way to Redis.
        prefix: first part of every key.
        ttl: life of an entry after the last document that touched it, in seconds.
    """

    def __init__(self, connection: Connection, *, prefix: str, ttl: int) -> None:
        self._connection = connection
        tagged = f"{prefix}:{INDEX_VERSION}:{{near-duplicates}}"
        self._buckets = f"{tagged}:s:".encode()
        self._records = f"{tagged}:d:".encode()
        self._ttl = ttl
        self._script = Script("near_duplicate")

    async def find(self, url: str, shingles: NDArray[np.uint64], *, enter: bool = True) -> str | None:
        """Return the address of the earlier document that this one nearly duplicates.

        Args:
            url: address of the document.
            shingles: uint64, the shingles of its clean text.
            enter: take the document in if it is not a near-duplicate; otherwise nothing is written.

        Returns:
            The address, or ``None`` where there is no such document or Redis is away.
        """
        identity = document_id(url)
        joined = shingles.astype("<u8", copy=False).tobytes()
        buckets = [self._buckets + joined[at : at + 8] for at in range(0, len(joined), 8)]
        if not buckets:
            return None
        keys = [self._records + identity, *buckets]
        arguments = (
            *(identity, joined, url, COMMON, BUCKET_CAP, self._ttl, int(enter)),
            *(self._buckets, self._records),
        )

        async def ask(client: Redis) -> bytes | None:
            reply: bytes | None = (await self._script.run(client, [(keys, arguments)]))[0]
            return reply

        original = await self._connection.call(ask)
        return original.decode("utf-8", "replace") if original else None


def document_id(url: str) -> bytes:
    """Return the 8 bytes that stand for a document: a hash of its canonical address."""
    return hashlib.blake2b(canonicalize_url(url).encode("utf-8", "surrogatepass"), digest_size=8).digest()
