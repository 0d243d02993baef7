"""Settings that are tried on a page: a model whose scores are worked out once and changed after."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from winnow.cleaning import check_choice
from winnow.evidence.marked_articles import with_authors_mark
from winnow.models.scores import FAVORS, FixedThreshold
from winnow.smoothing import smooth_scores

if TYPE_CHECKING:
    from winnow.models.scores import Favor, Model, Scores
    from winnow.page.page import Page


@dataclass(frozen=True, slots=True)
class Tried:
    """What the controls of the inspector are set to.

    Attributes:
        model: name or path of the model; ``None`` for the package's own.
        threshold: smoothed score from which text is cut; ``None`` for the one that the model chooses for the page.
        penalty: the model's own cost of a section, times this; 0 lets every block be one, large numbers allow none.
        pages: pages of the site that have been seen, the page itself among them; 0 for none.
        smooth: make the scores agree with the tree.
        favor: which mistake is worse, see :func:`winnow.clean`; where a threshold is set it changes nothing.
    """

    model: str | None = None
    threshold: float | None = None
    penalty: float = 1.0
    pages: int = 0
    smooth: bool = True
    favor: Favor = "balanced"

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Take settings from what a browser has sent.

        Raises:
            ValueError: they are none.
        """
        try:
            threshold = values.get("threshold")
            tried = cls(
                model=None if values.get("model") is None else str(values["model"]),
                threshold=None if threshold is None else float(threshold),
                penalty=float(values.get("penalty", 1.0)),
                pages=int(values.get("pages", 0)),
                smooth=bool(values.get("smooth", True)),
                favor=values.get("favor", "balanced"),
            )
            check_choice("favor", tried.favor, FAVORS)
        except (TypeError, AttributeError) as error:
            raise ValueError(f"not the settings of a page: {error}") from error
        if not (0 <= tried.penalty < float("inf") and tried.pages >= 0):
            raise ValueError("penalty and pages must not be negative")
        return tried


@dataclass(eq=False)
class RememberedModel:
    """A model that scores each page once; the scores that it gives can be changed by settings."""

    model: Model
    tried: Tried = field(default_factory=Tried)
    known: dict[int, Scores] = field(default_factory=dict)
    thresholds: dict[tuple[int, Favor], float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Kind of model."""
        return self.model.name

    @property
    def version(self) -> str:
        """Version of its weights."""
        return self.model.version

    def score(self, page: Page) -> Scores:
        """Score the units of a page, with the threshold and the penalty that are tried."""
        scores = self.own(page)
        penalty = scores.penalty.copy()
        penalty[np.isfinite(penalty)] *= self.tried.penalty  # what never begins a section does not for nothing, either
        scores = replace(scores, penalty=penalty)
        if (threshold := self.tried.threshold) is None:
            return scores
        return replace(scores, decision=FixedThreshold(threshold))

    def own(self, page: Page) -> Scores:
        """What the model says itself."""
        if id(page) not in self.known:
            self.known[id(page)] = self.model.score(page)
        return self.known[id(page)]

    def own_threshold(self, page: Page, favor: Favor) -> float:
        """Smoothed score, 1 at most, from which the model itself would cut a page of an unknown site."""
        key = id(page), favor
        if key not in self.thresholds:
            scores = with_authors_mark(page, self.own(page))
            values = smooth_scores(page, scores).value[page.n :]
            self.thresholds[key] = min(scores.decision.choose(values, scope="auto", favor=favor).threshold, 1.0)
        return self.thresholds[key]

    def trying(self, tried: Tried) -> RememberedModel:
        """The same model and its scores with other settings."""
        return RememberedModel(self.model, tried, self.known, self.thresholds)
