"""Networks of one shape evaluated together: on a page of a few hundred blocks, calls cost more than arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.core import compiled
from winnow.models.blocks.pooling import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.models.blocks.network import Network
    from winnow.models.blocks.surroundings import Surroundings

    Matrix = NDArray[np.float32]

_PIECE: Final = 4_096  # blocks whose neighbours are averaged together


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

    @property
    def width(self) -> int:
        """Units of the first hidden layers together."""
        return len(self.block_bias)

    def logits(self, inputs: Matrix, surroundings: Surroundings) -> Matrix:
        """float32[m], mean of the networks' logits of content, from float32[m, k] standardised features.

        Means are taken of the first hidden layer, each different one once; the sums that they are weighted in are
        spread over the blocks.
        """
        return self.logits_of_hidden(self.hidden(inputs), surroundings)

    def hidden(self, inputs: Matrix) -> Matrix:
        """float32[m, p * c], the first hidden layers, from float32[m, k] standardised features."""
        return self.hidden_of_parts([inputs])

    def hidden_of_parts(self, parts: Sequence[Matrix]) -> Matrix:
        """float32[m, p * c], the same from float32[m, ...] matrices whose columns are those k, one after the other."""
        begin = parts[0].shape[1]
        hidden = parts[0] @ self.block_weight[:begin]
        for part in parts[1:]:
            hidden += part @ self.block_weight[begin : begin + part.shape[1]]
            begin += part.shape[1]
        hidden += self.block_bias
        np.maximum(hidden, 0, out=hidden)
        return hidden

    def logits_of_hidden(self, hidden: Matrix, surroundings: Surroundings) -> Matrix:
        """float32[m], mean of the networks' logits of content, from the first hidden layers."""
        m, p = len(hidden), len(self.context_weight)
        core = compiled()
        if core is not None and m:
            logits = np.empty(m, np.float32)
            near, (containers, places) = surroundings.near, surroundings.of_containers
            core.network_logits(
                *(hidden, surroundings.weight, near.begin, near.end, np.ascontiguousarray(near.scale)),
                *(containers.begin, containers.end, containers.scale, places, self.context_weight, self.context_bias),
                *(self.output_weight, self.output_bias, p, logits),
            )
            return logits
        d = len(self.context_bias) // p
        weights = [self.context_weight[:, :, begin : begin + d] for begin in range(0, self.context_weight.shape[2], d)]
        layer: Matrix = self._by_network(hidden) @ weights[0]
        near = surroundings.near
        for begin in range(0, m, _PIECE):
            piece = slice(begin, min(begin + _PIECE, m))
            first, behind = int(near.begin[piece][0]), int(near.end[piece][-1])
            means = pooled(hidden[first:behind], surroundings.weight[first:behind], near.of(piece, first))
            layer[:, piece] += self._by_network(means) @ weights[1]
        containers, places = surroundings.of_containers
        means = pooled(hidden, surroundings.weight, containers)
        for place, weight in zip(places, weights[2:], strict=True):
            layer += (self._by_network(means) @ weight).take(place, axis=1)
        layer += self.context_bias.reshape(p, 1, d)
        np.maximum(layer, 0, out=layer)
        total: Matrix = (layer @ self.output_weight.reshape(p, d, 1)).sum(axis=0)[:, 0]
        return total + np.float32(self.output_bias)

    def _by_network(self, layer: Matrix) -> Matrix:
        """float32[p, rows, c] from float32[rows, p * c], not a copy."""
        p, c, _ = self.context_weight.shape
        return layer.reshape(len(layer), p, c).swapaxes(0, 1)
