"""Moves the model of text blocks towards further sites, when the examples that it was made of are not to be had.

Its opinion of the new pages is. Where the sites say that a block is template, that is its label; where they say
nothing, the model's own probability is, so that what it knew is handed on: the soft targets of distillation (Hinton,
Vinyals and Dean, "Distilling the Knowledge in a Neural Network", 2015). A block that one page alone has is content by
two thirds, and by that opinion for the rest: lists of related stories are unique, too, and a model that was told so by
gold text would forget it. What an author has marked as the article is certain, and what is outside is not of it.

For the same reason the networks begin where they stand, and move a little. Networks trained anew on the same pages, by
the same labels, were worse than their parents on the hosts that were held out. At three times the rate a model gains
more on sites like those that taught it, but loses 0.009 of its word F1 on WCXB, where it loses nothing at this one.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.networks import BlockPerceptron, standardise
from winnow.training.blocks import measure_models
from winnow.training.networks import TrainingSet, moved

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from winnow.training.examples import BlockPage
    from winnow.training.report import Metrics

UNIQUE: Final = 0.65
"""How far being unique makes a block content: 0 leaves it to the model, 1 is certain."""

STEPS: Final = ("soft_labels", "networks")
"""What a refit goes through, in this order."""


@dataclass(frozen=True, slots=True)
class Moving:
    """How far networks move.

    Attributes:
        rate: of learning, a thirtieth of that of a training.
        steps: how many, of 16 pages each.
    """

    rate: float = 1e-4
    steps: int = 100


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models on the same pages of sites that taught neither.

    Attributes:
        candidate, parent: their metrics over all pages.
        gain: how much larger the candidate's area under the ROC curve is, mean over sites.
        error: standard error of that mean; infinite for a single site.
    """

    candidate: Metrics
    parent: Metrics
    gain: float
    error: float

    def is_better(self, margin: float) -> bool:
        """Whether the candidate gains the margin, and more than the standard error, so that it is hardly chance."""
        return self.gain >= margin and self.gain > self.error


def refit(
    parent: BlockPerceptron,
    pages: Sequence[BlockPage],
    *,
    seed: int = 0,
    moving: Moving | None = None,
    begins: Callable[[str], None] | None = None,
) -> BlockPerceptron:
    """Move a model towards further sites.

    Args:
        parent: the model; it is not changed.
        pages: pages of the sites, with site-level labels or those of authors' marks; every site counts the same.
        seed: the same seed and pages give the same weights.
        moving: how far; by default as far as paid on sites that did not teach.
        begins: called with the name of each of :data:`STEPS` as it begins.

    Returns:
        A model with the parent's tables and decision, whose networks have moved.

    Raises:
        ValueError: the sites give no labels of both kinds.
    """
    moving, begins = moving or Moving(), begins or (lambda _step: None)
    pages = [page for page in pages if len(page.words)]
    labels = np.concatenate([page.content for page in pages]) if pages else np.zeros(0, np.float32)
    if not (labels > 0.5).any() or not (labels <= 0.5).any():
        raise ValueError("the pages give no labels of both kinds: content and template")
    begins(STEPS[0])
    training_set = _lesson(parent, pages)
    begins(STEPS[1])
    networks = [
        moved(network, training_set, rate=moving.rate, steps=moving.steps, seed=seed + number)
        for number, network in enumerate(parent.networks)
    ]
    return BlockPerceptron.of(parent.tables, parent.mean, parent.scale, networks, parent.decision)


def compared(candidate: BlockPerceptron, parent: BlockPerceptron, held_out: Sequence[BlockPage]) -> Comparison | None:
    """Measure both models on pages of sites that taught neither; ``None`` where no site has labels of both kinds."""
    return _compared([(candidate, pages) for pages in _by_site(held_out).values()], parent)


def compared_in_turn(
    parent: BlockPerceptron, pages: Sequence[BlockPage], *, seed: int = 0, moving: Moving | None = None
) -> Comparison | None:
    """Measure what a refit gains on sites too few to hold some out for good: each in turn, the others having taught.

    Args:
        parent: the model; it is not changed.
        pages: pages of the sites.
        seed: of the refits.
        moving: how far the networks of the refits move.

    Returns:
        The refits' metrics beside the parent's; ``None`` where no site has labels of both kinds.
    """
    pairs: list[tuple[BlockPerceptron, Sequence[BlockPage]]] = []
    for site, own in _by_site(pages).items():
        with suppress(ValueError):  # the others have labels of one kind
            pairs.append(
                (refit(parent, [page for page in pages if page.source != site], seed=seed, moving=moving), own)
            )
    return _compared(pairs, parent)


def _compared(
    candidates: Sequence[tuple[BlockPerceptron, Sequence[BlockPage]]], parent: BlockPerceptron
) -> Comparison | None:
    """Measure a candidate for each of some sites, and the parent on all of them."""
    gains = [gain for one, own in candidates if not math.isnan(gain := _auc(one, own) - _auc(parent, own))]
    metrics = measure_models(candidates), measure_models([(parent, own) for _, own in candidates])
    if not gains or metrics[0] is None or metrics[1] is None:
        return None
    error = float(np.std(gains, ddof=1)) / math.sqrt(len(gains)) if len(gains) > 1 else math.inf
    return Comparison(metrics[0], metrics[1], float(np.mean(gains)), error)


def _by_site(pages: Sequence[BlockPage]) -> dict[str, list[BlockPage]]:
    of_site: dict[str, list[BlockPage]] = defaultdict(list)
    for page in pages:
        of_site[page.source].append(page)
    return of_site


def _lesson(parent: BlockPerceptron, pages: Sequence[BlockPage]) -> TrainingSet:
    """The pages with a target for every block; the features are those that the parent's tables give."""
    number = Counter(page.source for page in pages)
    matrices = [page.matrix(parent.tables) for page in pages]
    targets = [_target(parent, page, matrix) for page, matrix in zip(pages, matrices, strict=True)]
    return TrainingSet(
        inputs=standardise(np.concatenate(matrices), parent.mean, parent.scale),
        target=np.concatenate(targets),
        weight=np.concatenate([page.mass / number[page.source] for page in pages]).astype(np.float32),
        begin=np.append(0, np.cumsum([len(page.words) for page in pages])),
        windows=[page.windows for page in pages],
    )


def _target(parent: BlockPerceptron, page: BlockPage, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """float32[m], probability of content: what the site says, and where it says nothing what the parent does."""
    opinion = parent.content_probability(matrix, page.windows)
    unique = 1.0 if page.marked else UNIQUE
    of_unique = unique + (1 - unique) * opinion
    probability = np.where(page.labelled, np.where(page.content > 0.5, of_unique, 0.0), opinion)
    return probability.astype(np.float32)


def _auc(model: BlockPerceptron, pages: Sequence[BlockPage]) -> float:
    metrics = measure_models([(model, pages)])
    return math.nan if metrics is None else metrics.auc
