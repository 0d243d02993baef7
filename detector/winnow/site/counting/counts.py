"""On how many pages of one host a unit occurs: what is counted, and exact counts in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, Self

import numpy as np

from winnow.core import compiled
from winnow.fingerprints.units import UNSEEN
from winnow.page.page import once_per_page
from winnow.page.subtrees import prefix_sums, subtree_sums, within
from winnow.page.tags import IS_BLOCK_LEVEL, tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]

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
        """Count a page's fingerprints, each once however often it occurs on the page; 0 is left out.

        Returns:
            whether the page was new; a page counted before is not counted again.
        """
        ...

    def df(self, fingerprints: Hashes) -> NDArray[np.int64]:
        """Pages that contain each fingerprint: int64, shaped like the argument; 0 for fingerprint 0."""
        ...


class MemoryCounts:
    """Exact counts in this process; they add up: ``counts += other`` counts each page of either once."""

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
    core = compiled()
    if core is not None:
        chosen = np.empty(page.n + page.m, bool)
        core.countable(page.arrays, UNSEEN, _MEDIA, WHOLE_PAGE, IS_BLOCK_LEVEL, page.inked, chosen)
        return chosen
    seen = ~within(page, UNSEEN[page.tag])

    holds_media = subtree_sums(page, _MEDIA[page.tag] & seen) > 0

    inked, starts, ends = np.zeros((3, len(page.runs) + 1), bool)
    inked[:-1] = page.inked
    starts[page.block_run_begin] = True
    ends[page.block_run_end - 1] = True
    where = np.append(np.flatnonzero(inked), len(page.runs))
    ink_before = prefix_sums(inked)
    first = where[ink_before[page.run_begin]]
    last = where[ink_before[page.run_end] - 1]
    has_text = ink_before[page.run_end] > ink_before[page.run_begin]
    whole_line = IS_BLOCK_LEVEL[page.tag] | (starts[first] & ends[last])

    elements = seen & ~WHOLE_PAGE[page.tag] & np.where(has_text, whole_line, holds_media)
    return np.concatenate([elements, np.ones(page.m, bool)])
