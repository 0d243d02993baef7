"""SiteLevel: labels a page's units by how many pages of the site repeat them.

Chakrabarti, Kumar and Punera, "Page-level Template Detection via Isotonic Smoothing" (WWW 2007), sections 3 and 5.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.fingerprints.units import UNSEEN
from winnow.page.runs import runs_of_blocks, sums_over_runs
from winnow.page.subtrees import subtree_sums, within
from winnow.page.tags import IS_BLOCK_LEVEL, TAG_NAMES
from winnow.site.counting.counts import WHOLE_PAGE, countable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

THETA: Final = 0.10

# Labels from the first k pages of 31 sites against labels from 100, by text: in file order, where neighbours resemble
# each other, 4 pages that agree give precision 0.97 and recall 0.89 at k = 10 (3 pages: 0.91 and 0.94; 5 pages: 0.99
# and 0.86); in random order 0.99 and 0.87.
MIN_PAGES: Final = 10
MIN_DF: Final = 4
HTML_SHARE: Final = 0.85

_TAG_LENGTH: Final = np.array([len("<></>") + 2 * len(name) for name in TAG_NAMES], np.int64)


def site_level_templates(
    page: Page,
    df: NDArray[np.int64],
    pages: int,
    theta: float = THETA,
    *,
    min_pages: int = MIN_PAGES,
    min_df: int = MIN_DF,
    html_share: float | None = HTML_SHARE,
) -> NDArray[np.bool_]:
    """Label the units of a page that are template according to its site.

    A unit is template when it is countable and occurs on at least ``theta`` of the pages; so is everything inside it,
    and so are elements over ``html_share`` of whose HTML lies in such units (section 5.1), but then not what is inside.
    The last rule is ours to narrow: it leaves out ``html`` and ``body`` and elements that much of whose text is not
    repeated, since on pages of much markup and few words it labels the element around the whole page (122 of 880).

    Args:
        page: the page.
        df: int64[n + m], pages of the host that contain each unit.
        pages: pages of the host that were counted.
        theta: least share of pages (0.10 in section 5.1).
        min_pages: pages below which nothing is labelled.
        min_df: pages that have to agree whatever ``theta`` says.
        html_share: share of an element's HTML (tags, attributes and text, in characters), and of its text; ``None``
            leaves out the rule of section 5.1, which is most of the work and labels no block.

    Returns:
        bool[n + m], elements first.
    """
    if pages < min_pages:
        return np.zeros(page.n + page.m, bool)
    repeated = countable(page) & (df >= max(theta * pages, min_df))
    elements = within(page, repeated[: page.n])
    blocks = repeated[page.n :] | elements[page.block_node]
    if html_share is None:
        return np.concatenate([elements, blocks])
    repeated_run = elements[page.run_node] | runs_of_blocks(page, blocks)

    markup, text = html_lengths(page)
    whole_text, shared_text = sums_over_runs(page, text), sums_over_runs(page, text * repeated_run)
    elements |= ~IS_BLOCK_LEVEL[page.tag] & (whole_text > 0) & (shared_text == whole_text)  # inside a repeated block
    whole, shared = subtree_sums(page, markup), subtree_sums(page, markup * elements)
    mostly = shared + shared_text > html_share * (whole + whole_text)
    mostly &= ~WHOLE_PAGE[page.tag] & (shared_text >= html_share * whole_text)
    return np.concatenate([elements | mostly, blocks])


def unique_units(page: Page, df: NDArray[np.int64], pages: int, min_pages: int = MIN_PAGES) -> NDArray[np.bool_]:
    """Label the countable units that no other page of the site has: hardly ever template.

    Args:
        page: the page, itself among those counted.
        df: int64[n + m], pages of the host that contain each unit.
        pages: pages of the host that were counted.
        min_pages: pages below which nothing is labelled.

    Returns:
        bool[n + m], elements first.
    """
    if pages < min_pages:
        return np.zeros(page.n + page.m, bool)
    unique: NDArray[np.bool_] = countable(page) & (df == 1)
    return unique


def html_lengths(page: Page) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Characters of HTML: int64[n] of each element's tags and attributes, int64[r] of each run of text.

    Blank runs and the elements that no reader sees count nothing.
    """
    unseen = within(page, UNSEEN[page.tag])
    text = np.diff(page.run_offset) * page.inked
    return np.where(unseen, 0, _TAG_LENGTH[page.tag] + page.attributes.markup_length()), text
