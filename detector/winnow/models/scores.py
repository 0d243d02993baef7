"""Output of a page-level model: the templateness and weight of every unit, and the choice of a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, Literal, Protocol, get_args

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]

Scope = Literal["auto", "article", "page"]
"""What to keep of a page: chosen by its kind, only the main content, or everything except template."""

Favor = Literal["balanced", "precision", "recall"]
"""Which errors are worse: neither, template that is kept, or content that is cut."""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
FAVORS: Final[tuple[Favor, ...]] = get_args(Favor)

BETAS: Final[dict[Favor, float]] = {"balanced": 1.0, "precision": 0.5, "recall": 2.0}
"""Beta of the expected F-beta measure: weight of recall relative to precision."""

SHIFTS: Final[dict[Favor, float]] = {"balanced": 0.0, "precision": -0.15, "recall": 0.15}
"""What is added to a fixed threshold."""

_EPSILON: Final = 1e-9
_MAX_LOGIT: Final = 30.0


@dataclass(frozen=True, slots=True)
class Choice:
    """The threshold for a page.

    Attributes:
        threshold: templateness from which units are cut.
        confidence: expected word F1 of the text, 0..1; ``None`` if the model does not estimate it.
        kind: kind of page, such as ``"article"`` or ``"forum"``; ``None`` if the model does not predict it.
    """

    threshold: float
    confidence: float | None = None
    kind: str | None = None


class Decision(Protocol):
    """Chooses the threshold for a page; called again when evidence has changed the scores."""

    @property
    def threshold(self) -> float:
        """Score from which a unit counts as template on this page by the model alone."""
        ...

    @property
    def forum(self) -> float | None:
        """Probability that the page is a forum; ``None`` if the model does not predict kinds of pages."""
        ...

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:
        """Choose by float64[m], scores of the page's blocks."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """Classifier output over the units of a page: its ``n`` elements, then its ``m`` text blocks.

    Attributes:
        templateness: float64[n + m] in 0..1, probability that the unit is template.
        weight: int64[n + m], weight of the unit in smoothing, as a number of nodes; 0 ignores its score.
        in_tree: bool[n + m], false for hidden units, which are not smoothed and take their parent's value.
        penalty: float64[n + m], cost of starting a section at each unit when scores are smoothed; ``inf`` never does.
        decision: chooses the threshold, for these scores or adjusted ones.
    """

    templateness: Floats
    weight: NDArray[np.int64]
    in_tree: NDArray[np.bool_]
    penalty: Floats
    decision: Decision

    @property
    def threshold(self) -> float:
        """Score from which a unit counts as template on this page by the model alone."""
        return self.decision.threshold

    def with_templateness(self, templateness: Floats) -> Scores:
        """Return a copy with other scores, float64[n + m]."""
        return replace(self, templateness=templateness)

    def adjusted(self, evidence: Floats) -> Scores:
        """Return a copy with log-odds, float64[n + m], added to the scores; above 0 is evidence of template."""
        changed = logistic(log_odds(self.templateness, _EPSILON) + evidence)
        return self.with_templateness(np.where(evidence == 0, self.templateness, changed))


class Model(Protocol):
    """A page-level model; loading one never executes code from its file."""

    @property
    def name(self) -> str:
        """Kind of model, such as ``"blocks"``."""
        ...

    @property
    def version(self) -> str:
        """Identifier of the weights; it is stored with every item."""
        ...

    def score(self, page: Page) -> Scores:
        """Score every unit of the page."""
        ...


class StoredModel(Model, Protocol):
    """A model that can be saved to a file."""

    def save(self, path: Path) -> None:
        """Write the model to an ``.npz`` file."""
        ...


def logistic(logits: Floats) -> Floats:
    """float64[...], probabilities of log-odds, which are clipped to plus or minus 30."""
    return np.asarray(1 / (1 + np.exp(-np.minimum(np.maximum(logits, -_MAX_LOGIT), _MAX_LOGIT))))


def log_odds(probabilities: Floats | np.float64, epsilon: float) -> Floats:
    """float64[...], log-odds of probabilities, clipped to ``epsilon`` and ``1 - epsilon``."""
    bounded = np.minimum(np.maximum(probabilities, epsilon), 1 - epsilon)
    odds: Floats = np.log(bounded / (1 - bounded))
    return odds


def expected_f1_threshold(templateness: Floats, words: Floats, beta: float = 1.0) -> float:
    """Find the threshold of templateness with the highest expected F1 (or F-beta) of the kept text.

    With calibrated scores the expected F1 of keeping the blocks below a threshold is, to first order,
    ``2 * C / (K + W)``: kept content words, over kept words plus content words of the page. The threshold is higher for
    a page with uncertain scores only, where a lost paragraph costs more than a kept caption.

    Args:
        templateness: float64[m] in 0..1, scores of the text blocks.
        words: float64[m], words of each block.
        beta: weight of recall relative to precision.

    Returns:
        A number in 0..1; blocks whose templateness is not below it are cut. 0.5 for a page without text.
    """
    mass = np.maximum(words, 0.5)
    content = (1 - templateness) * mass
    if not len(mass):
        return 0.5
    order = templateness.argsort(kind="stable")
    expected = (1 + beta**2) * content.take(order).cumsum() / (mass.take(order).cumsum() + beta**2 * content.sum())
    best = int(expected.argmax())
    last_kept = float(templateness[order[best]])
    just_above = float(np.nextafter(last_kept, 2.0))
    if best + 1 == len(order):
        return just_above
    return max((last_kept + float(templateness[order[best + 1]])) / 2, just_above)


@dataclass(frozen=True, eq=False)
class ExpectedF1:
    """Chooses the threshold with the highest expected F1; ignores the scope.

    Attributes:
        words: float64[m], words of each block.
        templateness: float64[m], the model's scores of the blocks.
    """

    words: Floats
    templateness: Floats
    forum: ClassVar[None] = None

    @cached_property
    def threshold(self) -> float:
        """Threshold for the model's own scores."""
        return expected_f1_threshold(self.templateness, self.words)

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:  # noqa: ARG002
        """Choose by float64[m], scores of the page's blocks."""
        return Choice(expected_f1_threshold(templateness, self.words, BETAS[favor]))


@dataclass(frozen=True, slots=True)
class FixedThreshold:
    """Uses the same threshold for every page; ignores the scope.

    Attributes:
        threshold: templateness from which a block is cut with ``favor="balanced"``.
        forum: probability that the page is a forum, if it is known.
    """

    threshold: float
    forum: float | None = None

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:  # noqa: ARG002
        """Choose by float64[m], scores of the page's blocks."""
        return Choice(min(max(self.threshold + SHIFTS[favor], 0.05), 1.0))
