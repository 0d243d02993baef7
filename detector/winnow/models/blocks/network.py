"""A small neural network that looks at every block of a page, and at what it has made of the blocks around it.

Two hidden layers. The first sees the features of one block. The second sees what the first has made of the block and,
averaged, of its neighbours, of the blocks of each of its innermost containers, and of all blocks of the page: whether a
short line is content depends on whether it stands in the story or in a grid of teasers. This is the context that
smoothing and a stack of two classifiers look for, too, but it is learned together with the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.models.blocks.surroundings import NAMES
from winnow.models.files import stored_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.models.blocks.surroundings import Surroundings
    from winnow.models.files import Arrays

    Matrix = NDArray[np.float32]

_MOST_UNITS: Final = 1_024  # of a hidden layer, in a file


@dataclass(frozen=True, eq=False, slots=True)
class Network:
    """The weights of one network.

    Attributes:
        block_weight, block_bias: float32[k, c], float32[c], from the features of a block to the first hidden layer.
        context_weight: float32[c, (1 + len(NAMES)) * d], from the first to the second: of the block itself, then of
            each kind of stretch of :data:`winnow.models.blocks.surroundings.NAMES`.
        context_bias: float32[d].
        output_weight, output_bias: float32[d, 1], float32[1], to the logit of content.
    """

    block_weight: Matrix
    block_bias: Matrix
    context_weight: Matrix
    context_bias: Matrix
    output_weight: Matrix
    output_bias: Matrix

    @classmethod
    def stored(cls, arrays: Arrays, inputs: int, *several: int) -> Self:
        """Take a network out of the arrays of a model file.

        Args:
            arrays: by name; those of :data:`ARRAY_NAMES` are read.
            inputs: how many features it has.
            several: how many networks are :meth:`stacked` there, where they are.

        Raises:
            ModelError: an array is missing, misshapen, or holds something else than numbers.
        """

        def units(name: str) -> int:
            bias = arrays.get(name)
            known = bias is not None and bias.ndim == len(several) + 1 and 0 < bias.shape[-1] <= _MOST_UNITS
            return bias.shape[-1] if known and bias is not None else 1

        shapes = cls.shapes(inputs, units("block_bias"), units("context_bias"))
        named = zip(ARRAY_NAMES, shapes, strict=True)
        return cls(*(stored_numbers(arrays, name, *several, *shape) for name, shape in named))

    @property
    def arrays(self) -> tuple[Matrix, ...]:
        """The weights, in the order of the attributes; not copies."""
        return tuple(getattr(self, name) for name in ARRAY_NAMES)

    @classmethod
    def shapes(cls, inputs: int, block_units: int, context_units: int) -> tuple[tuple[int, ...], ...]:
        """Shapes of :attr:`arrays` for a network of so many features and hidden units."""
        stretches = 1 + len(NAMES)
        return (
            (inputs, block_units), (block_units,), (block_units, stretches * context_units), (context_units,),
            (context_units, 1), (1,),
        )  # fmt: skip

    @classmethod
    def stacked(cls, networks: Sequence[Network]) -> Self:
        """Networks of one shape behind each other: every array has one dimension more, in front."""
        return cls(*(np.stack(arrays) for arrays in zip(*(network.arrays for network in networks), strict=True)))

    def unstacked(self) -> tuple[Network, ...]:
        """Undo :meth:`stacked`."""
        return tuple(Network(*arrays) for arrays in zip(*self.arrays, strict=True))

    def block_layer(self, inputs: Matrix) -> Matrix:
        """float32[m, c], the first hidden layer, from float32[m, k] standardised features."""
        return _rectified(inputs @ self.block_weight + self.block_bias)

    def context_layer(self, blocks: Matrix, surroundings: Surroundings) -> Matrix:
        """float32[m, d], the second hidden layer, from the first."""
        units = len(self.context_bias)
        weighted = blocks @ self.context_weight  # the mean of weighted sums is the weighted sum of means, and narrower
        layer = weighted[:, :units] + self.context_bias
        surroundings.add_means(layer, weighted[:, units:])
        return _rectified(layer)

    def output(self, context: Matrix) -> Matrix:
        """float32[m], logits, from the second hidden layer."""
        return (context @ self.output_weight + self.output_bias)[:, 0]

    def logits(self, inputs: Matrix, surroundings: Surroundings) -> Matrix:
        """float32[m], logit of the probability that each block is content."""
        return self.output(self.context_layer(self.block_layer(inputs), surroundings))


ARRAY_NAMES: Final = tuple(field.name for field in fields(Network))
"""Attributes of a network, in their order."""


def _rectified(layer: Matrix) -> Matrix:
    return np.maximum(layer, 0, out=layer)
