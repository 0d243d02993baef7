"""How many pages of a site have each node: counts in Redis, one call per page, each page counted exactly once."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from scrapy_winnow import stats
from scrapy_winnow.storage.batches import Script
from scrapy_winnow.storage.evidence import ENTRY, SiteEvidence, frequencies
from scrapy_winnow.storage.keys import HostKeys, host_keys
from winnow.counting import MIN_DF, THETA

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scrapy_winnow.storage.batches import Command
    from scrapy_winnow.storage.connection import Connection

    Hashes = NDArray[np.uint64]
    Masses = NDArray[np.uint8]

MAX_NODES: Final = 4096
"""Nodes of a page that are counted: the server is never held up for longer than so many take."""

MAX_LABEL_BYTES: Final = 900_000
"""Bytes of labels that are read of a settled host; ``storage/lua/count_page.lua`` has the same limit."""

_NEW, _SETTLED, _REPLACED = 1, 2, 3
"""What became of a page, as ``count_page.lua`` returns it."""

REFRESH_S: Final = 60.0
"""Seconds after which a worker checks whether the labels it holds are still those of the host, if ``REFRESH_PAGES`` of
its pages have come since. It does so after ``MAX_REFRESHES`` times as long in any case: a host that is met seldom would
otherwise cost a call for each of its pages."""

REFRESH_PAGES: Final = 16
MAX_REFRESHES: Final = 60

MAX_SETTLED_BYTES: Final = 64_000_000
"""Memory of the settled hosts that a worker holds, about 18,000 hosts with 100 labels each."""

REOPEN_BELOW: Final = 1 / 3
"""A host opens again when the recent pages have less than this fraction of the expected template text."""

RECENT: Final = 16
"""Pages over which that fraction is averaged: a redesign of all pages is noticed after 18."""

WINDOW: Final = 32
"""Pages after which a worker looks for text that they have in common and that has no label."""

_COMMON: Final = max(int(np.ceil(THETA * WINDOW)), MIN_DF)
_MAX_UNLABELLED: Final = 64  # unlabelled nodes of a page that are looked at: those with most text
_BUCKETS: Final = 4096  # twice what a window has of them, so that they seldom share one
_HOST_BYTES: Final = 1_000  # of a settled host without its arrays

LABEL: Final = np.dtype([("fingerprint", "<u8"), ("fraction", "u1")])
"""One label, as ``count_page.lua`` packs it."""


class NodeCounts:
    """The node counts of all hosts on one Redis, and the labels of those that have settled.

    Per host there are at most four keys with the host as their hash tag: its state, its nodes, a guard of the ids of
    pages and contents that were counted, and what was on these pages. So a retried, replayed or twice fetched page
    counts once, and so does one that is found at several addresses. A page that comes again with other contents
    replaces what was counted of it, as long as nothing of the host had to be dropped.

    Memory per host is bounded by the budget of nodes and ``max_pages``; what that costs in accuracy is known, see
    :class:`winnow.counting.LossyCounts`. Once the labels of a host have stopped changing, or after ``max_pages``,
    they are frozen: nodes and guard go, workers hold the labels, and a page needs no round trip any more. A host whose
    pages lack most of its template, or have more of another, opens again (:class:`SettledHost`).

    Args:
        connection: the way to Redis.
        prefix: first part of every key.
        version: version of the fingerprints; counts of another version are never mixed in.
        budget: nodes held per host.
        max_pages: pages counted per host, at most ``MAX_PAGES``.
        ttl: life of a host after its last page, in seconds.
        settle_after: least pages after which a host may settle, twice as many after each time it has opened again; 0
            never settles.
        refresh: seconds after which the labels of a settled host are confirmed, see ``REFRESH_S``.
        count_stat: called with a stat of :mod:`scrapy_winnow.stats` when a host settles or opens again.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        prefix: str,
        version: int,
        budget: int,
        max_pages: int,
        ttl: int,
        settle_after: int = 0,
        refresh: float = REFRESH_S,
        count_stat: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._connection = connection
        self._prefix = prefix
        self._version = version
        self._ttl = ttl
        self._limits = (budget, max_pages, ttl, settle_after, THETA)
        self._refresh = refresh
        self._count_stat = count_stat
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
        main_text_id: bytes | None = None,
    ) -> SiteEvidence | None:
        """Count a page, unless it was counted before or its host has settled, and return the evidence with it.

        Args:
            host: from :func:`scrapy_winnow.storage.keys.site_of`.
            page_id: 8 bytes that stand for the page's address.
            fingerprints: uint64[k], of the nodes in document order; repeated ones count once. Of a page with more than
                ``MAX_NODES`` those in the middle are left out: template stands at the ends.
            contents_id: 8 bytes that stand for what is on it; without, the address stands for that too.
            masses: uint8[k], characters of text of each node, 255 for more; without, none has text.
            main_text_id: 8 bytes that stand for its main text: of pages with the same one, one counts.

        Returns:
            The evidence, or ``None`` while Redis is unreachable.
        """
        nodes = _Distinct(fingerprints, masses)
        contents_id = contents_id or page_id
        if (settled := await self._get_settled(host, contents_id, nodes)) is not None:
            return nodes.evidence_of(settled)
        main_text = b"" if main_text_id in {None, contents_id} else main_text_id
        arguments = (page_id, contents_id, nodes.joined, nodes.masses.tobytes(), *self._limits, main_text)
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
            self._count_stat(stats.HOSTS_SETTLED)
        df = nodes.spread(frequencies(entries, pages))
        counted = how in {_NEW, _REPLACED}
        return SiteEvidence(df, pages, undercount, counted, label_version=version, replaced=how == _REPLACED)

    async def read(self, host: str, fingerprints: Hashes) -> SiteEvidence | None:
        """Return the evidence without writing anything; ``None`` while Redis is unreachable."""
        nodes = _Distinct(fingerprints, None)
        settled = self._settled.get(host)
        if settled is not None and not self._is_due(settled):
            return nodes.evidence_of(settled)
        state, counts, *_ = self.keys(host)
        commands: list[Command] = [
            ("HMGET", state, "stamp", "pages", "undercount", "version", "expected"),
            ("HSTRLEN", state, "labels"),
        ]
        if len(nodes.distinct):
            commands.append(("HMGET", counts, *(field.tobytes() for field in nodes.distinct)))
        replies = await self._connection.run_commands(commands)
        if replies is None:
            return None
        (stamp, *numbers, expected), label_bytes, *found = replies
        labels = None
        if stamp is not None and 0 < label_bytes <= MAX_LABEL_BYTES:
            if (replies := await self._connection.run_commands([("HGET", state, "labels")])) is None:
                return None
            labels = replies[0]
        pages, undercount, version = map(_count_in, numbers)
        if stamp is not None and labels is not None:
            try:
                settled = SettledHost.unpack(stamp, version, pages, labels, float(expected or 0))
            except ValueError:
                return None  # the next page that is counted clears it away
            self._settled.put(host, settled)
            return nodes.evidence_of(settled)
        size = ENTRY.itemsize
        entries = b"".join(entry if entry and len(entry) == size else bytes(size) for reply in found for entry in reply)
        df = nodes.spread(frequencies(entries, pages))
        return SiteEvidence(df, pages, undercount, counted=False, label_version=version)

    async def _get_settled(self, host: str, contents_id: bytes, nodes: _Distinct) -> SettledHost | None:
        """Return the labels of a settled host that this worker holds, confirmed when it is time.

        While Redis is unreachable they are used as they are: a settled host needs no Redis.
        """
        settled = self._settled.get(host)
        if settled is None:
            return None
        settled.observe(contents_id, nodes.distinct, nodes.masses)
        drifted = settled.has_drifted
        if not drifted and not self._is_due(settled):
            return settled
        arguments = (settled.stamp, self._ttl, int(drifted))
        is_known = await self._connection.run(self._settled_host, self.keys(host)[:1], arguments)
        settled.confirmed, settled.pages_since = time.monotonic(), 0
        if is_known is None or (is_known and not drifted):
            return settled
        self._settled.drop(host)
        if is_known:
            self._count_stat(stats.HOSTS_REOPENED)
        return None

    def _is_due(self, settled: SettledHost) -> bool:
        """Whether it is time to check that the labels are still those of the host; a check renews its time to live."""
        age = time.monotonic() - settled.confirmed
        is_seldom_met = settled.pages_since < REFRESH_PAGES
        return age >= (min(MAX_REFRESHES * self._refresh, self._ttl / 4) if is_seldom_met else self._refresh)


def _count_in(value: bytes | None) -> int:
    """The number that Redis holds; 0 where it is none."""
    return int(value) if value is not None and value.isdigit() and len(value) < 10 else 0


class _Distinct:
    """The nodes of one page as they are sent: distinct, sorted, and no more than ``MAX_NODES``."""

    def __init__(self, fingerprints: Hashes, masses: Masses | None) -> None:
        masses = np.zeros(len(fingerprints), np.uint8) if masses is None else masses
        self._size = len(fingerprints)
        self._kept = slice(None) if self._size <= MAX_NODES else _ends(self._size)
        self.distinct, first, self._place = np.unique(fingerprints[self._kept], return_index=True, return_inverse=True)
        self.masses = masses[self._kept][first]

    @property
    def joined(self) -> bytes:
        """The fingerprints, 8 bytes each, the same on every machine."""
        return self.distinct.astype("<u8", copy=False).tobytes()

    def spread(self, df: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put the counts of the distinct nodes where the nodes were; 0 for those that were left out."""
        all_counts = np.zeros(self._size, np.int64)
        all_counts[self._kept] = df[self._place]
        return all_counts

    def evidence_of(self, settled: SettledHost) -> SiteEvidence:
        """What a settled host says of the nodes."""
        df = self.spread(settled.frequencies(self.distinct))
        return SiteEvidence(df, settled.pages, 0, counted=False, settled=True, label_version=settled.version)


def _ends(size: int) -> NDArray[np.int64]:
    """Places of the first and the last of so many nodes, ``MAX_NODES`` together."""
    places = np.arange(MAX_NODES)
    places[MAX_NODES // 2 :] += size - MAX_NODES
    return places


def _empty_window() -> NDArray[np.uint8]:
    return np.zeros((_COMMON - 1, _BUCKETS // 8), np.uint8)


@dataclass(slots=True, eq=False)
class SettledHost:
    """The frozen labels of one host.

    Attributes:
        stamp: what Redis knows these labels by.
        version: how often the labels of the host have been frozen.
        pages: pages that had been counted by then.
        expected: characters of template text per page by then, each weighted with its fraction of pages.
        fingerprints: uint64[k], the nodes that are template, sorted.
        fractions: uint8[k], fraction of the pages that have each, 255 for all.
        recent: running mean over the pages met here of the fraction of ``expected`` that they have, each at most 1.
        outgrown: whether ``WINDOW`` pages met here had more template text in common that is not labelled than is.
        confirmed: when Redis last confirmed the labels, monotonic, in seconds.
        pages_since: pages met here since then.
    """

    stamp: bytes
    version: int
    pages: int
    expected: float
    fingerprints: Hashes
    fractions: NDArray[np.uint8]
    recent: float = 1.0
    outgrown: bool = False
    confirmed: float = field(default_factory=time.monotonic)
    pages_since: int = 0
    _met: bytes = b""  # ids of the contents of the window, joined
    _often: NDArray[np.uint8] = field(default_factory=_empty_window)  # bits: a bucket was met once, twice, ...
    _labelled: int = 0
    _unlabelled: int = 0

    @property
    def size(self) -> int:
        """Bytes of memory that it takes, about."""
        return _HOST_BYTES + self.fingerprints.nbytes + self.fractions.nbytes + self._often.nbytes

    @classmethod
    def unpack(cls, stamp: bytes, version: int, pages: int, labels: bytes, expected: float) -> Self:
        """Read labels as ``count_page.lua`` packs them: 8 bytes of fingerprint and one for the fraction of pages each.

        Raises:
            ValueError: they are of another length, or the expected text is no number.
        """
        if not 0 <= expected < float("inf"):
            raise ValueError(f"the text expected of a page cannot be {expected}")
        packed = np.sort(np.frombuffer(labels, LABEL), order="fingerprint")
        return cls(
            *(stamp, version, pages, expected),
            packed["fingerprint"].astype(np.uint64),
            packed["fraction"].copy(),
        )

    @property
    def has_drifted(self) -> bool:
        """Whether the recent pages lack most of the template, or have more of another one."""
        return self.recent < REOPEN_BELOW or self.outgrown

    def frequencies(self, fingerprints: Hashes) -> NDArray[np.int64]:
        """Estimate on how many of the ``pages`` each node was: from its fraction for template, 1 for all others."""
        fractions = self._fractions_of(fingerprints)
        least = max(int(np.ceil(THETA * self.pages)), MIN_DF)  # the fraction is rounded, the label is not
        return np.where(fractions > 0, np.maximum(np.rint(fractions * self.pages), least), 1).astype(np.int64)

    def observe(self, contents_id: bytes, fingerprints: Hashes, masses: NDArray[np.uint8]) -> None:
        """Look at a page for signs that the labels are no longer those of the host.

        Args:
            contents_id: stands for what is on the page; one that was met a few pages ago says nothing new.
            fingerprints: uint64[k], distinct, of its nodes.
            masses: uint8[k], characters of text of each.
        """
        self.pages_since += 1
        if not len(fingerprints) or contents_id in self._met:
            return
        fractions = self._fractions_of(fingerprints)
        if self.expected > 0:
            matched = float(fractions @ masses)
            self.recent += (min(matched / self.expected, 1.0) - self.recent) / RECENT
        unlabelled = np.flatnonzero(fractions == 0)
        self._labelled += int(masses.sum(dtype=np.int64) - masses[unlabelled].sum(dtype=np.int64))
        longest = unlabelled[np.argsort(masses[unlabelled], kind="stable")[-_MAX_UNLABELLED:]]
        bucket = (fingerprints[longest] % np.uint64(_BUCKETS)).astype(np.int64)
        often = np.unpackbits(self._often, axis=1)
        self._unlabelled += int(masses[longest][often[-1, bucket] > 0].sum(dtype=np.int64))
        often[1:, bucket] |= often[:-1, bucket]
        often[0, bucket] = 1
        self._often = np.packbits(often, axis=1)
        self._met += contents_id
        if len(self._met) >= WINDOW * len(contents_id):
            self.outgrown = self._unlabelled > self._labelled
            self._met, self._often, self._labelled, self._unlabelled = b"", _empty_window(), 0, 0

    def _fractions_of(self, fingerprints: Hashes) -> NDArray[np.float64]:
        """float64, the frozen fraction of pages of each node, 0 for those that are not template."""
        if not len(self.fingerprints):
            return np.zeros(len(fingerprints))
        place = np.minimum(np.searchsorted(self.fingerprints, fingerprints), len(self.fingerprints) - 1)
        return np.where(self.fingerprints[place] == fingerprints, self.fractions[place] / 255, 0.0)


class SettledHosts:
    """Settled hosts that a worker has met. Where they are too many, any one goes.

    The one met least recently would be the wrong one: a crawl meets its hosts by turns, so that each would be
    forgotten shortly before its next page.

    Args:
        max_bytes: memory that they may take.
    """

    def __init__(self, max_bytes: int = MAX_SETTLED_BYTES) -> None:
        self._free = max_bytes
        self._hosts: dict[str, SettledHost] = {}
        self._names: list[str] = []
        self._random = random.Random(0)  # noqa: S311

    def get(self, name: str) -> SettledHost | None:
        """Return a host, if it is held."""
        return self._hosts.get(name)

    def put(self, name: str, host: SettledHost) -> None:
        """Hold a host."""
        self.drop(name)
        self._free -= host.size
        while self._free < 0 and self._names:
            place = self._random.randrange(len(self._names))
            self._names[place], self._names[-1] = self._names[-1], self._names[place]
            self._let_go(self._names.pop())
        self._hosts[name] = host
        self._names.append(name)

    def drop(self, name: str) -> None:
        """Forget a host."""
        if name in self._hosts:
            self._names.remove(name)
            self._let_go(name)

    def _let_go(self, name: str) -> None:
        self._free += self._hosts.pop(name).size
