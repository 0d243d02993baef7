"""Networks of one shape evaluated together: on a page of a few hundred blocks, calls cost more than arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from winnow.models.blocks.surroundings import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.models.blocks.network import Network
    from winnow.models.blocks.surroundings import Surroundings

    Matrix = NDArray[np.float32]

_TERMS = 1 + len(NAMES)


@dataclass(frozen=True, eq=False, slots=True)
class Ensemble:
    """The weights of p networks of k features, c and d hidden units side by side.

    Attributes:
        block_weight, block_bias: float32[k, p * c], float32[p * c].
        context_weight, context_bias: float32[p, c, (1 + len(NAMES)) * d], float32[p * d].
        output_weight, output_bias: float32[p * d], float; they give the mean of the logits.
    """

    block_weight: Matrix
    block_bias: Matrix
    context_weight: Matrix
    context_bias: Matrix
    output_weight: Matrix
    output_bias: float

    @classmethod
    def of(cls, networks: Sequence[Network]) -> Self:
        """Put networks side by side."""
        return cls(
            block_weight=np.concatenate([network.block_weight for network in networks], axis=1),
            block_bias=np.concatenate([network.block_bias for network in networks]),
            context_weight=np.stack([network.context_weight for network in networks]),
            context_bias=np.concatenate([network.context_bias for network in networks]),
            output_weight=np.concatenate([network.output_weight[:, 0] for network in networks]).astype(np.float32)
            * np.float32(1 / len(networks)),
            output_bias=float(np.mean([network.output_bias for network in networks])),
        )

    def logits(self, inputs: Matrix, surroundings: Surroundings) -> Matrix:
        """float32[m], mean of the networks' logits of content, from float32[m, k] standardised features."""
        m, p = len(inputs), len(self.context_weight)
        c, d = len(self.block_bias) // p, len(self.context_bias) // p
        blocks = np.maximum(inputs @ self.block_weight + self.block_bias, 0)
        weighted = blocks.reshape(m, p, c).swapaxes(0, 1) @ self.context_weight
        terms = weighted.reshape(p, m, _TERMS, d).transpose(1, 2, 0, 3).reshape(m, _TERMS * p * d)
        layer = terms[:, : p * d] + self.context_bias
        surroundings.add_means(layer, terms[:, p * d :])
        logits: Matrix = np.maximum(layer, 0) @ self.output_weight + np.float32(self.output_bias)
        return logits
