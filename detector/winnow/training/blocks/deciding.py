"""Learns where to cut: from cuts of pages by models that have not seen them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from sklearn.linear_model import LogisticRegression

from winnow.models.base import FAVORS, SCOPES
from winnow.models.blocks.decision.kinds import KINDS, KindHead
from winnow.models.blocks.decision.learned import LearnedDecision, with_page
from winnow.training.blocks.boosting import fit_trees
from winnow.training.blocks.cut_examples import ARTICLE
from winnow.training.blocks.gold_sets import FOLDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.models.base import Favor, Scope
    from winnow.models.blocks.decision.trees import Trees
    from winnow.training.blocks.cut_examples import CutPage

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


def learn_decisions(pages: Sequence[CutPage], *, number: int = TREES, seed: int = 0) -> Decisions:
    """Learn where to cut.

    Args:
        pages: gold pages, each cut by the scores of a model that has not seen it.
        number: how many trees are fitted for each favor.
        seed: of the fits.

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
    weight = _weights(pages)
    heads = {part: _kind_head(pages, fold != part) for part in used}
    kinds = [heads[page.fold].probabilities(page.kind_inputs) for page in pages]
    fit = partial(_trees, pages, kinds, number=number, seed=seed)
    trees = {part: fit(weight * (fold != part), "balanced") for part in used}
    chosen = [
        int(trees[page.fold].predict(with_page(page.features, kind, "auto")).argmax())
        for page, kind in zip(pages, kinds, strict=True)
    ]

    rows = np.concatenate(
        [
            with_page(page.features[cut : cut + 1], kind, "auto")
            for page, cut, kind in zip(pages, chosen, kinds, strict=True)
        ]
    )
    reached = np.array([page.quality[0, cut] for page, cut in zip(pages, chosen, strict=True)])

    def confidence(seen: NDArray[np.bool_]) -> Trees:
        mass = weight[seen]
        return fit_trees(rows[seen], reached[seen], mass, number=_CONFIDENCE_TREES, rate=_CONFIDENCE_RATE, seed=seed)

    everything = np.ones(len(pages), bool)
    learned = LearnedDecision(
        {favor: fit(weight, favor) for favor in FAVORS}, confidence(everything), _kind_head(pages, everything)
    )
    without = {
        part: LearnedDecision(dict.fromkeys(FAVORS, trees[part]), confidence(fold != part), heads[part])
        for part in used
    }
    return Decisions(learned, tuple(without.get(part, learned) for part in range(FOLDS)))


def _weights(pages: Sequence[CutPage]) -> Floats:
    """float64[pages]: a collection counts as the square root of its pages, so that a large one is not the web."""
    number = Counter(page.collection for page in pages)
    return np.array([number[page.collection] ** -0.5 for page in pages])


def _trees(
    pages: Sequence[CutPage], kinds: Sequence[Floats], weight: Floats, favor: Favor, *, number: int, seed: int
) -> Trees:
    rows, target, mass = [], [], []
    for page, kind, share in zip(pages, kinds, weight, strict=True):
        if not share:
            continue
        quality = page.quality[FAVORS.index(favor)]
        told: Scope = "article" if page.kind == ARTICLE else "page"
        for scope in (SCOPES[0], told):
            rows.append(with_page(page.features, kind, scope))
            target.append(quality - quality.max())
            mass.append(np.full(len(quality), share / len(quality)))
    together = np.concatenate(rows), np.concatenate(target), np.concatenate(mass)
    return fit_trees(*together, number=number, rate=_RATE, seed=seed)


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
