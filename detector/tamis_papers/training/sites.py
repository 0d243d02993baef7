"""Sites: folders of pages, and labels of their units from what the site repeats."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.folders import SitePages, page_files
from tamis_papers.methods import METHODS, summary
from tamis_papers.page_level import SiteLevel
from tamis_papers.pages import SiteError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tamis.arrays import Singles
    from tamis.folders import SitePage


def find_sites(folder: Path, min_pages: int = 10) -> list[SitePages]:
    """List the sites of a folder by name, ``https://name/``, leaving out those with too few pages.

    Raises:
        FileNotFoundError: the folder does not exist.
        ValueError: there is no site with enough pages in it.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"no such folder: {folder}")
    folders = [each for each in sorted(folder.iterdir()) if each.is_dir()]
    sites = [SitePages.of_files(each, page_files(each)) for each in folders]
    enough = [site for site in sites if len(site) >= min_pages]
    if not enough:
        raise ValueError(f"{folder} holds no folder with {min_pages} or more HTML files: one folder a site is expected")
    return enough


# Labels without a human: what repeats on the pages of a site is template, what occurs once is content.
#
# Template units are those of SiteLevel with the 85% rule (page-level isotonic smoothing, sections 3 and 5.1), or of
# another site-level method; content is what no other page of the site has, unless the method has a rule of its own, and
# what lies in between has no label (site-independent template blocks, section 3).

SITE_LEVEL_METHOD: Final = SiteLevel.name
"""The method whose labels the package's own model learns from."""


class SiteLabels:
    """Labels of the units of a site's pages by a site-level method.

    Attributes:
        numbers: numbers of the pages that can be learned from: readable, not too large, no copies of others; none where
            the method cannot work on the site.
    """

    def __init__(self, pages: SitePages, method: str = SITE_LEVEL_METHOD) -> None:
        self._pages = pages
        self.numbers: Sequence[int] = []
        with suppress(SiteError):
            self._site_level = self._learned = SiteLevel().learn(self._pages)
            if method != SITE_LEVEL_METHOD:
                self._learned = METHODS[method]().learn(self._pages)
            self.numbers = self._site_level.groups[0]

    def pages(self, numbers: Iterable[int]) -> Iterator[tuple[SitePage, Singles]]:
        """Read pages with their labels, float32[n + m]: 1 for content, 0 for template, NaN for neither."""
        for read in map(self._pages.read, numbers):
            labels = self._learned.label(read)
            content = self._site_level.label(read).content if labels.content is None else labels.content
            label = np.full(read.page.n + read.page.m, np.nan, np.float32)
            label[content] = 1
            label[labels.template] = 0
            yield read, label


def describe_labels(method: str) -> str:
    """What model cards say of the labels of a method."""
    return f"`{method}`, no human ones: template is what it finds, content what one page has. {summary(method)}"
