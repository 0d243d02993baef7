"""Trains the block model: log-odds of tokens, teachers, and the network that is distilled from them.

Three steps: (1) log-odds of names and words, for the training rows from the other folds only, as in the stacked model
of the site-independent template blocks paper, section 4.1; (2) teachers: on all labels, networks that average what
stands around a block, and on gold text a wide one that reads blocks in order; (3) a narrow one that reads in order, on
what the teachers say, half of it on the labels where these are of gold text (Hinton et al. 2015, "Distilling the
knowledge in a neural network"). Site-level labels leave out what some pages share, and call every teaser that changes
content; the teachers correct both.

The teachers that average have two hidden layers. The first sees the features of one block. The second sees what the
first has made of the block and, averaged, of the blocks of each of its windows: its neighbours, its innermost
containers, and the page. They know less than one that reads in order, and are misled less where labels are only what
sites repeat. They are fitted by Adam on whole pages, with a rate that falls to zero: scikit-learn's perceptron sees one
row at a time and cannot learn what the blocks around a block say of it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np
from scipy.sparse import csc_array

from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.blocks import BlockModel
from winnow.models.sequence import standardise
from winnow.training.examples import stack_features
from winnow.training.sequences import SequencePage, fit_sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from winnow.features.tokens import Tokens
    from winnow.training.examples import BlockPage

    Matrix = NDArray[np.float32]
    Floats = NDArray[np.float64]


_RATE: Final = 0.003
_WARM_UP: Final = 100  # steps
_MEMORY: Final = 0.9, 0.999  # of Adam, for the mean and the mean square of gradients
_PAGES_PER_STEP: Final = 16
_REACH: Final = 2
_LEVELS: Final = 3

WINDOWS: Final = ("two blocks each way", *(f"container {level}" for level in range(_LEVELS)), "page")
"""What the windows of a block are, in their order."""


@dataclass(frozen=True, eq=False, slots=True)
class ContextWindows:
    """Windows around each of m blocks, of one page or of several one after the other.

    Attributes:
        begin, end: int64[len(WINDOWS), m], slice of the blocks of each window.
        weight: float32[m], how much a block counts in a mean: the square root of its words.
        scale: float32[len(WINDOWS), m], one over the weight of each window.
    """

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    weight: NDArray[np.float32]
    scale: NDArray[np.float32]

    @classmethod
    def of(cls, tokens: Tokens, words: NDArray[np.float64]) -> Self:
        """Find the windows of the blocks of a page from its tokens, which know its tree, and words (float64[m])."""
        m = len(words)
        begin, end = np.empty((2, len(WINDOWS), m), np.int64)
        levels, block = tokens.levels[:_LEVELS], np.arange(m)
        np.maximum(block - _REACH, 0, out=begin[0])
        np.minimum(block + _REACH + 1, m, out=end[0])
        begin[1:-1], end[1:-1] = tokens.block_begin[levels], tokens.block_end[levels]
        begin[-1], end[-1] = 0, m
        weight = np.sqrt(np.maximum(words, 0.5))
        totals = np.zeros(m + 1)
        np.cumsum(weight, out=totals[1:])
        scale = 1 / np.maximum(totals.take(end) - totals.take(begin), 1e-6)
        return cls(begin, end, weight.astype(np.float32), scale.astype(np.float32))

    @classmethod
    def joined(cls, pages: Sequence[ContextWindows]) -> Self:
        """Put pages behind each other."""
        offsets = np.cumsum([0, *(len(page.weight) for page in pages[:-1])])
        return cls(
            np.concatenate([page.begin + offset for page, offset in zip(pages, offsets, strict=True)], axis=1),
            np.concatenate([page.end + offset for page, offset in zip(pages, offsets, strict=True)], axis=1),
            np.concatenate([page.weight for page in pages]),
            np.concatenate([page.scale for page in pages], axis=1),
        )


_PARTS: Final = 1 + len(WINDOWS)  # of the second layer's input: the block itself, and each of its windows


class PooledNetwork(NamedTuple):
    """The weights of one network, or slopes by them.

    Attributes:
        block_weight, block_bias: float32[k, c], float32[c], from the features of a block to the first hidden layer.
        context_weight: float32[c, (1 + len(WINDOWS)) * d], from the first to the second: of the block itself, then of
            each of its windows.
        context_bias: float32[d].
        output_weight, output_bias: float32[d, 1], float32[1], to the logit of content.
    """

    block_weight: Matrix
    block_bias: Matrix
    context_weight: Matrix
    context_bias: Matrix
    output_weight: Matrix
    output_bias: Matrix

    @classmethod
    def shapes(cls, inputs: int, block_units: int, context_units: int) -> tuple[tuple[int, ...], ...]:
        """Shapes of the weights of a network of so many features and hidden units."""
        return (
            (inputs, block_units), (block_units,), (block_units, _PARTS * context_units), (context_units,),
            (context_units, 1), (1,),
        )  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class TrainingSet:
    """What a network is fitted to: the blocks of some pages, page after page.

    Attributes:
        inputs: float32[r, k], standardised features.
        target, weight: float32[r], probability of content, and how much each block matters.
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


def fit_pooled(
    training_set: TrainingSet,
    *,
    hidden: tuple[int, int],
    epochs: int,
    min_steps: int = 0,
    decay: float,
    dropout: float = 0.0,
    seed: int,
) -> PooledNetwork:
    """Fit a network; the same seed gives the same one.

    Args:
        training_set: what to fit it to.
        hidden: units of its two hidden layers.
        epochs: passes over the pages.
        min_steps: where pages are few, at least so many steps, in more passes.
        decay: fraction of each weight that is lost in a step, in units of the rate.
        dropout: fraction of the features that a block is shown without, others at each step (Srivastava et al. 2014). A
            network that cannot count on any one feature does better on sites unlike those it was trained on.
        seed: of the first weights and of the order of the pages.
    """
    random = np.random.default_rng(seed)
    network = _random_network(training_set.inputs.shape[1], hidden, random)
    means, squares = ([np.zeros_like(array) for array in network] for _ in range(2))
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
        for array, slope, mean, square in zip(network, slopes, means, squares, strict=True):
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


def forward(network: PooledNetwork, inputs: Matrix, windows: ContextWindows) -> tuple[Matrix, Matrix, Matrix]:
    """Evaluate a network: its two hidden layers, float32[m, c] and float32[m, d], and float32[m] logits of content."""
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
    network: PooledNetwork, inputs: Matrix, target: Matrix, weight: Matrix, windows: ContextWindows
) -> PooledNetwork:
    """Slopes of the weighted cross-entropy by each of the network's arrays."""
    blocks, context, logit = forward(network, inputs, windows)
    probability = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
    of_output = (weight * (probability - target)).astype(np.float32)[:, None]
    of_context = of_output @ network.output_weight.T * (context > 0)
    of_weighted = np.concatenate([of_context, _gradients_of_means(of_context, windows)], axis=1)
    of_blocks = of_weighted @ network.context_weight.T * (blocks > 0)
    return PooledNetwork(
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


def _random_network(inputs: int, hidden: tuple[int, int], random: np.random.Generator) -> PooledNetwork:
    """A network of random weights, each layer as strong as the one before it (He et al. 2015)."""
    inputs_of_layers = inputs, hidden[0] * (1 + len(WINDOWS)), hidden[1]
    arrays = []
    for number, shape in enumerate(PooledNetwork.shapes(inputs, *hidden)):
        scale = 0.0 if len(shape) == 1 else math.sqrt(2 / inputs_of_layers[number // 2])
        arrays.append((random.normal(size=shape) * scale).astype(np.float32))
    return PooledNetwork(*arrays)


STEPS: Final = ("token tables", "teachers", "network")
"""What training goes through, in this order."""

FOLDS: Final = 5
_POOLED: Final = 1_000  # their seeds begin there
_SMOOTHING: Final = 2.0  # pages that say what the prior says, added to every table entry
_MAX_VOTES: Final = 15.0  # pages that a source of gold pages counts for at most
_SPREAD: Final = 20.0  # a token votes for a page in full from a twentieth of its mass on


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a block model is trained with.

    Attributes:
        site_fraction, marked_fraction: weight of all labels of sites, and by authors' marks; gold labels weigh 1.
        pooled: how many teachers average what stands around a block, from different starts.
        pooled_units, pooled_epochs: of their two hidden layers; their passes over the pages.
        pooled_decay: fraction of each weight that a step takes, in units of the learning rate.
        pooled_dropout, pooled_dropout_without_gold: fraction of the features that they are shown a block without.
        units, teacher_units: first layer, state in each direction and last layer of the network and its teacher.
        epochs, dropout, teacher_dropout: passes of both; fraction of the features that a page is shown without.
        min_steps: where pages are few, at least so many steps, in more passes.
    """

    site_fraction: float = 0.3
    marked_fraction: float = 0.3
    pooled: int = 2
    pooled_units: tuple[int, int] = (64, 32)
    pooled_epochs: int = 6
    pooled_decay: float = 0.01
    pooled_dropout: float = 0.5
    pooled_dropout_without_gold: float = 0.7
    units: tuple[int, int, int] = (64, 64, 64)
    teacher_units: tuple[int, int, int] = (64, 96, 64)
    epochs: int = 8
    dropout: float = 0.1
    teacher_dropout: float = 0.4
    min_steps: int = 500


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
        marked: pages of sites with labels from authors' marks, likewise.
        seed: of folds and first weights.
        recipe: how.
        on_step: called with the name of each of :data:`STEPS` as it begins.

    Raises:
        ImportError: jax is not installed.
        ValueError: there are no labels of both kinds.
    """
    on_step = on_step or (lambda _step: None)
    on_step(STEPS[0])
    pages = [*gold, *marked, *sites]
    weight = _page_weights(gold, marked, sites, recipe)
    if len({label > 0.5 for page in pages for label in page.content[page.labelled & (page.mass > 0)].tolist()}) < 2:
        raise ValueError("the pages give no labels of both kinds: content and template")
    matrices, tables = stacked_token_features(pages, weight, seed=seed), learn_tables(pages, weight)
    examples = np.concatenate(matrices[: len(gold)] or matrices)
    mean, scale = examples.mean(axis=0), (1 / (examples.std(axis=0) + 1e-3)).astype(np.float32)
    del examples  # gigabytes
    inputs = [standardise(matrix, mean, scale) for matrix in matrices]
    del matrices

    on_step(STEPS[1])
    windows = [ContextWindows.of(page.tokens, page.words) for page in pages]
    training_set = TrainingSet(
        inputs=np.concatenate(inputs),
        target=np.concatenate([page.content > 0.5 for page in pages]).astype(np.float32),
        weight=np.concatenate(
            [_label_weights(page, page_weight) for page, page_weight in zip(pages, weight, strict=True)]
        ),
        begin=np.append(0, np.cumsum([len(page.words) for page in pages])),
        windows=windows,
    )
    pooled = [
        fit_pooled(
            training_set,
            hidden=recipe.pooled_units,
            epochs=recipe.pooled_epochs,
            min_steps=recipe.min_steps,
            decay=recipe.pooled_decay,
            dropout=recipe.pooled_dropout if len(gold) else recipe.pooled_dropout_without_gold,
            seed=seed + _POOLED + start,
        )
        for start in range(recipe.pooled)
    ]
    del training_set
    logits = [
        np.mean([forward(network, *page)[2] for network in pooled], axis=0)
        for page in zip(inputs, windows, strict=True)
    ]
    fit_in_order = partial(fit_sequence, epochs=recipe.epochs, min_steps=recipe.min_steps, seed=seed)
    if len(gold):
        labelled = [
            SequencePage(own, (page.content > 0.5).astype(np.float32), _label_weights(page, page_weight), page.copy)
            for page, own, page_weight in zip(gold, inputs, weight, strict=False)
        ]
        teacher = fit_in_order(labelled, units=recipe.teacher_units, dropout=recipe.teacher_dropout)
        unscaled = np.zeros_like(mean), np.ones_like(scale)
        logits = [(other + teacher.logits([own], *unscaled)) / 2 for other, own in zip(logits, inputs, strict=True)]

    on_step(STEPS[2])
    begin = len(gold) + len(marked)
    if len(gold):  # marks have taught the teachers; the blocks of sites together count as much as those of gold pages
        weight[len(gold) : begin] = 0
        weight[begin:] *= _mass(gold, weight) / max(_mass(sites, weight[begin:]), 1e-12)
    distilled = []
    for number in np.flatnonzero(weight).tolist():
        page, target = pages[number], 1 / (1 + np.exp(-logits[number]))
        if number < len(gold):
            target = np.where(page.labelled, (target + (page.content > 0.5)) / 2, target)
        mass = (page.mass * weight[number]).astype(np.float32)
        distilled.append(SequencePage(inputs[number], target.astype(np.float32), mass, page.copy))
    network = fit_in_order(distilled, units=recipe.units, dropout=recipe.dropout)
    return BlockModel.of(tables, mean, scale, network)


def _label_weights(page: BlockPage, page_weight: float) -> Matrix:
    """float32[m], how much the label of each block matters; 0 where it has none."""
    return np.where(page.labelled, page.mass * page_weight, 0).astype(np.float32)


def _mass(pages: Sequence[BlockPage], weight: Floats) -> float:
    return float(
        sum(page_weight * page.mass.sum() for page, page_weight in zip(pages, weight, strict=False) if not page.copy)
    )


def _page_weights(
    gold: Sequence[BlockPage], marked: Sequence[BlockPage], sites: Sequence[BlockPage], recipe: Recipe
) -> Floats:
    """float64[pages]: 1 for a gold page, less for those of a source with many of them.

    The pages of a site share an equal part of the rest; without gold pages, marks and sites weigh the same.
    """
    number = Counter(page.source for page in gold if not page.copy)
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
    for page, page_weight in zip(pages, weight, strict=True):
        vote = _votes(page)
        names += page_weight * vote[0]
        words += page_weight * vote[1]
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

    ``mass`` is the labelled mass that each token of its blocks covers, ``chosen`` the part of it that votes for.
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
