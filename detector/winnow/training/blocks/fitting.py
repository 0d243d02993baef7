"""Fits a network of blocks to labelled pages, by gradients: Adam, whole pages a step, a rate that falls to nothing.

scikit-learn's perceptron sees one row at a time, and cannot learn what the blocks around a block say of it. A rate that
falls to nothing costs nothing and makes networks from different starts much alike in quality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.sparse import csc_array

from winnow.features.context import WINDOWS, ContextWindows
from winnow.models.networks import Network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_RATE: Final = 0.003
_WARM_UP: Final = 100  # steps
_MEMORY: Final = 0.9, 0.999  # of Adam, for the mean and the mean square of gradients
_PAGES_PER_STEP: Final = 16


@dataclass(frozen=True, eq=False, slots=True)
class Lesson:
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
    lesson: Lesson,
    *,
    hidden: tuple[int, int],
    epochs: int,
    least_steps: int = 0,
    decay: float,
    dropout: float = 0.0,
    seed: int,
) -> Network:
    """Fit a network.

    Args:
        lesson: what to.
        hidden: units of its two hidden layers.
        epochs: passes over the pages.
        least_steps: where pages are few, so many steps are made of more passes.
        decay: share of each weight that is lost in a step, in units of the rate.
        dropout: share of the features that a block is shown without, others at each step (Srivastava et al. 2014). A
            network that cannot count on any one feature does better on sites unlike those it was taught by.
        seed: of the first weights and of the order of the pages; the same seed gives the same network.
    """
    random = np.random.default_rng(seed)
    network = _start(lesson.inputs.shape[1], hidden, random)
    batches = math.ceil(len(np.flatnonzero(np.diff(lesson.begin))) / _PAGES_PER_STEP)
    steps = max(epochs, math.ceil(least_steps / batches)) * batches
    _descend(network, lesson, random, steps=steps, rate=_RATE, warm_up=_WARM_UP, decay=decay, dropout=dropout)
    return network


def moved(network: Network, lesson: Lesson, *, rate: float, steps: int, seed: int) -> Network:
    """Fit a network that knows something already, from where it stands; it is not changed itself.

    Args:
        network: the network.
        lesson: what to.
        rate: of learning; a thirtieth of that of :func:`fit` moves a network without making it forget.
        steps: how many; so many pages, 16 to a step.
        seed: of the order of the pages.
    """
    result = Network(*(array.copy() for array in network.arrays))
    _descend(result, lesson, np.random.default_rng(seed), steps=steps, rate=rate, warm_up=steps // 5)
    return result


def _descend(
    network: Network,
    lesson: Lesson,
    random: np.random.Generator,
    *,
    steps: int,
    rate: float,
    warm_up: int,
    decay: float = 0.0,
    dropout: float = 0.0,
) -> None:
    """Change a network in place, by so many steps at a rate that grows while it warms up and then falls to nothing."""
    means, squares = ([np.zeros_like(array) for array in network.arrays] for _ in range(2))
    pages = np.flatnonzero(np.diff(lesson.begin))
    batches = math.ceil(len(pages) / _PAGES_PER_STEP)
    weight = lesson.weight * np.float32(len(pages) / (max(float(lesson.weight.sum()), 1e-12) * _PAGES_PER_STEP))
    for step in range(steps):
        batch = step % batches
        if not batch:
            order = random.permutation(pages)
        rows, windows = lesson.pages(order[batch * _PAGES_PER_STEP : (batch + 1) * _PAGES_PER_STEP])
        inputs = lesson.inputs[rows]
        if dropout:
            inputs *= (random.random(inputs.shape, np.float32) >= dropout) * np.float32(1 / (1 - dropout))
        slopes = gradients(network, inputs, lesson.target[rows], weight[rows], windows)
        now = rate * min((step + 1) / max(warm_up, 1), 1.0) * (0.5 + 0.5 * math.cos(math.pi * step / steps))
        for array, slope, mean, square in zip(network.arrays, slopes, means, squares, strict=True):
            _adam(array, slope, mean, square, step=step + 1, rate=now, decay=decay)


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

    The compiled core has the same sums in another order, and keeps no layers.
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
    of_weighted = np.concatenate([of_context, _of_means(of_context, windows)], axis=1)
    of_blocks = of_weighted @ network.context_weight.T * (blocks > 0)
    return (
        inputs.T @ of_blocks, of_blocks.sum(axis=0),
        blocks.T @ of_weighted, of_context.sum(axis=0),
        context.T @ of_output, of_output.sum(axis=0),
    )  # fmt: skip


def _of_means(slopes: Matrix, windows: ContextWindows) -> Matrix:
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


def _start(inputs: int, hidden: tuple[int, int], random: np.random.Generator) -> Network:
    """A network of random weights, each layer as strong as the one before it (He et al. 2015)."""
    inputs_of_layers = inputs, hidden[0] * (1 + len(WINDOWS)), hidden[1]
    arrays = []
    for number, shape in enumerate(Network.shapes(inputs, *hidden)):
        scale = 0.0 if len(shape) == 1 else math.sqrt(2 / inputs_of_layers[number // 2])
        arrays.append((random.normal(size=shape) * scale).astype(np.float32))
    return Network(*arrays)
