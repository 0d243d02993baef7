"""What each feature did to the score of each block: the score with it, against the score without it.

A feature is taken away by putting its mean in its place on all blocks of the page (occlusion). What two features say
alike is the work of neither of them, so the parts need not add up to the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.block_features import FEATURE_NAMES, BlockFeatures
from winnow.models.log_odds import log_odds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.models.blocks.perceptron import BlockPerceptron
    from winnow.page.page import Page

_MOST_BLOCKS: Final = 1_500
"""Blocks of a page beyond which features are taken away by families, as ``"container 0"`` and ``"words"``."""

_CLIP: Final = 1e-6


@dataclass(frozen=True, eq=False, slots=True)
class Attribution:
    """Parts of the scores of a page's blocks.

    Attributes:
        names: name of each of k features, or families of features.
        parts: float32[m, k], change of the logit of templateness that is due to each, above 0 towards template.
        values: float32[m, k], the features themselves; NaN for families.
    """

    names: tuple[str, ...]
    parts: NDArray[np.float32]
    values: NDArray[np.float32]

    def heaviest(self, blocks: Sequence[int], most: int = 6) -> list[tuple[str, float, float | None]]:
        """Return what did most to some blocks on average: its name, its part and its mean value, the heaviest first."""
        if not len(blocks):
            return []
        rows = np.asarray(blocks)
        parts, values = self.parts[rows].mean(axis=0), self.values[rows].mean(axis=0)
        order = np.argsort(-np.abs(parts))[:most]
        return [
            (self.names[at], float(parts[at]), None if np.isnan(values[at]) else float(values[at]))
            for at in order.tolist()
            if abs(parts[at]) >= 0.01
        ]


def attribution(model: BlockPerceptron, page: Page) -> Attribution:
    """Find out what each feature did on one page; it takes as many evaluations of the model as there are features."""
    features = BlockFeatures.of(page)
    matrix, surroundings = features.matrix(model.tables), features.surroundings
    families = _families() if len(matrix) > _MOST_BLOCKS else [(name, [at]) for at, name in enumerate(FEATURE_NAMES)]
    whole = log_odds(model.content_probability(matrix, surroundings), _CLIP)
    parts = np.zeros((len(matrix), len(families)), np.float32)
    values = np.full((len(matrix), len(families)), np.nan, np.float32)
    for at, (_, columns) in enumerate(families):
        kept = matrix[:, columns].copy()
        if len(columns) == 1:
            values[:, at] = kept[:, 0]
        matrix[:, columns] = model.mean[columns]
        parts[:, at] = log_odds(model.content_probability(matrix, surroundings), _CLIP) - whole
        matrix[:, columns] = kept
    return Attribution(tuple(name for name, _ in families), parts, values)


def _families() -> list[tuple[str, list[int]]]:
    families: dict[str, list[int]] = {}
    for at, name in enumerate(FEATURE_NAMES):
        family, colon, _ = name.partition(":")
        families.setdefault(family if colon else name, []).append(at)
    return list(families.items())
