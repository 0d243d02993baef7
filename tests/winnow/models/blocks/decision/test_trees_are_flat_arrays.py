"""Boosted trees taken out of scikit-learn say what they said there, and damaged ones are refused."""

import numpy as np
import pytest

from winnow.models.decision import Trees
from winnow.models.files import ModelError
from winnow.training.blocks.decision import boosting

RANDOM = np.random.default_rng(4)
ROWS = RANDOM.normal(size=(600, 5)).astype(np.float32)
BINNED = boosting.Binned.of(ROWS)
TARGET = np.sin(ROWS[:, 0].astype(np.float64)) + (ROWS[:, 1] > 0) * ROWS[:, 2]


@pytest.fixture(scope="module")
def trees() -> Trees:
    return boosting.fit_trees(BINNED, TARGET, np.ones(len(ROWS)), number=30, rate=0.2)


def test_the_arrays_say_what_the_learner_says(monkeypatch: pytest.MonkeyPatch):
    learners: list = []
    export = boosting._exported
    monkeypatch.setattr(
        boosting, "_exported", lambda learner, edges: learners.append(learner) or export(learner, edges)
    )
    trees = boosting.fit_trees(BINNED, TARGET, RANDOM.random(len(ROWS)) + 0.1, number=40, rate=0.1)
    unseen = RANDOM.normal(size=(300, 5)).astype(np.float32)
    bins = [np.searchsorted(edges, values) for edges, values in zip(BINNED.edges, unseen.T, strict=True)]
    assert trees.predict(unseen) == pytest.approx(learners[0].predict(np.column_stack(bins)), abs=1e-5)
    assert trees.depth <= 5


def test_the_target_is_learned(trees: Trees):
    assert np.mean((trees.predict(ROWS) - TARGET) ** 2) < 0.1 * TARGET.var()


def test_bins_part_values_at_their_edges_and_hold_equal_shares_of_many():
    few = np.array([[3, 1, 3, 2, 1]], np.float32).T
    binned = boosting.Binned.of(few)
    assert binned.bins[:, 0].tolist() == [2, 0, 2, 1, 0]
    assert binned.edges[0, :3].tolist() == [1.5, 2.5, np.inf]
    many = boosting.Binned.of(np.append(np.zeros(100), RANDOM.normal(size=9_900)).astype(np.float32)[:, None])
    assert len(np.unique(many.bins)) > 240
    assert np.bincount(many.bins[:, 0].astype(int)).max() < 200


def test_rows_without_weight_teach_nothing():
    other = boosting.fit_trees(
        BINNED, np.where(np.arange(600) < 300, 1.0, TARGET), (np.arange(600) < 300) * 1.0, number=5, rate=1.0
    )
    assert other.predict(ROWS) == pytest.approx(np.ones(600), abs=1e-3)


def test_trees_come_back_from_their_arrays(trees: Trees):
    again = Trees.stored(trees.arrays("f"), "f", 5)
    assert np.array_equal(again.predict(ROWS[:50]), trees.predict(ROWS[:50]))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("child", np.full((3, 2), 7, np.int32)),
        ("root", np.array([-1], np.int32)),
        ("feature", np.array([0, 0, 9], np.int16)),
        ("value", np.array([0, np.nan, 0], np.float32)),
        ("threshold", np.array([np.nan, 0, 0], np.float32)),
        ("shape", np.array([0.0, 1e9])),
        ("shape", np.array([np.inf, 1])),
        ("child", np.zeros((2, 2), np.int32)),
        ("child", np.zeros((3, 2), np.float32)),
        ("root", None),
    ],
)
def test_trees_that_point_outside_themselves_are_refused(part: str, value: np.ndarray | None):
    stump = Trees(
        root=np.array([0], np.int32),
        feature=np.array([1, 0, 0], np.int32),
        threshold=np.array([0.5, np.inf, np.inf], np.float32),
        child=np.array([[1, 2], [1, 1], [2, 2]], np.int32),
        value=np.array([0, -1, 1], np.float32),
        baseline=0.25,
        depth=1,
    )
    arrays = stump.arrays("f")
    assert Trees.stored(arrays, "f", 2).predict(np.array([[9, 0.5], [9, 0.6]], np.float32)).tolist() == [-0.75, 1.25]
    damaged = {name: array for name, array in arrays.items() if name != f"f {part}"}
    if value is not None:
        damaged[f"f {part}"] = value
    with pytest.raises(ModelError):
        Trees.stored(damaged, "f", 2)
