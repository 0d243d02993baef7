"""Settled hosts in a worker's memory: their frozen labels, and the signs that a site has outgrown them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from scrapy_tamis.storage.evidence import look_up
from tamis.counting import MIN_DF, THETA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

REOPEN_BELOW: Final = 1 / 3
"""A host opens again when the recent pages have less than this fraction of the expected template text."""

RECENT: Final = 16
"""Pages over which that fraction is averaged: a redesign of all pages is noticed after 18."""

WINDOW: Final = 32
"""Pages after which a worker looks for text that they have in common and that has no label."""

_COMMON: Final = max(int(np.ceil(THETA * WINDOW)), MIN_DF)
_MAX_UNLABELLED: Final = 64  # unlabelled nodes of a page that are looked at: those with most text
_BUCKETS: Final = 4096  # twice what a window has of them, so that they rarely share one

LABEL: Final = np.dtype([("fingerprint", "<u8"), ("fraction", "u1")])
"""One label, as ``count_page.lua`` packs it."""


@dataclass(slots=True, eq=False)
class Labels:
    """The nodes of a host that are template.

    Attributes:
        pages: pages that had been counted when the labels were frozen.
        version: how often the labels of the host have been frozen.
        fingerprints: uint64[k], ascending.
        fractions: uint8[k], fraction of the pages that have each, 255 for all.
        expected: characters of template text per page by then, each weighted with its fraction of pages.
    """

    pages: int
    version: int
    fingerprints: Hashes
    fractions: NDArray[np.uint8]
    expected: float

    @classmethod
    def unpack(cls, pages: int, version: int, packed: bytes, expected: float, *more: bytes) -> Self:
        """Read labels as ``count_page.lua`` packs them: 8 bytes of fingerprint and one for the fraction of pages each.

        Raises:
            ValueError: they are of another length, or the expected text is not a number.
        """
        if not 0 <= expected < float("inf"):
            raise ValueError(f"the text expected of a page cannot be {expected}")
        labels = np.sort(np.frombuffer(packed, LABEL), order="fingerprint")
        return cls(pages, version, labels["fingerprint"].astype(np.uint64), labels["fraction"].copy(), expected, *more)

    def fractions_of(self, fingerprints: Hashes) -> NDArray[np.float64]:
        """float64, the fraction of pages that have each node, 0 for those that are not template."""
        return look_up(self.fingerprints, self.fractions, fingerprints) / 255

    def df(self, fingerprints: Hashes) -> NDArray[np.int64]:
        """int64, estimated pages of the host that have each node; 0 for those that are not template."""
        return np.rint(self.fractions_of(fingerprints) * self.pages).astype(np.int64)


def _empty_window() -> NDArray[np.uint8]:
    return np.zeros((_COMMON - 1, _BUCKETS // 8), np.uint8)


@dataclass(slots=True, eq=False)
class SettledHost(Labels):
    """The frozen labels of one host, and what was seen of its pages since.

    Attributes:
        stamp: what Redis knows these labels by.
        recent: running mean over the pages met here of the fraction of ``expected`` that they have, each at most 1.
        outgrown: whether ``WINDOW`` pages met here had more template text in common that is not labelled than is.
        confirmed: when Redis last confirmed the labels, monotonic, in seconds.
        pages_since: pages met here since then.
    """

    stamp: bytes
    recent: float = 1.0
    outgrown: bool = False
    confirmed: float = field(default_factory=time.monotonic)
    pages_since: int = 0
    _window_ids: bytes = b""  # ids of the contents of the window, joined
    # Bits: whether a bucket was met once, twice, ...
    _met_buckets: NDArray[np.uint8] = field(default_factory=_empty_window)
    _surplus: int = 0  # characters of text in common that has no label, less those that have one

    @property
    def has_drifted(self) -> bool:
        """Whether the recent pages lack most of the template, or have more of another one."""
        return self.recent < REOPEN_BELOW or self.outgrown

    def confirm(self) -> None:
        """Note that Redis has these labels still, or is unreachable."""
        self.confirmed, self.pages_since = time.monotonic(), 0

    def frequencies(self, fractions: NDArray[np.float64]) -> NDArray[np.int64]:
        """Estimate on how many of the ``pages`` each node was: from its fraction for template, 1 for all others."""
        least = max(int(np.ceil(THETA * self.pages)), MIN_DF)  # the fraction is rounded, the label is not
        return np.where(fractions > 0, np.maximum(np.rint(fractions * self.pages), least), 1).astype(np.int64)

    def observe(
        self, contents_id: bytes, fingerprints: Hashes, masses: NDArray[np.uint8], fractions: NDArray[np.float64]
    ) -> None:
        """Look at a page for signs that the labels are no longer those of the host.

        Args:
            contents_id: stands for the contents of the page; contents met a few pages ago are skipped.
            fingerprints: uint64[k], distinct, of its nodes.
            masses: uint8[k], characters of text of each.
            fractions: float64[k], as of :meth:`fractions_of`.
        """
        self.pages_since += 1
        if not len(fingerprints) or contents_id in self._window_ids:
            return
        if self.expected > 0:
            matched = float((fractions * masses).sum())  # no product of BLAS, whose threads may hold the event loop
            self.recent += (min(matched / self.expected, 1.0) - self.recent) / RECENT
        unlabelled = np.flatnonzero(fractions == 0)
        self._surplus -= int(masses[fractions > 0].sum(dtype=np.int64))
        longest = unlabelled[np.argsort(masses[unlabelled], kind="stable")[-_MAX_UNLABELLED:]]
        bucket = (fingerprints[longest] % np.uint64(_BUCKETS)).astype(np.int64)
        often = np.unpackbits(self._met_buckets, axis=1)
        self._surplus += int(masses[longest][often[-1, bucket] > 0].sum(dtype=np.int64))
        often[1:, bucket] |= often[:-1, bucket]
        often[0, bucket] = 1
        self._met_buckets = np.packbits(often, axis=1)
        self._window_ids += contents_id
        if len(self._window_ids) >= WINDOW * len(contents_id):
            self.outgrown = self._surplus > 0
            self._window_ids, self._met_buckets, self._surplus = b"", _empty_window(), 0
