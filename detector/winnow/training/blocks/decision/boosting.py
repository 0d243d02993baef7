"""Fits boosted regression trees with scikit-learn and takes their numbers out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from winnow.models.decision import Trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Matrix = NDArray[np.float32]

_LEAVES: Final = 12
_DEPTH: Final = 5
_LEAST_ROWS: Final = 40
_SHRINKAGE: Final = 10.0  # of a leaf's value, in rows
_MOST_BINS: Final = 255  # of a column; scikit-learn takes no more


@dataclass(frozen=True, eq=False, slots=True)
class Binned:
    """Rows whose columns are cut into bins, once for all fits to them.

    Where rows have weights, scikit-learn cuts by weighted quantiles, and sorts a column again for each of them. Plain
    quantiles do as well. What it is given are numbers of bins, which it takes as they are.

    Attributes:
        bins: float32[k, d], number of the bin of each value, from 0.
        edges: float32[d, _MOST_BINS], highest value in each bin but the last, whose edge is infinite.
    """

    bins: Matrix
    edges: Matrix

    @classmethod
    def of(cls, rows: Matrix) -> Self:
        """Cut float32[k, d] rows."""
        bins = np.empty(rows.shape, np.float32)
        edges = np.full((rows.shape[1], _MOST_BINS), np.inf, np.float32)
        for column, values in enumerate(rows.T):
            own = _edges(values)
            bins[:, column] = np.searchsorted(own, values)
            edges[column, : len(own)] = own
        return cls(bins, edges)

    def of_rows(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """Some of the rows, in the same bins."""
        return type(self)(self.bins[chosen], self.edges)


def _edges(values: Matrix) -> Matrix:
    """Half way between values next to each other: all of them, or where they are many, between the quantiles."""
    ordered = np.sort(values)
    behind = np.flatnonzero(np.diff(ordered)) + 1  # where a value ends
    if len(behind) >= _MOST_BINS:
        quantiles = np.linspace(0, len(ordered), _MOST_BINS + 1)[1:-1]
        behind = np.unique(behind[np.searchsorted(behind, quantiles).clip(max=len(behind) - 1)])
    last, first = ordered[behind - 1], ordered[behind]
    middle = last + (first - last) / 2
    edges: Matrix = np.where(middle < first, middle, last)  # neighbours in single precision have nothing between them
    return edges


def fit_trees(rows: Binned, target: Floats, weight: Floats, *, number: int, rate: float) -> Trees:
    """Fit trees to the target by least squares.

    Args:
        rows: k of them.
        target: float64[k].
        weight: float64[k], how much each row matters; those that do not matter at all are left out.
        number: how many trees.
        rate: share of its step that each tree takes.
    """
    used = np.flatnonzero(weight)
    learner = HistGradientBoostingRegressor(
        max_iter=number,
        learning_rate=rate,
        max_leaf_nodes=_LEAVES,
        max_depth=_DEPTH,
        min_samples_leaf=min(_LEAST_ROWS, max(len(used) // 50, 1)),
        l2_regularization=_SHRINKAGE,
        early_stopping=False,
        max_bins=_MOST_BINS,
        random_state=0,  # no chance is in it: the bins are given
    )
    with threadpool_limits(1, user_api="openmp"):  # threads that wait for each other on a busy machine take minutes
        learner.fit(rows.bins[used], target[used], weight[used] / weight[used].mean())
    return _exported(learner, rows.edges)


def _exported(learner: HistGradientBoostingRegressor, edges: Matrix) -> Trees:
    nodes = [tree.nodes for (tree,) in learner._predictors]
    root = np.cumsum([0, *(len(tree) for tree in nodes[:-1])])
    together = np.concatenate(nodes)
    offset = np.repeat(root, [len(tree) for tree in nodes])
    leaf = together["is_leaf"].astype(bool)
    own = np.arange(len(together))
    child = np.stack([np.where(leaf, own, together[side].astype(np.int64) + offset) for side in ("left", "right")])
    feature = np.where(leaf, 0, together["feature_idx"]).astype(np.int32)
    last_bin = np.where(leaf, 0, together["num_threshold"]).astype(np.int64)  # to the left of the node's threshold
    return Trees(
        root=root.astype(np.int32),
        feature=feature,
        threshold=np.where(leaf, np.float32(np.inf), edges[feature, last_bin]),
        child=child.T.astype(np.int32),
        value=np.where(leaf, together["value"], 0).astype(np.float32),
        baseline=float(np.ravel(learner._baseline_prediction)[0]),
        depth=int(together["depth"].max()),
    )
