"""Trains the block model: log-odds of tokens, teachers, networks distilled from them, and one that reads in order.

Four steps: (1) log-odds of names and words, for the training rows from the other folds only, as in the stacked model
of the site-independent template blocks paper, section 4.1; (2) teachers, on all labels; (3) networks on the labels of
gold text and, for the blocks of sites, on the soft labels of the teachers; (4) the network that reads blocks in order,
on gold text alone (:mod:`winnow.training.sequences`). Site-level labels leave out what some pages share, and call every
teaser that changes content; the teachers correct both. Labels from authors' marks stay as they are, as those of gold
text do, but weigh less.

Networks are fitted by Adam on whole pages, with a rate that falls to zero: scikit-learn's perceptron sees one row at a
time and cannot learn what the blocks around a block say of it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.sparse import csc_array

from winnow.features.context import WINDOWS, ContextWindows
from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.blocks import BlockModel
from winnow.models.networks import Network, standardise
from winnow.training.examples import stack_features
from winnow.training.sequences import SequencePage, fit_sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from winnow.training.examples import BlockPage

    Matrix = NDArray[np.float32]
    Floats = NDArray[np.float64]


_RATE: Final = 0.003
_WARM_UP: Final = 100  # steps
_MEMORY: Final = 0.9, 0.999  # of Adam, for the mean and the mean square of gradients
_PAGES_PER_STEP: Final = 16


@dataclass(frozen=True, eq=False, slots=True)
class TrainingSet:
    """What a network is fitted to: the blocks of some pages, page after page.

    Attributes:
        inputs: float32[r, k], standardised features.
        target: float32[r], probability of content, 0..1.
        weight: float32[r], how much each block matters.
        begin: int64[pages + 1], where the blocks of each page begin.
        windows: of the blocks of each page.
    """

    inputs: Matrix
    target: Matrix
    weight: Matrix
    begin: NDArray[np.int64]
    windows: Sequence[ContextWindows]

    def pages(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], ContextWindows]:
        """Rows of some pages, and the windows of their blocks."""
        rows = np.concatenate([np.arange(self.begin[page], self.begin[page + 1]) for page in chosen.tolist()])
        return rows, ContextWindows.joined([self.windows[page] for page in chosen.tolist()])


def fit(
    training_set: TrainingSet,
    *,
    hidden: tuple[int, int],
    epochs: int,
    min_steps: int = 0,
    decay: float,
    dropout: float = 0.0,
    seed: int,
) -> Network:
    """Fit a network.

    Args:
        training_set: what to fit it to.
        hidden: units of its two hidden layers.
        epochs: passes over the pages.
        min_steps: where pages are few, at least so many steps, in more passes.
        decay: share of each weight that is lost in a step, in units of the rate.
        dropout: share of the features that a block is shown without, others at each step (Srivastava et al. 2014). A
            network that cannot count on any one feature does better on sites unlike those it was trained on.
        seed: of the first weights and of the order of the pages; the same seed gives the same network.
    """
    random = np.random.default_rng(seed)
    network = _random_network(training_set.inputs.shape[1], hidden, random)
    means, squares = ([np.zeros_like(array) for array in network.arrays] for _ in range(2))
    pages = np.flatnonzero(np.diff(training_set.begin))
    batches = math.ceil(len(pages) / _PAGES_PER_STEP)
    steps = max(epochs, math.ceil(min_steps / batches)) * batches
    weight = training_set.weight * np.float32(
        len(pages) / (max(float(training_set.weight.sum()), 1e-12) * _PAGES_PER_STEP)
    )
    for step in range(steps):
        batch = step % batches
        if not batch:
            order = random.permutation(pages)
        rows, windows = training_set.pages(order[batch * _PAGES_PER_STEP : (batch + 1) * _PAGES_PER_STEP])
        inputs = training_set.inputs[rows]
        if dropout:
            inputs *= (random.random(inputs.shape, np.float32) >= dropout) * np.float32(1 / (1 - dropout))
        slopes = gradients(network, inputs, training_set.target[rows], weight[rows], windows)
        rate = _RATE * min((step + 1) / _WARM_UP, 1.0) * (0.5 + 0.5 * math.cos(math.pi * step / steps))
        for array, slope, mean, square in zip(network.arrays, slopes, means, squares, strict=True):
            _adam(array, slope, mean, square, step=step + 1, rate=rate, decay=decay)
    return network


def _adam(array: Matrix, slope: Matrix, mean: Matrix, square: Matrix, *, step: int, rate: float, decay: float) -> None:
    """One step of Adam with decoupled decay of weights (Loshchilov and Hutter 2019), in place; biases do not decay."""
    mean += (1 - _MEMORY[0]) * (slope - mean)
    square += (1 - _MEMORY[1]) * (slope * slope - square)
    if array.ndim > 1:
        array *= 1 - rate * decay
    unbiased = mean / (1 - _MEMORY[0] ** step), square / (1 - _MEMORY[1] ** step)
    array -= rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)


def forward(network: Network, inputs: Matrix, windows: ContextWindows) -> tuple[Matrix, Matrix, Matrix]:
    """Evaluate a network: its two hidden layers, float32[m, c] and float32[m, d], and float32[m] logits of content.

    The compiled core, which scores pages, keeps no layers.
    """
    blocks = np.maximum(inputs @ network.block_weight + network.block_bias, 0)
    width = len(network.context_bias)
    weighted = blocks @ network.context_weight  # the mean of weighted sums is the weighted sum of means, and narrower
    context = weighted[:, :width] + network.context_bias
    totals = np.zeros((len(weighted) + 1, weighted.shape[1] - width), np.float32)
    np.cumsum(weighted[:, width:] * windows.weight[:, None], axis=0, out=totals[1:])
    for kind, (begin, end, scale) in enumerate(zip(windows.begin, windows.end, windows.scale, strict=True)):
        column = totals[:, kind * width : (kind + 1) * width]
        context += (column.take(end, axis=0) - column.take(begin, axis=0)) * scale[:, None]
    np.maximum(context, 0, out=context)
    return blocks, context, (context @ network.output_weight + network.output_bias)[:, 0]


def gradients(
    network: Network, inputs: Matrix, target: Matrix, weight: Matrix, windows: ContextWindows
) -> tuple[Matrix, ...]:
    """Slopes of the weighted cross-entropy by each of the network's arrays."""
    blocks, context, logit = forward(network, inputs, windows)
    probability = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
    of_output = (weight * (probability - target)).astype(np.float32)[:, None]
    of_context = of_output @ network.output_weight.T * (context > 0)
    of_weighted = np.concatenate([of_context, _gradients_of_means(of_context, windows)], axis=1)
    of_blocks = of_weighted @ network.context_weight.T * (blocks > 0)
    return (
        inputs.T @ of_blocks, of_blocks.sum(axis=0),
        blocks.T @ of_weighted, of_context.sum(axis=0),
        context.T @ of_output, of_output.sum(axis=0),
    )  # fmt: skip


def _gradients_of_means(slopes: Matrix, windows: ContextWindows) -> Matrix:
    """Slopes by the values that the second layer averages, from the slopes by what it adds to."""
    m, width = slopes.shape
    kinds = len(windows.begin)
    result = np.empty((m, kinds * width), np.float32)
    for kind in range(kinds):
        scale = windows.scale[kind][:, None]
        edges = np.stack([windows.begin[kind], windows.end[kind]], axis=1).ravel()
        signed = np.concatenate([scale, -scale], axis=1).ravel()
        change = csc_array((signed, edges, np.arange(0, 2 * m + 1, 2)), shape=(m + 1, m))
        result[:, kind * width : (kind + 1) * width] = np.cumsum((change @ slopes)[:-1], axis=0)
    result *= windows.weight[:, None]
    return result


def _random_network(inputs: int, hidden: tuple[int, int], random: np.random.Generator) -> Network:
    """A network of random weights, each layer as strong as the one before it (He et al. 2015)."""
    inputs_of_layers = inputs, hidden[0] * (1 + len(WINDOWS)), hidden[1]
    arrays = []
    for number, shape in enumerate(Network.shapes(inputs, *hidden)):
        scale = 0.0 if len(shape) == 1 else math.sqrt(2 / inputs_of_layers[number // 2])
        arrays.append((random.normal(size=shape) * scale).astype(np.float32))
    return Network(*arrays)


STEPS: Final = ("token tables", "teachers", "networks", "sequence network")
"""What training goes through, in this order; the last with gold text alone."""

FOLDS: Final = 5
_TEACHERS: Final = 1_000  # their seeds begin there
_SMOOTHING: Final = 2.0  # pages that say what the prior says, added to every table entry
_MAX_VOTES: Final = 15.0  # pages that a source of gold pages counts for at most
_SPREAD: Final = 20.0  # a token votes for a page in full from a twentieth of its mass on


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a block model is trained with.

    Attributes:
        site_fraction: weight of all site labels together, for the tables and the teachers; gold labels weigh 1.
        marked_fraction: weight of the labels by authors' marks together.
        distilled_fraction: weight of the soft labels of the sites' blocks together, all gold labels being 1.
        hidden: units of the two hidden layers of a network.
        teachers, networks: how many are trained, from different starts, and averaged.
        epochs: passes of a network over the pages.
        min_steps: steps of a network; where pages are few it passes over them more often.
        decay: share of each weight that a step takes, in units of the learning rate.
        dropout: share of the features that the teachers are shown each block without, others at each step.
        dropout_without_gold: the same where there is no gold text, and what is learned must hold for other sites.
        sequence: units of the network that reads blocks in order: first layer, state in each direction, last layer.
        sequence_epochs: its passes over the gold pages.
        sequence_dropout: share of the features that it is shown a page without.
    """

    site_fraction: float = 0.3
    marked_fraction: float = 0.3
    distilled_fraction: float = 3.0
    hidden: tuple[int, int] = (64, 32)
    teachers: int = 2
    networks: int = 2
    epochs: int = 6
    min_steps: int = 500
    decay: float = 0.01
    dropout: float = 0.5
    dropout_without_gold: float = 0.7
    sequence: tuple[int, int, int] = (64, 96, 64)
    sequence_epochs: int = 8
    sequence_dropout: float = 0.4


RECIPE: Final = Recipe()


def train_block_model(
    gold: Sequence[BlockPage],
    sites: Sequence[BlockPage],
    *,
    marked: Sequence[BlockPage] = (),
    seed: int = 0,
    recipe: Recipe = RECIPE,
    on_step: Callable[[str], None] | None = None,
) -> BlockModel:
    """Train on labelled pages; the same seed and pages give the same weights.

    Args:
        gold: pages with labels from gold text; none for a model that learns from sites and marks alone.
        sites: pages with site-level labels; every site counts the same.
        marked: pages of sites with labels from authors' marks; every site counts the same.
        seed: of folds and first weights.
        recipe: how.
        on_step: called with the name of each of :data:`STEPS` as it begins.

    Raises:
        ValueError: there are no labels of both kinds.
    """
    on_step = on_step or (lambda _step: None)
    on_step(STEPS[0])
    pages = [*gold, *marked, *sites]
    weight = _page_weights(gold, marked, sites, recipe)
    matrix = np.concatenate(stacked_token_features(pages, weight, seed=seed))
    content = np.concatenate([page.content for page in pages])
    mass = np.concatenate([page.mass * share for page, share in zip(pages, weight, strict=True)])
    labelled = ~np.isnan(content) & (mass > 0)
    is_content = content > 0.5
    if is_content[labelled].all() or not is_content[labelled].any():
        raise ValueError("the pages give no labels of both kinds: content and template")
    begin = np.append(0, np.cumsum([len(page.words) for page in pages]))
    gold_rows = slice(0, begin[len(gold)])
    site_rows = slice(begin[len(gold) + len(marked)], None)
    examples = matrix[gold_rows] if begin[len(gold)] else matrix
    mean, scale = examples.mean(axis=0), (1 / (examples.std(axis=0) + 1e-3)).astype(np.float32)
    training_set = TrainingSet(
        inputs=standardise(matrix, mean, scale),
        target=is_content.astype(np.float32),
        weight=np.where(labelled, mass, 0).astype(np.float32),
        begin=begin,
        windows=[page.windows for page in pages],
    )
    del matrix, examples  # gigabytes
    on_step(STEPS[1])
    dropout = recipe.dropout if len(gold) else recipe.dropout_without_gold
    teachers = _networks(training_set, recipe.teachers, recipe, seed=seed + _TEACHERS, dropout=dropout)

    on_step(STEPS[2])
    distilled = ~labelled
    distilled[site_rows] = True
    mass[site_rows] *= (
        recipe.distilled_fraction * mass[gold_rows].sum() / max(mass[site_rows].sum(), 1e-12) if len(gold) else 1.0
    )
    distillation = replace(
        training_set,
        target=np.where(distilled, soft_labels(teachers, training_set), training_set.target),
        weight=mass.astype(np.float32),
    )
    networks = _networks(distillation, recipe.networks, recipe, seed=seed)
    sequence = None
    if any(len(page.words) for page in gold):
        on_step(STEPS[3])
        sequence = fit_sequence(
            [
                SequencePage(training_set.inputs[a:b], training_set.target[a:b], training_set.weight[a:b], page.copy)
                for page, a, b in zip(gold, begin[:-1], begin[1:], strict=False)
            ],
            units=recipe.sequence,
            epochs=recipe.sequence_epochs,
            min_steps=recipe.min_steps,
            dropout=recipe.sequence_dropout,
            seed=seed,
        )
    return BlockModel.of(learn_tables(pages, weight), mean, scale, networks, sequence)


def soft_labels(networks: Sequence[Network], training_set: TrainingSet) -> Matrix:
    """float32[r], probability of content that networks give to every block of a training set."""
    probability = np.zeros(len(training_set.target), np.float32)
    for page, around in enumerate(training_set.windows):
        rows = slice(training_set.begin[page], training_set.begin[page + 1])
        logit = np.mean([forward(network, training_set.inputs[rows], around)[2] for network in networks], axis=0)
        probability[rows] = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
    return probability


def _networks(
    training_set: TrainingSet, number: int, recipe: Recipe, *, seed: int, dropout: float = 0.0
) -> list[Network]:
    one = partial(fit, training_set, hidden=recipe.hidden, epochs=recipe.epochs, min_steps=recipe.min_steps)
    return [one(decay=recipe.decay, dropout=dropout, seed=seed + start) for start in range(number)]


def _page_weights(
    gold: Sequence[BlockPage], marked: Sequence[BlockPage], sites: Sequence[BlockPage], recipe: Recipe
) -> Floats:
    """float64[pages]: 1 for a gold page, less for those of a source with many of them.

    The pages of a site share an equal part of the rest; without gold pages, marks and sites weigh the same.
    """
    number = Counter(page.source for page in gold)
    gold_weight = np.array([min(1.0, _MAX_VOTES / number[page.source]) for page in gold])
    totals = recipe.marked_fraction * gold_weight.sum(), recipe.site_fraction * gold_weight.sum()
    if not len(gold):
        totals = float(len(sites)), float(len(sites))
    parts = [_equal_sites(pages) * total for pages, total in zip((marked, sites), totals, strict=True)]
    return np.concatenate([gold_weight, *parts])


def _equal_sites(pages: Sequence[BlockPage]) -> Floats:
    """float64[pages], equal for all sites and all pages of one; adds up to 1."""
    number = Counter(page.source for page in pages)
    return np.array([1 / (number[page.source] * len(number)) for page in pages])


def learn_tables(pages: Sequence[BlockPage], weight: Floats) -> TokenTables:
    """Learn the log-odds of names and words; every page has a vote on every token it has, by how much it covers."""
    names, words = np.zeros((2, TABLE_SIZE)), np.zeros((2, TABLE_SIZE))
    for page, share in zip(pages, weight, strict=True):
        vote = _votes(page)
        names += share * vote[0]
        words += share * vote[1]
    return TokenTables(log_odds_of_votes(names), log_odds_of_votes(words))


def stacked_token_features(pages: Sequence[BlockPage], weight: Floats, *, seed: int) -> list[Matrix]:
    """float32[m, k] of every page, its learned features from tables that have not seen its source."""

    def learn(seen: Sequence[BlockPage], weights: Floats) -> Callable[[BlockPage], Matrix]:
        tables = learn_tables(seen, weights)
        return lambda page: tables.features(page.tokens)

    return stack_features(pages, weight, learn, folds=FOLDS, seed=seed)


def _votes(page: BlockPage) -> Floats:
    """float64[2, 2, TABLE_SIZE], votes of a page for content and for template, of names and of words.

    A name covers the blocks inside its elements, a word the blocks it is in.
    """
    tokens = page.tokens
    mass = np.where(page.labelled, page.mass, 0.0)
    content = mass * np.nan_to_num(page.content)
    of_name = [
        (sums := np.append(0.0, np.cumsum(values)))[tokens.block_end[tokens.name_element]]
        - sums[tokens.block_begin[tokens.name_element]]
        for values in (mass, content)
    ]
    of_word = [values[tokens.word_block] for values in (mass, content)]
    return np.stack([token_votes(tokens.name, *of_name), token_votes(tokens.word, *of_word)])


def token_votes(token: NDArray[np.integer], mass: Floats, chosen: Floats) -> Floats:
    """float64[2, TABLE_SIZE], a page's votes for and against, on every token by how much it covers.

    Args:
        token: hashes of the tokens of its blocks.
        mass: float64, labelled mass that each of these covers.
        chosen: float64, the part of it that votes for.
    """
    covered = np.bincount(token, mass, TABLE_SIZE)
    strength = np.minimum(covered * _SPREAD, 1.0)
    votes = strength * np.bincount(token, chosen, TABLE_SIZE) / np.maximum(covered, 1e-12)
    return np.stack([votes, strength - votes])


def log_odds_of_votes(votes: Floats) -> Matrix:
    """float32[TABLE_SIZE] from float64[2, TABLE_SIZE] votes for and against, 0 for what was never seen."""
    prior = votes[0].sum() / max(votes.sum(), 1e-12)
    odds = (votes[0] + _SMOOTHING * prior + 1e-9) / (votes[1] + _SMOOTHING * (1 - prior) + 1e-9)
    relative = np.log(odds) - np.log((prior + 1e-9) / (1 - prior + 1e-9))
    return np.where(votes.sum(axis=0) > 0, relative, 0.0).astype(np.float16).astype(np.float32)
