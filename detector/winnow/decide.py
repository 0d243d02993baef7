"""Decides which units of a page are kept: scores, evidence, smoothing, threshold, then what overrules them.

:data:`STEPS` is the whole way, in order. A step changes the draft and leaves its reason on the units it decided.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.evidence.comments import partition_comments
from winnow.evidence.draft import Draft, Reason
from winnow.evidence.main_content import (
    cut_later_copies,
    cut_lists_whole,
    keep_headline,
    keep_parts_of_main_content,
    keep_structures_whole,
)
from winnow.evidence.marked_articles import cut_other_articles, cut_outside_marked_article
from winnow.evidence.site_counts import move_by_site_counts
from winnow.models.scores import FixedThreshold
from winnow.output.tables import in_table
from winnow.output.text import leftovers, texts_without
from winnow.page.attributes import question
from winnow.page.hidden import hidden_runs
from winnow.page.tree import prefix_sums, runs_of_blocks, within
from winnow.rules import apply_rules
from winnow.smoothing import SmoothedScores, smooth_scores, unsmoothed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from winnow.evidence.draft import Options, SiteCounts
    from winnow.models.scores import Choice, Model, Scores
    from winnow.page.page import Page


def decide(page: Page, model: Model, counts: SiteCounts | None, options: Options) -> Draft:
    """Decide of every unit of a page whether it is kept.

    Where nothing would be left of a page with the counts of its site, the page is right and decides alone.

    Args:
        page: the page.
        model: page-level model.
        counts: counts of the page's site, where there are some.
        options: what the caller wants.

    Raises:
        ValueError: the counts are of another page.
    """
    draft = Draft(page, model, counts, options)
    for step in STEPS:
        step(draft)
    if draft.is_fallback and counts is not None:
        draft = decide(page, model, None, options)
        draft.is_fallback = True
        estimate_confidence(draft)
    return draft


def smooth(draft: Draft) -> None:
    """Make the scores agree with the tree, and choose the threshold.

    The threshold that is chosen for a page makes up for what the model cannot know of single blocks. With the counts of
    the site there is less to make up for: it goes half the way to even odds, which is best on the marked sites. A piece
    of a page has nothing around its text that tells what it is: only what is surely template goes.
    """
    draft.smoothed = _smoothed(draft, draft.scores)
    draft.choice = _choice(draft, draft.smoothed)
    if draft.page_scores is not draft.scores:
        draft.page_threshold = _choice(draft, _smoothed(draft, draft.page_scores)).threshold
        if draft.options.scope == "auto" and not isinstance(draft.scores.decision, FixedThreshold):
            even = FixedThreshold(0.5).choose(draft.smoothed.value, scope="auto", favor=draft.options.favor)
            draft.choice = replace(draft.choice, threshold=(draft.choice.threshold + even.threshold) / 2)
    if draft.page.m <= _MOST_OF_A_PIECE and draft.options.favor != "precision":
        draft.choice = replace(draft.choice, threshold=max(draft.choice.threshold, _SURELY_TEMPLATE))


_MOST_OF_A_PIECE: Final = 8  # blocks
_SURELY_TEMPLATE: Final = 0.75


def cut_template(draft: Draft) -> None:
    """Cut the units whose smoothed score is not below the threshold, and what is not wanted of comments.

    A page with text is never left empty: if all its blocks are template, those of its least template-like section are
    kept; of several, the one with the most blocks.
    """
    page, smoothed = draft.page, draft.smoothed
    draft.cut_by_scores()
    if page.m and not draft.kept.any():
        draft.keep_least_template(np.ones(page.m, bool))
    in_thread = draft.comments.section >= 0
    draft.template[in_thread] = draft.options.comments != "include"
    draft.smoothed = SmoothedScores(smoothed.value, np.where(in_thread, draft.comments.section, smoothed.section))


def cut_hidden(draft: Draft) -> None:
    """Cut what nobody sees; of a page of which nothing would be left, something else is kept."""
    if draft.options.hidden:
        return
    page = draft.page
    wanted = draft.kept | draft.written_by_readers
    hidden = hidden_runs(page, wanted)
    if not hidden.any():
        return
    if not (draft.kept & _has_seen(page, hidden)).any():
        hidden = hidden_runs(page, np.ones(page.m, bool))
        if (seen := _has_seen(page, hidden)).any():
            draft.keep_least_template(seen)
    seen = _has_seen(page, hidden)
    draft.hidden = hidden & runs_of_blocks(page, seen)
    draft.texts = texts_without(page, draft.texts, draft.hidden)
    draft.overrule(~seen, Reason.HIDDEN, cut=True)


def _has_seen(page: Page, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], the blocks that have more than hidden runs (bool[r])."""
    seen = prefix_sums(page.inked & ~hidden)
    has_seen: NDArray[np.bool_] = seen[page.block_run_end] > seen[page.block_run_begin]
    return has_seen


def cut_unwanted(draft: Draft) -> None:
    """Cut what nobody wants whatever its score: leftovers, controls, bars of archives, tables if asked for."""
    page = draft.page
    draft.overrule(leftovers(draft.texts) | draft.comments.controls, Reason.UNWANTED, cut=True)
    if bars := page.attributes.having(_ARCHIVE_BARS):
        is_bar = np.isin(np.arange(page.n), page.attributes.bearers([place for place, _ in bars]))
        draft.overrule(within(page, is_bar)[page.block_node], Reason.UNWANTED, cut=True)
    if not draft.options.tables:
        draft.overrule(in_table(page), Reason.UNWANTED, cut=True)


_ARCHIVE_BARS: Final = question("id", parts=("wm-ipp",))  # of the Wayback Machine


def estimate_confidence(draft: Draft) -> None:
    """Say how good the text will be, after all that has moved and overruled the scores.

    What the decision expects was learned on pages alone. With counts it goes together with the F1 that the scores
    themselves expect, as fitted on the marked pages of whole sites: a linear function of both.
    """
    confidence = draft.choice.confidence
    if draft.is_fallback or not draft.kept.any():
        confidence = 0.0
    elif confidence is not None and draft.page_scores is not draft.scores:
        words = np.maximum([len(text.split()) for text in draft.texts], 0.5)
        content = (1 - draft.smoothed.value[draft.page.n :]) * words
        expected = 2 * content @ draft.kept / (words @ draft.kept + content.sum())
        confidence = min(float(_CONFIDENCE @ (1, confidence, expected)), 1.0)
    draft.choice = replace(draft.choice, confidence=confidence)


_CONFIDENCE: Final = np.array([0.359, 0.448, 0.21])

STEPS: Final[tuple[Callable[[Draft], None], ...]] = (
    cut_outside_marked_article,
    cut_other_articles,
    move_by_site_counts,
    partition_comments,
    smooth,
    cut_template,
    keep_parts_of_main_content,
    keep_headline,
    keep_structures_whole,
    cut_lists_whole,
    cut_hidden,
    cut_later_copies,
    cut_unwanted,
    apply_rules,
    estimate_confidence,
)
"""The way of a page from scores to what is kept; the scores themselves are the model's."""


def _smoothed(draft: Draft, scores: Scores) -> SmoothedScores:
    smoothing = smooth_scores if draft.options.smooth else unsmoothed
    return smoothing(draft.page, draft.comments.without_excluded(scores))


def _choice(draft: Draft, smoothed: SmoothedScores) -> Choice:
    choose = draft.scores.decision.choose
    return choose(smoothed.value[draft.page.n :], scope=draft.options.scope, favor=draft.options.favor)
