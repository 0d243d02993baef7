"""Features in standard deviations from their mean, as networks take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

CLIP: Final = 4.0
"""Most standard deviations from the mean."""


def standardised(matrix: Matrix, mean: Matrix, scale: Matrix) -> Matrix:
    """float32[m, k], features in standard deviations from their mean, 4 at most."""
    result: Matrix = matrix - mean
    result *= scale
    np.maximum(result, -CLIP, out=result)  # np.clip takes as long as both together
    return np.minimum(result, CLIP, out=result)
