"""SiteLevel as a method among the others: counts of normalised markup and of text over the pages of a site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from winnow.counting import MIN_DF, MIN_PAGES, THETA, MemoryCounts, site_level_templates, unique_units
from winnow.fingerprints import node_fingerprints, text_fingerprints
from winnow.papers.base import Labels, parameter
from winnow.papers.pages import check_enough

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page
    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress

_LEAST: Final = 2


@dataclass(frozen=True)
class SiteLevel:
    """Units that at least a tenth of the pages share, by their markup with volatile parts normalised or by their text.

    Paper: Chakrabarti, Kumar and Punera, "Page-level Template Detection via Isotonic Smoothing" (WWW 2007), sections 3
    and 5.1. It is what a crawl counts in Redis, here in memory and exactly.

    Parameters: ``theta``, least share of pages (0.10); ``min_pages``, pages below which nothing is labelled (10);
    ``min_df``, pages that have to agree whatever ``theta`` says (4).

    Cost: two parses and two sets of fingerprints for each page; 16 bytes of memory for each unit of each page.

    When to use: first. It needs no settings, and is the teacher of the package's own model.
    """

    name: ClassVar[str] = "site-level"

    theta: float = parameter(THETA, "least share of the pages that have a unit", "share, 0 to 1")
    min_pages: int = parameter(MIN_PAGES, "different pages below which nothing is labelled", "pages")
    min_df: int = parameter(MIN_DF, "pages that have to share a unit, however few there are", "pages")

    def __post_init__(self) -> None:
        if not 0 < self.theta <= 1:
            raise ValueError(f"theta must be above 0 and at most 1: {self.theta}")
        if min(self.min_pages, self.min_df) < _LEAST:
            raise ValueError(f"min_pages and min_df must be at least {_LEAST}")

    def learn(self, pages: SitePages, progress: Progress | None = None) -> SiteLevelTemplate:
        """Count the units of all pages with different text.

        Raises:
            SiteError: there are fewer than ``min_pages``.
        """
        learned = SiteLevelTemplate(self)
        for read in pages.read_all(progress):
            learned.add(read.page)
        check_enough(pages, learned.pages, self.min_pages)
        return learned


class SiteLevelTemplate:
    """On how many pages of one site each unit occurs, by its markup and by its text alone."""

    def __init__(self, method: SiteLevel) -> None:
        self._method = method
        self._markup, self._text = MemoryCounts(), MemoryCounts()

    @property
    def pages(self) -> int:
        """Different pages that were counted."""
        return self._text.pages

    def add(self, page: Page) -> bool:
        """Count a page.

        Returns:
            whether it was counted: it has text, and no page before it has the same.
        """
        if not page.m:
            return False
        markup, text = node_fingerprints(page), text_fingerprints(page)
        page_id = int(text[0])
        return self._text.add(page_id, text) and self._markup.add(page_id, markup)

    def label(self, read: SitePage) -> Labels:
        """Label a page: template is what many pages have, content what no other page has."""
        return self.label_page(read.page)

    def label_page(self, page: Page) -> Labels:
        """Label a page; see :meth:`label`."""
        markup, text = node_fingerprints(page), text_fingerprints(page)
        markup_df, text_df = self._markup.df(markup), self._text.df(text)
        method = self._method
        template = site_level_templates(
            page,
            np.maximum(markup_df, text_df * (text != 0)),
            self.pages,
            method.theta,
            min_pages=method.min_pages,
            min_df=method.min_df,
        )
        return Labels(template, unique_units(page, text_df, self.pages, method.min_pages) & ~template)

    def unique(self, page: Page) -> NDArray[np.bool_]:
        """bool[n + m], the units whose text no other page has."""
        return unique_units(page, self._text.df(text_fingerprints(page)), self.pages, self._method.min_pages)
