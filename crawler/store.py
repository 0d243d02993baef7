"""How often each node of a site has been seen: counts in Redis, one round trip per page, exactly once per page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from crawler.scripts import Script

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from redis.asyncio import Redis

    from crawler.connection import Connection

CHUNK: Final = 4096
"""Fingerprints per script call; the server is never held up for longer than one such call takes."""


@dataclass(frozen=True, slots=True)
class SiteEvidence:
    """What the counts of a host say about the nodes of one page.

    Attributes:
        df: int64, pages of the host that contain each node, in the order of the fingerprints that were asked for; on a
            settled host the share of pages that was frozen, times ``pages``, and at most 1 for all other nodes.
        pages: pages of the host counted so far.
        undercount: most that any value of ``df`` can be too small by, because rare nodes were swept out.
        counted: whether this call counted the page.
        settled: whether the labels of the host are frozen, and its pages no longer counted.
        label_version: how often the labels of the host have been frozen; 0 before the first time.
    """

    df: NDArray[np.int64]
    pages: int
    undercount: int
    counted: bool
    settled: bool = False
    label_version: int = 0


class NodeCounts:
    """The node counts of all hosts on one Redis.

    Per host there are three keys with the host as their hash tag: a hash from fingerprint to number of pages, and the
    set of the page ids that were counted, which makes a retried, replayed or twice fetched page count once. A page is
    what its id says: when its body has changed by the time it is fetched again, the first version stays counted. And
    a page that is found at several addresses counts once, by the ids of contents in a set of their own.

    Memory per host is bounded: a new node is not taken in beyond ``budget`` fields, nodes seen rarely are swept out
    from three quarters of it on, and no page is counted after the first ``most_pages``.

    Args:
        connection: the way to Redis.
        prefix: first part of every key.
        version: version of the fingerprints; counts of another version are never mixed in.
        budget: most fields per host.
        most_pages: most pages per host.
        ttl: life of a host's counts after the last page was counted, in seconds.
    """

    def __init__(
        self, connection: Connection, *, prefix: str, version: int, budget: int, most_pages: int, ttl: int
    ) -> None:
        self._connection = connection
        self._prefix = f"{prefix}:{version}"
        self._limits = (budget, most_pages, ttl)
        self._script = Script("count_page")

    def keys(self, host: str) -> tuple[str, str, str]:
        """Return the names of a host's hash of counts, set of counted pages and set of their contents."""
        key = f"{self._prefix}:{{{host}}}"
        return f"{key}:n", f"{key}:p", f"{key}:c"

    async def count(
        self, host: str, page_id: bytes, fingerprints: NDArray[np.uint64], contents_id: bytes | None = None
    ) -> SiteEvidence | None:
        """Count a page, unless it was counted before, and return the evidence with the page in it.

        Args:
            host: from :func:`crawler.hosts.site_of`.
            page_id: 8 bytes that stand for the page's address.
            fingerprints: uint64, of the nodes in any order; repeated ones count once.
            contents_id: 8 bytes that stand for what is on it; without, the address stands for that too.

        Returns:
            The evidence, or ``None`` while Redis is away.
        """
        distinct, place = _distinct(fingerprints)
        keys = self.keys(host)

        async def send(client: Redis) -> list[list[Any]]:
            calls = [
                (keys, (page_id, number, distinct[at : at + CHUNK].tobytes(), *self._limits, contents_id or page_id))
                for number, at in enumerate(range(0, max(1, len(distinct)), CHUNK))
            ]
            return await self._script.run(client, calls)

        replies = await self._connection.call(send)
        if replies is None:
            return None
        counted, pages, undercount, _ = replies[0]
        df = np.concatenate([np.fromstring(reply[3], dtype=np.int64, sep=" ") for reply in replies])
        return SiteEvidence(df[place], int(pages), int(undercount), bool(counted))

    async def read(self, host: str, fingerprints: NDArray[np.uint64]) -> SiteEvidence | None:
        """Return the evidence without writing anything; ``None`` while Redis is away."""
        distinct, place = _distinct(fingerprints)
        key, *_ = self.keys(host)

        async def ask(client: Redis) -> list[list[bytes | None]]:
            pipeline = client.pipeline(transaction=False)
            pipeline.hmget(key, ["p", "u"])
            for at in range(0, len(distinct), CHUNK):
                pipeline.hmget(key, [field.tobytes() for field in distinct[at : at + CHUNK]])
            return await pipeline.execute()

        replies = await self._connection.call(ask)
        if replies is None:
            return None
        (pages, undercount), *counts = replies
        df = np.array([int(value or 0) for reply in counts for value in reply], dtype=np.int64)
        return SiteEvidence(df[place], int(pages or 0), int(undercount or 0), counted=False)


def _distinct(fingerprints: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """Sorted distinct fingerprints, whose bytes are the same on every machine, and where each one given is in them."""
    distinct, place = np.unique(fingerprints, return_inverse=True)
    return distinct.astype("<u8", copy=False), place
