"""Which elements and runs of a page stay once its template units are cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from winnow.output.formulas import formulas_of, places_of
from winnow.output.runs import checkboxes, code_line_elements, unwritten_elements
from winnow.output.tables import layout
from winnow.page.tags import TAG_ID, UNSEEN_TEXT, tag_set
from winnow.page.tree import nearest, prefix_sums, runs_of_blocks, sums_over_runs, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

_MEDIA = tag_set("img", "picture", "video", "audio")
_MEDIA_PARTS = tag_set("source", "track")
_BREAKS = tag_set("br", "hr")
_CELLS = tag_set("td", "th")
_LINES = tag_set("div", "p", "li", "tr")
_UNSEEN = tag_set(*UNSEEN_TEXT)
_NEAR = 12  # blocks; on 125 pages of WCXB no picture of the gold content was further away, 27 others were, mostly logos
_TINY = frozenset({"0", "1", "0px", "1px"})
_NO_MEDIA = tag_set("noscript")  # copies of pictures that scripts load, and counting pixels


@dataclass(frozen=True, eq=False, slots=True)
class Remains:
    """What stays of a page.

    Attributes:
        elements: bool[n].
        runs: bool[r].
    """

    elements: NDArray[np.bool_]
    runs: NDArray[np.bool_]


def remains(page: Page, template: NDArray[np.bool_], hidden: NDArray[np.bool_] | None = None) -> Remains:
    """Find out what stays of a page when its template units are cut; the page is not changed.

    A run stays with its block. An element stays while something in its subtree does: a run, or content without text.
    Images, videos and sounds are such content if they are not template themselves and the nearest element around them
    that has any text keeps some of it: the icon of a menu entry goes with the entry, the picture of a gallery stays.
    Those with a whole menu between them and the text that stays, logos and buttons, go as well, and so do those of a
    single pixel, which count visits.
    Line breaks stay behind text that stays, and cells in rows of tables of data that stay.

    Args:
        page: the page.
        template: bool[n + m], the units to cut.
        hidden: bool[r], runs that are left out of the blocks that stay.
    """
    kept_text = runs_of_blocks(page, ~template[page.n :])
    if hidden is not None:
        kept_text &= ~hidden
    all_text = runs_of_blocks(page, np.ones(page.m, bool))
    text_here = sums_over_runs(page, all_text)
    kept_here = sums_over_runs(page, kept_text)

    seen = ~(within(page, _UNSEEN[page.tag]) | unwritten_elements(page))
    media = _MEDIA[page.tag] & seen & ~within(page, _NO_MEDIA[page.tag]) & ~template[: page.n]
    around = nearest(page.parent, text_here > 0)
    media &= (around < 0) | (kept_here[around] > 0)
    media &= (_blocks_to_content(page, ~template[page.n :]) <= _NEAR) & ~_is_tracking_pixel(page)
    if formulas := formulas_of(page).of:
        kept = np.append(~template[page.n :], False)
        media[[formula for formula in formulas if kept[places_of(page).block.get(formula, -1)]]] = True
    for box in checkboxes(page):
        media[box] = kept_here[page.parent[box]] > 0
    media_here = prefix_sums(media)

    elements = seen & ((kept_here > 0) | (media_here[page.end] > media_here[:-1]))
    elements |= _empty_lines(page, elements) & seen
    in_kept = np.append(elements, False)[page.parent]
    last_text = np.maximum.accumulate(np.where(all_text, np.arange(1, len(all_text) + 1), 0))
    text_before = np.append(0, last_text)[page.run_begin]
    after_kept = np.append(False, kept_text)[text_before]
    elements |= in_kept & seen & _BREAKS[page.tag] & after_kept
    elements |= in_kept & seen & _CELLS[page.tag] & ~layout(page)
    elements |= in_kept & _MEDIA_PARTS[page.tag]

    elements |= media
    elements &= ~layout(page) | (kept_here > 0) | (media_here[page.end] > media_here[:-1])
    return Remains(elements, kept_text | _blank_runs_in_pre(page, elements))


def _blocks_to_content(page: Page, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """int64[n], blocks that are cut between each element and the nearest block that stays; 0 where none does."""
    if not kept.any():
        return np.zeros(page.n, np.int64)
    block = np.arange(page.m)
    far = 2 * page.m
    before = np.append(-far, np.maximum.accumulate(np.where(kept, block, -far)))
    after = np.append(np.minimum.accumulate(np.where(kept, block, far)[::-1])[::-1], far)
    at = page.block_begin
    nearest_one: NDArray[np.int64] = np.minimum(at - 1 - before[at], after[at] - at)
    return nearest_one


def _is_tracking_pixel(page: Page) -> NDArray[np.bool_]:
    """bool[n], elements that are said to be a pixel wide and high at most."""
    tiny = np.zeros(page.n, bool)
    widths, heights = page.attribute("width"), page.attribute("height")
    tiny[[at for at, width in widths.items() if width.strip() in _TINY and heights.get(at, "").strip() in _TINY]] = True
    return tiny


def _empty_lines(page: Page, elements: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[n], elements of lines without text in a ``pre`` that stays: empty lines of code."""
    preformatted: NDArray[np.bool_] = (page.tag == TAG_ID["pre"]) & elements
    if preformatted.any():
        lines = _LINES[page.tag]
        lines[code_line_elements(page)] = True
        empty = (page.block_end == page.block_begin) & (page.run_end == page.run_begin)
        preformatted = within(page, preformatted) & lines & empty
    return preformatted


def _blank_runs_in_pre(page: Page, elements: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[r], white space between the tokens and lines of a ``pre`` that stays."""
    preformatted = (page.tag == TAG_ID["pre"]) & elements
    if not preformatted.any():
        return np.zeros(page.r, bool)
    blank = np.ones(page.r, bool)
    blank[runs_of_blocks(page, np.ones(page.m, bool))] = False
    return blank & within(page, preformatted)[page.run_node]
