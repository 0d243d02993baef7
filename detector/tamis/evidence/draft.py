"""The decision on a page in progress: which units are cut, and the reason for each one that is overruled."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np

from tamis.declared_texts import declared_text_codes
from tamis.output.text import block_texts
from tamis.places import find_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.arrays import Flags, Indices, Integers
    from tamis.evidence.comments import CommentPartition, Comments
    from tamis.models import Model, Scores
    from tamis.models.decision import Choice, Favor, Scope
    from tamis.page.page import Page
    from tamis.rules import Rule
    from tamis.smoothing import SmoothedScores


class Reason(IntEnum):
    """What decided on a unit; ``SCORE`` is the page's own score."""

    SCORE = 0
    AUTHOR = 1  # outside the element that the author marks as the article, or not in the article with the page's title
    SITE = 2  # the counts of the site
    MAIN_CONTENT = 3  # belongs to main content that is kept
    COPY = 4  # repeats content before it
    UNWANTED = 5  # leftovers of markup, buttons, navigation, controls of comments, tables where none are wanted
    RULE = 6  # the user's own rule for the site
    HIDDEN = 7  # nobody sees it


# Copies, controls, leftovers, what is hidden or decided by rules: none of it counts as a comment.
_IS_UNWANTED: Final = np.array([reason == Reason.COPY or reason >= Reason.UNWANTED for reason in Reason])


class SiteCounts(Protocol):
    """Looks up on how many pages of a site the units of a page occur."""

    def frequencies(self, page: Page, model: Model) -> tuple[Integers, int]:
        """Look up the units of a page that is cleaned with a model.

        Returns:
            int64[n + m], number of pages of the site that contain each unit, including this page, and 0 for units that
            are not counted; and the number of pages counted.
        """
        ...


class Options(NamedTuple):
    """The caller's options; see :func:`tamis.clean`."""

    scope: Scope = "auto"
    favor: Favor = "balanced"
    comments: Comments = "separate"
    smooth: bool = True
    deduplicate: bool = True
    tables: bool = True
    rules: tuple[Rule, ...] = ()
    keep_hidden: bool = False


class Draft:
    """The decision on a page, changed by the steps of :data:`tamis.decide.STEPS` in order.

    Attributes:
        texts: text of each of the m blocks.
        lengths: int64[m], characters of each block.
        df: int64[n + m], pages of the site that contain each unit; ``None`` if nothing was counted.
        places: int64[3 * q], pages of the site that have each code of the page's places; ``None`` if not counted.
        declared: int64[f], pages of the site that state each text of the page's title and ``meta`` elements, likewise.
        pages: number of pages counted.
        scores: scores of the units, including the evidence so far.
        page_scores: the same without the site's counts.
        comments: the comment threads of the page; ``None`` without any.
        smoothed: smoothed score and section of each unit.
        choice: threshold, expected F1 and kind of page, once the scores are smoothed.
        page_threshold: threshold for ``page_scores``, likewise.
        kept_by_page: bool[m], blocks that stay since the page alone keeps them and the counts do not speak against
            them; ``None`` without counts.
        kept_units: bool[n + m], the units that are kept.
        kept: bool[m], the blocks of them, in the same memory.
        is_fallback: every block was template, so the least template-like section was kept.
        overruled: uint8[n + m], the :class:`Reason` for each unit that is decided on whatever its score is, else 0.
        rule: int32[n + m], index of the user's rule that decided on each unit, -1 for none; only with rules.
        hidden: bool[r], hidden runs of blocks that are otherwise kept; ``None`` if there are none.
        shown_by_scripts: bool[m], hidden blocks that stay, see :func:`tamis.evidence.stated.shown_by_scripts`.

    Raises:
        ValueError: the counts have another number of units than the page.
    """

    smoothed: SmoothedScores
    choice: Choice
    rule: Indices

    def __init__(self, page: Page, model: Model, counts: SiteCounts | None, options: Options) -> None:
        units = page.n + page.m
        self.page = page
        self.options = options
        self.df: Integers | None = None
        self.places: Integers | None = None
        self.declared: Integers | None = None
        self.pages = 0
        if counts is not None:
            df, self.pages = counts.frequencies(page, model)
            codes = find_places(page, model).codes.size if len(df) > units else 0
            facts = declared_text_codes(page).size if codes else 0
            if len(df) != units + codes + facts:
                raise ValueError(f"the site's counts have {len(df)} units, the page has {units}")
            self.df = df[:units]
            if codes:
                self.places, self.declared = df[units : units + codes], df[units + codes :]
        self.model = model
        self.scores: Scores = model.score(page)
        self.texts = block_texts(page)
        self.lengths: Integers = np.fromiter(map(len, self.texts), np.int64, page.m)
        self.page_scores = self.scores
        self.comments: CommentPartition | None = None
        self.page_threshold = 0.5
        self.kept_by_page: Flags | None = None
        self.kept_units: Flags = np.zeros(units, bool)
        self.kept = self.kept_units[page.n :]
        self.is_fallback = False
        self.overruled: NDArray[np.uint8] = np.zeros(units, np.uint8)
        self.hidden: Flags | None = None
        self.shown_by_scripts: Flags | None = None
        self._adjustments: list[tuple[Reason, Scores, Scores]] = []

    @property
    def uses_counts(self) -> bool:
        """Whether the site's counts take part in the decision; they say nothing before its second page."""
        return self.df is not None and self.pages > 1

    @property
    def template(self) -> Flags:
        """bool[n + m], the units that are cut."""
        return ~self.kept_units

    @property
    def comment_units(self) -> Flags:
        """bool[n + m], units of comment threads, without the unwanted ones."""
        if self.comments is None:
            return np.zeros(len(self.overruled), bool)
        wanted: Flags = (self.comments.section >= 0) & ~_IS_UNWANTED[self.overruled]
        return wanted

    @property
    def written_by_readers(self) -> Flags:
        """bool[m], blocks of comments, without the unwanted ones."""
        if self.comments is None:
            return np.zeros(self.page.m, bool)
        written: Flags = self.comments.comments & ~_IS_UNWANTED[self.overruled[self.page.n :]]
        return written

    @property
    def content(self) -> Flags:
        """bool[m], blocks that are kept, and those of comments."""
        return self.kept if self.comments is None else self.kept | self.written_by_readers

    @property
    def template_share(self) -> float:
        """Fraction of the text's characters that was cut as template, 0..1."""
        content = self.content
        cut, left = int(self.lengths.dot(~content)), int(self.lengths.dot(content))
        return cut / max(cut + left, 1)

    def keep_least_template(self, candidates: Flags) -> None:
        """Keep the section with the lowest score among the candidate blocks (bool[m]); of several, the largest."""
        n, value, section = self.page.n, self.smoothed.value, self.smoothed.section
        lowest = candidates & (value[n:] == value[n:][candidates].min())
        sections, sizes = np.unique(section[n:][lowest], return_counts=True)
        self.kept_units[section == sections[sizes.argmax()]] = True
        self.is_fallback = True

    def adjust_scores(self, scores: Scores, reason: Reason) -> None:
        """Replace the scores; units that cross the threshold by this get the reason."""
        if scores is not self.scores:
            self._adjustments.append((reason, self.scores, scores))
            self.scores = scores
        if reason != Reason.SITE:
            self.page_scores = scores

    def kept_by_scores(self) -> Flags:
        """bool[n + m], the units whose smoothed score is below the threshold, and those that the page alone keeps."""
        kept: Flags = self.smoothed.value < self.choice.threshold
        if self.kept_by_page is not None:
            kept[self.page.n :] |= self.kept_by_page
        return kept

    @property
    def reason(self) -> NDArray[np.uint8]:
        """uint8[n + m], the :class:`Reason` for each unit."""
        threshold = self.choice.threshold
        kept = self.kept_by_scores()
        found = np.zeros_like(self.overruled)
        for reason, before, after in self._adjustments:
            was_kept = before.templateness < (self.page_threshold if reason == Reason.SITE else threshold)
            is_kept = after.templateness < threshold
            found[(was_kept != is_kept) & (kept == is_kept)] = reason
        return np.where(self.overruled, self.overruled, found)

    def overrule(self, units: Flags, reason: Reason, *, cut: bool) -> None:
        """Cut or keep units whatever their scores are: bool[n + m] or, for text blocks only, bool[m]."""
        chosen = units.nonzero()[0]
        if not len(chosen):
            return
        if len(units) == self.page.m:
            chosen += self.page.n
        self.kept_units[chosen] = not cut
        self.overruled[chosen] = reason
        self.smoothed.section[chosen] = chosen
