"""What a page-level model says of a page: one templateness per unit, how much each says, and what is to be kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, Protocol, get_args

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]

Scope = Literal["auto", "article", "page"]
"""What is wanted of a page: what its kind suggests, the main content alone, or all that is not template."""

Favor = Literal["balanced", "precision", "recall"]
"""Which mistakes are worse: neither, template that is kept, or content that is cut."""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
FAVORS: Final[tuple[Favor, ...]] = get_args(Favor)

ABOVE_ALL: Final = 2.0
"""A threshold that no templateness reaches."""

BETAS: Final[dict[Favor, float]] = {"balanced": 1.0, "precision": 0.5, "recall": 2.0}
"""Recall counts so many times as much as precision in what is expected (the F-beta measure)."""

_SHIFTS: Final[dict[Favor, float]] = {"balanced": 0.0, "precision": -0.15, "recall": 0.15}
_EPSILON: Final = 1e-9
_MAX_LOGIT: Final = 30.0


@dataclass(frozen=True, slots=True)
class Choice:
    """What is kept of a page.

    Attributes:
        threshold: templateness from which the units of the page are cut; :data:`ABOVE_ALL` cuts none.
        confidence: word F1 that the text is expected to have, 0..1; ``None`` where the model has not learned to say.
        kind: kind of page, such as ``"article"`` or ``"forum"``; ``None`` where the model has not learned to say.
    """

    threshold: float
    confidence: float | None = None
    kind: str | None = None


class Decision(Protocol):
    """Decides what is kept of a page; it is asked again where evidence has changed the scores."""

    @property
    def threshold(self) -> float:
        """Score from which a unit counts as template on this page by the model alone."""
        ...

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:
        """Choose by float64[m], scores of the page's blocks."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """Classifier output over the units of a page: its ``n`` elements, then its ``m`` text blocks.

    Attributes:
        templateness: float64[n + m] in 0..1, probability that the unit is template.
        weight: int64[n + m], how many nodes the unit speaks for when scores are smoothed; 0 means no opinion.
        in_tree: bool[n + m], false for hidden units, which are not smoothed and take their parent's value.
        penalty: float64[n + m], cost of starting a section at each unit when scores are smoothed; ``inf`` never does.
        decision: decides what is kept, by these scores or by adjusted ones.
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
        """The same with other float64[n + m] scores."""
        return replace(self, templateness=templateness)

    def adjusted(self, evidence: Floats) -> Scores:
        """Add evidence, float64[n + m] log-odds, to those of the scores; above 0 it speaks for template."""
        logit = np.clip(log_odds(self.templateness, _EPSILON) + evidence, -_MAX_LOGIT, _MAX_LOGIT)
        return self.with_templateness(np.where(evidence == 0, self.templateness, 1 / (1 + np.exp(-logit))))


class Model(Protocol):
    """A page-level model; loading one never executes anything."""

    @property
    def name(self) -> str:
        """Kind of model, such as ``"blocks"``."""
        ...

    @property
    def version(self) -> str:
        """Identifies the weights; it is written on every item."""
        ...

    def score(self, page: Page) -> Scores:
        """Score every unit of the page."""
        ...


class StoredModel(Model, Protocol):
    """A model that can be a file."""

    def save(self, path: Path) -> None:
        """Write the model to an ``.npz`` file."""
        ...


def log_odds(probabilities: Floats | np.float64, epsilon: float) -> Floats:
    """float64[...], log-odds of float64[...] probabilities, all taken to be ``epsilon`` away from 0 and 1 at least."""
    bounded = np.minimum(np.maximum(probabilities, epsilon), 1 - epsilon)
    odds: Floats = np.log(bounded / (1 - bounded))
    return odds


def expected_f1_threshold(templateness: Floats, words: Floats, beta: float = 1.0) -> float:
    """Templateness from which a block is better cut, if the kept text is to have the highest expected F1.

    With calibrated scores the expected F1 of keeping the blocks below a cut is, to first order, ``2 * C / (K + W)``:
    content words kept, over words kept plus content words of the page. A page whose blocks are all doubtful is cut
    later than one with clear content: a lost paragraph costs it more than a kept caption.

    Args:
        templateness: float64[m] in 0..1, scores of the text blocks.
        words: float64[m], words of each block.
        beta: how many times as much recall counts as precision.

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
    """Cuts a page where its own scores expect the best text; the scope makes no difference.

    Attributes:
        words: float64[m], words of each block.
        templateness: float64[m], the model's scores of the blocks.
    """

    words: Floats
    templateness: Floats

    @cached_property
    def threshold(self) -> float:
        """Where the model's own scores are cut."""
        return expected_f1_threshold(self.templateness, self.words)

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:  # noqa: ARG002
        """Choose by float64[m], scores of the page's blocks."""
        return Choice(expected_f1_threshold(templateness, self.words, BETAS[favor]))


@dataclass(frozen=True, slots=True)
class FixedThreshold:
    """Cuts every page at the same score; the scope makes no difference.

    Attributes:
        threshold: templateness from which a block is cut in balance.
    """

    threshold: float

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:  # noqa: ARG002
        """Choose by float64[m], scores of the page's blocks."""
        return Choice(min(max(self.threshold + _SHIFTS[favor], 0.05), 1.0))
