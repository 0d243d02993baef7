"""Small networks over the features of text blocks, whose logits are averaged.

Each network looks at every block of a page, and at what it has made of the blocks around it. It has two hidden layers.
The first sees the features of one block. The second sees what the first has made of the block and, averaged, of the
blocks of each of its context windows: its neighbours, its innermost containers, and the page.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.core import core
from winnow.features.context import WINDOWS
from winnow.models.files import stored_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.features.context import ContextWindows
    from winnow.models.files import Arrays

    Matrix = NDArray[np.float32]

PANEL: Final = 16
"""Columns of a matrix that the compiled core takes together; ``networks.c`` has the same number."""

CLIP: Final = 4.0
"""Most standard deviations from the mean that a network is shown."""

_PARTS: Final = 1 + len(WINDOWS)  # of the second layer's input: the block itself, and each of its windows
_MAX_UNITS: Final = 1_024  # of a hidden layer, in a file


@dataclass(frozen=True, eq=False, slots=True)
class Network:
    """The weights of one network.

    Attributes:
        block_weight, block_bias: float32[k, c], float32[c], from the features of a block to the first hidden layer.
        context_weight: float32[c, (1 + len(WINDOWS)) * d], from the first to the second: of the block itself, then of
            each of :data:`winnow.features.context.WINDOWS`.
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
            known = bias is not None and bias.ndim == len(several) + 1 and 0 < bias.shape[-1] <= _MAX_UNITS
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
        return (
            (inputs, block_units), (block_units,), (block_units, _PARTS * context_units), (context_units,),
            (context_units, 1), (1,),
        )  # fmt: skip

    @classmethod
    def stacked(cls, networks: Sequence[Network]) -> Self:
        """Networks of one shape behind each other: every array has one dimension more, in front."""
        return cls(*(np.stack(arrays) for arrays in zip(*(network.arrays for network in networks), strict=True)))

    def unstacked(self) -> tuple[Network, ...]:
        """Undo :meth:`stacked`."""
        return tuple(Network(*arrays) for arrays in zip(*self.arrays, strict=True))


ARRAY_NAMES: Final = tuple(field.name for field in fields(Network))
"""Attributes of a network, in their order."""


class Ensemble:
    """Networks of one shape side by side, as the compiled core takes them; it gives the mean of their logits."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = len(networks)
        self._block_panels = panels(np.concatenate([network.block_weight for network in networks], axis=1))
        self._block_bias = np.concatenate([network.block_bias for network in networks])
        self._context_panels = np.stack(
            [[panels(part) for part in np.split(net.context_weight, _PARTS, axis=1)] for net in networks]
        )
        self._context_bias = np.concatenate([network.context_bias for network in networks])
        output_weight = np.concatenate([network.output_weight[:, 0] for network in networks]).astype(np.float32)
        self._output_weight = output_weight * np.float32(1 / len(networks))
        self._output_bias = float(np.mean([network.output_bias for network in networks]))

    def logits(self, parts: Sequence[Matrix], mean: Matrix, scale: Matrix, windows: ContextWindows) -> Matrix:
        """float32[m], mean of the networks' logits that each of m blocks is content.

        Args:
            parts: float32[m, ...] each, features that stand side by side; a long page's are not put together.
            mean: float32[k], of the features together.
            scale: float32[k], one over their standard deviations.
            windows: context of the blocks.
        """
        logits = np.empty(len(parts[0]), np.float32)
        if len(logits):
            core.network_logits(
                *(tuple(np.ascontiguousarray(part.T) for part in parts), CLIP),  # as features are computed: no copies
                *(mean, scale, self._block_panels, self._block_bias),
                *(windows.weight, windows.begin, windows.end, windows.scale, self._context_panels, self._context_bias),
                *(self._output_weight, self._output_bias, self._networks, logits),
            )
        return logits


def panels(weight: Matrix, width: int = PANEL) -> Matrix:
    """float32[panels, k, width] from float32[k, columns], filled up with zeros."""
    k, columns = weight.shape
    number = -(-columns // width)
    filled = np.zeros((k, number * width), np.float32)
    filled[:, :columns] = weight
    return np.ascontiguousarray(filled.reshape(k, number, width).swapaxes(0, 1))


def standardise(matrix: Matrix, mean: Matrix, scale: Matrix) -> Matrix:
    """float32[m, k], features in standard deviations from their mean, 4 at most, as networks are shown them."""
    result: Matrix = matrix - mean
    result *= scale
    np.maximum(result, -CLIP, out=result)  # np.clip takes as long as both together
    return np.minimum(result, CLIP, out=result)
