"""A site in memory: counts the units of its pages, so that each page is cleaned with what the others repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.counting import LossyCounts, frequencies_from_leaves, leaves
from winnow.fingerprints import FINGERPRINT_VERSION, node_fingerprints
from winnow.page.page import Page

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_FORMAT: Final = b"winnow site 1, fingerprints %d\n" % FINGERPRINT_VERSION


class Site:
    """What the pages of a site repeat, without Scrapy and Redis; memory is bounded, see :class:`~winnow.LossyCounts`.

    Args:
        budget: most units that are remembered, 16 bytes each.

    >>> import winnow
    >>> site = winnow.Site()
    >>> for number in range(5):
    ...     page = f"<p>Menu of the site</p><p>Story {number} is told on this page and on no other one.</p>"
    ...     _ = site.count(page, f"https://example.org/{number}")
    >>> site.pages
    5
    >>> page = winnow.clean(page, url="https://example.org/4", site=site)
    """

    def __init__(self, budget: int = 20_000) -> None:
        self._budget = budget
        self._counts = LossyCounts(budget)

    @property
    def pages(self) -> int:
        """Pages that were counted."""
        return self._counts.pages

    def count(self, html: str | bytes | Page, url: str | None = None) -> bool:
        """Count a page; one with the same contents as a page before counts nothing, whatever its address is.

        Args:
            html: the page.
            url: its address; links count relative to it.

        Returns:
            Whether the page was new.

        Raises:
            PageTooLarge: the page is above one of the caps of :class:`~winnow.Limits`.
        """
        page = html if isinstance(html, Page) else Page.parse(html, url)
        if not page.n:
            return False
        fingerprints = node_fingerprints(page)
        return self._counts.add(int(fingerprints[0]), np.unique(fingerprints[leaves(page)]))

    def frequencies(self, page: Page) -> tuple[NDArray[np.int64], int]:
        """Look the units of a page up: int64[n + m], pages of the site that have each; and the pages that were counted.

        A page that was not counted is looked at as if it had been.
        """
        leaf = leaves(page)
        df = np.zeros(page.n + page.m, np.int64)
        df[leaf] = self._counts.df(node_fingerprints(page)[leaf])
        known = bool(page.n) and self._counts.has(int(node_fingerprints(page)[0]))
        df[leaf] += not known
        return frequencies_from_leaves(page, df, leaf), self.pages + (not known)

    def save(self, path: Path) -> None:
        """Write the counts to a file."""
        path.write_bytes(_FORMAT + self._counts.to_bytes())

    @classmethod
    def load(cls, path: Path, budget: int = 20_000) -> Self:
        """Read the counts of a site.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file holds no counts of this version.
        """
        packed = path.read_bytes()
        if not packed.startswith(_FORMAT):
            raise ValueError(f"{path}: not the counts of a site, or those of another version: count its pages again")
        site = cls(budget)
        site._counts = LossyCounts.from_bytes(packed[len(_FORMAT) :], budget)
        return site


@dataclass(frozen=True, eq=False, slots=True)
class PageCounts:
    """On how many pages of its site the units of one page occur, where something else has counted them.

    Attributes:
        df: int64[n + m], pages of the site that contain each unit, the page itself among them; 0 for units that are not
            counted.
        pages: pages of the site that were counted.
    """

    df: NDArray[np.int64]
    pages: int

    def frequencies(self, page: Page) -> tuple[NDArray[np.int64], int]:  # noqa: ARG002
        """Return the counts, which are of this very page."""
        return self.df, self.pages
