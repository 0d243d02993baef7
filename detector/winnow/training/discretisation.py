"""Cuts numbers into intervals by minimum description length: each feature becomes a few binary ones.

U. M. Fayyad and K. B. Irani, "Multi-Interval Discretization of Continuous-Valued Attributes for Classification
Learning" (IJCAI 1993), sections 3 (the cut of least class entropy) and 4 (MDLP, when to stop), as Kolcz and Yih use it
for the features of blocks ("Site-Independent Template-Block Detection", PKDD 2007, section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def mdl_cuts(values: NDArray[np.floating], label: NDArray[np.bool_]) -> Floats:
    """Cut one feature where that shortens the description of the labels.

    An interval is cut where the class entropy of the two halves is least, if the gain is more than it costs to name the
    place and the halves' classes; then both halves are looked at in turn.

    Args:
        values: float[e], finite.
        label: bool[e].

    Returns:
        float64, cut points in ascending order: values up to a cut are below it. None where the feature tells nothing.
    """
    order = np.argsort(values, kind="stable")
    ordered = np.asarray(values, np.float64)[order]
    positives = np.concatenate([[0], np.cumsum(label[order])])
    borders = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1  # a cut only where the value changes
    cuts: list[float] = []
    waiting = [(0, len(ordered))]
    while waiting:
        begin, end = waiting.pop()
        first, last = np.searchsorted(borders, [begin, end], side="right")
        inside = borders[first : last - (last > first and borders[last - 1] == end)]
        at = _accepted_cut(positives, inside, begin, end)
        if at is not None:
            cuts.append((ordered[at - 1] + ordered[at]) / 2)
            waiting += [(begin, at), (at, end)]
    return np.sort(np.array(cuts))


def _accepted_cut(positives: NDArray[np.int64], borders: NDArray[np.int64], begin: int, end: int) -> int | None:
    """The border of least class entropy between two places, ``None`` where MDLP says that no cut pays."""
    if not len(borders):
        return None
    number = end - begin
    positive = positives[end] - positives[begin]
    left, left_positive = borders - begin, positives[borders] - positives[begin]
    left_entropy = _entropy(left_positive, left)
    right_entropy = _entropy(positive - left_positive, number - left)
    remaining = (left * left_entropy + (number - left) * right_entropy) / number
    best = int(remaining.argmin())
    whole = float(_entropy(np.array([positive]), np.array([number]))[0])
    classes = _classes(positive, number)
    left_classes = _classes(left_positive[best], left[best])
    right_classes = _classes(positive - left_positive[best], number - left[best])
    delta = np.log2(3.0**classes - 2) - (
        classes * whole - left_classes * left_entropy[best] - right_classes * right_entropy[best]
    )
    gain = whole - remaining[best]
    return int(borders[best]) if gain > (np.log2(number - 1) + delta) / number else None


def _entropy(positive: NDArray[np.int64], number: NDArray[np.int64]) -> Floats:
    """float64, bits of class entropy of sets with so many members, so many of them positive."""
    share = positive / number
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(part > 0, -part * np.log2(part), 0.0) for part in (share, 1 - share)]
    bits: Floats = parts[0] + parts[1]
    return bits


def _classes(positive: int, number: int) -> int:
    """How many of the two classes a set has."""
    return int(positive > 0) + int(positive < number)


@dataclass(frozen=True, eq=False)
class Discretisation:
    """Cut points of several features.

    Attributes:
        cuts: cut points of each feature.
    """

    cuts: Sequence[Floats]

    @classmethod
    def of(cls, matrix: NDArray[np.floating], label: NDArray[np.bool_]) -> Discretisation:
        """Cut every column of float[e, k] by the labels bool[e]."""
        return cls([mdl_cuts(column, label) for column in matrix.T])

    @property
    def size(self) -> int:
        """Number of binary features: one for each interval of the features that were cut."""
        return sum(len(cuts) + 1 for cuts in self.cuts if len(cuts))

    def binary(self, matrix: NDArray[np.floating]) -> csr_matrix:
        """Sparse float[e, size], one for the interval that each value lies in; features without a cut are left out."""
        columns, first = [], 0
        for values, cuts in zip(matrix.T, self.cuts, strict=True):
            if len(cuts):
                columns.append(first + np.searchsorted(cuts, values, side="left"))
                first += len(cuts) + 1
        rows = len(matrix)
        column = np.stack(columns, axis=1).ravel() if columns else np.zeros(0, np.int64)
        row_ends = np.arange(rows + 1) * len(columns)
        return csr_matrix((np.ones(len(column)), column, row_ends), (rows, self.size))
