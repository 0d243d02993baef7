"""Networks are fitted by gradients, and trees learn which cut of a page is best."""

from dataclasses import replace

import numpy as np
import pytest

from winnow.features.blocks import features_of
from winnow.features.context import ContextWindows
from winnow.models.decision import CUT_NAMES, KIND_INPUTS, KINDS, LearnedDecision, Trees
from winnow.models.networks import ARRAY_NAMES, Network
from winnow.models.scores import FAVORS, SCOPES
from winnow.page.page import Page
from winnow.training import decision as boosting
from winnow.training.decision import CutPage, Decisions, add_page_columns, learn_decisions
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


LEVEL, LINKS = CUT_NAMES.index("level"), CUT_NAMES.index("added: link share")
ARTICLE, LISTING = KINDS.index("article"), KINDS.index("listing")
CUTS = 6


def cut_page(number: int, random: np.random.Generator) -> CutPage:
    """Articles are best cut at the second level, listings at the sixth; what is added there has links."""
    kind = LISTING if number % 3 == 0 else ARTICLE
    best = 4 if kind == LISTING else 1
    features = random.normal(size=(CUTS, len(CUT_NAMES))).astype(np.float32)
    features[:, LEVEL] = np.arange(CUTS)
    distance = np.arange(CUTS) - best
    top = random.uniform(0.7, 1.0)
    features[:, LINKS] = top
    quality = np.stack(
        [top - 0.08 * np.abs(distance), top - 0.08 * np.abs(distance + 1), top - 0.08 * np.abs(distance - 1)]
    )
    inputs = random.normal(size=len(KIND_INPUTS))
    inputs[0] += 4 * (kind == LISTING)
    return CutPage(f"host{number}", "one", number % 5, kind, features, quality, inputs)


@pytest.fixture(scope="module")
def pages() -> list[CutPage]:
    random = np.random.default_rng(3)
    return [cut_page(number, random) for number in range(250)]


@pytest.fixture(scope="module")
def decisions(pages: list[CutPage]) -> Decisions:
    return learn_decisions(pages, number=15)


def chosen(decision: LearnedDecision, page: CutPage, scope: str = "auto", favor: str = "balanced") -> int:
    rows = add_page_columns(page.features, decision.kinds.probabilities(page.kind_inputs), scope)  # type: ignore[arg-type]
    return int(decision.trees[favor].predict(rows).argmax())  # type: ignore[index]


def test_the_best_cut_is_found_on_pages_not_seen(pages: list[CutPage], decisions: Decisions):
    right = [chosen(decisions.without[page.fold], page) == page.quality[0].argmax() for page in pages]
    assert np.mean(right) > 0.85


def test_kinds_of_pages_are_told_apart(pages: list[CutPage], decisions: Decisions):
    right = [decisions.without[page.fold].kinds.probabilities(page.kind_inputs).argmax() == page.kind for page in pages]
    assert np.mean(right) > 0.9


def test_a_favor_moves_the_cut(pages: list[CutPage], decisions: Decisions):
    cut = {favor: np.mean([chosen(decisions.learned, page, favor=favor) for page in pages]) for favor in FAVORS}
    assert cut["precision"] < cut["balanced"] - 0.5
    assert cut["recall"] > cut["balanced"] + 0.5


def test_a_scope_moves_the_cut_where_it_tells_what_the_page_does_not(pages: list[CutPage]):
    unclear = [replace(page, kind_inputs=np.zeros_like(page.kind_inputs)) for page in pages]
    decision = learn_decisions(unclear, number=15).learned
    cut = {scope: np.array([chosen(decision, page, scope=scope) for page in unclear]) for scope in SCOPES}
    assert (cut["article"] == 1).mean() > 0.9
    assert (cut["page"] == 4).mean() > 0.9
    assert cut["article"].mean() <= cut["auto"].mean() < cut["page"].mean()


def test_confidence_is_what_the_cut_gives(pages: list[CutPage], decisions: Decisions):
    expected, reached = [], []
    for page in pages:
        decision = decisions.without[page.fold]
        best = chosen(decision, page)
        rows = add_page_columns(page.features, decision.kinds.probabilities(page.kind_inputs), "auto")
        expected.append(decision.confidence.predict(rows[best : best + 1])[0])
        reached.append(page.quality[0, best])
    assert np.mean(expected) == pytest.approx(np.mean(reached), abs=0.01)
    assert np.corrcoef(expected, reached)[0, 1] > 0.7


def test_pages_of_one_fold_are_not_enough(pages: list[CutPage]):
    with pytest.raises(ValueError, match="two folds"):
        learn_decisions([page for page in pages if page.fold == 2], number=2)


def test_a_decision_comes_back_from_its_arrays(pages: list[CutPage], decisions: Decisions):
    again = LearnedDecision.stored(decisions.learned.arrays())
    for page in pages[:20]:
        assert chosen(again, page) == chosen(decisions.learned, page)
