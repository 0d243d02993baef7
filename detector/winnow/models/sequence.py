"""A network that reads the text blocks of a page in order, there and back.

Whether a short line is content depends on what came before it and on what follows: a story begins, goes on and ends. A
dense layer sees the features of one block; a gated recurrent unit (Cho et al. 2014, "Learning phrase representations
using RNN encoder-decoder") in each direction carries on what it has made of the blocks so far; a second dense layer
gives the logit of content by the states of both.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.core import core
from winnow.models.files import stored_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.models.files import Arrays

    Matrix = NDArray[np.float32]

PANEL: Final = 16
"""Columns of a matrix that the compiled core takes together; ``core.h`` has the same number."""

STEP_PANEL: Final = 64
"""The same of a recurrent matrix, in ``sequence.c``."""

CLIP: Final = 4.0
"""Most standard deviations from the mean that a network is shown."""

_MAX_UNITS: Final = 512  # of a layer, in a file


@dataclass(frozen=True, eq=False)
class SequenceNetwork:
    """The weights of a network that reads m blocks in order, d being the direction: forwards, backwards.

    Attributes:
        dense_weight, dense_bias: float32[k, c], float32[c], from the features of a block to the first layer.
        input_weight, input_bias: float32[d, c, 3 * s], float32[d, 3 * s], from there to the gates of a state: update,
            reset, candidate.
        state_weight, state_bias: float32[d, s, 3 * s], float32[d, s], from the state before to them; the candidate's
            part and its bias are reset.
        output_weight, output_bias: float32[2 * s, o], float32[o], from the states of both directions to the last layer.
        last_weight, last_bias: float32[o], float32[1], to the logit of content.
    """

    dense_weight: Matrix
    dense_bias: Matrix
    input_weight: Matrix
    input_bias: Matrix
    state_weight: Matrix
    state_bias: Matrix
    output_weight: Matrix
    output_bias: Matrix
    last_weight: Matrix
    last_bias: Matrix

    @classmethod
    def stored(cls, arrays: Arrays, inputs: int) -> Self:
        """Take a network of so many features out of the arrays of a model file.

        Raises:
            ModelError: an array is missing, misshapen, or holds something else than numbers.
        """

        def units(name: str) -> int:
            bias = arrays.get(f"network {name}")
            return bias.shape[-1] if bias is not None and bias.ndim and 0 < bias.shape[-1] <= _MAX_UNITS else 1

        shapes = cls.shapes(inputs, units("dense_bias"), units("state_bias"), units("output_bias"))
        named = zip(ARRAY_NAMES, shapes, strict=True)
        return cls(*(stored_numbers(arrays, f"network {name}", *shape) for name, shape in named))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The weights as they are stored: in half precision."""
        return {f"network {name}": getattr(self, name).astype(np.float16) for name in ARRAY_NAMES}

    def rounded(self) -> SequenceNetwork:
        """The same as it comes back from its file."""
        return SequenceNetwork(*(array.astype(np.float32) for array in self.arrays().values()))

    @classmethod
    def shapes(cls, inputs: int, dense: int, state: int, output: int) -> tuple[tuple[int, ...], ...]:
        """Shapes of :attr:`arrays` for a network of so many features and units."""
        return (
            (inputs, dense), (dense,), (2, dense, 3 * state), (2, 3 * state), (2, state, 3 * state), (2, state),
            (2 * state, output), (output,), (output,), (1,),
        )  # fmt: skip

    def logits(self, parts: Sequence[Matrix], mean: Matrix, scale: Matrix) -> Matrix:
        """float32[m], a logit for each of m blocks.

        Args:
            parts: float32[m, ...] each, features that stand side by side; a long page's are not put together.
            mean: float32[k], of the features together.
            scale: float32[k], one over their standard deviations.
        """
        logits = np.empty(len(parts[0]), np.float32)
        if len(logits):
            features = tuple(np.ascontiguousarray(part.T) for part in parts)  # as they are computed: no copies
            core.sequence_logits(features, CLIP, mean, scale, *self._panels, float(self.last_bias[0]), logits)
        return logits

    @cached_property
    def _panels(self) -> tuple[Matrix, ...]:
        """The weights as the compiled core takes them."""
        return (
            panels(self.dense_weight), self.dense_bias,
            np.stack([panels(weight) for weight in self.input_weight]), self.input_bias,
            np.stack([panels(weight, STEP_PANEL) for weight in self.state_weight]), self.state_bias,
            panels(self.output_weight), self.output_bias, self.last_weight,
        )  # fmt: skip


ARRAY_NAMES: Final = tuple(field.name for field in fields(SequenceNetwork))
"""Attributes of a network, in their order."""


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
