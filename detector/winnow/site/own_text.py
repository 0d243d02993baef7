"""A page's own paragraphs: text in lines that no other page of its site has, and which of it stays with the story.

A model of single pages sees that a paragraph is odd for where it stands: a comment's place, a list's, a caption's. The
site knows that nobody but this page says it, and that what is beside it is the story.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.log_odds import log_odds
from winnow.page.runs import linked_runs
from winnow.page.subtrees import prefix_sums
from winnow.page.text.statistics import TextStatistics
from winnow.site.counting.site_level import unique_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Flags = NDArray[np.bool_]

# Chosen on 64 sites with texts of known pages in their slots and on six with gold text, by models that had seen none of
# them. Lines of a place and a date, and trails of where one is on the site, are shorter or end no sentence.
LEAST_LENGTH: Final = 60
_MOST_LINKED: Final = 0.3
_MOST_DOUBT: Final = 2.0  # log-odds above the cut
_SAYS_MORE: Final = 0.05
_EPSILON: Final = 1e-7


def own_paragraphs(page: Page, lengths: NDArray[np.int64], df: NDArray[np.int64], pages: int) -> Flags:
    """Find the blocks of a page that only it has and that are text: sentences, long enough, with few links.

    Of a settled host only its template is known any more; there all else passes for the page's own.

    Args:
        page: the page, itself among those counted.
        lengths: int64[m], characters of each block.
        df: int64[n + m], pages of the host that contain each unit.
        pages: pages of the host that were counted; below ten nothing is known to be the page's own.

    Returns:
        bool[m].
    """
    own = unique_units(page, df, pages)[page.n :] & (lengths >= LEAST_LENGTH)
    if own.any():
        statistics = TextStatistics.of(page)
        linked = statistics.only(statistics.characters, linked_runs(page))
        totals = statistics.characters, linked, statistics.sentence_ends
        characters, in_links, ends = (statistics.per_unit(total)[page.n :] for total in totals)
        own &= (in_links < _MOST_LINKED * characters) & (ends > 0)
    return own


def beside_story(page: Page, own: Flags, kept: Flags, templateness: NDArray[np.float64], threshold: float) -> Flags:
    """Find the own paragraphs that stand where some of those that are kept stand, and are not surely template.

    Args:
        page: the page.
        own: bool[m], its own paragraphs.
        kept: bool[m], blocks that are content.
        templateness: float64[m] in 0..1, smoothed scores.
        threshold: score from which on blocks are cut.

    Returns:
        bool[m], own paragraphs that are cut and should stay.
    """
    found = own & ~kept
    if not found.any() or not (own & kept).any():
        return np.zeros(page.m, bool)
    story = prefix_sums(own & kept)
    around = np.maximum(page.parent[page.block_node], 0)
    found &= story[page.block_end[around]] > story[page.block_begin[around]]
    found &= log_odds(templateness, _EPSILON) < log_odds(np.float64(threshold), _EPSILON) + _MOST_DOUBT
    return found


def says_more(own: Flags, kept: Flags, lengths: NDArray[np.int64]) -> bool:
    """Whether a page has a story of its own, so that it is not one of several addresses of the same page.

    Args:
        own: bool[m], its own paragraphs.
        kept: bool[m], blocks that the page-level model takes for content.
        lengths: int64[m], characters of each block.
    """
    return bool(lengths[own].sum() > _SAYS_MORE * lengths[kept].sum())
