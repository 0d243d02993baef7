"""Decides which elements and runs of a page are written once its template units are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.output.formulas import find_formulas, formula_positions
from winnow.output.runs import checkboxes, code_line_elements, omitted_elements
from winnow.output.tables import layout_tables
from winnow.page.tags import TAG_ID, UNSEEN_TEXT, tag_set
from winnow.page.tree import nearest, prefix_sums, runs_of_blocks, sums_over_runs, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Flags = NDArray[np.bool_]

_MEDIA = tag_set("img", "picture", "video", "audio")
_MEDIA_PARTS = tag_set("source", "track")
_BREAKS = tag_set("br", "hr")
_CELLS = tag_set("td", "th")
_LINES = tag_set("div", "p", "li", "tr")
_UNSEEN = tag_set(*UNSEEN_TEXT)
_MAX_DISTANCE = 12  # blocks; on 125 pages of WCXB all pictures of the content were nearer, 27 others further away
_TINY = frozenset({"0", "1", "0px", "1px"})
_NO_MEDIA = tag_set("noscript")  # copies of pictures that scripts load, and tracking pixels


def strip_template(page: Page, template: Flags, hidden: Flags | None = None) -> tuple[Flags, Flags]:
    """Return the elements (bool[n]) and runs (bool[r]) that stay when template units are cut; the page is not changed.

    A run stays with its block. An element stays while something in its subtree does: a run, or content without text.
    Images, videos and sounds are such content if they are not template themselves and the nearest element around them
    that has any text keeps some of it: the icon of a menu entry goes with the entry, the picture of a gallery stays.
    Logos and buttons, with a whole menu between them and the text that stays, are cut as well, and so are tracking
    pixels. Line breaks stay behind text that stays, and cells in rows of data tables that stay.

    Args:
        page: the page.
        template: bool[n + m], the units to cut.
        hidden: bool[r], runs that are left out of the blocks that stay.
    """
    kept_blocks = ~template[page.n :]
    kept_text, all_text = runs_of_blocks(page, kept_blocks), runs_of_blocks(page, np.ones(page.m, bool))
    if hidden is not None:
        kept_text &= ~hidden
    kept_runs = sums_over_runs(page, kept_text)

    seen = ~(within(page, _UNSEEN[page.tag]) | omitted_elements(page))
    media = _MEDIA[page.tag] & seen & ~within(page, _NO_MEDIA[page.tag]) & ~template[: page.n]
    around = nearest(page.parent, sums_over_runs(page, all_text) > 0)
    media &= (around < 0) | (kept_runs[around] > 0)
    media &= _blocks_to_content(page, kept_blocks) <= _MAX_DISTANCE
    widths, heights = page.attribute("width"), page.attribute("height")  # a pixel at most: it counts visits
    media[[at for at, width in widths.items() if {width.strip(), heights.get(at, "").strip()} <= _TINY]] = False
    if formulas := find_formulas(page).by_element:
        kept, block_of = np.append(kept_blocks, False), formula_positions(page).block
        media[[formula for formula in formulas if kept[block_of.get(formula, -1)]]] = True
    for box in checkboxes(page):
        media[box] = kept_runs[page.parent[box]] > 0
    media_before = prefix_sums(media)
    has_content = (kept_runs > 0) | (media_before[page.end] > media_before[:-1])

    elements = seen & has_content
    if has_code := bool((code := (page.tag == TAG_ID["pre"]) & elements).any()):
        in_code, lines = within(page, code), _LINES[page.tag]
        lines[code_line_elements(page)] = True
        is_empty = (page.block_end == page.block_begin) & (page.run_end == page.run_begin)
        elements |= in_code & lines & is_empty & seen
    is_layout, in_kept = layout_tables(page), np.append(elements, False)[page.parent]
    last_text = np.maximum.accumulate(np.where(all_text, np.arange(1, len(all_text) + 1), 0))
    after_kept = np.append(False, kept_text)[np.append(0, last_text)[page.run_begin]]
    elements |= in_kept & seen & _BREAKS[page.tag] & after_kept
    elements |= in_kept & seen & _CELLS[page.tag] & ~is_layout
    elements |= in_kept & _MEDIA_PARTS[page.tag] | media
    elements &= ~is_layout | has_content
    if has_code:  # white space between tokens and lines of code
        kept_text |= ~all_text & in_code[page.run_node]
    return elements, kept_text


def _blocks_to_content(page: Page, kept: Flags) -> NDArray[np.int64]:
    """int64[n], blocks that are cut between each element and the nearest block that stays; 0 where none does."""
    if not kept.any():
        return np.zeros(page.n, np.int64)
    block, far, at = np.arange(page.m), 2 * page.m, page.block_begin
    before = np.append(-far, np.maximum.accumulate(np.where(kept, block, -far)))
    after = np.append(np.minimum.accumulate(np.where(kept, block, far)[::-1])[::-1], far)
    distance: NDArray[np.int64] = np.minimum(at - 1 - before[at], after[at] - at)
    return distance
