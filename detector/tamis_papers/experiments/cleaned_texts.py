"""Pages of one site cleaned in the ways that the page-level paper compares in its applications (sections 6.2, 6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tamis import clean
from tamis.counting import countable
from tamis.fingerprints import node_fingerprints
from tamis.output.text import text_of_blocks
from tamis.page.page import Page
from tamis.site import PageCounts
from tamis_papers.page_level import site_level_templates
from tamis_papers.pages import HashCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tamis.arrays import Hashes, Integers
    from tamis.models import Model

FULL_TEXT: Final = "FULLTEXT"
SITE_LEVEL: Final = "SITELEVEL"
BASIC: Final = "PAGELEVEL Basic"
SMOOTH: Final = "PAGELEVEL Smooth"
COMBINED: Final = "combined"
WAYS: Final = (FULL_TEXT, SITE_LEVEL, BASIC, SMOOTH, COMBINED)


def cleaned_texts(pages: Sequence[tuple[bytes, str]], model: Model, ways: Sequence[str]) -> Iterator[dict[str, str]]:
    """Clean all pages of one site, given by HTML and address, in some :data:`WAYS`; yield each page's texts by way.

    SITELEVEL cuts what at least 10% of these pages share and nothing else. *combined* is what a crawl does at its end:
    the model's scores, moved by the counts of these pages.
    """
    counts = HashCounts.of_pages(_fingerprints(Page.parse(html, url))[1] for html, url in pages)
    for html, url in pages:
        page = Page.parse(html, url)
        units, fingerprints = _fingerprints(page)
        df = np.zeros(page.n + page.m, np.int64)
        df[units] = counts.df(fingerprints)
        yield {way: _text(way, page, df, counts.pages, model) for way in ways}


def _text(way: str, page: Page, df: Integers, pages: int, model: Model) -> str:
    if way == FULL_TEXT:
        return text_of_blocks(page, np.ones(page.m, bool))
    if way == SITE_LEVEL:
        return text_of_blocks(page, ~site_level_templates(page, df, pages)[page.n :])
    if way == COMBINED:
        return clean(page, model=model, site=PageCounts(df, pages)).text
    return clean(page, model=model, smooth=way == SMOOTH).text


def _fingerprints(page: Page) -> tuple[Integers, Hashes]:
    units = np.flatnonzero(countable(page))
    return units, node_fingerprints(page)[units]
