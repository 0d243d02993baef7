"""How many pages of a site have each node: counts in Redis, one call per page, each page counted exactly once."""

from __future__ import annotations

import logging
import random
import time
from collections import Counter
from dataclasses import KW_ONLY, dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from tldextract import TLDExtract

from scrapy_tamis import stats
from scrapy_tamis.storage.batches import Script
from scrapy_tamis.storage.evidence import SiteEvidence, frequencies
from scrapy_tamis.storage.keys import host_keys
from scrapy_tamis.storage.settled import SettledHost
from tamis.counting import THETA

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scrapy_tamis.storage.connection import Connection

    Hashes = NDArray[np.uint64]
    Masses = NDArray[np.uint8]

MAX_NODES: Final = 1024
"""Nodes of a page that are counted: no page holds up the server for longer."""

_SETTLED, _REFUSED = 2, 4
_PER_MILLE: Final = 1_000
_PAGE_STATS: Final = {0: stats.PAGES_REPEATED, 1: stats.PAGES_COUNTED, 3: stats.PAGES_REPLACED}
"""What became of a page, as ``count_page.lua`` returns it."""

_HOST_STATS: Final = {1: stats.HOSTS_SETTLED, 2: stats.HOSTS_REOPENED}
"""What became of its host."""

MAX_SETTLED_HOSTS: Final = 20_000
"""Settled hosts whose labels a worker holds: 70 MB, with 100 labels each."""

MAX_WATCHED_HOSTS: Final = 100
"""Hosts whose labels the metrics of a crawl show: each is a series of numbers to Prometheus."""

REFRESH_S: Final = 60.0
"""Seconds after which a worker checks whether the labels it holds are still those of the host, if ``REFRESH_PAGES`` of
its pages have come since. It does so after ``MAX_REFRESHES`` times as long in any case: a host that is met seldom would
otherwise cost a call for each of its pages."""

REFRESH_PAGES: Final = 16
MAX_REFRESHES: Final = 60

_MAX_DOMAINS: Final = 10_000  # that are held; beyond that, the half with the fewest new hosts is forgotten

logger = logging.getLogger(__name__)


class LabelState(NamedTuple):
    """The labels of a host as its last page has found them.

    Attributes:
        pages: pages counted.
        labels: nodes that are template, as they were last checked: the pages grow by an eighth from check to check.
        changed: fraction of the template's text whose label was another one then than while they were last stable.
        settles_at: pages at which the host settles if its labels do not change; 0 for never, or once it has.
        is_settled: whether the labels are frozen.
    """

    pages: int
    labels: int
    changed: float = 0.0
    settles_at: int = 0
    is_settled: bool = False


@dataclass(eq=False)
class NodeCounts:
    """The node counts of all hosts on one Redis, and the labels of those that have settled.

    The keys of a host have it as their hash tag: its state, the nodes on several pages, those on one, a guard of the
    ids of pages and contents that were counted, and what was on these pages. So a retried, replayed or twice fetched
    page counts once, and so does one that is found at several addresses. A page that comes again with other contents
    replaces what was counted of it, as long as nothing of the host had to be dropped.

    Memory per host is bounded by the budget of nodes and ``max_pages``; what that costs in accuracy is known, see
    :class:`tamis.counting.LossyCounts`. Once the labels of a host have not changed while its pages doubled, or after
    ``max_pages``, they are frozen: nodes and guard go, workers hold the labels, and a page needs no round trip any
    more. A host whose pages lack most of its template, or have more of another, opens again (:class:`SettledHost`).

    Args:
        budget: nodes held per host.
        ttl: life of a host after its last page, in seconds.
        max_pages: pages counted per host, at most ``MAX_PAGES``.
        settle_after: least pages after which a host may settle, twice as many after each time it has opened again; 0
            never settles.
        max_hosts: new hosts of one registered domain that this worker begins to count; 0 for any number.
        refresh: seconds after which the labels of a settled host are confirmed, see ``REFRESH_S``.
        count_stat: called with a stat of :mod:`scrapy_tamis.stats` when a host settles or opens again.

    Attributes:
        label_states: the labels of the first ``MAX_WATCHED_HOSTS`` hosts as of their last page, by name.
    """

    connection: Connection
    _: KW_ONLY
    prefix: str
    budget: int
    ttl: int
    max_pages: int = 1_024
    settle_after: int = 0
    max_hosts: int = 1_000
    refresh: float = REFRESH_S
    count_stat: Callable[[str], object] = lambda _: None

    def __post_init__(self) -> None:
        self._limits = (self.budget, self.max_pages, self.ttl, self.settle_after, THETA)
        self.label_states: dict[str, LabelState] = {}
        self._settled: dict[str, SettledHost] = {}
        self._domains = _NewHosts(self.max_hosts)
        self._count_page = Script.load("count_page")

    async def count(
        self,
        host: str,
        page_id: bytes | Callable[[], bytes],
        fingerprints: Hashes,
        contents_id: bytes | None = None,
        masses: Masses | None = None,
        main_text_id: bytes | None = None,
    ) -> SiteEvidence | None:
        """Count a page, unless it was counted before or its host has settled, and return the evidence with it.

        Args:
            host: from :func:`scrapy_tamis.storage.keys.site_of`.
            page_id: 8 bytes that stand for the page's address, or what returns them: they cost more than all else here,
                and are not needed on a settled host.
            fingerprints: uint64[k], of the nodes in document order; repeated ones count once. Of a page with more than
                ``MAX_NODES`` those in the middle are left out: template stands at the ends.
            contents_id: 8 bytes that stand for its contents; by default ``page_id``.
            masses: uint8[k], characters of text of each node, 255 for more; by default none.
            main_text_id: 8 bytes that stand for its main text: of pages with the same one, one counts.

        Returns:
            The evidence, or ``None`` while Redis is unreachable, and for a host that its domain has no room for.
        """
        nodes = _DistinctNodes(fingerprints, masses)
        find_id = page_id if callable(page_id) else lambda: page_id
        contents_id = contents_id or find_id()
        settled, outgrown = self._settled.get(host), b""
        if settled is not None:
            fractions = settled.fractions_of(nodes.distinct)
            settled.observe(contents_id, nodes.distinct, nodes.masses, fractions)
            if settled.has_drifted:
                outgrown = settled.stamp
            elif not self._is_due(settled):
                return nodes.evidence_of(settled, fractions)
        main_text = b"" if main_text_id in {None, contents_id} else main_text_id
        evidence = await self._run(host, nodes, (find_id(), contents_id, main_text), outgrown)
        held = self._settled.get(host)
        if held is not None and held is not settled:
            held.observe(contents_id, nodes.distinct, nodes.masses, held.fractions_of(nodes.distinct))
        return evidence

    async def read(self, host: str, fingerprints: Hashes) -> SiteEvidence | None:
        """Return the evidence without writing anything; ``None`` while Redis is unreachable."""
        nodes = _DistinctNodes(fingerprints, None)
        settled = self._settled.get(host)
        if settled is not None and not self._is_due(settled):
            return nodes.evidence_of(settled, settled.fractions_of(nodes.distinct))
        return await self._run(host, nodes, (b"", b"", b""))

    async def _run(
        self, host: str, nodes: _DistinctNodes, ids: tuple[bytes, bytes, bytes], outgrown: bytes = b""
    ) -> SiteEvidence | None:
        """Run ``count_page.lua`` and return the evidence in its reply; hold the labels of a settled host.

        While Redis is unreachable, labels that are held are used as they are: a settled host needs no Redis.
        """
        arguments = (*ids, *nodes.packed, *self._limits, int(self._domains.has_room(host)), outgrown)
        reply = await self.connection.run(self._count_page, host_keys(self.prefix, host), arguments)
        settled = self._settled.get(host)
        if reply is not None and reply[0] == _SETTLED:
            _, pages, stamp, version, labels, expected = reply
            if settled is None or settled.stamp != stamp:
                settled = SettledHost.unpack(pages, version, labels, float(expected), stamp)
                self._hold(host, settled)
        if settled is not None and (reply is None or reply[0] == _SETTLED):
            settled.confirm()
            self._watch(host, LabelState(settled.pages, len(settled.fingerprints), is_settled=True))
            return nodes.evidence_of(settled, settled.fractions_of(nodes.distinct))
        if reply is None or reply[0] == _REFUSED:
            return None
        self._settled.pop(host, None)
        how, pages, version, entries, change, labels, changed, settles_at = reply
        counting = LabelState(pages, labels, changed / _PER_MILLE, settles_at)
        self._watch(host, LabelState(pages, labels, is_settled=True) if change == 1 else counting)
        if change:
            self.count_stat(_HOST_STATS[change])
        if (stat := _PAGE_STATS[how]) == stats.PAGES_COUNTED and pages == 1:
            self._domains.add(host)
        return SiteEvidence(nodes.spread(frequencies(entries, pages)), pages, version, stat)

    def _watch(self, host: str, state: LabelState) -> None:
        if host in self.label_states or len(self.label_states) < MAX_WATCHED_HOSTS:
            self.label_states[host] = state

    def _hold(self, host: str, settled: SettledHost) -> None:
        """Hold the labels of a settled host; where they are too many, any one goes.

        The one met least recently would be the wrong one: a crawl meets its hosts by turns, so that each would be
        forgotten shortly before its next page.
        """
        if host not in self._settled and len(self._settled) >= MAX_SETTLED_HOSTS:
            del self._settled[random.choice(list(self._settled))]  # noqa: S311
        self._settled[host] = settled

    def _is_due(self, settled: SettledHost) -> bool:
        """Whether it is time to check that the labels are still those of the host; a check renews its time to live."""
        age = time.monotonic() - settled.confirmed
        is_seldom_met = settled.pages_since < REFRESH_PAGES
        return age >= (min(MAX_REFRESHES * self.refresh, self.ttl / 4) if is_seldom_met else self.refresh)


class _DistinctNodes:
    """The nodes of one page as they are sent: distinct, sorted, and no more than ``MAX_NODES``."""

    def __init__(self, fingerprints: Hashes, masses: Masses | None) -> None:
        masses = np.zeros(len(fingerprints), np.uint8) if masses is None else masses
        self._size = len(fingerprints)
        self._kept = slice(None) if self._size <= MAX_NODES else _ends(self._size)
        self.distinct, first = np.unique(fingerprints[self._kept], return_index=True)
        self._place = self.distinct.searchsorted(fingerprints[self._kept])  # faster than return_inverse
        self.masses = masses[self._kept][first]

    @property
    def packed(self) -> tuple[bytes, bytes]:
        """The fingerprints, 8 bytes each, and the masses, as ``count_page.lua`` takes them."""
        return self.distinct.astype("<u8", copy=False).tobytes(), self.masses.tobytes()

    def spread(self, df: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put the counts of the distinct nodes where the nodes were; 0 for those that were left out."""
        all_counts = np.zeros(self._size, np.int64)
        all_counts[self._kept] = df[self._place]
        return all_counts

    def evidence_of(self, settled: SettledHost, fractions: NDArray[np.float64]) -> SiteEvidence:
        """Return the evidence of a settled host for the nodes, from the fraction of its pages that have each."""
        return SiteEvidence(
            self.spread(settled.frequencies(fractions)), settled.pages, settled.version, stats.PAGES_SETTLED
        )


def _ends(size: int) -> NDArray[np.int64]:
    """Indices of the first and the last of ``size`` nodes, ``MAX_NODES`` together."""
    places = np.arange(MAX_NODES)
    places[MAX_NODES // 2 :] += size - MAX_NODES
    return places


class _NewHosts:
    """The number of hosts counted per registered domain: a wildcard in DNS gives one server hosts without end."""

    def __init__(self, max_hosts: int) -> None:
        self._max_hosts = max_hosts
        self._first = list[str]()  # of any domain: the list of public suffixes is read when these are ``max_hosts``
        self._hosts = Counter[str]()

    def has_room(self, host: str) -> bool:
        """Whether one more host of the domain of this one may be begun."""
        return (
            len(self._first) < self._max_hosts or not self._max_hosts or self._hosts[_domain_of(host)] < self._max_hosts
        )

    def add(self, host: str) -> None:
        """Note that a host was begun."""
        if len(self._first) < self._max_hosts:
            self._first.append(host)
            if len(self._first) == self._max_hosts:
                for each in self._first:
                    self._add(_domain_of(each))
        elif self._max_hosts:
            self._add(_domain_of(host))

    def _add(self, domain: str) -> None:
        self._hosts[domain] += 1
        if self._hosts[domain] == self._max_hosts:
            logger.warning(
                "%s has %d hosts that were counted by this crawl: pages of further ones are cleaned on their own. If "
                "these are different sites, raise TAMIS_DOMAIN_HOSTS: each takes Redis 30 to 140 KB",
                *(domain, self._max_hosts),
            )
        if len(self._hosts) > _MAX_DOMAINS:
            self._hosts = Counter(dict(self._hosts.most_common(_MAX_DOMAINS // 2)))


@cache
def _public_suffixes() -> TLDExtract:
    """The list of public suffixes as it comes with the library: nothing is fetched."""
    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


@lru_cache(maxsize=20_000)
def _domain_of(host: str) -> str:
    return _public_suffixes()(host).top_domain_under_public_suffix or host
