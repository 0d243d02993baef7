"""Networks of one shape evaluated together: on a page of a few hundred blocks, calls cost more than arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.core import compiled
from winnow.models.blocks.pooling import pooled
from winnow.models.blocks.standardising import CLIP, standardised
from winnow.models.blocks.surroundings import NAMES
from winnow.models.one_thread import one_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.models.blocks.network import Network
    from winnow.models.blocks.surroundings import Surroundings

    Matrix = NDArray[np.float32]

_PIECE: Final = 4_096  # blocks that are worked out together, so that long pages take little memory

PANEL: Final = 16
"""Columns of a matrix that the compiled core takes together; ``products.h`` has the same number."""


@dataclass(frozen=True, eq=False, slots=True)
class Ensemble:
    """The weights of p networks of k features, c and d hidden units side by side.

    Attributes:
        block_weight, block_bias: float32[k, p * c], float32[p * c].
        context_weight, context_bias: float32[p, c, (1 + len(NAMES)) * d], float32[p * d].
        output_weight, output_bias: float32[p * d], float; they give the mean of the logits.
        block_panels, context_panels: float32[..., k, PANEL], float32[p, 1 + len(NAMES), ..., c, PANEL], the weights as
            the compiled core takes them: a few columns together, the last ones filled up with zeros.
    """

    block_weight: Matrix
    block_bias: Matrix
    context_weight: Matrix
    context_bias: Matrix
    output_weight: Matrix
    output_bias: float
    block_panels: Matrix
    context_panels: Matrix

    @classmethod
    def of(cls, networks: Sequence[Network]) -> Self:
        """Put networks side by side."""
        block_weight = np.concatenate([network.block_weight for network in networks], axis=1)
        stretches = 1 + len(NAMES)
        return cls(
            block_weight=block_weight,
            block_bias=np.concatenate([network.block_bias for network in networks]),
            context_weight=np.stack([network.context_weight for network in networks]),
            context_bias=np.concatenate([network.context_bias for network in networks]),
            output_weight=np.concatenate([network.output_weight[:, 0] for network in networks]).astype(np.float32)
            * np.float32(1 / len(networks)),
            output_bias=float(np.mean([network.output_bias for network in networks])),
            block_panels=_panels(block_weight),
            context_panels=np.stack(
                [[_panels(part) for part in np.split(net.context_weight, stretches, axis=1)] for net in networks]
            ),
        )

    @property
    def width(self) -> int:
        """Units of the first hidden layers together."""
        return len(self.block_bias)

    def hidden(self, parts: Sequence[Matrix], mean: Matrix, scale: Matrix) -> Matrix:
        """float32[m, p * c], the first hidden layers.

        Args:
            parts: float32[m, ...] each, features that stand side by side; a long page's are not put together.
            mean: float32[k], of the features together.
            scale: float32[k], one over their standard deviations.
        """
        m, core = len(parts[0]), compiled()
        hidden = np.empty((m, self.width), np.float32)
        if core is not None and m:
            rows = tuple(np.ascontiguousarray(part.T) for part in parts)  # as features are computed: no copies
            core.hidden_layer(rows, mean, scale, CLIP, self.block_panels, self.block_bias, hidden)
            return hidden
        ends = np.cumsum([part.shape[1] for part in parts])
        with one_thread():
            for begin in range(0, m, _PIECE):
                layer = hidden[begin : begin + _PIECE]
                layer[:] = self.block_bias
                for part, end in zip(parts, ends.tolist(), strict=True):
                    columns = slice(end - part.shape[1], end)
                    inputs = standardised(part[begin : begin + _PIECE], mean[columns], scale[columns])
                    layer += inputs @ self.block_weight[columns]
                np.maximum(layer, 0, out=layer)
        return hidden

    def logits_of_hidden(self, hidden: Matrix, surroundings: Surroundings) -> Matrix:
        """float32[m], mean of the networks' logits of content, from the first hidden layers.

        Means are taken of the first hidden layer, each different one once; the sums that they are weighted in are
        spread over the blocks.
        """
        m, p = len(hidden), len(self.context_weight)
        core = compiled()
        if core is not None and m:
            logits = np.empty(m, np.float32)
            near, (containers, places) = surroundings.near, surroundings.of_containers
            core.network_logits(
                *(hidden, surroundings.weight, near.begin, near.end, np.ascontiguousarray(near.scale)),
                *(containers.begin, containers.end, containers.scale, places, self.context_panels, self.context_bias),
                *(self.output_weight, self.output_bias, p, logits),
            )
            return logits
        with one_thread():  # for one page, more threads cost five times the time
            return self._context_logits(hidden, surroundings)

    def _context_logits(self, hidden: Matrix, surroundings: Surroundings) -> Matrix:
        m, p = len(hidden), len(self.context_weight)
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


def _panels(weight: Matrix) -> Matrix:
    """float32[panels, k, PANEL] from float32[k, columns]."""
    k, columns = weight.shape
    number = -(-columns // PANEL)
    filled = np.zeros((k, number * PANEL), np.float32)
    filled[:, :columns] = weight
    return np.ascontiguousarray(filled.reshape(k, number, PANEL).swapaxes(0, 1))
