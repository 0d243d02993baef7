"""The texts that different ways of cleaning leave of the pages of one site, in the terms of the page-level paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.shared.peers import trafilatura_text
from winnow import clean
from winnow.counting import MemoryCounts, countable, site_level_templates
from winnow.fingerprints import node_fingerprints
from winnow.output.text import block_texts, join_blocks
from winnow.page.page import Page
from winnow.site import PageCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from winnow.models.scores import Model

FULL_TEXT: Final = "FULLTEXT"
SITE_LEVEL: Final = "SITELEVEL"
BASIC: Final = "PAGELEVEL Basic"
SMOOTH: Final = "PAGELEVEL Smooth"
COMBINED: Final = "combined"
PEER: Final = "trafilatura"
METHODS: Final = (FULL_TEXT, SITE_LEVEL, BASIC, SMOOTH, COMBINED, PEER)


def cleaned_texts(
    pages: Sequence[tuple[bytes, str]], model: Model, methods: Sequence[str] = METHODS
) -> Iterator[dict[str, str]]:
    """Clean all pages of one site in every way.

    SITELEVEL cuts what at least 10% of these pages share and nothing else. *combined* is what a crawl does at its end:
    the model's scores, moved by the counts of these pages.

    Args:
        pages: HTML and address of each page.
        model: page-level model.
        methods: those of :data:`METHODS` that are wanted.

    Yields:
        the texts of one page by method.
    """
    counts = MemoryCounts()
    for number, (html, url) in enumerate(pages):
        counts.add(number, _fingerprints(Page.parse(html, url))[1])
    for html, url in pages:
        page = Page.parse(html, url)
        units, fingerprints = _fingerprints(page)
        df = np.zeros(page.n + page.m, np.int64)
        df[units] = counts.df(fingerprints)
        yield {method: _text(method, page, html, df, counts.pages, model) for method in methods}


def _text(method: str, page: Page, html: bytes, df: np.ndarray, pages: int, model: Model) -> str:
    if method == FULL_TEXT:
        return join_blocks(page, block_texts(page), np.ones(page.m, bool))
    if method == SITE_LEVEL:
        return join_blocks(page, block_texts(page), ~site_level_templates(page, df, pages)[page.n :])
    if method == PEER:
        return trafilatura_text(html)
    if method == COMBINED:
        return clean(page, model=model, site=PageCounts(df, pages)).text
    return clean(page, model=model, smooth=method == SMOOTH).text


def _fingerprints(page: Page) -> tuple[np.ndarray, np.ndarray]:
    units = np.flatnonzero(countable(page))
    return units, node_fingerprints(page)[units]
