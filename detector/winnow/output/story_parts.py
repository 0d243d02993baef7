"""What belongs to a story that is kept stays with it: its heading, headings, code and tables in it.

Models know single blocks, and have learned from gold text that often begins below the heading. A heading of two words
or a cell with a number says little of itself; where it stands says more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.output.places import CODE, HEADING, QUOTATION, SUBHEADING, TABLE, stands_in
from winnow.output.tables import table_around
from winnow.page.subtrees import innermost_holding, prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]

_MOST: Final = 0.9  # of the text kept, in the innermost element that stands for the story
_LEAST_CERTAIN: Final = 0.5  # templateness below which a heading above text that is kept, or a quotation, stays
_LEAST_CERTAIN_FIXED: Final = 0.8  # the same of code, and of a table: mean over its blocks
_NEAR: Final = 3  # blocks before and after a table among which one has to be kept


def story_parts(
    page: Page, lengths: NDArray[np.int64], kept: NDArray[np.bool_], templateness: Floats
) -> NDArray[np.bool_]:
    """Find what is to stay with the story besides what is kept already.

    Args:
        page: the page.
        lengths: int64[m], characters of each of its blocks.
        kept: bool[m], blocks that are content.
        templateness: float64[m] in 0..1, smoothed scores.

    Returns:
        bool[m], blocks, of which some may be kept already.
    """
    if not kept.any():
        return np.zeros(page.m, bool)
    begun = np.cumsum(kept) > 0
    found = _subheadings(page, kept) & begun & (templateness < _LEAST_CERTAIN)
    found |= _tables(page, kept, templateness)
    heading, code, set_apart = (stands_in(page, kinds) for kinds in (HEADING, CODE, CODE | QUOTATION))
    if (heading | set_apart).any():
        set_apart &= begun & (templateness < np.where(code, _LEAST_CERTAIN_FIXED, _LEAST_CERTAIN))
        found |= (heading & _before_the_last(kept) | set_apart) & _around_story(page, lengths, kept)
    return found


def story_headings(page: Page, lengths: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the headings of the first rank that stand where the story stands.

    Args:
        page: the page.
        lengths: int64[m], characters of each of its blocks.
        kept: bool[m], blocks that are content.

    Returns:
        bool[m], blocks in an ``h1`` that lie where the story does, and before the last of it.
    """
    headings = stands_in(page, HEADING)
    if not headings.any() or not kept.any():
        return np.zeros(page.m, bool)
    return headings & _before_the_last(kept) & _around_story(page, lengths, kept)


def _before_the_last(kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks before the last that is kept."""
    before: NDArray[np.bool_] = np.arange(len(kept)) < np.flatnonzero(kept)[-1]
    return before


def _around_story(page: Page, lengths: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks in the innermost element that holds nine tenths of the text kept, and more than one block."""
    around = innermost_holding(page.block_begin, page.block_end, lengths * kept, _MOST)
    block = np.arange(page.m)
    inside: NDArray[np.bool_] = (block >= page.block_begin[around]) & (block < page.block_end[around])
    return inside


def _subheadings(page: Page, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], headings of lower ranks that stand right above text that is kept."""
    heading = stands_in(page, SUBHEADING)
    heading[:-1] &= (kept & ~heading)[1:]  # right above text
    heading[-1:] = False
    return heading


def _tables(page: Page, kept: NDArray[np.bool_], templateness: Floats) -> NDArray[np.bool_]:
    """bool[m], blocks of tables of data that stand between blocks that are kept, or have some."""
    if not stands_in(page, TABLE).any():
        return np.zeros(page.m, bool)
    table = table_around(page)[page.block_node]
    roots = np.unique(table[table >= 0])
    begin, end = page.block_begin[roots], page.block_end[roots]
    sums, scores = prefix_sums(kept), np.append(0.0, np.cumsum(templateness))
    inside = sums[end] > sums[begin]
    before = sums[begin] > sums[np.maximum(begin - _NEAR, 0)]
    after = sums[np.minimum(end + _NEAR, page.m)] > sums[end]
    doubtful = scores[end] - scores[begin] < _LEAST_CERTAIN_FIXED * (end - begin)
    stays = roots[(inside | before & after) & doubtful]
    found = np.zeros(page.n + 1, bool)  # the last is for -1, no table
    found[stays] = True
    return found[table]
