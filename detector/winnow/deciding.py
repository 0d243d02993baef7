"""What of a page stays: scores, what is known besides, smoothing, the cut, and what belongs to the story all the same.

This is the way of a page through the library, after it was read and before anything is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from winnow.evidence.comments import Parting
from winnow.evidence.main_content import beside_story, later_copies, story_parts
from winnow.evidence.marked_articles import with_authors_mark, with_titled_article
from winnow.evidence.site_counts import SiteKnowledge
from winnow.output.stripping import template_units
from winnow.output.tables import in_table
from winnow.output.text import block_texts, leftovers
from winnow.smoothing import SmoothedScores, smooth_scores, unsmoothed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from winnow.evidence.comments import Comments
    from winnow.models.base import Choice, Favor, Model, Scope, Scores
    from winnow.page.page import Page

    Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Decided:
    """What was decided of every unit of a page, from which all of :class:`~winnow.cleaned.Cleaned` is made.

    Attributes:
        page: the page.
        texts: text of each of the m blocks.
        lengths: int64[m], characters of each.
        smoothed: score and section of each unit, with the site's evidence.
        choice: the cut, how good it is expected to be, and the kind of page.
        template: bool[n + m], the units that were cut.
        fallback: every block was template; the least template-like section was kept all the same.
        site: bool[n + m], units that are template according to the site.
        copies: bool[n + m], blocks that were cut since they repeat content before them.
        comments: bool[n + m], units of what readers wrote, cut or not.
        readers: bool[m], blocks of it without the controls of each comment.
        outside: bool[n + m], units below the cut, had their author not marked another part of the page as the article.
    """

    page: Page
    texts: list[str]
    lengths: NDArray[np.int64]
    smoothed: SmoothedScores
    choice: Choice
    template: Flags
    fallback: bool
    site: Flags
    copies: Flags
    comments: Flags
    readers: Flags
    outside: Flags

    @property
    def kept(self) -> Flags:
        """bool[m], the blocks that stay."""
        return ~self.template[self.page.n :]

    @property
    def template_share(self) -> float:
        """Characters of template that were cut, as a share of all, 0..1."""
        cut = self.lengths[~self.kept & ~self.readers].sum()
        return float(cut / max(int(self.lengths.sum()), 1))


def decide(
    page: Page,
    model: Model,
    df: NDArray[np.int64] | None,
    pages: int,
    *,
    smooth: bool,
    deduplicate: bool,
    tables: bool,
    comments: Comments,
    scope: Scope,
    favor: Favor,
) -> Decided:
    """Decide of every unit of a page whether it stays. The arguments are those of :func:`winnow.clean`."""
    of_model = model.score(page)
    page_level = with_titled_article(page, with_authors_mark(page, of_model))
    texts = block_texts(page)
    lengths = np.fromiter(map(len, texts), np.int64, page.m)
    site = SiteKnowledge.of(page, page_level, lengths, df, pages)
    threads = Parting.of(page, site.scores, site.template, comments)
    smoothing = smooth_scores if smooth else unsmoothed
    smoothed, choice = _smoothed_and_cut(page, page_level, site, threads, smoothing, scope, favor)
    template, fallback = template_units(page, smoothed, choice.threshold, site.template)
    template[threads.section >= 0] = not threads.included
    of_story = _of_story(page, lengths, smoothed, template, site, threads, choice.threshold)
    template &= ~of_story
    copies = _copies(page, texts, ~template[page.n :], threads) if deduplicate else np.zeros_like(template)
    unwanted = copies | _unwanted(page, texts, threads, tables=tables)
    section = np.where(threads.section >= 0, threads.section, smoothed.section)
    return Decided(
        page=page,
        texts=texts,
        lengths=lengths,
        smoothed=SmoothedScores(smoothed.value, _sections_of_their_own(section, unwanted | of_story)),
        choice=choice,
        template=template | unwanted,
        fallback=fallback,
        site=site.template,
        copies=copies,
        comments=(threads.section >= 0) & ~unwanted,
        readers=threads.readers & ~unwanted[page.n :],
        outside=(of_model.templateness < choice.threshold) & (page_level.templateness >= choice.threshold),
    )


def _smoothed_and_cut(
    page: Page,
    page_level: Scores,
    site: SiteKnowledge,
    threads: Parting,
    smoothing: Callable[[Page, Scores], SmoothedScores],
    scope: Scope,
    favor: Favor,
) -> tuple[SmoothedScores, Choice]:
    """Make the scores agree with the tree and choose the cut, with the site's counts and without: the stricter of both.

    Counts tell what is template, and not what is content: nothing more is kept for them.
    """
    choose = partial(page_level.decision.choose, scope=scope, favor=favor)
    smoothed = smoothing(page, threads.decided(site.scores))
    choice = choose(np.where(site.template, 1.0, smoothed.value)[page.n :])
    if site.moves:
        without = choose(smoothing(page, threads.decided(page_level)).value[page.n :])
        choice = min(choice, without, key=attrgetter("threshold"))
    if site.template.any():
        smoothed = _with_certain_blocks(page, smoothed, site.template, choice.threshold)
    return smoothed, choice


def _with_certain_blocks(page: Page, smoothed: SmoothedScores, site: Flags, threshold: float) -> SmoothedScores:
    """Make blocks that the site repeats sections of their own where smoothing has drawn them into the content.

    They are leaves, so the values still do not fall from parent to child.
    """
    certain = site & (smoothed.value < threshold)
    certain[: page.n] = False
    return SmoothedScores(np.where(certain, 1.0, smoothed.value), _sections_of_their_own(smoothed.section, certain))


def _sections_of_their_own(section: NDArray[np.int32], blocks: Flags) -> NDArray[np.int32]:
    """int32[n + m], the sections with each of the chosen blocks (bool[n + m]) made one of its own."""
    return np.where(blocks, np.arange(len(blocks), dtype=np.int32), section)


def _of_story(
    page: Page,
    lengths: NDArray[np.int64],
    smoothed: SmoothedScores,
    template: Flags,
    site: SiteKnowledge,
    threads: Parting,
    threshold: float,
) -> Flags:
    """bool[n + m], blocks above the cut that belong to what is kept, and that the site does not know as template."""
    kept, values = ~template[page.n :], smoothed.value[page.n :]
    own = beside_story(page, site.own & (threads.section[page.n :] < 0), kept, values, threshold)
    of_story = np.zeros_like(template)
    of_story[page.n :] = own | story_parts(page, lengths, kept | own, values)
    return of_story & template & ~site.template


def _copies(page: Page, texts: list[str], kept: Flags, threads: Parting) -> Flags:
    """bool[n + m], blocks that say again what the content, or a comment, has said before."""
    copies = np.zeros(page.n + page.m, bool)
    copies[page.n :] = later_copies(page, texts, kept) | later_copies(page, texts, threads.readers)
    return copies


def _unwanted(page: Page, texts: list[str], threads: Parting, *, tables: bool) -> Flags:
    """bool[n + m], units that nobody wants whatever their scores are, and tables where they are not wanted."""
    unwanted = np.zeros(page.n + page.m, bool) if tables else in_table(page)
    unwanted[page.n :] |= leftovers(texts) | threads.controls
    return unwanted
