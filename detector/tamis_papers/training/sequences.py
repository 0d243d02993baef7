"""Trains the network that reads the blocks of a page in order.

It is fitted by AdamW (Loshchilov and Hutter 2019) to whole pages, of about the same length in a step, with a rate that
rises and falls once. A pass sees either a page or its copy in older markup. A page is shown without some
of its features, the same on all its blocks: a network that cannot count on any one feature does better on sites unlike
those it was trained on.
"""

from __future__ import annotations

import math
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tamis.models.blocks import ARRAY_NAMES, SequenceNetwork

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tamis.arrays import Singles


EPOCHS: Final = 8
MIN_STEPS: Final = 500  # where pages are few, in more passes over them
_RISING: Final = 0.25  # of the steps; the rate falls from then on
_PAGES_PER_STEP: Final = 16
_LENGTHS: Final = 64, 128, 192, 256, 384, 512, 768, 1024  # that pages are filled up to; of longer ones a part is seen


class SequencePage(NamedTuple):
    """A page that a network is fitted to (m blocks).

    Attributes:
        inputs: float32[m, k], standardised features.
        target, weight: float32[m], probability of content, and how much each block matters.
        copy: whether it is the page before in other markup; a pass sees one of them.
    """

    inputs: Singles
    target: Singles
    weight: Singles
    copy: bool


def fit_sequence(pages: Sequence[SequencePage], dropout: float, seed: int) -> SequenceNetwork:
    """Fit a network to pages with blocks; the same seed gives the same network.

    ``dropout`` is the fraction of the features that a page is shown without, others each time (Srivastava et al. 2014).

    Raises:
        ImportError: jax is not installed.
    """
    step = _compiled_step()
    random = np.random.default_rng(seed)
    groups: list[list[SequencePage]] = []
    for page in pages:
        if len(page.inputs) and page.copy and groups:
            groups[-1].append(page)
        elif len(page.inputs):
            groups.append([page])
    k = pages[0].inputs.shape[1]
    state = tuple(
        {name: start(weight) for name, weight in _random_weights(k, random).items()}
        for start in (np.asarray, np.zeros_like, np.zeros_like)
    )
    scale = np.float32(1 / (np.mean([group[0].weight.sum() for group in groups]) * _PAGES_PER_STEP + 1e-12))
    batches = math.ceil(len(groups) / _PAGES_PER_STEP)
    steps = max(EPOCHS, math.ceil(MIN_STEPS / batches)) * batches
    for number in range(steps):
        if number % batches == 0:
            order = _passes(groups, random)
        hidden = random.random((_PAGES_PER_STEP, 1, k)) < dropout
        done = (number + 1) / steps
        part = done / _RISING if done < _RISING else 0.5 + 0.5 * math.cos(math.pi * (done - _RISING) / (1 - _RISING))
        inputs, *rest = _padded(next(order), random)
        inputs *= np.where(hidden, 0, np.float32(1 / (1 - dropout))).astype(np.float32)
        state = step(state, inputs, *rest, scale, np.float32(0.003 * part), np.float32(number + 1))
    return SequenceNetwork(**{name: np.asarray(state[0][name]) for name in ARRAY_NAMES})


def _passes(groups: Sequence[Sequence[SequencePage]], random: np.random.Generator) -> Iterator[list[SequencePage]]:
    """Deal one pass over the pages into steps: pages of about the same length together, steps in random order."""
    chosen = [group[int(random.integers(len(group)))] for group in groups]
    length = np.array([len(page.inputs) for page in chosen]) * random.uniform(0.85, 1.15, len(chosen))
    order = [chosen[index] for index in length.argsort(kind="stable").tolist()]
    begins = random.permutation(np.arange(0, len(order), _PAGES_PER_STEP)).tolist()
    return (order[begin : begin + _PAGES_PER_STEP] for begin in begins)


def _padded(pages: Sequence[SequencePage], random: np.random.Generator) -> tuple[Singles, Singles, Singles, Singles]:
    """float32[pages, t, k], three times float32[pages, t]: inputs, target, weight, and 1 where there is a block."""
    longest = max(len(page.inputs) for page in pages)
    t = next((length for length in _LENGTHS if length >= longest), _LENGTHS[-1])
    inputs = np.zeros((_PAGES_PER_STEP, t, pages[0].inputs.shape[1]), np.float32)
    target, weight, there = np.zeros((3, _PAGES_PER_STEP, t), np.float32)
    for row, page in enumerate(pages):
        m = min(len(page.inputs), t)
        begin = int(random.integers(len(page.inputs) - m + 1))
        part = slice(begin, begin + m)
        inputs[row, :m], target[row, :m], weight[row, :m] = page.inputs[part], page.target[part], page.weight[part]
        there[row, :m] = 1
    return inputs, target, weight, there


def _random_weights(k: int, random: np.random.Generator) -> dict[str, Singles]:
    """Weights of a network, each layer as strong as the one before it (He et al. 2015)."""
    weights = {}
    gains = {"dense": 2, "input": 1, "state": 1, "output": 2, "page": 1, "last": 1}
    for name, shape in zip(ARRAY_NAMES, SequenceNetwork.shapes(k), strict=True):
        inputs = shape[0] if len(shape) < 3 else shape[1]
        layer, _, kind = name.partition("_")
        deviation = math.sqrt(gains[layer] / inputs) if kind == "weight" else 0.0
        weights[name] = (random.normal(size=shape) * deviation).astype(np.float32)
    return weights


@lru_cache(maxsize=1)
def _compiled_step() -> Callable[..., Any]:
    """Return the function that takes one step; jax, which compiles it, is needed for training alone.

    Raises:
        ImportError: jax is not installed.
    """
    os.environ["NPROC"] = "2"  # threads, among which sums are split: by default one a core, and weights would differ
    import jax  # noqa: PLC0415
    import jax.numpy as jnp  # noqa: PLC0415

    def read(inputs: Any, there: Any, weight: Any, bias: Any) -> Any:
        """States in one direction, [t, pages, s], by what blocks add to the gates; padding leaves one as it is."""

        def advance(before: Any, block: Any) -> Any:
            own, is_there = block
            update, reset, candidate = jnp.split(before @ weight, 3, axis=1)
            of_update, of_reset, of_candidate = jnp.split(own, 3, axis=1)
            share = jax.nn.sigmoid(of_update + update)
            new = jnp.tanh(of_candidate + jax.nn.sigmoid(of_reset + reset) * (candidate + bias))
            after = jnp.where(is_there > 0, new + share * (before - new), before)
            return after, after

        return jax.lax.scan(advance, jnp.zeros((inputs.shape[1], weight.shape[0])), (inputs, there))[1]

    def loss(weights: Any, inputs: Any, target: Any, weight: Any, there: Any) -> Any:
        of = weights.__getitem__
        blocks = jax.nn.relu(inputs.swapaxes(0, 1) @ of("dense_weight") + of("dense_bias"))
        mask = there.T[:, :, None]
        ways = []
        for way, turn in enumerate((slice(None), slice(None, None, -1))):
            gates = (blocks @ of("input_weight")[way] + of("input_bias")[way])[turn]
            ways.append(read(gates, mask[turn], of("state_weight")[way], of("state_bias")[way])[turn])
        states = jnp.concatenate(ways, axis=2)
        mean = (states * mask).sum(axis=0) / jnp.maximum(mask.sum(axis=0), 1)  # steps may lack pages
        maximum = jnp.where(mask > 0, states, -1).max(axis=0)
        of_page = jnp.concatenate([mean, maximum], axis=1) @ of("page_weight")
        last = jax.nn.relu(states @ of("output_weight") + of("output_bias") + of_page)
        logit = (last @ of("last_weight") + of("last_bias")).T
        return (weight * (jax.nn.softplus(logit) - target * logit)).sum()

    def step(state: Any, inputs: Any, target: Any, weight: Any, there: Any, scale: Any, rate: Any, number: Any) -> Any:
        weights, means, squares = state
        slopes = jax.grad(loss)(weights, inputs, target, weight * scale, there)
        length = jnp.sqrt(sum((slope**2).sum() for slope in slopes.values()))
        slopes = {name: slope * jnp.minimum(1, 1.0 / (length + 1e-9)) for name, slope in slopes.items()}
        means = {name: 0.9 * means[name] + 0.1 * slope for name, slope in slopes.items()}
        squares = {name: 0.999 * squares[name] + 0.001 * slope**2 for name, slope in slopes.items()}
        new = {}
        for name, array in weights.items():
            change = means[name] / (1 - 0.9**number) / (jnp.sqrt(squares[name] / (1 - 0.999**number)) + 1e-8)
            decay = 0.01 if name.endswith("_weight") else 0.0
            new[name] = array * (1 - rate * decay) - rate * change
        return new, means, squares

    return jax.jit(step)
