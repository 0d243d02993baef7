"""What a page-level model says of a page: one templateness per unit, and how much each says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from winnow.page.page import Page


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """Classifier output over the units of a page: its ``n`` elements, then its ``m`` text blocks.

    Attributes:
        templateness: float64[n + m] in 0..1, probability that the unit is template.
        weight: int64[n + m], how many nodes the unit speaks for when scores are smoothed; 0 means no opinion.
        in_tree: bool[n + m], false for hidden units, which are not smoothed and take their parent's value.
        penalty: float64[n + m], cost of starting a section at each unit when scores are smoothed; ``inf`` never does.
        threshold: smoothed score from which a unit counts as template on this page.
    """

    templateness: NDArray[np.float64]
    weight: NDArray[np.int64]
    in_tree: NDArray[np.bool_]
    penalty: NDArray[np.float64]
    threshold: float


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
