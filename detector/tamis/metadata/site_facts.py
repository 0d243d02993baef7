"""What most pages of a site have, and so is the site's, not the page's: headings, parts of titles, authors, images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.declared_texts import declared_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.arrays import Integers
    from tamis.metadata.visible import Heading
    from tamis.page.page import Page

_MIN_OTHER_PAGES: Final = 4


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
    others = pages - 1
    if df is None or others < _MIN_OTHER_PAGES:
        return NOTHING_COUNTED

    def common(counts: NDArray[np.int64]) -> list[int]:
        found: list[int] = np.flatnonzero(2 * (counts - 1) > others).tolist()
        return found

    texts = declared_texts(page)
    common_texts = [] if facts is None else [texts[number] for number in common(facts)]
    return SiteFacts(frozenset(common(df[page.n :])), frozenset(common_texts))
