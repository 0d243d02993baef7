"""Everything that the features of elements are computed from, measured once per page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.logistic.attributes import Attributes
from winnow.models.logistic.geometry import Geometry, layout
from winnow.models.logistic.links import Links
from winnow.models.logistic.title_words import TitleWords
from winnow.page.tags import TAG_NAMES
from winnow.page.text import TextStatistics
from winnow.page.tree import linked_runs, prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]

_NAME_LENGTH: Final = np.array([2 * len(name or "unknown") + 5 for name in TAG_NAMES], np.int64)  # <name></name>


@dataclass(frozen=True, eq=False)
class Measures:
    """A page with its text statistics, attributes, geometry and links, and their sums over subtrees.

    Sums are int64[v], one for each of the page's v elements that are not hidden; the first is the root, whose sums are
    those of the page.
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
    def elements(self) -> Counts:
        """int64[v], indices of the elements that are not hidden, and of the root whatever its size."""
        visible = ~self.geometry.hidden[: self.page.n]
        visible[0] = True
        return np.flatnonzero(visible)

    @cached_property
    def title_words(self) -> tuple[Floats, Floats]:
        """float64[v] occurrences of title words, and float64[v] share of the title's different words that occur."""
        return TitleWords.of(self.page).between(self._run_begin, self._run_end)

    @cached_property
    def characters(self) -> Counts:
        """Visible characters."""
        return self.total(self.statistics.characters)

    @cached_property
    def words(self) -> Counts:
        """Words."""
        return self.total(self.statistics.words)

    @cached_property
    def linked_characters(self) -> Counts:
        """Visible characters inside anchors."""
        return self.total(self.statistics.only(self.statistics.characters, linked_runs(self.page)))

    @cached_property
    def link_count(self) -> Counts:
        """Links."""
        return self.count(self.links.link)

    @cached_property
    def in_site_count(self) -> Counts:
        """Links to the same site."""
        return self.count(self.links.in_site)

    @cached_property
    def markup_length(self) -> Counts:
        """Characters of HTML source of tags and attributes, text not included."""
        return self.count(self.attributes.markup_length + _NAME_LENGTH[self.page.tag])

    @cached_property
    def block_count(self) -> Counts:
        """Text blocks."""
        return self.page.block_end[self.elements].astype(np.int64) - self.page.block_begin[self.elements]

    @cached_property
    def text_before(self) -> Floats:
        """float64[v], share of the page's characters before each element."""
        return self.statistics.characters[self._run_begin] / max(int(self.statistics.characters[-1]), 1)

    @cached_property
    def text_after(self) -> Floats:
        """float64[v], share of the page's characters after each element."""
        return 1 - self.statistics.characters[self._run_end] / max(int(self.statistics.characters[-1]), 1)

    @cached_property
    def sibling_number(self) -> Counts:
        """int64[v], elements before each one under the same parent."""
        parent = self.page.parent
        order = np.argsort(parent, kind="stable")
        sorted_parent = parent[order]
        number = np.empty(self.page.n, np.int64)
        number[order] = np.arange(self.page.n) - sorted_parent.searchsorted(sorted_parent)
        return number[self.elements]

    def total(self, prefix: Counts) -> Counts:
        """int64[v], share of a running total over text runs that lies in each subtree."""
        return prefix[self._run_end] - prefix[self._run_begin]

    def count(self, per_element: NDArray[np.generic]) -> Counts:
        """int64[v], sums over each subtree of an integer or boolean per element of the page."""
        sums = prefix_sums(per_element)
        return sums[self._end] - sums[self.elements]

    @cached_property
    def _end(self) -> NDArray[np.int32]:
        return self.page.end[self.elements]

    @cached_property
    def _run_begin(self) -> NDArray[np.int32]:
        return self.page.run_begin[self.elements]

    @cached_property
    def _run_end(self) -> NDArray[np.int32]:
        return self.page.run_end[self.elements]
