"""Learns where to cut: from cuts of pages by models that have not seen them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from sklearn.linear_model import LogisticRegression

from winnow.models.decision import ARTICLE, KINDS, KindHead, LearnedDecision, page_columns
from winnow.models.scores import FAVORS, SCOPES
from winnow.training.blocks.decision.boosting import Binned, fit_trees
from winnow.training.blocks.gold_sets import FOLDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from winnow.models.decision import Trees
    from winnow.models.scores import Favor, Scope
    from winnow.training.blocks.decision.cut_examples import CutPage

    Floats = NDArray[np.float64]

TREES: Final = 100
_RATE: Final = 0.1
_CONFIDENCE_TREES: Final = 60
_CONFIDENCE_RATE: Final = 0.06
_KIND_STRENGTH: Final = 0.1  # inverse of the regularisation


@dataclass(frozen=True, eq=False, slots=True)
class Decisions:
    """What was learned from all pages, and from all but those of each fold.

    Attributes:
        learned: from all pages.
        without: for each fold, from the pages of the others; for measuring, and so in balance whatever the favor.
    """

    learned: LearnedDecision
    without: tuple[LearnedDecision, ...]


def learn_decisions(pages: Sequence[CutPage], *, number: int = TREES) -> Decisions:
    """Learn where to cut.

    Args:
        pages: gold pages, each cut by the scores of a model that has not seen it.
        number: how many trees are fitted for each favor.

    Trees are fitted to how much worse each cut of a page is than its best. Every page is shown twice: without a scope,
    and with the one that its gold text stands for. The trees of confidence are fitted to cuts that were chosen by trees
    which had not seen the page.

    Raises:
        ValueError: the pages are of too few folds or kinds.
    """
    fold = np.array([page.fold for page in pages])
    used = [part for part in range(FOLDS) if (fold == part).any()]
    if len(used) < 2:
        raise ValueError("gold pages of two folds are needed at least: one to learn from and one to decide on")
    heads = {part: _kind_head(pages, fold != part) for part in used}
    shown = Shown.of(pages, [heads[page.fold].probabilities(page.kind_inputs) for page in pages])
    fit = partial(shown.trees, pages, number=number)
    trees = {part: fit("balanced", fold != part) for part in used}
    chosen = shown.chosen(trees, fold)
    everything = np.ones(len(pages), bool)
    learned = LearnedDecision(
        {favor: fit(favor, everything) for favor in FAVORS},
        shown.confidence(pages, chosen, everything),
        _kind_head(pages, everything),
    )
    without = {
        part: LearnedDecision(
            dict.fromkeys(FAVORS, trees[part]), shown.confidence(pages, chosen, fold != part), heads[part]
        )
        for part in used
    }
    return Decisions(learned, tuple(without.get(part, learned) for part in range(FOLDS)))


@dataclass(frozen=True, eq=False, slots=True)
class Shown:
    """The cuts of all pages as the trees are shown them (k rows of s showings, two of each page).

    Attributes:
        rows: float32[k, len(ROW_NAMES)].
        binned: the same rows in bins.
        begin: int64[s + 1], first row of each showing.
        page: int64[s], index of its page.
        weight: float64[s].
    """

    rows: NDArray[np.float32]
    binned: Binned
    begin: NDArray[np.int64]
    page: NDArray[np.int64]
    weight: Floats

    @classmethod
    def of(cls, pages: Sequence[CutPage], kinds: Sequence[Floats]) -> Self:
        """Show every page without a scope and with the one that its gold text stands for."""
        parts = [
            with_page(page.features, kind, scope)
            for page, kind in zip(pages, kinds, strict=True)
            for scope in (SCOPES[0], told_scope(page))
        ]
        rows = np.concatenate(parts)
        index = np.repeat(np.arange(len(pages)), 2)
        return cls(rows, Binned.of(rows), np.cumsum([0, *map(len, parts)]), index, _weights(pages)[index])

    def trees(self, pages: Sequence[CutPage], favor: Favor, part: NDArray[np.bool_], *, number: int) -> Trees:
        """Fit trees to the cuts of some pages, bool[pages]."""
        own = [page.quality[FAVORS.index(favor)] for page in pages]
        target = np.concatenate([own[page] - own[page].max() for page in self.page.tolist()])
        cuts = np.diff(self.begin)
        weight = np.repeat(self.weight * part[self.page] / cuts, cuts)
        return fit_trees(self.binned, target, weight, number=number, rate=_RATE)

    def chosen(self, trees: Mapping[int, Trees], fold: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64[s], the row that is chosen of each showing by the trees which have not seen the fold of its page."""
        found = np.empty(len(self.page), np.int64)
        for showing, page in enumerate(self.page.tolist()):
            begin, end = self.begin[showing : showing + 2]
            found[showing] = begin + trees[int(fold[page])].predict(self.rows[begin:end]).argmax()
        return found

    def confidence(self, pages: Sequence[CutPage], chosen: NDArray[np.int64], part: NDArray[np.bool_]) -> Trees:
        """Fit trees to the F1 of chosen rows, of some pages."""
        cut = chosen - self.begin[:-1]
        reached = [pages[page].quality[0, own] for page, own in zip(self.page.tolist(), cut.tolist(), strict=True)]
        weight = self.weight * part[self.page]
        rows = self.binned.of_rows(chosen)
        return fit_trees(rows, np.array(reached), weight, number=_CONFIDENCE_TREES, rate=_CONFIDENCE_RATE)


def with_page(features: NDArray[np.float32], kinds: Floats, scope: Scope) -> NDArray[np.float32]:
    """float32[k, len(ROW_NAMES)], features of cuts with what is known of their page."""
    of_page = page_columns(kinds, scope)
    return np.concatenate([features, np.broadcast_to(of_page, (len(features), len(of_page)))], axis=1)


def told_scope(page: CutPage) -> Scope:
    """The scope that the gold text of a page stands for: of articles the story alone, of others all but template."""
    return "article" if page.kind == ARTICLE else "page"


def _weights(pages: Sequence[CutPage]) -> Floats:
    """float64[pages]: a collection counts as the square root of its pages, so that a large one is not the web."""
    number = Counter(page.collection for page in pages)
    return np.array([number[page.collection] ** -0.5 for page in pages])


def _kind_head(pages: Sequence[CutPage], part: NDArray[np.bool_]) -> KindHead:
    """Fit the regression that tells kinds of pages apart."""
    chosen = [page for page, there in zip(pages, part, strict=True) if there]
    inputs = np.stack([page.kind_inputs for page in chosen])
    kind = np.array([page.kind for page in chosen])
    mean, scale = inputs.mean(axis=0), 1 / (inputs.std(axis=0) + 1e-3)
    weight, bias = np.zeros((inputs.shape[1], len(KINDS))), np.full(len(KINDS), -30.0)
    present = np.unique(kind)
    if len(present) == 1:
        bias[present] = 0.0
        return KindHead(mean, scale, weight, bias)
    learner = LogisticRegression(C=_KIND_STRENGTH, max_iter=500)
    mass = _weights(chosen)
    learner.fit(np.clip((inputs - mean) * scale, -4, 4), kind, mass / mass.mean())
    if len(present) == 2:  # scikit-learn has one row of weights then
        weight[:, present[1]], bias[present] = learner.coef_[0], [0.0, learner.intercept_[0]]
    else:
        weight[:, present], bias[present] = learner.coef_.T, learner.intercept_
    return KindHead(mean, scale, weight, bias)
