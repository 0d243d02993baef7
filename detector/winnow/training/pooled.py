"""Trains networks that average what stands around a block: teachers of the one that reads blocks in order.

A network has two hidden layers. The first sees the features of one block. The second sees what the first has made of
the block and, averaged, of the blocks of each of its windows: its neighbours, its innermost containers, and the page.
It knows less than one that reads in order, and is misled less where labels are only what sites repeat.

Networks are fitted by Adam on whole pages, with a rate that falls to zero: scikit-learn's perceptron sees one row at a
time and cannot learn what the blocks around a block say of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from scipy.sparse import csc_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.features.tokens import Tokens

    Matrix = NDArray[np.float32]

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
        """Find the windows of the blocks of a page.

        Args:
            tokens: of the page; they know its tree.
            words: float64[m], words of each block.
        """
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


@dataclass(frozen=True, eq=False, slots=True)
class PooledNetwork:
    """The weights of one network.

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

    @property
    def arrays(self) -> tuple[Matrix, ...]:
        """The weights, in the order of the attributes; not copies."""
        return tuple(getattr(self, name) for name in ARRAY_NAMES)

    @classmethod
    def shapes(cls, inputs: int, block_units: int, context_units: int) -> tuple[tuple[int, ...], ...]:
        """Shapes of :attr:`arrays` for a network of so many features and hidden units."""
        return (
            (inputs, block_units), (block_units,), (block_units, _PARTS * context_units), (context_units,),
            (context_units, 1), (1,),
        )  # fmt: skip


ARRAY_NAMES: Final = tuple(field.name for field in fields(PooledNetwork))
"""Attributes of a network, in their order."""


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


def _random_network(inputs: int, hidden: tuple[int, int], random: np.random.Generator) -> PooledNetwork:
    """A network of random weights, each layer as strong as the one before it (He et al. 2015)."""
    inputs_of_layers = inputs, hidden[0] * (1 + len(WINDOWS)), hidden[1]
    arrays = []
    for number, shape in enumerate(PooledNetwork.shapes(inputs, *hidden)):
        scale = 0.0 if len(shape) == 1 else math.sqrt(2 / inputs_of_layers[number // 2])
        arrays.append((random.normal(size=shape) * scale).astype(np.float32))
    return PooledNetwork(*arrays)
