"""What the counts of a site say of a page: what its other pages repeat is likelier template, what none repeats is not.

The evidence is linear in the share of the site's other pages that have a unit, and for blocks in what those pages have
at the same place (:mod:`winnow.places`). Its numbers were learned on whole sites that were marked by hand and on pages
of news sites, with 2 to 100 pages counted (``python -m winnow.training.site_evidence``). Longer formulas, with the
length of a block, its links and sentences, its neighbours' shares or beta-binomial likelihoods, were no better on sites
left out.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.evidence.draft import Reason
from winnow.places import CODES, clipped_log_odds, look_at_others, place_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.evidence.draft import Draft
    from winnow.models.scores import Model, Scores
    from winnow.page.page import Page


@dataclass(frozen=True, slots=True)
class Evidence:
    """Log-odds of template that the counts add, each attribute times what it is named after.

    Attributes:
        share: share of the site's other pages that have the unit.
        everywhere: 1 for units on nine tenths of ten and more pages.
        place: mean log-odds of the other pages at the block's place, less those of the block; 0 where no other page has
            the place, and going there with the fewer that have: two pages more are taken to agree with the block.
        presence: share of the other pages that have the place, less where few were counted.
        constant: 1.
    """

    share: float
    everywhere: float
    place: float
    presence: float
    constant: float


LEARNED: Final = Evidence(share=2.442, everywhere=2.5, place=0.421, presence=0.084, constant=-0.732)
"""As learned, but for ``everywhere``, of which 1.3 is learned: up to 2.5 all figures are the same, and what is on all
pages should go however sure its page is of it."""

_SELDOM: Final = 0.3  # of the other pages that have the place of a block; less, and the counts know little of it
_MAX_FOR_CONTENT: Final = 1.2  # log-odds that such a block becomes surer content: a menu of one page is not content
_MIN_PAGES: Final = 2
_AGREEING: Final = 2  # pages at each place that are taken to agree with the block
_FEW: Final = 0.5  # pages without the place, added to those that were counted
_EVERYWHERE: Final = 0.9  # of the other pages
_MIN_PAGES_EVERYWHERE: Final = 10


def move_by_site_counts(draft: Draft) -> None:
    """Move the scores by what the site's other pages have; nothing on the first page of a site."""
    if draft.df is None or draft.pages < _MIN_PAGES:
        return
    page, scores = draft.page, draft.scores
    columns = evidence_columns(page, draft.df, draft.places, draft.pages, scores.templateness[page.n :], draft.model)
    draft.move(with_site_counts(page, scores, draft.df, columns, LEARNED), Reason.SITE)


def evidence_columns(
    page: Page,
    df: NDArray[np.int64],
    places: NDArray[np.int64] | None,
    pages: int,
    templateness: NDArray[np.float64],
    model: Model,
) -> NDArray[np.float64]:
    """Work out what the numbers of :class:`Evidence` are to be multiplied by.

    Args:
        page: the page.
        df: int64[n + m], pages of the site that contain each unit, the page itself among them.
        places: int64[q * CODES], pages of the site that have each code of the page's places, where they were counted.
        pages: pages of the site that were counted, at least 2.
        templateness: float64[m], scores of the page's blocks.
        model: page-level model, by which the places were counted.

    Returns:
        float64[n + m, 5], in the order of the attributes; of elements no place is known.
    """
    others = pages - 1
    columns = np.zeros((len(df), 5))
    columns[:, 0] = share = np.clip(df - 1, 0, others) / others
    columns[:, 1] = (share >= _EVERYWHERE) & (pages >= _MIN_PAGES_EVERYWHERE)
    columns[:, 3] = others / (others + _FEW)  # where nothing is known of places, all pages are taken to have them
    if places is not None:
        have, total = look_at_others(page, places.reshape(-1, CODES), place_levels(page, model))
        columns[page.n :, 2] = (total - have * clipped_log_odds(templateness)) / (have + _AGREEING)
        columns[page.n :, 3] = have / (others + _FEW)
    columns[:, 4] = 1
    return columns


def with_site_counts(
    page: Page,
    scores: Scores,
    df: NDArray[np.int64],
    columns: NDArray[np.float64],
    evidence: Evidence,
) -> Scores:
    """Add to the scores of a page what the counts of its site say.

    Elements are moved only where they are repeated: being unique says nothing of them, any element around content is.

    Args:
        page: the page.
        scores: what the page itself says.
        df: int64[n + m], pages of the site that contain each unit; 0 for units that are not counted, which stay as they
            are.
        columns: of :func:`evidence_columns`.
        evidence: what was learned, :data:`LEARNED`.
    """
    moved = columns @ np.array(astuple(evidence))
    moved = np.maximum(moved, np.where(columns[:, 3] < _SELDOM, -_MAX_FOR_CONTENT, -np.inf))
    is_element = np.arange(len(df)) < page.n
    return scores.adjusted(np.where((df == 0) | (is_element & (moved <= 0)), 0.0, moved))
