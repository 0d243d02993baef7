"""Decides which units of a page are kept: scores, evidence, smoothing, threshold, then overrides.

:data:`STEPS` lists all steps in order. A step changes the draft and records its reason for the units it decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.evidence.comments import partition_comments
from tamis.evidence.draft import Draft, Reason
from tamis.evidence.main_content import (
    cut_buttons,
    cut_later_copies,
    cut_navigation,
    keep_headline,
    keep_parts_of_main_content,
    keep_rows,
    keep_section_headings,
)
from tamis.evidence.marked_articles import cut_other_articles, cut_outside_marked_article
from tamis.evidence.product import keep_product
from tamis.evidence.site_counts import adjust_by_site_counts, cut_common_pictures
from tamis.evidence.stated import keep_stated, missing_fraction, shown_by_scripts
from tamis.models.decision import Choice, FixedThreshold, shifted
from tamis.output.leftovers import find_leftovers
from tamis.output.tables import in_data_table
from tamis.output.text import block_texts
from tamis.page.attributes import attribute_predicate
from tamis.page.hidden import hidden_runs
from tamis.page.tree import as_mask, runs_of_blocks, sums_in_blocks, within
from tamis.rules import apply_rules
from tamis.smoothing import smooth, unsmoothed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tamis.arrays import Flags
    from tamis.evidence.draft import Options, SiteCounts
    from tamis.models import Model, Scores
    from tamis.page.page import Page
    from tamis.smoothing import SmoothedScores


def decide(page: Page, model: Model, counts: SiteCounts | None, options: Options) -> Draft:
    """Decide which units of a page are kept.

    If nothing were left of the page with the site's counts, they are ignored.

    Raises:
        ValueError: the counts are those of another page.
    """
    draft = Draft(page, model, counts, options)
    for step in STEPS:
        step(draft)
    if draft.is_fallback and counts is not None:
        draft = decide(page, model, None, options)
        draft.is_fallback = True
        estimate_confidence(draft)
    return draft


def smooth_scores(draft: Draft) -> None:
    """Smooth the scores over the tree, and choose the threshold.

    The model's threshold compensates for uncertain scores. With the site's counts scores are more certain, so the
    threshold moves half the way to even odds, which is best on the labelled sites; it does not cut what the page alone
    keeps unless the counts raise its score. A fragment of a page gives the model no context, so only what is almost
    certainly template is cut.
    """
    draft.smoothed, choice = _smooth_and_choose(draft, draft.scores)
    threshold = choice.threshold
    if draft.page_scores is not draft.scores:
        alone, (draft.page_threshold, *_) = _smooth_and_choose(draft, draft.page_scores)
        is_raised = draft.scores.templateness > draft.page_scores.templateness
        draft.kept_by_page = ((alone.value < draft.page_threshold) & ~is_raised)[draft.page.n :]
        if draft.options.scope == "auto" and not isinstance(draft.scores.decision, FixedThreshold):
            threshold = (threshold + shifted(0.5, draft.options.favor)) / 2
    is_fragment = draft.page.m <= 8
    if is_fragment and draft.options.favor != "precision":
        threshold = max(threshold, 0.75)
    draft.choice = Choice(threshold, choice.confidence, choice.kind)


def cut_template(draft: Draft) -> None:
    """Cut the units whose smoothed score is not below the threshold, and comments unless they are included.

    A page with text is never left empty: if all its blocks are template, the section with the lowest score is kept; of
    several, the one with the most blocks.
    """
    page = draft.page
    draft.kept_units[:] = draft.kept_by_scores()
    readable = draft.lengths > 0
    candidates = readable if np.count_nonzero(readable) else np.ones(page.m, bool)
    if page.m and not np.count_nonzero(draft.kept & candidates):
        draft.keep_least_template(candidates)
    if draft.comments is not None:
        section = draft.comments.section
        in_thread = section >= 0
        draft.kept_units[in_thread] = draft.options.comments == "include"
        draft.smoothed.section[in_thread] = section[in_thread]


def cut_hidden(draft: Draft) -> None:
    """Cut hidden text; if nothing were left, keep the least template-like visible section."""
    if draft.options.keep_hidden:
        return
    page = draft.page
    hidden = hidden_runs(page, draft.content)
    if not np.count_nonzero(hidden):
        return
    seen = _has_seen(page, hidden)
    if not (draft.kept & seen).any():
        hidden = hidden_runs(page, np.ones(page.m, bool))
        seen = _has_seen(page, hidden)
        if seen.any():
            draft.keep_least_template(seen)
    draft.shown_by_scripts = shown_by_scripts(draft, seen)
    if draft.shown_by_scripts is not None:
        hidden &= ~runs_of_blocks(page, draft.shown_by_scripts)
        seen |= draft.shown_by_scripts
    draft.hidden = hidden & runs_of_blocks(page, seen)
    draft.texts = block_texts(page, draft.hidden)
    draft.overrule(~seen, Reason.HIDDEN, cut=True)


def _has_seen(page: Page, hidden: Flags) -> Flags:
    """bool[m], whether each block has a run that is not hidden (bool[r])."""
    return sums_in_blocks(page, page.is_nonblank & ~hidden) > 0


def cut_unwanted(draft: Draft) -> None:
    """Cut leftovers of markup, controls of comments, toolbars of web archives, and tables with ``tables=False``."""
    page = draft.page
    if draft.comments is not None:
        draft.overrule(draft.comments.excluded & ~draft.comments.comments, Reason.UNWANTED, cut=True)
    leftovers = find_leftovers(draft.texts)
    if leftovers:
        draft.overrule(np.bincount(leftovers, minlength=page.m) > 0, Reason.UNWANTED, cut=True)
    bars = page.attributes.elements_matching(_ARCHIVE_BARS)
    if bars:
        draft.overrule(within(page, as_mask(page, bars))[page.block_node], Reason.UNWANTED, cut=True)
    if not draft.options.tables:
        inside = in_data_table(page)
        draft.overrule(np.concatenate([inside, inside[page.block_node]]), Reason.UNWANTED, cut=True)


_ARCHIVE_BARS: Final = attribute_predicate("id", parts=("wm-ipp",))  # of the Wayback Machine


def estimate_confidence(draft: Draft) -> None:
    """Estimate the word F1 of the final text.

    The decision's own estimate was learned on pages without counts. With counts, the estimate is a linear function of
    it and of the F1 expected from the adjusted scores, fitted on the labelled pages of whole sites. What a page states
    of its subject and the text lacks lowers it.
    """
    choice, kept = draft.choice, draft.kept
    if draft.is_fallback or not np.count_nonzero(kept):
        draft.choice = choice._replace(confidence=0.0)
    elif choice.confidence is not None and draft.page_scores is not draft.scores:
        weight = np.maximum(draft.lengths, 3.0)  # characters stand for words
        content = (1 - draft.smoothed.value[draft.page.n :]) * weight
        expected = float(2 * content.dot(kept) / (weight.dot(kept) + content.sum()))
        draft.choice = choice._replace(confidence=min(0.359 + 0.448 * choice.confidence + 0.21 * expected, 1.0))
    if draft.choice.confidence is not None:
        # by .4, recipes that lose half of their ingredients have .71 on the whole, which was .87
        confidence = draft.choice.confidence * (1 - 0.4 * missing_fraction(draft))
        draft.choice = draft.choice._replace(confidence=confidence)


STEPS: Final[tuple[Callable[[Draft], None], ...]] = (
    cut_outside_marked_article,
    cut_other_articles,
    adjust_by_site_counts,
    partition_comments,
    smooth_scores,
    cut_template,
    cut_buttons,
    keep_parts_of_main_content,
    keep_rows,
    cut_navigation,
    keep_headline,
    keep_product,
    keep_stated,
    keep_section_headings,
    cut_hidden,
    cut_later_copies,
    cut_unwanted,
    cut_common_pictures,
    apply_rules,
    estimate_confidence,
)
"""The steps from the model's scores to the kept units."""


def _smooth_and_choose(draft: Draft, scores: Scores) -> tuple[SmoothedScores, Choice]:
    options = draft.options
    smoothing = smooth if draft.options.smooth else unsmoothed
    if draft.comments is not None:  # so that the threshold is chosen without what is excluded
        excluded = np.append(np.zeros(draft.page.n, bool), draft.comments.excluded)
        scores = scores._replace(templateness=np.where(excluded, 1.0, scores.templateness))
    smoothed = smoothing(draft.page.unit_parent, scores)
    templateness = smoothed.value[draft.page.n :]
    return smoothed, scores.decision.choose(templateness, scope=options.scope, favor=options.favor)
