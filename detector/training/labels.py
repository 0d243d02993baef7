"""Labels without a human: what repeats on the pages of a site is template, what occurs once is content.

Template units are those of SiteLevel with the 85% rule (page-level isotonic smoothing, sections 3 and 5.1); content is
what no other page of the site has, and what lies in between is ignored (site-independent template blocks, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from detector.fingerprints import both_fingerprints
from detector.page import Page, PageTooLarge
from detector.site import MemoryCounts, site_level_templates, unique_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from detector.training.sites import Site

TEMPLATE: Final = 1
CONTENT: Final = 0
IGNORED: Final = -1

SITE_LEVEL: Final = (
    "site-level, no human ones: template is what at least 10% of a site's pages share, content what one page has"
)
"""What model cards say of these labels."""

SITE_LEVEL_LIMITS: Final = """\
Site-level labels call every list that differs from page to page content, "related articles" included. They know
nothing of comments, advertisements or cookie notices that a crawler's copy of a page lacks."""


@dataclass(frozen=True, eq=False, slots=True)
class LabelledPage:
    """A page of a site with a label for each of its units.

    Attributes:
        page: the page.
        label: int8[n + m], :data:`TEMPLATE`, :data:`CONTENT` or :data:`IGNORED`.
        file: where the page is.
    """

    page: Page
    label: NDArray[np.int8]
    file: Path


class SiteCounts:
    """On how many pages of one site each unit occurs, by its markup and by its text alone."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.files: list[int] = []  # of the pages that were counted: readable, not too large, no copies of others
        self._markup, self._text = MemoryCounts(), MemoryCounts()
        for number in range(len(site.files)):
            page = self._page(number)
            if page is None or not page.m:
                continue
            markup, text = both_fingerprints(page)
            page_id = int(text[0])
            if self._text.add(page_id, text):
                self._markup.add(page_id, markup)
                self.files.append(number)

    def labelled(self, files: Sequence[int]) -> Iterator[LabelledPage]:
        """Label the units of some pages, given by their numbers in :attr:`files`."""
        for number in files:
            page = self._page(number)
            if page is None:
                continue
            markup, text = both_fingerprints(page)
            markup_df, text_df = self._markup.df(markup), self._text.df(text)
            label = np.full(page.n + page.m, IGNORED, np.int8)
            label[unique_units(page, text_df, self._text.pages)] = CONTENT
            label[site_level_templates(page, np.maximum(markup_df, text_df * (text != 0)), self._text.pages)] = TEMPLATE
            yield LabelledPage(page, label, self.site.files[number])

    def _page(self, number: int) -> Page | None:
        file = self.site.files[number]
        try:
            return Page.parse(file.read_bytes(), self.site.url(file))
        except PageTooLarge:
            return None
