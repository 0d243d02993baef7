"""Decisions that need nothing learned: one threshold, or the cut that the scores themselves expect to be best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.base import Choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.base import Favor, Scope

    Floats = NDArray[np.float64]

BETAS: Final[dict[Favor, float]] = {"balanced": 1.0, "precision": 0.5, "recall": 2.0}
"""Recall counts so many times as much as precision in what is expected (the F-beta measure)."""

_SHIFT: Final[dict[Favor, float]] = {"balanced": 0.0, "precision": -0.15, "recall": 0.15}


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
        threshold = expected_f1_threshold(templateness, self.words, BETAS[favor])
        return Choice(threshold)


@dataclass(frozen=True, slots=True)
class FixedThreshold:
    """Cuts every page at the same score; the scope makes no difference.

    Attributes:
        threshold: templateness from which a block is cut in balance.
    """

    threshold: float

    def choose(self, templateness: Floats, *, scope: Scope, favor: Favor) -> Choice:  # noqa: ARG002
        """Choose by float64[m], scores of the page's blocks."""
        threshold = min(max(self.threshold + _SHIFT[favor], 0.05), 1.0)
        return Choice(threshold)
