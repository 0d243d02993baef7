"""Means of what a network has made of single blocks over the stretches around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from winnow.models.blocks.running_totals import running_totals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from winnow.models.blocks.surroundings import Stretches

    Matrix = NDArray[np.float32]


def pooled(values: Matrix, weight: Matrix, stretches: Stretches) -> Matrix:
    """float32[k, w], means of float32[m, w] over k stretches, each block counted with its weight (float32[m])."""
    begin, end, scale = stretches.begin, stretches.end, stretches.scale
    totals = running_totals(values, weight)
    result: Matrix = totals.take(end, axis=0)
    result -= totals.take(begin, axis=0)
    result *= scale[:, None]
    return result
