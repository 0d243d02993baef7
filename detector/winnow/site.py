"""A site in memory: counts the units of its pages, so that each page is cleaned with what the others repeat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.counting import LossyCounts, spread_frequencies
from winnow.fingerprints import FINGERPRINT_VERSION, node_fingerprints
from winnow.models import load_model
from winnow.page.page import Page
from winnow.places import counted_units, main_text_id

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.scores import Model

_FORMAT: Final = b"winnow site 1, fingerprints %d\n" % FINGERPRINT_VERSION


class Site:
    """What the pages of a site repeat, without Scrapy and Redis; memory is bounded, see :class:`~winnow.LossyCounts`.

    Args:
        budget: most units that are remembered, 16 bytes each.
        model: page-level model, its name or its file, which pages are cleaned with as well; by default the one that
            comes with the package.

    >>> import winnow
    >>> site = winnow.Site()
    >>> for number in range(5):
    ...     page = f"<p>Menu of the site</p><p>Story {number} is told on this page and on no other one.</p>"
    ...     _ = site.count(page, f"https://example.org/{number}")
    >>> site.pages
    5
    >>> page = winnow.clean(page, url="https://example.org/4", site=site)
    """

    def __init__(self, budget: int = 20_000, model: Model | str | Path | None = None) -> None:
        self._model = load_model(model) if model is None or isinstance(model, str | Path) else model
        self._counts = LossyCounts(budget)

    @property
    def pages(self) -> int:
        """Pages that were counted."""
        return self._counts.pages

    def count(self, html: str | bytes | Page, url: str | None = None) -> bool:
        """Count a page; one with the main text of a page before counts nothing, whatever its address is.

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
        main_text = main_text_id(page, self._model)
        if main_text and self._counts.df(np.array([main_text], np.uint64))[0]:
            return False
        return self._counts.add(_page_id(page), np.append(counted_units(page, self._model)[1], np.uint64(main_text)))

    def frequencies(self, page: Page) -> tuple[NDArray[np.int64], int]:
        """Look a page up: pages of the site that have each unit, then each code of its places; and the pages counted.

        A page that was not counted is looked at as if it had been.
        """
        counted, fingerprints = counted_units(page, self._model)
        known = bool(page.n) and self._counts.has(_page_id(page))
        df = spread_frequencies(page, counted, self._counts.df(fingerprints) + (not known))
        return df, self.pages + (not known)

    def save(self, path: Path) -> None:
        """Write the counts to a file."""
        path.write_bytes(_FORMAT + self._counts.to_bytes())

    @classmethod
    def load(cls, path: Path, budget: int = 20_000, model: Model | str | Path | None = None) -> Self:
        """Read the counts of a site.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file holds no counts of this version.
        """
        packed = path.read_bytes()
        if not packed.startswith(_FORMAT):
            raise ValueError(f"{path}: not the counts of a site, or those of another version: count its pages again")
        site = cls(budget, model)
        site._counts = LossyCounts.from_bytes(packed[len(_FORMAT) :], budget)
        return site


def _page_id(page: Page) -> int:
    return int(node_fingerprints(page)[0])


@dataclass(frozen=True, eq=False, slots=True)
class PageCounts:
    """On how many pages of its site the units of one page occur, where something else has counted them.

    Attributes:
        df: int64[n + m] or int64[n + m + q * CODES], pages of the site that contain each unit, and that have each code
            of the page's places (:mod:`winnow.places`), the page itself among them; 0 for units that are not counted.
        pages: pages of the site that were counted.
    """

    df: NDArray[np.int64]
    pages: int

    def frequencies(self, page: Page) -> tuple[NDArray[np.int64], int]:  # noqa: ARG002
        """Return the counts, which are of this very page."""
        return self.df, self.pages
