"""Evidence from a site's counts: units that other pages repeat are likelier template, unique units are less likely.

The evidence is linear in the fraction of the site's other pages that have a unit, and for blocks also in the scores of
the same place on those pages (:mod:`tamis.places`). Its coefficients were learned on hand-labelled whole sites and on
pages of news sites, with 2 to 100 pages counted (``python -m benchmarks.accuracy.site_evidence``). Adding the length of
a block, its links and sentences, its neighbours' fractions or beta-binomial likelihoods was no better on other sites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.core import core
from tamis.counting import on_most_pages
from tamis.evidence.draft import Reason
from tamis.page.tree import tag_set
from tamis.places import Places, find_places

if TYPE_CHECKING:
    from tamis.arrays import Flags, Floats, Integers
    from tamis.evidence.draft import Draft
    from tamis.models import Model
    from tamis.page.page import Page


class Evidence(NamedTuple):
    """Coefficients of the log-odds of template that the counts add, one per input.

    Attributes:
        fraction: fraction of the site's other pages that have the unit.
        everywhere: 1 for units on at least nine tenths of at least ten pages.
        place: mean log-odds of the other pages at the block's place, minus those of the block, shrunk towards 0 as if
            two more pages agreed with the block.
        presence: fraction of the other pages that have the place, lower if few pages were counted.
        constant: 1.
    """

    fraction: float
    everywhere: float
    place: float
    presence: float
    constant: float


LEARNED: Final = Evidence(fraction=2.167, everywhere=2.5, place=0.487, presence=0.288, constant=-0.766)
"""The learned coefficients. ``everywhere`` is raised from 0.7, which changes no figure, so that what all pages repeat
is cut even if the page's own score is confident."""

_LONG_RUN: Final = 40  # blocks


def adjust_by_site_counts(draft: Draft) -> None:
    """Adjust the scores by the site's counts; does nothing on the first page of a site."""
    if draft.df is None or not draft.uses_counts:
        return
    page, scores = draft.page, draft.scores
    templateness = scores.templateness[page.n :]
    _, added = find_evidence(page, draft.df, draft.places, draft.pages, templateness, draft.model)
    is_shared = draft.df[page.n :] >= max(0.25 * draft.pages, 6)
    if np.count_nonzero(is_shared) >= _LONG_RUN:
        # The table of contents of a manual is on the pages of that manual alone, and reads like a listing.
        added[page.n :] += LEARNED.everywhere * _in_long_runs(is_shared, draft.lengths)
    draft.adjust_scores(scores.adjusted(added), Reason.SITE)


def cut_common_pictures(draft: Draft) -> None:
    """Cut pictures, videos and sounds that most of the other pages have: logos, icons, spacers beside content."""
    if draft.df is not None and draft.uses_counts:
        n = draft.page.n
        pictures = tag_set("img", "picture", "video", "audio").take(draft.page.tag)
        draft.kept_units[:n] &= ~(pictures & on_most_pages(draft.df[:n], draft.pages))


def _in_long_runs(is_shared: Flags, lengths: Integers) -> Flags:
    """bool[m], the blocks in long runs that are shared (bool[m]), and short in the mean.

    Posts that archives show have longer blocks, and are on fewer pages.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_shared, [False]]).astype(np.int8)))
    begins, ends = edges[::2], edges[1::2]
    characters = np.append(0, np.cumsum(lengths))
    is_long = ends - begins >= _LONG_RUN
    is_long &= characters[ends] - characters[begins] <= 60 * (ends - begins)
    found = np.zeros(len(is_shared), bool)
    for begin, end in zip(begins[is_long].tolist(), ends[is_long].tolist(), strict=True):
        found[begin:end] = True
    return found


def find_evidence(
    page: Page, df: Integers, places: Integers | None, pages: int, templateness: Floats, model: Model
) -> tuple[Floats, Floats]:
    """Compute the inputs of :class:`Evidence`, and what they add to the log-odds of template.

    Elements are moved only towards template: every element around content is unique, so that says nothing.

    Args:
        page: the page.
        df: int64[n + m], pages of the site that contain each unit, including this page; units with 0 are not counted.
        places: int64[3 * q], pages of the site that have each code of the page's places; ``None`` if not counted.
        pages: number of pages counted, at least 2.
        templateness: float64[m], scores of the page's blocks.
        model: page-level model that the places were counted with.

    Returns:
        float64[5, n + m], in the order of the attributes; elements have no place. float64[n + m], log-odds, 0 for units
        that are not counted.
    """
    df = np.ascontiguousarray(df, np.int64)
    inputs, added = np.empty((len(LEARNED), len(df))), np.empty(len(df))
    if places is None:
        here = Places(np.zeros(0, np.int32), np.zeros((0, 2), bool), np.zeros((0, 3), np.uint64))
        counts = np.zeros(0, np.int64)
    else:
        here, counts = find_places(page, model), np.ascontiguousarray(places, np.int64)
    core.site_evidence(df, pages, LEARNED, counts, here.by_block, here.above, templateness, inputs, added)
    return inputs, added
