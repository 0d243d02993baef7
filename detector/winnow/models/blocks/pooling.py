"""Means of what a network has made of single blocks over the stretches around them, each different one taken once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from winnow.core import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.blocks.surroundings import Surroundings

    Matrix = NDArray[np.float32]
    Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Stretches:
    """The stretches around m blocks: one of near blocks for each, and the u different ones that containers make.

    Attributes:
        begin, end: int64[m + u], slices of the blocks.
        scale: float32[m + u], one over the weight of each.
        place: int64[kinds, m], which of the u it is, for each block and kind of container.
    """

    begin: Indices
    end: Indices
    scale: Matrix
    place: Indices

    @classmethod
    def of(cls, around: Surroundings) -> Self:
        """Tell equal stretches; the first kind is that of near blocks, of which all differ."""
        kinds, m = around.begin.shape
        key = around.begin[1:] * (m + 1) + around.end[1:]
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        chosen = np.concatenate([np.arange(m), first + m])
        return cls(
            begin=around.begin.ravel().take(chosen),
            end=around.end.ravel().take(chosen),
            scale=around.scale.ravel().take(chosen),
            place=place.reshape(kinds - 1, m),
        )


def pooled(values: Matrix, weight: Matrix, stretches: Stretches) -> Matrix:
    """float32[m + u, w], means of float32[m, w] over stretches, each block counted with its weight (float32[m])."""
    core = compiled()
    begin, end, scale = stretches.begin, stretches.end, stretches.scale
    if core is not None:
        means = np.empty((len(begin), values.shape[1]), np.float32)
        core.pool(np.ascontiguousarray(values, np.float32), weight, begin, end, scale, means)
        return means
    totals = np.zeros((len(values) + 1, values.shape[1]), np.float32)
    weighted = values * weight[:, None]
    for block in range(len(values)):  # row by row: numpy's cumsum goes down the columns, at five times the cost
        np.add(totals[block], weighted[block], out=totals[block + 1])
    result: Matrix = totals.take(end, axis=0)
    result -= totals.take(begin, axis=0)
    result *= scale[:, None]
    return result
