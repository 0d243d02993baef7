"""Counts on how many pages of a site each unit occurs.

Only the *leaves* of a page are counted: text blocks and media. A block is on at least as many pages as any element
around it, so the counts of the leaves bound the counts of all units. A page of 500 elements has about 400 countable
units and 140 leaves.

:func:`tamis.places.counted_units` lists all that is counted of a page, with the codes of places and of declared texts.
The counts are kept by :class:`LossyCounts` in memory and by ``scrapy_tamis.storage.counts`` in Redis; both read them by
:func:`frequency_estimates`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import numpy as np

from tamis.core import core
from tamis.page.tree import cached_on_page

if TYPE_CHECKING:
    from tamis.arrays import Flags, Hashes, Integers
    from tamis.page.page import Page


def countable(page: Page) -> Flags:
    """bool[n + m], which units are worth counting, elements first.

    All text blocks are. Not counted are: the whole page (``html``, ``body``); what no reader sees (``head``, scripts,
    styles and everything inside); elements without text, image, frame or form control; and inline elements that are
    part of a line (``<em>not</em>`` in a paragraph, one of many links in a sentence), since words recur in content.
    """
    return _countable_and_leaves(page)[0]


def leaves(page: Page) -> Flags:
    """bool[n + m], the leaves: all text blocks, and countable elements with neither text nor such elements."""
    return _countable_and_leaves(page)[1]


@cached_on_page
def _countable_and_leaves(page: Page) -> tuple[Flags, Flags]:
    are_countable, are_leaves = np.empty((2, page.n + page.m), bool)
    core.mark_units(page.arrays, are_countable, are_leaves)
    return are_countable, are_leaves


def spread_frequencies(page: Page, counted: Integers, df: Integers) -> Integers:
    """Scatter the counts of :func:`tamis.places.counted_units` to the units.

    Every countable element gets the smallest count of the leaves in it: the maximum of pages that can have it.

    Args:
        page: the page.
        counted: int64[k], indices of the leaves among the units, and of place codes after the units.
        df: int64[k], pages of the host that have each.

    Returns:
        int64[n + m]: ``df`` of leaves, the smallest ``df`` inside other countable elements, 0 for everything else;
        longer if place codes were counted.
    """
    spread = np.zeros(max(page.n + page.m, int(counted[-1]) + 1 if len(counted) else 0), np.int64)
    spread[counted] = df
    core.spread_frequencies(page.arrays, countable(page), leaves(page), spread)
    return spread


THETA: Final = 0.10

# Labels from the first 10 pages of 31 sites against labels from 100, by text: in file order, where neighbours resemble
# each other, 4 pages that agree give precision 0.97 and recall 0.89 (3 pages: 0.91 and 0.94; 5 pages: 0.99 and 0.86);
# in random order 0.99 and 0.87.
MIN_PAGES: Final = 10
MIN_DF: Final = 4

_MISSED: Final = 32
"""Place of the bits of an entry of :class:`LossyCounts` for the maximum of pages missed; those below are pages seen."""

_SEEN: Final = (1 << _MISSED) - 1


def frequency_estimates(seen: Integers, missed: Integers, pages: int) -> Integers:
    """int64, estimates of document frequencies from incomplete counts: between ``seen`` and ``seen + missed``.

    A fingerprint that may be on :data:`THETA` of the pages is assumed to be, so that every one that is gets reported;
    unless more than half of its pages would be guessed. For all others the pages seen are returned, which is nearly
    always right for rare ones.

    Args:
        seen: pages counted that have each fingerprint.
        missed: maximum number of pages with it that can have been forgotten.
        pages: pages counted.
    """
    most = np.minimum(seen + missed, pages)
    may_be_template = (most >= THETA * pages) & (seen >= THETA * pages / 2)
    return np.where(may_be_template, most, seen)


_MIN_OTHER_PAGES: Final = 4


def on_most_pages(df: Integers, pages: int) -> Flags:
    """bool, whether more than half of the other pages of a site have each unit; never with fewer than five pages.

    Args:
        df: pages that have each unit, the one in question included.
        pages: pages counted, this one included.
    """
    others = pages - 1
    found: Flags = (2 * (df - 1) > others) & (others >= _MIN_OTHER_PAGES)
    return found


class LossyCounts:
    """Counts of at most ``budget`` fingerprints, each too small by at most ``undercount``.

    With ``U`` distinct fingerprints a page on average, ``undercount <= U / (0.9 * budget) * pages``, in whatever order
    the pages come. As long as that is at most half of ``THETA * pages``, :meth:`df` reports every fingerprint on
    ``THETA`` of the pages with at least that many, and none on fewer than ``THETA * pages - undercount``.

    The ids of pages are kept, 8 bytes each.

    Args:
        budget: maximum number of fingerprints held; with :data:`sys.maxsize` the counts are exact.

    Attributes:
        undercount: upper bound of the pages missed for any fingerprint.
    """

    def __init__(self, budget: int = 2_900) -> None:
        if budget < 1:
            raise ValueError(f"a budget of {budget} fingerprints holds none")
        self._budget = budget
        self._pages: set[int] = set()
        self._entries: dict[int, int] = {}  # one number by fingerprint, which is counted and read faster than two
        self.undercount = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def pages(self) -> int:
        """Number of pages counted."""
        return len(self._pages)

    def has(self, page_id: int) -> bool:
        """Whether a page was counted."""
        return page_id in self._pages

    def add(self, page_id: int, fingerprints: Hashes) -> bool:
        """Count a page's fingerprints, each once per page; 0 is ignored.

        Returns:
            Whether the page was new; a page is counted only once.
        """
        if page_id in self._pages:
            return False
        self._pages.add(page_id)
        distinct = set(fingerprints.tolist()) - {0}
        fresh = sorted(distinct.difference(self._entries))
        for fingerprint in distinct.difference(fresh):
            self._entries[fingerprint] += 1
        if len(self) + len(fresh) > self._budget:
            self._drop_rare()
        room = self._budget - len(self)
        self._entries.update(dict.fromkeys(fresh[:room], 1 | self.undercount << _MISSED))
        if len(fresh) > room:
            self.undercount = min(self.undercount + 1, self.pages)
        return True

    def df(self, fingerprints: Hashes) -> Integers:
        """int64, estimated number of pages that have each fingerprint, 0 for 0: see :func:`frequency_estimates`."""
        found = np.array([self._entries.get(each, 0) for each in fingerprints.ravel().tolist()], np.int64)
        return frequency_estimates(found & _SEEN, found >> _MISSED, self.pages).reshape(fingerprints.shape)

    def to_bytes(self) -> bytes:
        """Serialise the counts: 16 bytes for each fingerprint and 8 for each page."""
        pages = np.sort(np.fromiter(self._pages, np.uint64, len(self._pages)))
        head = np.array([len(pages), self.undercount], "<u8")
        return head.tobytes() + pages.astype("<u8").tobytes() + np.array([*self._entries.items()], "<u8").tobytes()

    @classmethod
    def from_bytes(cls, packed: bytes, budget: int = 2_900) -> Self:
        """Restore counts from :meth:`to_bytes`; pass the same budget."""
        counts = cls(budget)
        pages, counts.undercount = np.frombuffer(packed, "<u8", 2).tolist()
        counts._pages = set(np.frombuffer(packed, "<u8", pages, offset=16).tolist())
        counts._entries = dict(np.frombuffer(packed, "<u8", offset=16 + 8 * pages).reshape(-1, 2).tolist())
        return counts

    def _drop_rare(self) -> None:
        """Drop the entries with the smallest counts."""
        known = {f: (entry & _SEEN) + (entry >> _MISSED) - self.undercount for f, entry in self._entries.items()}
        ordered = sorted(known.values(), reverse=True)
        max_kept = int(0.9 * self._budget)  # the rest is room for what comes next
        dropped = max(ordered[max_kept], 0) if len(ordered) > max_kept else 0
        self._entries = {f: entry for f, entry in self._entries.items() if known[f] > dropped}
        self.undercount += dropped
