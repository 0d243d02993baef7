"""Trains the block model: log-odds of tokens, teachers, and the network that is distilled from them.

Three steps: (1) log-odds of names and words, for the training rows from the other folds only, as in the stacked model
of the site-independent template blocks paper, section 4.1; (2) teachers: on all labels, networks that average what
stands around a block, and on gold text a wide one that reads blocks in order; (3) a narrow one that reads in order, on
what the teachers say, half of it on the labels where these are of gold text (Hinton et al. 2015, "Distilling the
knowledge in a neural network"). Site-level labels leave out what some pages share, and call every teaser that changes
content; the teachers correct both.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.features.tokens import TABLE_SIZE, TokenTables
from winnow.models.blocks import BlockModel
from winnow.models.sequence import standardise
from winnow.training.examples import stack_features
from winnow.training.pooled import ContextWindows, TrainingSet, fit_pooled, forward
from winnow.training.sequences import SequencePage, fit_sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from winnow.training.examples import BlockPage

    Matrix = NDArray[np.float32]
    Floats = NDArray[np.float64]

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
        site_fraction: weight of all site labels together, for the tables and the teachers; gold labels weigh 1.
        marked_fraction: weight of the labels by authors' marks together.
        pooled: how many teachers average what stands around a block, from different starts.
        pooled_units: of their two hidden layers.
        pooled_epochs: their passes over the pages.
        pooled_decay: share of each weight that a step takes, in units of the learning rate.
        pooled_dropout: share of the features that they are shown a block without.
        pooled_dropout_without_gold: the same without gold text, where what is learned must hold for other sites.
        units: of the network: first layer, state in each direction, last layer.
        teacher_units: the same of the teacher that reads in order.
        epochs: passes of both over their pages.
        dropout, teacher_dropout: share of the features that they are shown a page without.
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
        marked: pages of sites with labels from authors' marks; every site counts the same.
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
        weight=np.concatenate([_label_weights(page, share) for page, share in zip(pages, weight, strict=True)]),
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
        lesson = [
            SequencePage(own, (page.content > 0.5).astype(np.float32), _label_weights(page, share), page.copy)
            for page, own, share in zip(gold, inputs, weight, strict=False)
        ]
        teacher = fit_in_order(lesson, units=recipe.teacher_units, dropout=recipe.teacher_dropout)
        as_they_are = np.zeros_like(mean), np.ones_like(scale)
        logits = [(other + teacher.logits([own], *as_they_are)) / 2 for other, own in zip(logits, inputs, strict=True)]

    on_step(STEPS[2])
    begin = len(gold) + len(marked)
    if len(gold):  # marks have taught the teachers; the blocks of sites together count as much as those of gold pages
        weight[len(gold) : begin] = 0
        weight[begin:] *= _mass(gold, weight) / max(_mass(sites, weight[begin:]), 1e-12)
    lesson = []
    for number in np.flatnonzero(weight).tolist():
        page, target = pages[number], 1 / (1 + np.exp(-logits[number]))
        if number < len(gold):
            target = np.where(page.labelled, (target + (page.content > 0.5)) / 2, target)
        mass = (page.mass * weight[number]).astype(np.float32)
        lesson.append(SequencePage(inputs[number], target.astype(np.float32), mass, page.copy))
    network = fit_in_order(lesson, units=recipe.units, dropout=recipe.dropout)
    return BlockModel.of(tables, mean, scale, network)


def _label_weights(page: BlockPage, share: float) -> Matrix:
    """float32[m], how much the label of each block matters; 0 where it has none."""
    return np.where(page.labelled, page.mass * share, 0).astype(np.float32)


def _mass(pages: Sequence[BlockPage], weight: Floats) -> float:
    return float(sum(share * page.mass.sum() for page, share in zip(pages, weight, strict=False) if not page.copy))


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
