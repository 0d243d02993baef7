"""Calibrates networks on sites that they have not seen: what they call a probability is to be one there.

Networks that site-level labels have taught are too certain on other sites, and too often of content. Where no gold text
teaches the decision, pages are cut where their scores expect the best F1, and that goes by what the scores say. Source:
Platt, *Probabilistic outputs for support vector machines* (1999).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from scipy.optimize import minimize

from winnow.models.networks import BlockPerceptron
from winnow.models.scores import log_odds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.training.blocks.examples import BlockPage

    Floats = NDArray[np.float64]

_SCALES: Final = 0.25, 4.0
_SHIFTS: Final = -3.0, 3.0
_EPSILON: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Calibration:
    """What becomes of a network's logit of content: ``scale * logit - shift``.

    Attributes:
        scale: above 0; below 1 it makes a network less certain.
        shift: above 0 it makes more of a page template.
    """

    scale: float = 1.0
    shift: float = 0.0

    @classmethod
    def of(cls, model: BlockPerceptron, pages: Sequence[BlockPage]) -> Self:
        """Find what makes a model's scores most likely on pages of sources that it has not seen.

        Every source counts the same, and every page of one. Without labels of both kinds nothing is changed.
        """
        judged = [page for page in pages if page.mass[page.labelled].sum() > 0]
        number = Counter(page.source for page in judged)
        logits, content, weights = [], [], []
        for page in judged:
            labelled, mass = page.labelled, page.mass
            probability = model.content_probability(page.matrix(model.tables), page.windows)[labelled]
            logits.append(log_odds(probability, _EPSILON))
            content.append(page.content[labelled] > 0.5)
            weights.append(mass[labelled] / (mass[labelled].sum() * number[page.source] * len(number)))
        if not judged or len(np.unique(np.concatenate(content))) < 2:
            return cls()
        logit, sign, weight = np.concatenate(logits), np.where(np.concatenate(content), 1, -1), np.concatenate(weights)

        def loss(scale_and_shift: Floats) -> float:
            scale, shift = scale_and_shift
            return float(weight @ np.logaddexp(0, -sign * (scale * logit - shift)))

        scale, shift = minimize(loss, (1.0, 0.0), bounds=(_SCALES, _SHIFTS)).x.tolist()
        return cls(scale, shift)

    def applied(self, model: BlockPerceptron) -> BlockPerceptron:
        """Write it into the last layer of every network."""
        scale, shift = np.float32(self.scale), np.float32(self.shift)
        networks = [
            replace(
                network,
                output_weight=network.output_weight * scale,
                output_bias=network.output_bias * scale - shift,
            )
            for network in model.networks
        ]
        return BlockPerceptron.of(model.tables, model.mean, model.scale, networks, model.decision)
