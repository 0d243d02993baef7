"""What kind of page it is, by its structure and what is content on it: softmax regression over a few dozen numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.models.blocks.decision.cut_features import PROPERTIES
from winnow.models.blocks.features import page_level
from winnow.models.files import required_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Matrix = NDArray[np.float32]

KINDS: Final = ("article", "collection", "documentation", "forum", "listing", "product", "service")
"""The page types of the WCXB benchmark."""

ARTICLE: Final = KINDS.index("article")
"""Place of the kind whose pages have one story."""

KIND_INPUTS: Final = (
    *page_level.NAMES,
    *(f"content: {name}" for name in PROPERTIES),
    *(f"page: mean of {name}" for name in PROPERTIES),
    "content: share of words",
)
_CLIP: Final = 4.0


def kind_inputs(of_page: Matrix, content: Floats, words: Floats, properties: Matrix) -> Floats:
    """float64[len(KIND_INPUTS)].

    Args:
        of_page: float32[len(page_level.NAMES)].
        content: float64[m], probability of content of each block.
        words: float64[m], above 0.
        properties: float32[m, len(PROPERTIES)].
    """
    likely = content * words
    all_likely, all_words, properties = likely.sum(), words.sum(), properties.astype(np.float64)
    means = likely @ properties / max(all_likely, 1e-9), words @ properties / max(all_words, 1e-9)
    return np.concatenate([of_page, *means, [all_likely / all_words]])


@dataclass(frozen=True, eq=False, slots=True)
class KindHead:
    """Weights of the regression.

    Attributes:
        mean, scale: float64[d], what the inputs are standardised by.
        weight: float64[d, len(KINDS)].
        bias: float64[len(KINDS)].
    """

    mean: Floats
    scale: Floats
    weight: Floats
    bias: Floats

    def probabilities(self, inputs: Floats) -> Floats:
        """float64[..., len(KINDS)], from float64[..., d] of :func:`kind_inputs`."""
        known = np.minimum(np.maximum((inputs - self.mean) * self.scale, -_CLIP), _CLIP)
        logits = known @ self.weight + self.bias
        odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
        probabilities: Floats = odds / odds.sum(axis=-1, keepdims=True)
        return probabilities

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The weights as they are stored."""
        names = ("mean", "scale", "weight", "bias")
        return {f"kind {name}": getattr(self, name).astype(np.float32) for name in names}

    @classmethod
    def stored(cls, arrays: dict[str, NDArray[np.generic]]) -> Self:
        """Take the weights out of the arrays of a model file.

        Raises:
            ModelError: they are missing or misshapen.
        """
        d, kinds = len(KIND_INPUTS), len(KINDS)
        shapes = {"mean": (d,), "scale": (d,), "weight": (d, kinds), "bias": (kinds,)}
        return cls(*(required_array(arrays, f"kind {name}", shape) for name, shape in shapes.items()))
