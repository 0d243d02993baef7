"""TODO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.counting import unique_units
from winnow.hashing import mix
from winnow.models.log_odds import log_odds
from winnow.output.tables import table_around
from winnow.output.text import CODE, HEADING, QUOTATION, SUBHEADING, TABLE, stands_in
from winnow.page.ancestors import nearest
from winnow.page.runs import linked_runs
from winnow.page.subtrees import innermost_holding, path_sums, prefix_sums
from winnow.page.tags import tag_set
from winnow.page.text.statistics import TextStatistics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.page.page import Page

# ---- winnow.evidence.main_content: What belongs to a story that is kept stays with it: its heading, headings, code and tables in it.
#
# Models know single blocks, and have learned from gold text that often begins below the heading. A heading of two words
# or a cell with a number says little of itself; where it stands says more.

if TYPE_CHECKING:
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


# ---- winnow.evidence.main_content: Text that a page carries more than once: copies for other screen sizes, quotes of the lead, print versions.

LEAST_CHARACTERS: Final = 40
"""Shorter blocks may well stand on a page twice: names, prices, answers of one word."""


_TABLES: Final = tag_set("table")
_LISTS: Final = tag_set("ul", "ol", "dl", "menu", "dir")
_CODE: Final = tag_set("pre")


def later_copies(page: Page, texts: Sequence[str], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the blocks that repeat, word for word, a longer block kept before them, as copies for another screen do.

    Copies stand in another kind of place than what they repeat. What stands in the same kind is meant to be there: what
    several functions of a manual, or shows of a programme, have in common. So is what repeats within one whole: a value
    in the cells of a table, an item of a list, a line of code, and the refrain of a song, whose lines are parted by
    ``br`` and whose stanzas stand below each other.

    Args:
        page: the page.
        texts: text of each block, in reading order.
        kept: bool[m], blocks that are content.

    Returns:
        bool[m], kept blocks of 40 characters and more whose text an earlier kept block has too.
    """
    copies = np.zeros(len(texts), bool)
    first: dict[str, int] = {}
    repeated: list[tuple[int, int]] = []
    for index in np.flatnonzero(kept).tolist():
        text = texts[index]
        if len(text) >= LEAST_CHARACTERS and (known := first.setdefault(text, index)) != index:
            repeated.append((index, known))
    if repeated:
        again, known = np.array(repeated).T
        kinds = _kinds_of_places(page)[page.block_node]
        copies[again] = kinds[again] != kinds[known]
        for whole in _wholes(page):
            copies[again] &= (whole[again] < 0) | (whole[again] != whole[known])
    return copies


def _wholes(page: Page) -> list[NDArray[np.int32]]:
    """What each block is part of, int32[m] each: its table, its list, its ``pre``, and what its stanza stands in."""
    node = page.block_node
    parts = [nearest(page.parent, group[page.tag])[node] for group in (_TABLES, _LISTS, _CODE)]
    verse = np.bincount(node, minlength=page.n)[node] > 1
    return [*parts, np.where(verse, page.parent[node], np.int32(-1))]


def _kinds_of_places(page: Page) -> NDArray[np.uint64]:
    """uint64[n], the same for elements that have the same tags and classes all the way up."""
    table, places = page.attributes, np.array(list(page.attributes.named("class").values()), np.int64)
    by_first = np.zeros(len(table.first), np.uint64)
    by_first[places] = places + 1
    tag, depth = page.tag.astype(np.uint64), page.depth.astype(np.uint64)
    return path_sums(page, mix(depth << np.uint64(48) | tag << np.uint64(32) | table.sums(by_first)))


# ---- winnow.evidence.main_content: A page's own paragraphs: text in lines that no other page of its site has, and which of it stays with the story.
#
# A model of single pages sees that a paragraph is odd for where it stands: a comment's place, a list's, a caption's. The
# site knows that nobody but this page says it, and that what is beside it is the story.

if TYPE_CHECKING:
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
