"""The learned decision: trees say of every cut how good the text would be, and the best cut is taken.

What is judged are scores, not pages: the same trees decide again when the counts of a site have moved the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.core import compiled
from winnow.models.base import ABOVE_ALL, FAVORS, Choice
from winnow.models.blocks.decision.cut_features import CUT_NAMES, cut_features
from winnow.models.blocks.decision.cuts import LEVELS, Cuts
from winnow.models.blocks.decision.kinds import ARTICLE, KINDS, KindHead, kind_inputs
from winnow.models.blocks.decision.trees import Trees
from winnow.models.log_odds import log_odds
from winnow.models.threshold import expected_f1_threshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.base import Favor, Scope
    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Matrix = NDArray[np.float32]

SCOPE_VALUES: Final[dict[Scope, float]] = {"auto": 0.0, "article": 1.0, "page": -1.0}
"""What a scope is among the features of a cut."""

ROW_NAMES: Final = (*CUT_NAMES, *(f"kind: {name}" for name in KINDS), "scope")
"""What the trees look at, in the order of the columns."""

_LEAST_WORDS: Final = 0.5
_EPSILON: Final = 1e-7


@dataclass(frozen=True, eq=False, slots=True)
class PageView:
    """What a decision needs of a page (m blocks).

    Attributes:
        page: the page.
        words: float64[m], above 0.
        properties: float32[m, len(PROPERTIES)].
        of_page: float32[len(page_level.NAMES)].
    """

    page: Page
    words: Floats
    properties: Matrix
    of_page: Matrix

    @classmethod
    def of(cls, page: Page, words: Floats, properties: Matrix, of_page: Matrix) -> Self:
        """Look at a page; blocks without words count a little."""
        return cls(page, np.maximum(words, _LEAST_WORDS), np.ascontiguousarray(properties, np.float32), of_page)

    def kind_inputs(self, templateness: Floats) -> Floats:
        """float64[d], what the kind of page is judged by."""
        return kind_inputs(self.of_page, 1 - templateness, self.words, self.properties)

    def cuts(self, templateness: Floats) -> tuple[Cuts, Matrix]:
        """Cuts by the given float64[m] scores, and float32[k, len(CUT_NAMES)] their features."""
        logits = log_odds(templateness, _EPSILON)
        found = Cuts.of(self.page, logits, self.words)
        return found, cut_features(self.page, found, logits, self.words, self.properties)

    def rows(self, templateness: Floats, kinds: Floats, scope: Scope) -> tuple[Floats, Matrix]:
        """float64[k], the levels of :meth:`cuts`, and float32[k, len(ROW_NAMES)], what the trees look at."""
        core = compiled()
        if core is None:
            cuts, features = self.cuts(templateness)
            return cuts.logit, with_page(features, kinds, scope)
        levels, rows = np.empty(len(LEVELS)), np.empty((len(LEVELS), len(ROW_NAMES)), np.float32)
        number = core.cut_rows(
            *(self.page.arrays, log_odds(templateness, _EPSILON), self.words, self.properties, LEVELS),
            *(_page_columns(kinds, scope), rows, levels),
        )
        return levels[:number], rows[:number]


@dataclass(frozen=True, eq=False, slots=True)
class LearnedDecision:
    """What was learned.

    Attributes:
        trees: for each of :data:`FAVORS`, how much worse than the best a cut is expected to be.
        confidence: F1 that a cut chosen in balance is expected to give.
        kinds: tells kinds of pages apart.
    """

    trees: dict[Favor, Trees]
    confidence: Trees
    kinds: KindHead

    def choose(
        self, view: PageView, templateness: Floats, kinds: Floats, *, scope: Scope = "auto", favor: Favor = "balanced"
    ) -> Choice:
        """Choose the best cut.

        Args:
            view: the page; it has a block.
            templateness: float64[m], scores of its blocks.
            kinds: float64[len(KINDS)], probabilities of the kinds of page.
            scope: what is wanted.
            favor: what matters more.
        """
        levels, rows = view.rows(templateness, kinds, scope)
        best = int(self.trees[favor].predict(rows).argmax())
        return Choice(
            threshold=float(1 / (1 + np.exp(-levels[best]))) if isfinite(levels[best]) else ABOVE_ALL,
            confidence=min(max(float(self.confidence.predict(rows[best : best + 1])[0]), 0.0), 1.0),
            kind=KINDS[int(kinds.argmax())],
        )

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What was learned, as it is stored."""
        arrays = self.confidence.arrays("confidence") | self.kinds.arrays()
        for favor, trees in self.trees.items():
            arrays |= trees.arrays(favor)
        return arrays

    @classmethod
    def stored(cls, arrays: dict[str, NDArray[np.generic]]) -> Self:
        """Take a decision out of the arrays of a model file.

        Raises:
            ModelError: a part is missing or damaged.
        """
        width = len(ROW_NAMES)
        return cls(
            trees={favor: Trees.stored(arrays, favor, width) for favor in FAVORS},
            confidence=Trees.stored(arrays, "confidence", width),
            kinds=KindHead.stored(arrays),
        )


@dataclass(frozen=True, eq=False)
class PageDecision:
    """The decision for one page; its kind is judged once, by the scores of the page-level model.

    Attributes:
        learned: what was learned.
        view: the page.
        templateness: float64[m], the model's scores of the blocks.
        kinds: float64[len(KINDS)].
    """

    learned: LearnedDecision
    view: PageView
    templateness: Floats
    kinds: Floats

    @classmethod
    def of(cls, learned: LearnedDecision, view: PageView, templateness: Floats) -> Self:
        """Judge the kind of page by float64[m], the model's scores of its blocks."""
        return cls(learned, view, templateness, learned.kinds.probabilities(view.kind_inputs(templateness)))

    @cached_property
    def threshold(self) -> float:
        """Where the model's scores expect the best text; most pages are never asked for it."""
        return expected_f1_threshold(self.templateness, self.view.words)

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:
        """Choose by float64[m], scores of the page's blocks."""
        return self.learned.choose(self.view, templateness, self.kinds, scope=scope, favor=favor)


def with_page(features: Matrix, kinds: Floats, scope: Scope) -> Matrix:
    """float32[k, len(ROW_NAMES)], features of cuts with what is known of their page."""
    of_page = _page_columns(kinds, scope)
    return np.concatenate([features, np.broadcast_to(of_page, (len(features), len(of_page)))], axis=1)


def _page_columns(kinds: Floats, scope: Scope) -> Matrix:
    """float32[len(KINDS) + 1], what is known of a page.

    Whoever says that the story is wanted says that the page is an article, whatever it looks like; and the reverse.
    """
    if scope != "auto":
        told = np.arange(len(KINDS)) == ARTICLE
        rest = np.where(told, 0.0, kinds)
        kinds = told.astype(np.float64) if scope == "article" else rest / max(rest.sum(), _EPSILON)
    return np.append(kinds, SCOPE_VALUES[scope]).astype(np.float32)
