"""Fits boosted regression trees with scikit-learn and takes their numbers out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from winnow.models.blocks.decision.trees import Trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_LEAVES: Final = 12
_DEPTH: Final = 5
_LEAST_ROWS: Final = 40
_SHRINKAGE: Final = 10.0  # of a leaf's value, in rows


def fit_trees(
    rows: NDArray[np.float32], target: Floats, weight: Floats, *, number: int, rate: float, seed: int = 0
) -> Trees:
    """Fit trees to the target by least squares.

    Args:
        rows: float32[k, d].
        target: float64[k].
        weight: float64[k], how much each row matters.
        number: how many trees.
        rate: share of its step that each tree takes.
        seed: of the sample of rows by which columns are cut into bins.
    """
    learner = HistGradientBoostingRegressor(
        max_iter=number,
        learning_rate=rate,
        max_leaf_nodes=_LEAVES,
        max_depth=_DEPTH,
        min_samples_leaf=min(_LEAST_ROWS, max(len(rows) // 50, 1)),
        l2_regularization=_SHRINKAGE,
        early_stopping=False,
        random_state=seed,
    )
    with threadpool_limits(1, user_api="openmp"):  # threads that wait for each other on a busy machine take minutes
        learner.fit(rows, target, weight / weight.mean())
    return _exported(learner)


def _exported(learner: HistGradientBoostingRegressor) -> Trees:
    nodes = [tree.nodes for (tree,) in learner._predictors]
    root = np.cumsum([0, *(len(tree) for tree in nodes[:-1])])
    together = np.concatenate(nodes)
    offset = np.repeat(root, [len(tree) for tree in nodes])
    leaf = together["is_leaf"].astype(bool)
    own = np.arange(len(together))
    child = np.stack([np.where(leaf, own, together[side].astype(np.int64) + offset) for side in ("left", "right")])
    return Trees(
        root=root.astype(np.int32),
        feature=np.where(leaf, 0, together["feature_idx"]).astype(np.int32),
        threshold=np.where(leaf, np.inf, together["num_threshold"]).astype(np.float32),
        child=child.T.astype(np.int32),
        value=np.where(leaf, together["value"], 0).astype(np.float32),
        baseline=float(np.ravel(learner._baseline_prediction)[0]),
        depth=int(together["depth"].max()),
    )
