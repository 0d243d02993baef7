"""Numbers cut into intervals by minimum description length, so that each feature becomes a few binary ones.

U. M. Fayyad and K. B. Irani, "Multi-Interval Discretization of Continuous-Valued Attributes for Classification
Learning" (IJCAI 1993), sections 3 (the cut of least class entropy) and 4 (MDLP, when to stop), as Kolcz and Yih use it
for the features of blocks ("Site-Independent Template-Block Detection", PKDD 2007, section 4.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tamis.arrays import Flags, Floats, Integers


def mdl_cuts(values: NDArray[np.floating], label: Flags) -> Floats:
    """Cut one feature where that shortens the description of the labels.

    An interval is cut where the class entropy of the two halves is least, if the gain is more than it costs to name the
    cut and the halves' classes; then both halves are looked at in turn.

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
        inside = borders[np.searchsorted(borders, begin, side="right") : np.searchsorted(borders, end)]
        at = _accepted_cut(positives, inside, begin, end)
        if at is not None:
            cuts.append((ordered[at - 1] + ordered[at]) / 2)
            waiting += [(begin, at), (at, end)]
    return np.sort(np.array(cuts))


def binary_features(matrix: NDArray[np.floating], cuts: Sequence[Floats]) -> csr_matrix:
    """Sparse float[e, b], 1 for the interval that each value of float[e, k] lies in.

    ``cuts`` are those of each feature, by :func:`mdl_cuts`; features without any are left out.
    """
    columns, width = [], 0
    for values, cuts_of_feature in zip(matrix.T, cuts, strict=True):
        if len(cuts_of_feature):
            columns.append(width + np.searchsorted(cuts_of_feature, values))
            width += len(cuts_of_feature) + 1
    column = np.stack(columns, axis=1).ravel() if columns else np.zeros(0, np.int64)
    return csr_matrix((np.ones(len(column)), column, np.arange(len(matrix) + 1) * len(columns)), (len(matrix), width))


def _accepted_cut(positives: Integers, borders: Integers, begin: int, end: int) -> int | None:
    """Find the border of least class entropy in a slice of the values; ``None`` where MDLP says that no cut pays."""
    if not len(borders):
        return None
    number, positive = end - begin, positives[end] - positives[begin]
    left, left_positive = borders - begin, positives[borders] - positives[begin]
    left_entropy, right_entropy = _entropy(left_positive, left), _entropy(positive - left_positive, number - left)
    remaining = (left * left_entropy + (number - left) * right_entropy) / number
    best = int(remaining.argmin())
    whole = float(_entropy(positive, np.array(number)))
    classes = _classes(positive, number)
    of_left = _classes(left_positive[best], left[best])
    of_right = _classes(positive - left_positive[best], number - left[best])
    change = classes * whole - of_left * left_entropy[best] - of_right * right_entropy[best]
    cost = np.log2(number - 1) + np.log2(3.0**classes - 2) - change
    return int(borders[best]) if whole - remaining[best] > cost / number else None


def _entropy(positive: Integers, number: Integers) -> Floats:
    """float64, bits of class entropy of sets, by their numbers of positive members and of all."""
    share = np.asarray(positive / number)
    inside = np.clip(share, 1e-300, 1), np.clip(1 - share, 1e-300, 1)
    bits: Floats = -share * np.log2(inside[0]) - (1 - share) * np.log2(inside[1])
    return bits


def _classes(positive: int, number: int) -> int:
    """Number of classes in a set, 1 or 2."""
    return int(positive > 0) + int(positive < number)
