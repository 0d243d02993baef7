"""Trains the block model in two rounds; the second learns from sites what their counts tell, and from partial labels.

A model is first fitted to the labels there are: gold text, or site-level labels and authors' marks. It cleans pages of
the sites with the counts of each whole site, which makes it right more often than on a page alone. What it finds there
labels these pages for a second model, which is fitted to both and needs no counts to see what they told (compare Hinton
et al. 2015, "Distilling the knowledge in a neural network"). Of pages on which only some blocks of content have labels
the first model labels the others: learned from alone, such labels would say that everything is content.

Fitting has two steps: (1) log-odds of names and words, for the training rows from the other folds only, as in the
stacked model of the site-independent template blocks paper, section 4.1; (2) the network that reads blocks in order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.features import TABLE_SIZE, TokenTables, features_of
from tamis.models import standardise
from tamis.models.blocks import BlockModel
from tamis_papers.training.examples import label_pages, label_site_by_counts
from tamis_papers.training.gold import deal_folds
from tamis_papers.training.sequences import SequencePage, fit_sequence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tamis.arrays import Floats, Singles
    from tamis.folders import SitePages
    from tamis_papers.training.examples import BlockPage


DROPOUT_WITHOUT_GOLD: Final = 0.7
"""Of the first round without gold labels: what sites repeat misleads a network that can count on every feature."""


def train_block_model(
    gold: Sequence[BlockPage],
    sites: Sequence[SitePages],
    *,
    partial_pages: Sequence[BlockPage] = (),
    labelled: Sequence[BlockPage] = (),
    marked: Sequence[BlockPage] = (),
    seed: int = 0,
    processes: int = 1,
) -> BlockModel:
    """Train in two rounds; the same seed and pages give the same weights.

    Args:
        gold: pages with labels from gold text; without them, the first round learns from the next but one and next.
        sites: sites whose pages the second round learns from.
        partial_pages: pages with labels for some blocks, which the second round learns from.
        labelled: pages of sites with site-level labels.
        marked: pages of sites with labels from authors' marks, without gold pages.
        seed: of folds and first weights.
        processes: that read pages of sites.

    Raises:
        ImportError: jax is not installed.
        ValueError: there are no labels of both kinds.
    """
    if gold:
        first = fit_block_model(gold, [], seed=seed)
    else:
        first = fit_block_model([], labelled, marked=marked, seed=seed, dropout=DROPOUT_WITHOUT_GOLD)
    distilled = label_pages(partial(label_site_by_counts, model=first, seed=seed), sites, processes)
    completed = [
        replace(page, label=np.where(page.labelled, page.label, first.content_probability(page.page)))
        for page in partial_pages
    ]
    return fit_block_model([*gold, *completed], distilled, marked=marked, seed=seed)


def fit_block_model(
    gold: Sequence[BlockPage],
    sites: Sequence[BlockPage],
    *,
    marked: Sequence[BlockPage] = (),
    seed: int = 0,
    dropout: float = 0.25,
) -> BlockModel:
    """Fit a model to labelled pages: gold pages, pages of sites, every site counting the same, and marked pages.

    Raises:
        ImportError: jax is not installed.
        ValueError: there are no labels of both kinds.
    """
    pages = [*gold, *marked, *sites]
    weight = _page_weights(gold, marked, sites)
    if len({label > 0.5 for page in pages for label in page.label[page.labelled_mass > 0].tolist()}) < 2:
        raise ValueError("the pages give no labels of both kinds: content and template")
    matrices, tables = stacked_token_features(pages, weight, seed=seed), learn_tables(pages, weight)
    rows = np.concatenate(matrices[: len(gold)] or matrices)
    mean, scale = rows.mean(axis=0).astype(np.float32), (1 / (rows.std(axis=0) + 1e-3)).astype(np.float32)
    inputs = [
        SequencePage(
            inputs=standardise(matrix, mean, scale),
            target=np.nan_to_num(page.label),
            weight=(page.labelled_mass * page_weight).astype(np.float32),
            copy=page.copy,
        )
        for page, matrix, page_weight in zip(pages, matrices, weight, strict=True)
    ]
    network = fit_sequence(inputs, dropout, seed)
    return BlockModel.create(tables, mean, scale, network)


def _page_weights(gold: Sequence[BlockPage], marked: Sequence[BlockPage], sites: Sequence[BlockPage]) -> Floats:
    """float64[pages]: 1 for a gold page, less for those of a source with many of them.

    The pages of a site share an equal part of the rest; marks, which are for models without gold pages, weigh the same.
    """
    number = Counter(page.source for page in gold if not page.copy)
    gold_weight = np.array([min(1.0, 15.0 / number[page.source]) for page in gold])  # as 15 pages at most
    total = gold_weight.sum() if len(gold) else float(len(sites))
    return np.concatenate([gold_weight, _equal_sites(marked) * total, _equal_sites(sites) * total])


def _equal_sites(pages: Sequence[BlockPage]) -> Floats:
    """float64[pages], equal for all sites and all pages of one; adds up to 1."""
    number = Counter(page.source for page in pages)
    return np.array([1 / (number[page.source] * len(number)) for page in pages])


def learn_tables(pages: Sequence[BlockPage], weight: Floats) -> TokenTables:
    """Learn the log-odds of names and words; every page has a vote on every token it has, by how much it covers.

    A name covers the blocks inside its elements, a word the blocks it is in.
    """
    names, words = np.zeros((2, TABLE_SIZE)), np.zeros((2, TABLE_SIZE))
    for page, page_weight in zip(pages, weight, strict=True):
        tokens, mass = page.tokens, page.labelled_mass
        content = mass * np.nan_to_num(page.label)
        begin, end = (array[tokens.name_element] for array in (page.page.block_begin, page.page.block_end))
        sums = (np.append(0.0, np.cumsum(values)) for values in (mass, content))
        of_name = [before[end] - before[begin] for before in sums]
        of_word = [values.repeat(tokens.words_per_block) for values in (mass, content)]
        _add_votes(names, page_weight, tokens.name, *of_name)
        _add_votes(words, page_weight, tokens.word, *of_word)
    return TokenTables(_log_odds(names), _log_odds(words))


def stacked_token_features(pages: Sequence[BlockPage], weight: Floats, *, seed: int) -> list[Singles]:
    """float32[m, k] of every page, all features, the learned ones from tables that have not seen its source.

    As in the stacked model of the site-independent template blocks paper, section 4.1.
    """
    fold_of = deal_folds((page.source for page in pages), seed)
    fold = np.array([fold_of[page.source] for page in pages])
    matrices: list[Singles] = [np.zeros((0, 0), np.float32)] * len(pages)
    for number in np.unique(fold).tolist():
        seen = fold != number
        tables = learn_tables(list(compress(pages, seen)), weight[seen])
        for index in np.flatnonzero(~seen).tolist():
            matrices[index] = features_of(pages[index].page, tables)[0]
    return matrices


def _add_votes(table: Floats, weight: float, token: NDArray[np.integer], mass: Floats, chosen: Floats) -> None:
    """Add a page's votes for and against to float64[2, TABLE_SIZE], on every token by how much it covers.

    ``mass`` is the labelled mass that each token of its blocks covers, ``chosen`` the part of it that votes for.
    """
    entries, entry_of = np.unique(token, return_inverse=True)
    covered = np.bincount(entry_of, mass)
    strength = np.minimum(covered * 20.0, 1.0)  # full from a twentieth of the page's mass on
    votes = strength * np.bincount(entry_of, chosen) / np.maximum(covered, 1e-12)
    table[:, entries] += weight * np.stack([votes, strength - votes])


def _log_odds(votes: Floats) -> Singles:
    """float32[TABLE_SIZE] from float64[2, TABLE_SIZE] votes for and against, 0 for what was never seen."""
    prior = votes[0].sum() / max(votes.sum(), 1e-12)
    # two pages that say what the prior says are added to every entry
    odds = (votes[0] + 2.0 * prior + 1e-9) / (votes[1] + 2.0 * (1 - prior) + 1e-9)
    relative = np.log(odds) - np.log((prior + 1e-9) / (1 - prior + 1e-9))
    return np.where(votes.sum(axis=0) > 0, relative, 0.0).astype(np.float16).astype(np.float32)
