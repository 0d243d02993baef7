"""Boosted regression trees as flat arrays, evaluated for a few rows at once in numpy.

They are fitted with scikit-learn (:mod:`winnow.training.blocks.decision.boosting`); what is stored are numbers alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from winnow.core import compiled
from winnow.models.files import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Arrays = Mapping[str, NDArray[Any]]

_MOST_NODES: Final = 100_000
_MOST_DEPTH: Final = 32


@dataclass(frozen=True, eq=False, slots=True)
class Trees:
    """Trees that are summed up: ``t`` of them, with ``s`` nodes altogether.

    Attributes:
        root: int32[t], first node of each tree.
        feature: int32[s], column that a node looks at; 0 for a leaf.
        threshold: float32[s], rows go to the left where the column is not above it.
        child: int32[s, 2], node to the left and to the right; both are the leaf itself for a leaf.
        value: float32[s], what a leaf adds.
        baseline: what the sum begins with.
        depth: steps from a root to the farthest leaf.
    """

    root: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    child: NDArray[np.int32]
    value: NDArray[np.float32]
    baseline: float
    depth: int

    def predict(self, rows: NDArray[np.float32]) -> Floats:
        """float64[k], sums of the leaves that float32[k, d] rows fall into."""
        k, width = rows.shape
        core = compiled()
        if core is not None:
            found = np.empty(k)
            nodes = self.root, self.feature, self.threshold, np.ascontiguousarray(self.child), self.value
            core.predict_trees(np.ascontiguousarray(rows), *nodes, self.depth, width, found)
            return self.baseline + found
        values, begin = rows.ravel(), np.arange(0, k * width, width)[:, None]
        child = self.child.ravel()
        node = np.broadcast_to(self.root, (k, len(self.root)))
        for _ in range(self.depth):
            above = values.take(begin + self.feature.take(node)) > self.threshold.take(node)
            node = child.take(2 * node + above)
        sums: Floats = self.baseline + self.value.take(node).sum(axis=1, dtype=np.float64)
        return sums

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """The trees as they are stored, behind a name."""
        return {
            f"{name} root": self.root,
            f"{name} feature": self.feature.astype(np.int16),
            f"{name} threshold": self.threshold,
            f"{name} child": self.child.astype(np.int32),
            f"{name} value": self.value,
            f"{name} shape": np.array([self.baseline, self.depth]),
        }

    @classmethod
    def stored(cls, arrays: Arrays, name: str, width: int) -> Self:
        """Take trees over rows of a given width out of the arrays of a model file.

        Raises:
            ModelError: they are missing, or point outside themselves.
        """
        try:
            root, feature, threshold, child, value, shape = (
                arrays[f"{name} {part}"] for part in ("root", "feature", "threshold", "child", "value", "shape")
            )
        except KeyError as error:
            raise ModelError(f"model has no trees {name!r}: {error} is missing") from error
        s = len(feature) if feature.ndim == 1 else 0
        integers = all(array.dtype.kind in "iu" for array in (root, feature, child))
        fits = child.shape == (s, 2) and threshold.shape == value.shape == (s,) and shape.shape == (2,)
        if not integers or not fits or not 0 < s <= _MOST_NODES or root.ndim != 1:
            raise ModelError(f"model has misshapen trees {name!r}")
        inside = all(
            ((array >= 0) & (array < below)).all() for array, below in ((root, s), (child, s), (feature, width))
        )
        finite = np.isfinite(value).all() and np.isfinite(shape).all() and not np.isnan(threshold).any()
        if not inside or not finite or not 0 <= shape[1] <= _MOST_DEPTH:
            raise ModelError(f"model has trees {name!r} that point outside themselves")
        return cls(
            root.astype(np.int32),
            feature.astype(np.int32),
            threshold.astype(np.float32),
            np.ascontiguousarray(child, np.int32),
            value.astype(np.float32),
            float(shape[0]),
            int(shape[1]),
        )
