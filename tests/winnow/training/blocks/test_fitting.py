"""Networks are fitted by gradients, and trees that scikit-learn has fitted say as arrays what they said there."""

import numpy as np
import pytest

from winnow.features.blocks import features_of
from winnow.features.context import ContextWindows
from winnow.models.decision import Trees
from winnow.models.networks import ARRAY_NAMES, Network
from winnow.page.page import Page
from winnow.training import decision as boosting
from winnow.training.networks import TrainingSet, fit, forward, gradients

HTML = "<main><div><p>a</p><p>b b b b</p></div><p>c</p></main><ul><li>d</li><li>e</li><li>f</li></ul>"
K = 5


def around(html: str = HTML) -> ContextWindows:
    return features_of(Page.parse(html)).windows


def random_network(seed: int = 0) -> Network:
    random = np.random.default_rng(seed)
    return Network(*(random.normal(size=shape) for shape in Network.shapes(K, 4, 3)))


@pytest.mark.parametrize("name", ARRAY_NAMES)
def test_gradients_are_slopes_of_the_loss(name: str):
    random, network, windows = np.random.default_rng(1), random_network(), around()
    inputs, target, weight = random.normal(size=(6, K)), random.random(6), random.random(6)

    def loss() -> float:
        logit = forward(network, inputs, windows)[2]
        return float(weight @ (np.logaddexp(0, logit) - target * logit))

    slopes = dict(zip(ARRAY_NAMES, gradients(network, inputs, target, weight, windows), strict=True))
    array, step = getattr(network, name), 1e-2
    for index in np.ndindex(array.shape):
        losses = []
        for move in (step, -2 * step):
            array[index] += move
            losses.append(loss())
        array[index] += step
        assert slopes[name][index] == pytest.approx((losses[0] - losses[1]) / (2 * step), abs=2e-2)


def lesson_that_needs_the_others(pages: int = 200) -> TrainingSet:
    """Blocks are content where the other blocks of their page say so; their own features say nothing."""
    random = np.random.default_rng(2)
    inputs = random.normal(size=(pages, 6, K)).astype(np.float32)
    kind = random.random(pages) < 0.5
    inputs[:, :, 0] = np.where(kind, 2.0, -2.0)[:, None] * (np.arange(6) == 3)
    target = np.repeat(kind, 6).astype(np.float32)
    flat = inputs.reshape(-1, K)
    begin = np.arange(pages + 1) * 6
    return TrainingSet(flat, target, np.ones(len(flat), np.float32), begin, [around()] * pages)


def test_what_only_the_blocks_around_tell_is_learned():
    training_set = lesson_that_needs_the_others()
    network = fit(training_set, hidden=(8, 4), epochs=1, min_steps=300, decay=0.01, seed=3)
    logits = np.concatenate(
        [forward(network, training_set.inputs[6 * page : 6 * page + 6], around())[2] for page in range(200)]
    )
    assert ((logits > 0) == (training_set.target > 0.5)).mean() > 0.95


def test_the_same_seed_gives_the_same_network():
    training_set = lesson_that_needs_the_others(20)
    networks = [fit(training_set, hidden=(4, 2), epochs=2, decay=0.01, seed=seed) for seed in (1, 1, 2)]
    for first, second in zip(networks[0].arrays, networks[1].arrays, strict=True):
        assert np.array_equal(first, second)
    assert not np.array_equal(networks[0].block_weight, networks[2].block_weight)


def test_blocks_without_weight_teach_nothing():
    training_set = lesson_that_needs_the_others(20)
    weight = np.where(np.arange(120) < 60, 1, 0).astype(np.float32)
    networks = []
    for other in (0.0, 1.0):
        target = np.where(weight > 0, training_set.target, other).astype(np.float32)
        changed = TrainingSet(training_set.inputs, target, weight, training_set.begin, training_set.windows)
        networks.append(fit(changed, hidden=(4, 2), epochs=2, decay=0.01, seed=1))
    for first, second in zip(networks[0].arrays, networks[1].arrays, strict=True):
        assert np.array_equal(first, second)


def test_dropout_hides_features_from_training_alone():
    training_set = lesson_that_needs_the_others(20)
    before = training_set.inputs.copy()
    ways = ({"dropout": 0.5, "seed": 1}, {"dropout": 0.5, "seed": 1}, {"dropout": 0.0, "seed": 1})
    first, again, without = (fit(training_set, hidden=(4, 2), epochs=2, decay=0.01, **way) for way in ways)
    assert np.array_equal(training_set.inputs, before)
    assert np.array_equal(first.block_weight, again.block_weight)
    assert not np.array_equal(first.block_weight, without.block_weight)


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
