"""Refits the model of text blocks to further sites, when the examples that it was made of are not to be had.

Its opinion of the new pages is. Where the sites say that a block is template, that is its label; where they say
nothing, the model's own probability is, so that what it knew is handed on: the soft targets of distillation (Hinton,
Vinyals and Dean, "Distilling the Knowledge in a Neural Network", 2015). A block that one page alone has is content by
half: lists of related stories are unique, too, and a model that was told so by gold text would forget it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.perceptron import BlockPerceptron
from winnow.training.blocks.measuring import measured
from winnow.training.blocks.model import train_block_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from winnow.training.blocks.examples import BlockPage
    from winnow.training.blocks.model import Recipe
    from winnow.training.report import Figures

UNIQUE: Final = 0.5
"""How far being unique makes a block content: 0 leaves it to the model, 1 is certain."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models on the same pages of sites that taught neither.

    Attributes:
        candidate, parent: their figures over all pages.
        gain: how much larger the candidate's area under the ROC curve is, mean over sites.
        error: standard error of that mean; infinite for a single site.
    """

    candidate: Figures
    parent: Figures
    gain: float
    error: float

    def is_better(self, margin: float) -> bool:
        """Whether the candidate gains the margin, and more than the standard error, so that it is hardly chance."""
        return self.gain >= margin and self.gain > self.error


def refit(
    parent: BlockPerceptron,
    pages: Sequence[BlockPage],
    *,
    gold: Sequence[BlockPage] = (),
    seed: int = 0,
    recipe: Recipe | None = None,
    begins: Callable[[str], None] | None = None,
) -> BlockPerceptron:
    """Train a model on further sites that keeps what another one knew.

    Args:
        parent: the other one.
        pages: pages of the sites, with site-level labels; every site counts the same.
        gold: pages with labels from gold text.
        seed: the same seed and pages give the same weights.
        recipe: how to train.
        begins: called with the name of each step of the training as it begins.

    Raises:
        ValueError: the sites give no labels of both kinds.
    """
    labels = np.concatenate([page.content for page in pages]) if pages else np.zeros(0, np.float32)
    if not (labels > 0.5).any() or not (labels <= 0.5).any():
        raise ValueError("the pages give no labels of both kinds: content and template")
    random = np.random.default_rng(seed)
    taught = [_with_opinion(parent, page, random) for page in pages]
    model = train_block_model(gold, taught, seed=seed, recipe=recipe, begins=begins)
    return BlockPerceptron.of(model.tables, model.mean, model.scale, model.networks, parent.decision)


def compared(candidate: BlockPerceptron, parent: BlockPerceptron, held_out: Sequence[BlockPage]) -> Comparison | None:
    """Measure both models on pages of sites that taught neither; ``None`` where no site has labels of both kinds."""
    of_site: dict[str, list[BlockPage]] = defaultdict(list)
    for page in held_out:
        of_site[page.source].append(page)
    gains = [gain for pages in of_site.values() if not math.isnan(gain := _auc(candidate, pages) - _auc(parent, pages))]
    figures = measured([(candidate, held_out)]), measured([(parent, held_out)])
    if not gains or figures[0] is None or figures[1] is None:
        return None
    error = float(np.std(gains, ddof=1)) / math.sqrt(len(gains)) if len(gains) > 1 else math.inf
    return Comparison(figures[0], figures[1], float(np.mean(gains)), error)


def _with_opinion(parent: BlockPerceptron, page: BlockPage, random: np.random.Generator) -> BlockPage:
    """The page with a label for every block, drawn by its probability: on average, that is a soft label."""
    matrix = np.concatenate([page.static, parent.tables.features(page.tokens)], axis=1, dtype=np.float32)
    opinion = parent.content_probability(matrix, page.surroundings)
    of_unique = UNIQUE + (1 - UNIQUE) * opinion
    probability = np.where(page.labelled, np.where(page.content > 0.5, of_unique, 0.0), opinion)
    return replace(page, content=(random.random(len(probability)) < probability).astype(np.float32))


def _auc(model: BlockPerceptron, pages: Sequence[BlockPage]) -> float:
    figures = measured([(model, pages)])
    return math.nan if figures is None else figures.auc
