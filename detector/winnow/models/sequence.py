"""A bidirectional recurrent network over the text blocks of a page.

Whether a short line is content depends on the blocks before and after it. A dense layer takes the features of one
block; a gated recurrent unit (Cho et al. 2014, "Learning phrase representations using RNN encoder-decoder") runs in
each direction; a second dense layer computes the logit of content from both states of the block, and from their means
and maxima over the page, which tell what kind of page the block is on.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.core import core
from winnow.models.files import required_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.features.blocks import Part
    from winnow.models.files import Arrays

    Matrix = NDArray[np.float32]

UNITS: Final = 64
"""Units of the first layer, of the state in each direction, and of the last layer."""

_PANEL: Final = 16
"""The core takes weights in panels of 16 columns, a multiple of four of them; ``network.c`` has the same number."""

CLIP: Final = 4.0
"""Standardised features are clipped to this many standard deviations."""


@dataclass(frozen=True, eq=False)
class SequenceNetwork:
    """Weights of the network; d is the direction: forwards, backwards; u is :data:`UNITS`.

    Attributes:
        dense_weight, dense_bias: float32[k, u], float32[u], from the features of a block to the first layer.
        input_weight, input_bias: float32[d, u, 3 * u], float32[d, 3 * u], from the first layer to the gates: update,
            reset, candidate.
        state_weight, state_bias: float32[d, u, 3 * u], float32[d, u], from the previous state to the gates; the reset
            gate applies to the candidate's part and to the bias, which belongs to it.
        output_weight, output_bias: float32[2 * u, u], float32[u], from the states of both directions to the last layer.
        page_weight: float32[4 * u, u], from means, then maxima, of these states over the page to the last layer.
        last_weight, last_bias: float32[u], float32[1], from the last layer to the logit of content.
    """

    dense_weight: Matrix
    dense_bias: Matrix
    input_weight: Matrix
    input_bias: Matrix
    state_weight: Matrix
    state_bias: Matrix
    output_weight: Matrix
    output_bias: Matrix
    page_weight: Matrix
    last_weight: Matrix
    last_bias: Matrix

    @classmethod
    def stored(cls, arrays: Arrays, inputs: int) -> Self:
        """Read a network with this many input features from the arrays of a model file.

        Raises:
            ModelError: an array is missing, has another shape or type, or is not finite.
        """
        named = zip(ARRAY_NAMES, cls.shapes(inputs), strict=True)
        return cls(*(required_array(arrays, f"network {name}", *shape).astype(np.float32) for name, shape in named))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the weights as stored: in half precision."""
        return {f"network {name}": getattr(self, name).astype(np.float16) for name in ARRAY_NAMES}

    def rounded(self) -> SequenceNetwork:
        """Return the network with the weights rounded to half precision, as it is loaded from its file."""
        return SequenceNetwork(*(array.astype(np.float32) for array in self.arrays().values()))

    @classmethod
    def shapes(cls, inputs: int) -> tuple[tuple[int, ...], ...]:
        """Shapes of :attr:`arrays` for this number of features."""
        u = UNITS
        return (
            (inputs, u), (u,), (2, u, 3 * u), (2, 3 * u), (2, u, 3 * u), (2, u),
            (2 * u, u), (u,), (4 * u, u), (u,), (1,),
        )  # fmt: skip

    def logits(self, parts: Sequence[Part], mean: Matrix, scale: Matrix) -> Matrix:
        """float32[m], a logit for each of m blocks.

        Args:
            parts: the features side by side, which are not copied together. A part is float32[m, k], or a table
                float32[rows, k] and int32[m], the row of each block; the first is no table.
            mean: float32[k], means of all features.
            scale: float32[k], reciprocals of their standard deviations.
        """
        logits = np.empty(len(parts[0]), np.float32)
        if len(logits):
            features = tuple(  # no copies: already in this order
                part if isinstance(part, tuple) else np.ascontiguousarray(part.T) for part in parts
            )
            core.sequence_logits(features, CLIP, mean, scale, *self._for_core, logits)
        return logits

    @cached_property
    def _for_core(self) -> list[Matrix]:
        """The arrays as the core takes them."""
        arrays = {name: getattr(self, name) for name in ARRAY_NAMES}
        arrays["output_weight"] = self.output_weight.reshape(2, UNITS, UNITS)
        for name in ("dense_weight", "input_weight", "state_weight", "output_weight"):
            arrays[name] = _in_panels(arrays[name])
        return list(arrays.values())


ARRAY_NAMES: Final = tuple(field.name for field in fields(SequenceNetwork))
"""Names of the arrays of a network, in order."""


def standardise(matrix: Matrix, mean: Matrix, scale: Matrix) -> Matrix:
    """float32[m, k], standardised features, clipped to 4 standard deviations."""
    result: Matrix = matrix - mean
    result *= scale
    np.maximum(result, -CLIP, out=result)  # not np.clip, which is slower on small arrays
    return np.minimum(result, CLIP, out=result)


def _in_panels(weight: Matrix) -> Matrix:
    """float32[..., columns / 16, k, 16], the columns of float32[..., k, columns].

    The cache takes a panel in one stream. Rows begin where its lines do: a vector in two takes twice as long to load.
    """
    *outer, k, columns = weight.shape
    memory = np.empty(weight.size + _PANEL, np.float32)
    first = -memory.ctypes.data // memory.itemsize % _PANEL
    panels = memory[first : first + weight.size].reshape(*outer, columns // _PANEL, k, _PANEL)
    panels[...] = weight.reshape(*outer, k, -1, _PANEL).swapaxes(-2, -3)
    return panels
