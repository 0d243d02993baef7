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
    """k stretches of blocks.

    Attributes:
        begin, end: int64[k], slices of the blocks.
        scale: float32[k], one over the weight of each.
    """

    begin: Indices
    end: Indices
    scale: Matrix

    @classmethod
    def near(cls, around: Surroundings) -> Self:
        """The near blocks of each of m blocks."""
        return cls(around.begin[0], around.end[0], around.scale[0, :, 0])

    @classmethod
    def of_containers(cls, around: Surroundings) -> tuple[Self, Indices]:
        """The different stretches that containers make, and int64[kinds, m], which of them each block has around it."""
        kinds, m = around.begin.shape
        key = around.begin[1:] * (m + 1) + around.end[1:]
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        first += m
        begin, end, scale = around.begin.ravel(), around.end.ravel(), around.scale.ravel()
        return cls(begin.take(first), end.take(first), scale.take(first)), place.reshape(kinds - 1, m)

    def of(self, piece: slice, first: int) -> Stretches:
        """Some of them, over blocks of which ``first`` is the first."""
        return Stretches(self.begin[piece] - first, self.end[piece] - first, self.scale[piece])


def pooled(values: Matrix, weight: Matrix, stretches: Stretches) -> Matrix:
    """float32[k, w], means of float32[m, w] over k stretches, each block counted with its weight (float32[m])."""
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
