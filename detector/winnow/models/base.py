"""What a page-level model says of a page: one templateness per unit, how much each says, and what is to be kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, get_args

import numpy as np

from winnow.models.log_odds import log_odds

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.page.page import Page


Scope = Literal["auto", "article", "page"]
"""What is wanted of a page: what its kind suggests, the story alone, or all that is not template."""

Favor = Literal["balanced", "precision", "recall"]
"""Which mistakes are worse: neither, template that is kept, or content that is cut."""


SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
FAVORS: Final[tuple[Favor, ...]] = get_args(Favor)

ABOVE_ALL: Final = 2.0
"""A threshold that no templateness reaches."""

_LEAST: Final = 1e-9
_LARGEST_LOGIT: Final = 30.0


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
    """Decides what is kept of a page; it is asked again where something has moved the scores."""

    @property
    def threshold(self) -> float:
        """Score from which a unit counts as template on this page by the model alone."""
        ...

    def choose(self, templateness: NDArray[np.float64], *, scope: Scope, favor: Favor) -> Choice:
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
        decision: decides what is kept, by these scores or by moved ones.
    """

    templateness: NDArray[np.float64]
    weight: NDArray[np.int64]
    in_tree: NDArray[np.bool_]
    penalty: NDArray[np.float64]
    decision: Decision

    @property
    def threshold(self) -> float:
        """Score from which a unit counts as template on this page by the model alone."""
        return self.decision.threshold

    def with_templateness(self, templateness: NDArray[np.float64]) -> Scores:
        """The same with other float64[n + m] scores."""
        return Scores(templateness, self.weight, self.in_tree, self.penalty, self.decision)

    def moved(self, evidence: NDArray[np.float64]) -> Scores:
        """Add evidence, float64[n + m] log-odds, to those of the scores; above 0 it speaks for template."""
        logit = np.clip(log_odds(self.templateness, _LEAST) + evidence, -_LARGEST_LOGIT, _LARGEST_LOGIT)
        return self.with_templateness(np.where(evidence == 0, self.templateness, 1 / (1 + np.exp(-logit))))


class Model(Protocol):
    """A page-level model; loading one never executes anything."""

    @property
    def name(self) -> str:
        """Kind of model, such as ``"logistic"``."""
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
