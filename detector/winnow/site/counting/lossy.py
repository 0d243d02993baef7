"""Counts in bounded memory whose error is known: lossy counting over the pages of a host.

G. S. Manku and R. Motwani, "Approximate Frequency Counts over Data Streams" (VLDB 2002), with pages as transactions.
Each entry holds how often a fingerprint was *seen* since it was taken in, and how often it may have been *missed* up to
then. Theirs drops rare entries at fixed times. Here it is done only when the table is full, which is the bookkeeping of
J. Misra and D. Gries, "Finding repeated elements" (1982): counts stay exact as long as they fit.

``crawler/scrapy_winnow/storage/lua`` does the same inside Redis, and is tested against this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.site.counting.site_level import THETA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Integers = NDArray[np.int64]

_ENTRY: Final = np.dtype([("fingerprint", "<u8"), ("seen", "<u4"), ("missed", "<u4")])

KEPT: Final = 0.9
"""Share of the budget that is left in use when rare entries are dropped."""


def frequency_estimates(seen: Integers, missed: Integers, pages: int, theta: float = THETA) -> Integers:
    """Turn entries into document frequencies.

    A fingerprint that may be on ``theta`` of the pages is taken to be, so that none that is goes unreported; unless
    more than half of that would be guessed. Of all others the pages seen are returned, which for rare ones is nearly
    always right.

    Args:
        seen: pages counted that have each fingerprint.
        missed: most pages with it that can have been forgotten.
        pages: pages counted.
        theta: least share of pages of a template.

    Returns:
        int64, between ``seen`` and ``seen + missed``.
    """
    most = np.minimum(seen + missed, pages)
    doubtful = (most >= theta * pages) & (seen >= theta * pages / 2)
    return np.where(doubtful, most, seen)


class LossyCounts:
    """Counts of at most ``budget`` fingerprints, each too small by at most :attr:`undercount`.

    With ``U`` distinct fingerprints a page on average, ``undercount <= U / (0.9 * budget) * pages``, in whatever order
    the pages come. As long as that is at most half of ``theta * pages``, every fingerprint on ``theta`` of the pages
    is reported by :meth:`df` with at least so many, and none on less than ``theta * pages - undercount`` is.

    Counts of disjoint sets of pages add up: ``counts += other``. The ids of pages are kept, 8 bytes each.

    Args:
        budget: most fingerprints held.
        theta: share of the pages from which on a fingerprint must be reported.
    """

    def __init__(self, budget: int = 2_900, theta: float = THETA) -> None:
        if budget < 1:
            raise ValueError(f"a budget of {budget} fingerprints holds none")
        self._budget = budget
        self._theta = theta
        self._pages: set[int] = set()
        self._entries: dict[int, tuple[int, int]] = {}
        self._undercount = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def pages(self) -> int:
        """Number of pages counted."""
        return len(self._pages)

    @property
    def undercount(self) -> int:
        """Most pages that any fingerprint can have been missed on."""
        return self._undercount

    def add(self, page_id: int, fingerprints: Hashes) -> bool:
        """Count a page; see :meth:`winnow.site.counting.counts.Counts.add`."""
        if page_id in self._pages:
            return False
        self._pages.add(page_id)
        entries = self._entries
        fresh = []
        for fingerprint in np.unique(fingerprints[fingerprints != 0]).tolist():
            if fingerprint in entries:
                seen, missed = entries[fingerprint]
                entries[fingerprint] = seen + 1, missed
            else:
                fresh.append(fingerprint)
        if len(entries) + len(fresh) > self._budget:
            self._drop_rare()
        room = self._budget - len(self._entries)
        self._entries.update((fingerprint, (1, self._undercount)) for fingerprint in fresh[:room])
        if len(fresh) > room:
            self._undercount = min(self._undercount + 1, self.pages)
        return True

    def df(self, fingerprints: Hashes) -> Integers:
        """Look estimates up; see :meth:`winnow.site.counting.counts.Counts.df` and :func:`frequency_estimates`."""
        found = [self._entries.get(fingerprint, (0, 0)) for fingerprint in fingerprints.ravel().tolist()]
        seen, missed = np.array(found, np.int64).reshape(-1, 2).T
        return frequency_estimates(seen, missed, self.pages, self._theta).reshape(fingerprints.shape)

    def to_bytes(self) -> bytes:
        """All of the counts: 16 bytes a fingerprint and 8 a page."""
        pages = np.sort(np.fromiter(self._pages, np.uint64, len(self._pages)))
        entries = [(fingerprint, *entry) for fingerprint, entry in self._entries.items()]
        head = np.array([len(pages), self._undercount], "<u8")
        return head.tobytes() + pages.astype("<u8").tobytes() + np.array(entries, _ENTRY).tobytes()

    @classmethod
    def from_bytes(cls, packed: bytes, budget: int = 2_900, theta: float = THETA) -> Self:
        """Read what :meth:`to_bytes` gave; budget and share as they were."""
        counts = cls(budget, theta)
        pages, counts._undercount = np.frombuffer(packed, "<u8", 2).tolist()
        counts._pages = set(np.frombuffer(packed, "<u8", pages, offset=16).tolist())
        entries = np.frombuffer(packed, _ENTRY, offset=16 + 8 * pages).tolist()
        counts._entries = {fingerprint: (seen, missed) for fingerprint, seen, missed in entries}
        return counts

    def __iadd__(self, other: LossyCounts) -> Self:
        """Add the counts of other pages.

        Raises:
            ValueError: a page is in both: what it added to them cannot be told from the rest.
        """
        if common := len(self._pages & other._pages):
            raise ValueError(f"{common} pages are in both counts")
        self._pages |= other._pages
        merged = {}
        for fingerprint in self._entries.keys() | other._entries.keys():
            here = self._entries.get(fingerprint, (0, self._undercount))
            there = other._entries.get(fingerprint, (0, other._undercount))
            merged[fingerprint] = here[0] + there[0], here[1] + there[1]
        self._entries = merged
        self._undercount += other._undercount
        if len(merged) > self._budget:
            self._drop_rare()
        return self

    def _drop_rare(self) -> None:
        """Drop entries of the smallest counts until ``KEPT`` of the budget is in use."""
        sure = {fingerprint: sum(entry) - self._undercount for fingerprint, entry in self._entries.items()}
        ordered = sorted(sure.values(), reverse=True)
        most = int(KEPT * self._budget)
        dropped = max(ordered[most], 0) if len(ordered) > most else 0
        self._entries = {f: entry for f, entry in self._entries.items() if sure[f] > dropped}
        self._undercount += dropped
