"""Pages with labels that come from gold text: which blocks are content, and how they fall into segments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.shared.common import Models, gold_pages, say, shown
from winnow import Page, PageTooLarge
from winnow.evidence.main_content import find_later_copies
from winnow.output.stripping import template_units
from winnow.output.text import block_texts
from winnow.smoothing import smooth_scores, unsmoothed
from winnow.training.gold import content_fractions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from winnow.models.scores import Scores
    from winnow.smoothing import SmoothedScores
    from winnow.training.evaluation import GoldPage

CONTENT_SHARE: Final = 0.5
"""A block is content if at least this share of its words is in the gold text, in the same order."""


@dataclass(frozen=True, eq=False)
class LabelledPage:
    """A page that was scored, and what the gold text says of its blocks.

    Attributes:
        gold: the gold page.
        page: the page.
        texts: text of each of its m blocks.
        scores: what the model says of it.
        template: bool[m], blocks that are not in the gold text.
    """

    gold: GoldPage
    page: Page
    texts: list[str]
    scores: Scores
    template: NDArray[np.bool_]

    def smoothed(self, factor: float | None) -> SmoothedScores:
        """Scores with the penalties times a factor; without one as they are, unsmoothed."""
        if factor is None:
            return unsmoothed(self.page, self.scores)
        return smooth_scores(self.page, replace(self.scores, penalty=self.scores.penalty * factor))

    def cut(self, smoothed: SmoothedScores) -> NDArray[np.bool_]:
        """bool[m], blocks that are cut, later copies of text among them."""
        values = smoothed.value[self.page.n :]
        choice = self.scores.decision.choose(values, scope="auto", favor="balanced")
        template = template_units(self.page, smoothed, choice.threshold)[0][self.page.n :]
        return template | find_later_copies(self.page, self.texts, ~template)

    def gold_segments(self) -> NDArray[np.int64]:
        """int64[m], the gold segment of each block: its content is one, every largest subtree without any is another.

        A template block beside content in one element is a segment of its own.
        """
        page = self.page
        kept = np.concatenate([[0], np.cumsum(~self.template)])
        pure = (kept[page.block_end] - kept[page.block_begin]) == 0
        top = np.arange(page.n)
        for i in range(page.n):  # parents come first
            parent = page.parent[i]
            if parent >= 0 and pure[parent]:
                top[i] = top[parent]
        own = np.arange(page.n, page.n + page.m)
        return np.where(self.template, np.where(pure[page.block_node], top[page.block_node], own), -1)


def labelled_pages(options: argparse.Namespace, models: Models) -> Iterator[LabelledPage]:
    """Read, score and label the gold pages; those above the caps and those without text are left out."""
    for gold, html in shown(gold_pages(options), "pages"):
        try:
            page = Page.parse(html, gold.url)
        except PageTooLarge:
            say(f"{gold.page_id} is above the caps and left out")
            continue
        if page.m:
            texts = block_texts(page)
            template = content_fractions(texts, gold.text) < CONTENT_SHARE
            yield LabelledPage(gold, page, texts, models.of(gold).score(page), template)
