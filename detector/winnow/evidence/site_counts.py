"""Evidence from a site's counts: units that other pages repeat are likelier template, unique units are less likely.

The evidence is linear in the fraction of the site's other pages that have a unit, and for blocks also in the scores of
the same place on those pages (:mod:`winnow.places`). Its coefficients were learned on hand-labelled whole sites and on
pages of news sites, with 2 to 100 pages counted (``python -m winnow.training.site_evidence``). Adding the length of a
block, its links and sentences, its neighbours' fractions or beta-binomial likelihoods was no better on held-out sites.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.evidence.draft import Reason
from winnow.places import CODES, clipped_log_odds, place_levels, scores_on_other_pages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.evidence.draft import Draft
    from winnow.models import Model, Scores
    from winnow.page.page import Page


@dataclass(frozen=True, slots=True)
class Evidence:
    """Coefficients of the log-odds of template that the counts add, one per input.

    Attributes:
        share: fraction of the site's other pages that have the unit.
        everywhere: 1 for units on at least nine tenths of at least ten pages.
        place: mean log-odds of the other pages at the block's place, minus those of the block, shrunk towards 0 as if
            two more pages agreed with the block.
        presence: fraction of the other pages that have the place, lower if few pages were counted.
        constant: 1.
    """

    share: float
    everywhere: float
    place: float
    presence: float
    constant: float


LEARNED: Final = Evidence(share=2.442, everywhere=2.5, place=0.421, presence=0.084, constant=-0.732)
"""The learned coefficients. ``everywhere`` is raised from 1.3, which changes no figure, so that what all pages repeat
is cut even if the page's own score is confident."""

_MIN_PRESENCE: Final = 0.3  # fraction of the other pages with the block's place, below which counts say little of it
_MAX_FOR_CONTENT: Final = 1.2  # log-odds towards content for such a block: a menu on one page only is not content
_MIN_PAGES: Final = 2
_AGREEING_PAGES: Final = 2  # assumed at each place, in addition to the counted ones
_MISSING_PAGES: Final = 0.5  # assumed to lack the place, in addition to the counted ones
_EVERYWHERE: Final = 0.9  # fraction of the other pages
_MIN_PAGES_EVERYWHERE: Final = 10


def adjust_by_site_counts(draft: Draft) -> None:
    """Adjust the scores by the site's counts; does nothing on the first page of a site."""
    if draft.df is None or draft.pages < _MIN_PAGES:
        return
    page, scores = draft.page, draft.scores
    columns = evidence_columns(page, draft.df, draft.places, draft.pages, scores.templateness[page.n :], draft.model)
    draft.adjust_scores(with_site_counts(page, scores, draft.df, columns), Reason.SITE)


def evidence_columns(
    page: Page,
    df: NDArray[np.int64],
    places: NDArray[np.int64] | None,
    pages: int,
    templateness: NDArray[np.float64],
    model: Model,
) -> NDArray[np.float64]:
    """Compute the inputs of :class:`Evidence`.

    Args:
        page: the page.
        df: int64[n + m], pages of the site that contain each unit, including this page.
        places: int64[q * CODES], pages of the site that have each code of the page's places; ``None`` if not counted.
        pages: number of pages counted, at least 2.
        templateness: float64[m], scores of the page's blocks.
        model: page-level model that the places were counted with.

    Returns:
        float64[n + m, 5], in the order of the attributes; elements have no place.
    """
    others = pages - 1
    columns = np.zeros((len(df), 5))
    columns[:, 0] = share = np.clip(df - 1, 0, others) / others
    columns[:, 1] = (share >= _EVERYWHERE) & (pages >= _MIN_PAGES_EVERYWHERE)
    columns[:, 3] = others / (others + _MISSING_PAGES)  # without counted places, assume that all pages have them
    if places is not None:
        have, total = scores_on_other_pages(page, places.reshape(-1, CODES), place_levels(page, model))
        columns[page.n :, 2] = (total - have * clipped_log_odds(templateness)) / (have + _AGREEING_PAGES)
        columns[page.n :, 3] = have / (others + _MISSING_PAGES)
    columns[:, 4] = 1
    return columns


def with_site_counts(page: Page, scores: Scores, df: NDArray[np.int64], columns: NDArray[np.float64]) -> Scores:
    """Adjust the scores of a page by the counts of its site.

    Elements are adjusted only towards template: every element around content is unique, so that says nothing.

    Args:
        page: the page.
        scores: scores without the counts.
        df: int64[n + m], pages of the site that contain each unit; units with 0 are not counted and not adjusted.
        columns: the result of :func:`evidence_columns`.
    """
    added = columns @ np.array(astuple(LEARNED))
    added = np.maximum(added, np.where(columns[:, 3] < _MIN_PRESENCE, -_MAX_FOR_CONTENT, -np.inf))
    is_element = np.arange(len(df)) < page.n
    return scores.adjusted(np.where((df == 0) | (is_element & (added <= 0)), 0.0, added))
