"""The network of blocks: what it averages over, and how it is fitted."""

from collections.abc import Iterator

import numpy as np
import pytest

from winnow import core
from winnow.features.blocks import features_of
from winnow.features.context import NAMES, ContextWindows
from winnow.models.blocks.standardising import CLIP
from winnow.models.networks import ARRAY_NAMES, Ensemble, Network
from winnow.page.page import Page
from winnow.training.blocks.fitting import Lesson, fit, gradients

HTML = "<main><div><p>a</p><p>b b b b</p></div><p>c</p></main><ul><li>d</li><li>e</li><li>f</li></ul>"
WEIGHT = np.array([1, 2, 1, 1, 1, 1])  # square roots of words
K = 5


def around(html: str = HTML) -> ContextWindows:
    return features_of(Page.parse(html)).windows


def means(windows: ContextWindows, values: np.ndarray) -> np.ndarray:
    """float32[len(NAMES), m], the mean of the same values over every kind of stretch."""
    each = []
    for kind in range(len(NAMES)):
        wide = np.zeros((len(values), len(NAMES)), np.float32)
        wide[:, kind] = values
        to = np.zeros((len(values), 1), np.float32)
        windows.add_means(to, wide)
        each.append(to[:, 0])
    return np.array(each)


def test_stretches_are_neighbours_containers_and_the_page():
    windows = around()
    stretches = [
        [list(range(begin, end)) for begin, end in zip(begins, ends, strict=True)]
        for begins, ends in zip(windows.begin, windows.end, strict=True)
    ]
    everything = list(range(6))
    assert stretches[0] == [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [2, 3, 4, 5], [3, 4, 5]]
    assert stretches[1] == [[0], [1], [2], [3], [4], [5]]
    assert stretches[2] == [[0, 1], [0, 1], [0, 1, 2], [3, 4, 5], [3, 4, 5], [3, 4, 5]]
    assert stretches[3] == [[0, 1, 2], [0, 1, 2], *[everything] * 4]
    assert stretches[-1] == [everything] * 6


def test_means_are_weighted_by_the_root_of_words():
    values = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0], np.float32)
    windows = around()
    for kind, mean in enumerate(means(windows, values)):
        for block in range(6):
            stretch = slice(windows.begin[kind, block], windows.end[kind, block])
            assert mean[block] == pytest.approx(np.average(values[stretch], weights=WEIGHT[stretch]), abs=1e-5)


def test_pages_behind_each_other_do_not_see_each_other():
    first, second = around(), around("<p>one</p><p>two three</p>")
    values = np.arange(8, dtype=np.float32)
    together = means(ContextWindows.joined([first, second]), values)
    assert np.allclose(together[:, :6], means(first, values[:6]), atol=1e-4)
    assert np.allclose(together[:, 6:], means(second, values[6:]), atol=1e-4)


def test_a_page_without_text_has_no_stretch():
    windows = around("<html><body></body></html>")
    assert windows.begin.shape == (len(NAMES), 0)
    assert ContextWindows.joined([windows, around()]).begin.shape == (len(NAMES), 6)


def random_network(seed: int = 0, dtype: type = np.float64) -> Network:
    random = np.random.default_rng(seed)
    return Network(*(random.normal(size=shape).astype(dtype) for shape in Network.shapes(K, 4, 3)))


@pytest.mark.parametrize("name", ARRAY_NAMES)
def test_gradients_are_slopes_of_the_loss(name: str):
    random, network, windows = np.random.default_rng(1), random_network(), around()
    inputs, target, weight = random.normal(size=(6, K)), random.random(6), random.random(6)

    def loss() -> float:
        logit = network.logits(inputs, windows)
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


def lesson_that_needs_the_others(pages: int = 200) -> Lesson:
    """Blocks are content where the other blocks of their page say so; their own features say nothing."""
    random = np.random.default_rng(2)
    inputs = random.normal(size=(pages, 6, K)).astype(np.float32)
    kind = random.random(pages) < 0.5
    inputs[:, :, 0] = np.where(kind, 2.0, -2.0)[:, None] * (np.arange(6) == 3)
    target = np.repeat(kind, 6).astype(np.float32)
    flat = inputs.reshape(-1, K)
    begin = np.arange(pages + 1) * 6
    return Lesson(flat, target, np.ones(len(flat), np.float32), begin, [around()] * pages)


def test_what_only_the_blocks_around_tell_is_learned():
    lesson = lesson_that_needs_the_others()
    network = fit(lesson, hidden=(8, 4), epochs=1, least_steps=300, decay=0.01, seed=3)
    logits = np.concatenate([network.logits(lesson.inputs[6 * page : 6 * page + 6], around()) for page in range(200)])
    assert ((logits > 0) == (lesson.target > 0.5)).mean() > 0.95


def test_the_same_seed_gives_the_same_network():
    lesson = lesson_that_needs_the_others(20)
    networks = [fit(lesson, hidden=(4, 2), epochs=2, decay=0.01, seed=seed) for seed in (1, 1, 2)]
    for first, second in zip(networks[0].arrays, networks[1].arrays, strict=True):
        assert np.array_equal(first, second)
    assert not np.array_equal(networks[0].block_weight, networks[2].block_weight)


def test_blocks_without_weight_teach_nothing():
    lesson = lesson_that_needs_the_others(20)
    weight = np.where(np.arange(120) < 60, 1, 0).astype(np.float32)
    networks = []
    for other in (0.0, 1.0):
        target = np.where(weight > 0, lesson.target, other).astype(np.float32)
        changed = Lesson(lesson.inputs, target, weight, lesson.begin, lesson.windows)
        networks.append(fit(changed, hidden=(4, 2), epochs=2, decay=0.01, seed=1))
    for first, second in zip(networks[0].arrays, networks[1].arrays, strict=True):
        assert np.array_equal(first, second)


def test_dropout_hides_features_from_training_alone():
    lesson = lesson_that_needs_the_others(20)
    before = lesson.inputs.copy()
    ways = ({"dropout": 0.5, "seed": 1}, {"dropout": 0.5, "seed": 1}, {"dropout": 0.0, "seed": 1})
    first, again, without = (fit(lesson, hidden=(4, 2), epochs=2, decay=0.01, **way) for way in ways)
    assert np.array_equal(lesson.inputs, before)
    assert np.array_equal(first.block_weight, again.block_weight)
    assert not np.array_equal(first.block_weight, without.block_weight)


def logits_of(networks: list[Network], inputs: np.ndarray, windows: ContextWindows) -> np.ndarray:
    """Logits of networks side by side, whose inputs are standardised already."""
    ensemble, k = Ensemble.of(networks), inputs.shape[1]
    parts = [inputs[:, : k // 2], inputs[:, k // 2 :]]
    hidden = ensemble.hidden(parts, np.zeros(k, np.float32), np.ones(k, np.float32))
    return ensemble.logits_of_hidden(hidden, windows)


@pytest.fixture(params=[16, 32, 64])
def registers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Registers of so many bytes at most, where the core is there and the processor has so wide ones."""
    compiled = core.compiled()
    if compiled is not None:
        assert compiled.limit_registers(request.param) <= request.param
    yield
    if compiled is not None:
        compiled.limit_registers(64)


@pytest.mark.usefixtures("registers")
@pytest.mark.parametrize("shape", [(K, 4, 3), (37, 24, 12), (3, 35, 33)])
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("blocks", [1, 6, 20])
def test_networks_together_give_the_mean_of_their_logits(number: int, blocks: int, shape: tuple[int, int, int]):
    random = np.random.default_rng(4)
    networks = [
        Network(*(random.normal(size=size).astype(np.float32) for size in Network.shapes(*shape)))
        for _ in range(number)
    ]
    inputs = random.normal(size=(blocks, shape[0])).clip(-CLIP, CLIP).astype(np.float32)
    html = "<p>a" * (blocks // 2) + "<div>" + "<p>b c" * (blocks - blocks // 2)
    alone = np.mean([network.logits(inputs, around(html)) for network in networks], axis=0)
    np.testing.assert_allclose(logits_of(networks, inputs, around(html)), alone, rtol=1e-4, atol=1e-3)
    with core.numpy_only():
        np.testing.assert_allclose(logits_of(networks, inputs, around(html)), alone, rtol=1e-4, atol=1e-3)


def test_features_count_four_standard_deviations_at_most():
    network = random_network(dtype=np.float32)
    far, nearer = np.full((6, K), 9, np.float32), np.full((6, K), CLIP, np.float32)
    assert np.array_equal(logits_of([network], far, around()), logits_of([network], nearer, around()))
    assert np.array_equal(logits_of([network], -far, around()), logits_of([network], -nearer, around()))


def test_a_page_without_text_has_no_logit():
    windows = around("<html><body></body></html>")
    assert logits_of([random_network()], np.zeros((0, K), np.float32), windows).shape == (0,)
