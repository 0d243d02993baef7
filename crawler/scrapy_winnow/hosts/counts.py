"""How often each node of a site has been seen: counts in Redis, one call per page, exactly once per page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrapy_winnow import stats
from scrapy_winnow.hosts.entries import ENTRY, frequencies
from scrapy_winnow.hosts.evidence import SiteEvidence
from scrapy_winnow.hosts.settled import REFRESH, SettledHost, SettledHosts
from scrapy_winnow.storage.batches import Script
from scrapy_winnow.storage.keys import HostKeys, host_keys
from winnow.counting import THETA

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from redis.asyncio import Redis

    from scrapy_winnow.storage.connection import Connection

    Hashes = NDArray[np.uint64]
    Masses = NDArray[np.uint8]

MOST_NODES: Final = 4096
"""Nodes of a page that are counted: the server is never held up for longer than so many take."""

MOST_LABEL_BYTES: Final = 900_000
"""Bytes of labels that are read of a settled host; ``storage/lua/hosts/state.lua`` has the same bound."""

_NEW, _SETTLED, _REPLACED = 1, 2, 3


class NodeCounts:
    """The node counts of all hosts on one Redis, and the labels of those that have settled.

    Per host there are at most four keys with the host as their hash tag: its state, its nodes, a guard of the ids of
    pages and contents that were counted, and what was on these pages. So a retried, replayed or twice fetched page
    counts once, and so does one that is found at several addresses. A page that comes again with other contents
    replaces what was counted of it, as long as nothing of the host had to be dropped.

    Memory per host is bounded by the budget of nodes and the most pages; what that costs in accuracy is known, see
    :class:`winnow.counting.LossyCounts`. Once the labels of a host have stopped changing, or after ``most_pages``,
    they are frozen: nodes and guard go, workers hold the labels, and a page needs no round trip any more. A host whose
    pages lack most of its template, or have more of another, opens again (:mod:`scrapy_winnow.hosts.settled`).

    Args:
        connection: the way to Redis.
        prefix: first part of every key.
        version: version of the fingerprints; counts of another version are never mixed in.
        budget: most nodes per host.
        most_pages: most pages counted per host, at most ``MOST_PAGES``.
        ttl: life of a host after its last page, in seconds.
        settle_after: least pages after which a host may settle, twice as many after each time it has opened again; 0
            never settles.
        refresh: seconds after which the labels of a settled host are confirmed.
        notice: called with a stat of :mod:`scrapy_winnow.stats` when a host settles or opens again.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        prefix: str,
        version: int,
        budget: int,
        most_pages: int,
        ttl: int,
        settle_after: int = 0,
        refresh: float = REFRESH,
        notice: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._connection = connection
        self._prefix = prefix
        self._version = version
        self._ttl = ttl
        self._limits = (budget, most_pages, ttl, settle_after, THETA)
        self._refresh = refresh
        self._notice = notice
        self._settled = SettledHosts()
        self._count_page = Script("count_page")
        self._settled_host = Script("settled_host")

    def keys(self, host: str) -> HostKeys:
        """Return the names of a host's keys."""
        return host_keys(self._prefix, self._version, host)

    async def count(
        self,
        host: str,
        page_id: bytes,
        fingerprints: Hashes,
        contents_id: bytes | None = None,
        masses: Masses | None = None,
    ) -> SiteEvidence | None:
        """Count a page, unless it was counted before or its host has settled, and return the evidence with it.

        Args:
            host: from :func:`scrapy_winnow.hosts.names.site_of`.
            page_id: 8 bytes that stand for the page's address.
            fingerprints: uint64[k], of the nodes in document order; repeated ones count once. Of a page with more than
                ``MOST_NODES`` those in the middle are left out: template stands at the ends.
            contents_id: 8 bytes that stand for what is on it; without, the address stands for that too.
            masses: uint8[k], characters of text of each node, 255 for more; without, none has text.

        Returns:
            The evidence, or ``None`` while Redis is away.
        """
        nodes = _Distinct(fingerprints, masses)
        contents_id = contents_id or page_id
        if (settled := await self._held(host, contents_id, nodes)) is not None:
            return nodes.evidence_of(settled)
        arguments = (page_id, contents_id, nodes.joined, nodes.masses.tobytes(), *self._limits)
        reply = await self._connection.run(self._count_page, self.keys(host), arguments)
        if reply is None:
            return None
        if reply[0] == _SETTLED:
            _, pages, stamp, version, labels, expected = reply
            settled = SettledHost.unpack(stamp, version, pages, labels, float(expected))
            self._settled.put(host, settled)
            settled.observe(contents_id, nodes.distinct, nodes.masses)
            return nodes.evidence_of(settled)
        how, pages, undercount, version, entries, has_settled = reply
        if has_settled:
            self._notice(stats.HOSTS_SETTLED)
        df = nodes.in_place(frequencies(entries, pages))
        counted = how in {_NEW, _REPLACED}
        return SiteEvidence(df, pages, undercount, counted, label_version=version, replaced=how == _REPLACED)

    async def read(self, host: str, fingerprints: Hashes) -> SiteEvidence | None:
        """Return the evidence without writing anything; ``None`` while Redis is away."""
        nodes = _Distinct(fingerprints, None)
        settled = self._settled.get(host)
        if settled is not None and not self._is_due(settled):
            return nodes.evidence_of(settled)
        state, counts, *_ = self.keys(host)

        async def ask(client: Redis) -> list[Any]:
            pipeline = client.pipeline(transaction=False)
            pipeline.hmget(state, ["stamp", "pages", "undercount", "version", "expected"])
            pipeline.hstrlen(state, "labels")
            if len(nodes.distinct):
                pipeline.hmget(counts, [field.tobytes() for field in nodes.distinct])
            replies = await pipeline.execute()
            may_be_labels = replies[0][0] is not None and 0 < replies[1] <= MOST_LABEL_BYTES
            return [await client.hget(state, "labels") if may_be_labels else None, *replies]

        replies = await self._connection.call(ask)
        if replies is None:
            return None
        labels, (stamp, *numbers, expected), _, *found = replies
        pages, undercount, version = map(_whole, numbers)
        if stamp is not None and labels is not None:
            try:
                settled = SettledHost.unpack(stamp, version, pages, labels, float(expected or 0))
            except ValueError:
                return None  # the next page that is counted clears it away
            self._settled.put(host, settled)
            return nodes.evidence_of(settled)
        size = ENTRY.itemsize
        entries = b"".join(entry if entry and len(entry) == size else bytes(size) for reply in found for entry in reply)
        df = nodes.in_place(frequencies(entries, pages))
        return SiteEvidence(df, pages, undercount, counted=False, label_version=version)

    async def _held(self, host: str, contents_id: bytes, nodes: _Distinct) -> SettledHost | None:
        """The labels of a settled host that this worker holds, confirmed when it is time.

        While Redis is away they are used as they are: a settled host needs no Redis.
        """
        settled = self._settled.get(host)
        if settled is None:
            return None
        settled.observe(contents_id, nodes.distinct, nodes.masses)
        drifted = settled.has_drifted
        if not drifted and not self._is_due(settled):
            return settled

        async def send(client: Redis) -> int:
            arguments = (settled.stamp, self._ttl, int(drifted))
            return int(await self._settled_host.run(client, self.keys(host)[:1], arguments))

        is_known = await self._connection.call(send)
        settled.confirmed = time.monotonic()
        if is_known is None or (is_known and not drifted):
            return settled
        self._settled.drop(host)
        if is_known:
            self._notice(stats.HOSTS_REOPENED)
        return None

    def _is_due(self, settled: SettledHost) -> bool:
        """Whether it is time to ask if the labels still hold."""
        return time.monotonic() >= settled.confirmed + self._refresh


def _whole(value: bytes | None) -> int:
    """The number that Redis holds; 0 where it is none."""
    return int(value) if value is not None and value.isdigit() and len(value) < 10 else 0


class _Distinct:
    """The nodes of one page as they are sent: distinct, sorted, and no more than ``MOST_NODES``."""

    def __init__(self, fingerprints: Hashes, masses: Masses | None) -> None:
        masses = np.zeros(len(fingerprints), np.uint8) if masses is None else masses
        self._size = len(fingerprints)
        self._kept = slice(None) if self._size <= MOST_NODES else _ends(self._size)
        self.distinct, first, self._place = np.unique(fingerprints[self._kept], return_index=True, return_inverse=True)
        self.masses = masses[self._kept][first]

    @property
    def joined(self) -> bytes:
        """The fingerprints, 8 bytes each, the same on every machine."""
        return self.distinct.astype("<u8", copy=False).tobytes()

    def in_place(self, df: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put the counts of the distinct nodes where the nodes were; 0 for those that were left out."""
        whole = np.zeros(self._size, np.int64)
        whole[self._kept] = df[self._place]
        return whole

    def evidence_of(self, settled: SettledHost) -> SiteEvidence:
        """What a settled host says of the nodes."""
        df = self.in_place(settled.frequencies(self.distinct))
        return SiteEvidence(df, settled.pages, 0, counted=False, settled=True, label_version=settled.version)


def _ends(size: int) -> NDArray[np.int64]:
    """Places of the first and the last of so many nodes, ``MOST_NODES`` together."""
    places = np.arange(MOST_NODES)
    places[MOST_NODES // 2 :] += size - MOST_NODES
    return places
