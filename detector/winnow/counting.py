"""Counts on how many pages of a site each unit occurs, and labels repeated units.

Only the *leaves* of a page are counted: text blocks and media. A block is on at least as many pages as any element
around it, so the counts of the leaves bound those of all units. A page of 500 elements has about 400 countable units
and 140 leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, Self

import numpy as np

from winnow.core import core
from winnow.fingerprints import UNSEEN
from winnow.page.tags import IS_BLOCK_LEVEL, TAG_NAMES, tag_set
from winnow.page.tree import once_per_page, runs_of_blocks, subtree_sums, sums_over_runs, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]
    Integers = NDArray[np.int64]


WHOLE_PAGE: Final = tag_set("html", "body")
_MEDIA: Final = tag_set(
    *("img", "picture", "svg", "video", "audio", "canvas", "iframe", "object", "embed", "map"),
    *("form", "input", "button", "select", "textarea"),
)


class Counts(Protocol):
    """Document frequencies of the fingerprints of one host."""

    @property
    def pages(self) -> int:
        """Number of pages counted."""
        ...

    def add(self, page_id: int, fingerprints: Hashes) -> bool:
        """Count a page's fingerprints, each once per page; 0 is ignored.

        Returns:
            Whether the page was new; a page is counted only once.
        """
        ...

    def df(self, fingerprints: Hashes) -> NDArray[np.int64]:
        """Number of pages that contain each fingerprint: int64, shaped like the argument; 0 for fingerprint 0."""
        ...


class MemoryCounts:
    """Exact counts in memory; ``counts += other`` merges them and counts each page once."""

    def __init__(self) -> None:
        self._seen: dict[int, Hashes] = {}
        self._df: dict[int, int] = {}

    @property
    def pages(self) -> int:
        """Number of pages counted."""
        return len(self._seen)

    def add(self, page_id: int, fingerprints: Hashes) -> bool:
        """Count a page; see :meth:`Counts.add`."""
        if page_id in self._seen:
            return False
        once = np.unique(fingerprints)
        self._seen[page_id] = once = once[once != 0]
        counted = self._df
        for fingerprint in once.tolist():
            counted[fingerprint] = counted.get(fingerprint, 0) + 1
        return True

    def df(self, fingerprints: Hashes) -> NDArray[np.int64]:
        """Look counts up; see :meth:`Counts.df`."""
        counted = self._df
        found = (counted.get(fingerprint, 0) for fingerprint in fingerprints.ravel().tolist())
        return np.fromiter(found, np.int64, fingerprints.size).reshape(fingerprints.shape)

    def __iadd__(self, other: MemoryCounts) -> Self:
        for page_id, fingerprints in list(other._seen.items()):
            self.add(page_id, fingerprints)
        return self


@once_per_page
def countable(page: Page) -> NDArray[np.bool_]:
    """Tell which units are worth counting.

    Not counted are: the whole page (``html``, ``body``); what no reader sees (``head``, scripts, styles and all
    inside); elements without text, image, frame or form control; and inline elements that are only a part of a line
    (``<em>not</em>`` in a paragraph, one of many links in a sentence), since words recur in content, too.
    All text blocks are counted.

    Returns:
        bool[n + m], elements first.
    """
    chosen = np.empty(page.n + page.m, bool)
    core.countable(page.arrays, UNSEEN, _MEDIA, WHOLE_PAGE, IS_BLOCK_LEVEL, page.has_ink, chosen)
    return chosen


def leaves(page: Page) -> Flags:
    """Tell which units are leaves: all text blocks, and countable elements without text and without such elements.

    Returns:
        bool[n + m], elements first.
    """
    found = np.empty(page.n + page.m, bool)
    core.leaves(page.arrays, page.has_ink, countable(page), found)
    return found


def frequencies_from_leaves(page: Page, df: NDArray[np.int64], leaf: Flags | None = None) -> NDArray[np.int64]:
    """Give every countable element the smallest count of the leaves in it: the most pages that can have it.

    Args:
        page: the page.
        df: int64[n + m], pages of the host that contain each leaf; 0 for leaves that were not counted.
        leaf: :func:`leaves` of the page, where they are known.

    Returns:
        int64[n + m]: ``df`` for leaves, what follows from it for the other countable elements, 0 for all else.
    """
    leaf = leaves(page) if leaf is None else leaf
    found = np.empty(page.n + page.m, np.int64)
    core.leaf_frequencies(page.arrays, page.has_ink, countable(page), leaf, np.ascontiguousarray(df, np.int64), found)
    return found


def spread_frequencies(page: Page, counted: Integers, df: Integers) -> Integers:
    """Scatter the counts of :func:`winnow.places.counted_units` to the units, and derive those of the elements.

    Args:
        page: the page.
        counted: int64[k], indices of the leaves among the units, and of place codes after the units.
        df: int64[k], pages that have each.

    Returns:
        int64[n + m], see :func:`frequencies_from_leaves`; longer if place codes were counted.
    """
    units = page.n + page.m
    spread = np.zeros(max(units, int(counted[-1]) + 1 if len(counted) else 0), np.int64)
    spread[counted] = df
    leaf = np.zeros(units, bool)
    leaf[counted[counted < units]] = True
    spread[:units] = frequencies_from_leaves(page, spread[:units], leaf)
    return spread


THETA: Final = 0.10

# Labels from the first k pages of 31 sites against labels from 100, by text: in file order, where neighbours resemble
# each other, 4 pages that agree give precision 0.97 and recall 0.89 at k = 10 (3 pages: 0.91 and 0.94; 5 pages: 0.99
# and 0.86); in random order 0.99 and 0.87.
MIN_PAGES: Final = 10
MIN_DF: Final = 4
HTML_SHARE: Final = 0.85

_TAG_LENGTH: Final = np.array([len("<></>") + 2 * len(name) for name in TAG_NAMES], np.int64)


def site_level_templates(
    page: Page,
    df: NDArray[np.int64],
    pages: int,
    theta: float = THETA,
    *,
    min_pages: int = MIN_PAGES,
    min_df: int = MIN_DF,
    html_share: float | None = HTML_SHARE,
) -> NDArray[np.bool_]:
    """Label the units of a page that are template according to its site.

    A unit is template when it is countable and occurs on at least ``theta`` of the pages; so is everything inside it,
    and so are elements over ``html_share`` of whose HTML lies in such units (section 5.1), but then not what is inside.
    The last rule is ours to narrow: it leaves out ``html`` and ``body`` and elements that much of whose text is not
    repeated, since on pages of much markup and few words it labels the element around the whole page (122 of 880).

    Args:
        page: the page.
        df: int64[n + m], pages of the host that contain each unit.
        pages: pages of the host that were counted.
        theta: least share of pages (0.10 in section 5.1).
        min_pages: pages below which nothing is labelled.
        min_df: pages that have to agree whatever ``theta`` says.
        html_share: share of an element's HTML (tags, attributes and text, in characters), and of its text; ``None``
            leaves out the rule of section 5.1, which is most of the work and labels no block.

    Returns:
        bool[n + m], elements first.
    """
    if pages < min_pages:
        return np.zeros(page.n + page.m, bool)
    repeated = countable(page) & (df >= max(theta * pages, min_df))
    elements = within(page, repeated[: page.n])
    blocks = repeated[page.n :] | elements[page.block_node]
    if html_share is None:
        return np.concatenate([elements, blocks])
    repeated_run = elements[page.run_node] | runs_of_blocks(page, blocks)

    markup, text = html_lengths(page)
    whole_text, shared_text = sums_over_runs(page, text), sums_over_runs(page, text * repeated_run)
    elements |= ~IS_BLOCK_LEVEL[page.tag] & (whole_text > 0) & (shared_text == whole_text)  # inside a repeated block
    whole, shared = subtree_sums(page, markup), subtree_sums(page, markup * elements)
    mostly = shared + shared_text > html_share * (whole + whole_text)
    mostly &= ~WHOLE_PAGE[page.tag] & (shared_text >= html_share * whole_text)
    return np.concatenate([elements | mostly, blocks])


def unique_units(page: Page, df: NDArray[np.int64], pages: int, min_pages: int = MIN_PAGES) -> NDArray[np.bool_]:
    """Label the countable units that no other page of the site has: hardly ever template.

    Args:
        page: the page, itself among those counted.
        df: int64[n + m], pages of the host that contain each unit.
        pages: pages of the host that were counted.
        min_pages: pages below which nothing is labelled.

    Returns:
        bool[n + m], elements first.
    """
    if pages < min_pages:
        return np.zeros(page.n + page.m, bool)
    unique: NDArray[np.bool_] = countable(page) & (df == 1)
    return unique


def html_lengths(page: Page) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Characters of HTML: int64[n] of each element's tags and attributes, int64[r] of each run of text.

    Blank runs and the elements that no reader sees count nothing.
    """
    unseen = within(page, UNSEEN[page.tag])
    text = np.diff(page.run_offset) * page.has_ink
    return np.where(unseen, 0, _TAG_LENGTH[page.tag] + page.attributes.markup_length()), text


_ENTRY: Final = np.dtype([("fingerprint", "<u8"), ("seen", "<u4"), ("missed", "<u4")])

KEPT: Final = 0.9
"""Fraction of the budget that stays in use when rare entries are dropped."""


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
        """Upper bound of the pages missed for any fingerprint."""
        return self._undercount

    def has(self, page_id: int) -> bool:
        """Whether a page was counted."""
        return page_id in self._pages

    def add(self, page_id: int, fingerprints: Hashes) -> bool:
        """Count a page; see :meth:`winnow.counting.Counts.add`."""
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
        """Look estimates up; see :meth:`winnow.counting.Counts.df` and :func:`frequency_estimates`."""
        found = [self._entries.get(fingerprint, (0, 0)) for fingerprint in fingerprints.ravel().tolist()]
        seen, missed = np.array(found, np.int64).reshape(-1, 2).T
        return frequency_estimates(seen, missed, self.pages, self._theta).reshape(fingerprints.shape)

    def to_bytes(self) -> bytes:
        """Serialise the counts: 16 bytes per fingerprint and 8 per page."""
        pages = np.sort(np.fromiter(self._pages, np.uint64, len(self._pages)))
        entries = [(fingerprint, *entry) for fingerprint, entry in self._entries.items()]
        head = np.array([len(pages), self._undercount], "<u8")
        return head.tobytes() + pages.astype("<u8").tobytes() + np.array(entries, _ENTRY).tobytes()

    @classmethod
    def from_bytes(cls, packed: bytes, budget: int = 2_900, theta: float = THETA) -> Self:
        """Restore counts from :meth:`to_bytes`; pass the same budget and theta."""
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
