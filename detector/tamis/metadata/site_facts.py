"""What most pages of a site have, and so is the site's, not the page's: headings, parts of titles, authors, images."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.counting import on_most_pages
from tamis.declared_texts import declared_texts

if TYPE_CHECKING:
    from tamis.arrays import Integers
    from tamis.metadata.visible import Heading
    from tamis.page.page import Page


class SiteFacts(NamedTuple):
    """What most pages of the site have; empty if fewer than five are counted.

    Attributes:
        blocks: numbers of text blocks.
        texts: titles, parts of titles, authors and addresses of pictures, by their letters.
    """

    blocks: frozenset[int]
    texts: frozenset[str]

    def has(self, page: Page, heading: Heading) -> bool:
        """Whether all of a heading is on most pages."""
        begin, end = int(page.block_begin[heading.element]), int(page.block_end[heading.element])
        return begin < end and self.blocks.issuperset(range(begin, end))


NOTHING_COUNTED: Final = SiteFacts(frozenset(), frozenset())


def find_site_facts(page: Page, df: Integers | None, facts: Integers | None, pages: int) -> SiteFacts:
    """Find what most of the other pages have.

    Args:
        page: the page.
        df: int64[n + m], pages of the site that contain each unit, this one included; ``None`` if none are counted.
        facts: int64[f], pages with each of :func:`declared_texts`, likewise.
        pages: number of pages counted, this one included.
    """
    if df is None:
        return NOTHING_COUNTED
    texts = [] if facts is None else compress(declared_texts(page), on_most_pages(facts, pages).tolist())
    return SiteFacts(frozenset(np.flatnonzero(on_most_pages(df[page.n :], pages)).tolist()), frozenset(texts))
