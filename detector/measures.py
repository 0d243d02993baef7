"""Everything that features are computed from, measured once per page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from detector.attributes import Attributes
from detector.geometry import Geometry, layout
from detector.links import Links
from detector.subtrees import subtree_sums, within
from detector.tags import TAG_ID, TAG_NAMES
from detector.text_statistics import TextStatistics
from detector.title_words import TitleWords

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from detector.page import Page

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measures:
    """A page with its text statistics, attributes, geometry and links, and their sums over the subtrees of elements.

    Sums are int64[n]; index 0, the root, holds the total of the page.
    """

    page: Page
    statistics: TextStatistics
    attributes: Attributes
    geometry: Geometry
    links: Links

    @classmethod
    def of(cls, page: Page) -> Measures:
        """Measure a page."""
        statistics, attributes = TextStatistics.of(page), Attributes.of(page)
        geometry = layout(page, statistics, attributes)
        return cls(page, statistics, attributes, geometry, Links.of(page, attributes))

    @cached_property
    def run_in_link(self) -> NDArray[np.bool_]:
        """bool[r], whether each text run is inside an ``a`` element."""
        return within(self.page, self.page.tag == TAG_ID["a"])[self.page.run_node]

    @cached_property
    def title_words(self) -> TitleWords:
        """Where the words of the title turn up."""
        return TitleWords.of(self.page)

    @cached_property
    def characters(self) -> Counts:
        """Visible characters in each subtree."""
        return self.total(self.statistics.characters)

    @cached_property
    def words(self) -> Counts:
        """Words in each subtree."""
        return self.total(self.statistics.words)

    @cached_property
    def linked_characters(self) -> Counts:
        """Visible characters inside anchors."""
        return self.total(self.statistics.only(self.statistics.characters, self.run_in_link))

    @cached_property
    def link_count(self) -> Counts:
        """Links in each subtree."""
        return subtree_sums(self.page, self.links.link)

    @cached_property
    def markup_length(self) -> Counts:
        """Characters of HTML source of each subtree's tags and attributes, text not included."""
        return subtree_sums(self.page, self.attributes.markup_length + _NAME_LENGTH[self.page.tag])

    @cached_property
    def in_site_count(self) -> Counts:
        """Links to the same site in each subtree."""
        return subtree_sums(self.page, self.links.in_site)

    @cached_property
    def block_count(self) -> Counts:
        """Text blocks in each subtree."""
        return (self.page.block_end - self.page.block_begin).astype(np.int64)

    @cached_property
    def text_before(self) -> Floats:
        """float64[n], share of the page's characters before each element."""
        return self.statistics.characters[self.page.run_begin] / max(int(self.statistics.characters[-1]), 1)

    @cached_property
    def text_after(self) -> Floats:
        """float64[n], share of the page's characters after each element."""
        return 1 - self.statistics.characters[self.page.run_end] / max(int(self.statistics.characters[-1]), 1)

    def total(self, prefix: Counts) -> Counts:
        """int64[n], share of a running total over text runs that lies in each subtree."""
        return prefix[self.page.run_end] - prefix[self.page.run_begin]

    def count(self, tags: NDArray[np.bool_]) -> Counts:
        """int64[n], elements of the tags (a look-up table over tag ids) in each subtree."""
        return subtree_sums(self.page, tags[self.page.tag])


_NAME_LENGTH = np.array([2 * len(name or "unknown") + 5 for name in TAG_NAMES], np.int64)  # <name></name>
