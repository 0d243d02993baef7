"""The labels of a host, out of Redis and into it: what a crawl has learned of a site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from scrapy_winnow.hosts.entries import ENTRY
from scrapy_winnow.hosts.settled import LABEL
from scrapy_winnow.storage.batches import Script
from scrapy_winnow.storage.keys import host_keys
from winnow.counting import MIN_DF, MIN_PAGES, THETA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from redis import Redis

_ALL: Final = 255


@dataclass(frozen=True, eq=False, slots=True)
class HostLabels:
    """The nodes of a host that are template.

    Attributes:
        pages: pages that it was learned from.
        version: how often the labels have been frozen.
        fingerprints: uint64[k], ascending.
        shares: uint8[k], share of the pages that has each, 255 for all.
        expected: characters of template that a page is expected to have in common with them.
    """

    pages: int
    version: int
    fingerprints: NDArray[np.uint64]
    shares: NDArray[np.uint8]
    expected: float

    @classmethod
    def read(cls, client: Redis, prefix: str, version: int, host: str) -> Self | None:
        """Read the frozen labels of a host or, while it is counting, those that its counts give.

        Returns:
            The labels, or ``None`` for a host that is not known or of which too little is known.
        """
        state, nodes, *_ = host_keys(prefix, version, host)
        fields: Any = client.hmget(state, ["pages", "version", "labels", "expected"])
        pages, frozen = int(fields[0] or 0), int(fields[1] or 0)
        if fields[2] is not None:
            packed = np.sort(np.frombuffer(fields[2], LABEL), order="fingerprint")
            labels = packed["fingerprint"].astype(np.uint64), packed["share"].copy()
            return cls(pages, frozen, *labels, float(fields[3] or 0))
        entries: Any = client.hgetall(nodes)
        if pages < MIN_PAGES or not entries:
            return None
        return cls._of_counts(pages, frozen, entries)

    @classmethod
    def _of_counts(cls, pages: int, frozen: int, entries: dict[bytes, bytes]) -> Self:
        """The labels that ``settling.lua`` would freeze now."""
        nodes = np.frombuffer(b"".join(entries), "<u8").astype(np.uint64)
        entry = np.frombuffer(b"".join(entries.values()), ENTRY)
        seen = entry["seen"].astype(np.int64)
        chosen = np.flatnonzero(seen >= max(THETA * pages, MIN_DF))
        chosen = chosen[np.argsort(nodes[chosen])]
        shares = np.maximum(np.floor(_ALL * seen[chosen] / pages + 0.5), 1).astype(np.uint8)
        expected = float((entry["mass"][chosen] * (shares / _ALL) ** 2).sum())
        return cls(pages, frozen, nodes[chosen], shares, expected)

    def write(self, client: Redis, prefix: str, version: int, host: str, ttl: int) -> bool:
        """Make a host that is not known one that is settled with these labels; return whether it was not known."""
        packed = np.empty(len(self.fingerprints), LABEL)
        packed["fingerprint"], packed["share"] = self.fingerprints, self.shares
        script = Script("import_labels").of(client)
        arguments: Sequence[bytes | int | str]
        arguments = packed.tobytes(), self.pages, repr(self.expected), max(self.version, 1), ttl
        return bool(script(keys=list(host_keys(prefix, version, host)), args=arguments))

    def df(self, fingerprints: NDArray[np.uint64]) -> NDArray[np.int64]:
        """int64, estimated pages of the host that have each node; 0 for those that are not template."""
        if not len(self.fingerprints):
            return np.zeros(len(fingerprints), np.int64)
        place = np.searchsorted(self.fingerprints, fingerprints).clip(max=len(self.fingerprints) - 1)
        found = self.fingerprints[place] == fingerprints
        return np.where(found, np.rint(self.shares[place] / _ALL * self.pages), 0).astype(np.int64)
