"""Networks learn what the order of blocks tells; what is decided of whole pages is learned from pages not seen."""

import numpy as np
import pytest

from winnow.features.blocks import features_of
from winnow.models.decision import CONFIDENCE_INPUTS
from winnow.page.page import Page
from winnow.training.blocks import learn_confidence
from winnow.training.networks import ContextWindows, PooledNetwork, TrainingSet, fit_pooled, forward, gradients
from winnow.training.sequences import SequencePage, fit_sequence

HTML = "<main><div><p>a</p><p>b b b b</p></div><p>c</p></main><ul><li>d</li><li>e</li><li>f</li></ul>"
K = 5


def around(html: str = HTML) -> ContextWindows:
    return ContextWindows.of((found := features_of(Page.parse(html))).tokens, found.words)


def random_network(seed: int = 0) -> PooledNetwork:
    random = np.random.default_rng(seed)
    return PooledNetwork(*(random.normal(size=shape) for shape in PooledNetwork.shapes(K, 4, 3)))


@pytest.mark.parametrize("name", PooledNetwork._fields)
def test_gradients_are_slopes_of_the_loss(name: str):
    random, network, windows = np.random.default_rng(1), random_network(), around()
    inputs, target, weight = random.normal(size=(6, K)), random.random(6), random.random(6)

    def loss() -> float:
        logit = forward(network, inputs, windows)[2]
        return float(weight @ (np.logaddexp(0, logit) - target * logit))

    slopes = gradients(network, inputs, target, weight, windows)._asdict()
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
    network = fit_pooled(training_set, hidden=(8, 4), epochs=1, min_steps=300, decay=0.01, seed=3)
    logits = np.concatenate(
        [forward(network, training_set.inputs[6 * page : 6 * page + 6], around())[2] for page in range(200)]
    )
    assert ((logits > 0) == (training_set.target > 0.5)).mean() > 0.95


@pytest.mark.parametrize("forwards", [True, False])
def test_what_only_the_order_of_blocks_tells_is_learned(forwards: bool):
    random, pages = np.random.default_rng(6), []
    for _ in range(160):  # content is what stands behind the block that begins it
        inputs = random.normal(size=(12, K)).astype(np.float32)
        begins = int(random.integers(1, 11))
        inputs[:, 0] = 4 * (np.arange(12) == begins)
        target = (np.arange(12) > begins if forwards else np.arange(12) < begins).astype(np.float32)
        pages.append(SequencePage(inputs, target, np.ones(12, np.float32), copy=False))
    network = fit_sequence(pages, units=(8, 8, 8), epochs=1, min_steps=250, seed=1)
    mean, scale = np.zeros(K, np.float32), np.ones(K, np.float32)
    right = [(network.logits([page.inputs], mean, scale) > 0) == (page.target > 0.5) for page in pages]
    assert np.mean(right) > 0.95


def test_confidence_is_the_f1_that_such_texts_have_had():
    random = np.random.default_rng(5)
    inputs = [np.append(1.0, random.random(len(CONFIDENCE_INPUTS) - 1)) for _ in range(300)]
    f1 = [0.4 + 0.5 * row[1] + random.normal() / 50 for row in inputs]
    weights = learn_confidence(["one"] * 200 + ["two"] * 100, f1, inputs)
    assert weights == pytest.approx([0.4, 0.5, 0, 0, 0, 0], abs=0.03)


def test_blocks_without_weight_teach_nothing_and_the_same_seed_gives_the_same_network():
    random = np.random.default_rng(2)
    inputs, target = random.normal(size=(40, 12, K)).astype(np.float32), random.random((40, 12)).astype(np.float32)
    weight = np.where(np.arange(12) < 6, 1, 0).astype(np.float32)
    fitted = []
    for other, seed in ((0.0, 1), (1.0, 1), (0.0, 2)):
        targets = np.where(weight > 0, target, np.float32(other))
        pages = [SequencePage(x, y, weight, copy=False) for x, y in zip(inputs, targets, strict=True)]
        fitted.append(fit_sequence(pages, units=(4, 4, 2), epochs=2, dropout=0.2, seed=seed).arrays())
    assert all(np.array_equal(fitted[0][name], fitted[1][name]) for name in fitted[0])
    assert not np.array_equal(fitted[0]["network dense_weight"], fitted[2]["network dense_weight"])
