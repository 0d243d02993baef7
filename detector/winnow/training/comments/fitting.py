"""Fits the comments head: word odds, the network of blocks, and the linear part that knows forums."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from winnow.evidence.comment_model import NAMES_OF_A_PAGE, OF_A_PAGE, CommentHead, name_bag, page_features
from winnow.features.tokens import TABLE_SIZE, word_features
from winnow.models.networks import standardise
from winnow.training.blocks.fitting import Lesson, fit
from winnow.training.stacking import stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from winnow.training.comments.examples import CommentPage

    Matrix = NDArray[np.float32]
    Floats = NDArray[np.float64]

FOLDS: Final = 3
"""The word odds that a page is learned from are of the pages of the other folds."""


@dataclass(frozen=True, slots=True)
class CommentRecipe:
    """What the head is trained with.

    Attributes:
        hidden: units of the network's two hidden layers.
        epochs: passes over the pages.
        dropout: share of the features that the network is shown each block without.
        decay: share of each weight that a step takes, in units of the learning rate.
        of_threads, of_forums, of_others: weight of a page with comments, of one of a forum, and of any other.
        most_pages: pages of a source that count in full.
        least_sources: sources that must have a word for it to have odds.
        regularisation: inverse strength, of the part that knows forums.
    """

    hidden: tuple[int, int] = (24, 12)
    epochs: int = 6
    dropout: float = 0.2
    decay: float = 0.01
    of_threads: float = 8.0
    of_forums: float = 2.0
    of_others: float = 0.4
    most_pages: int = 6
    least_sources: int = 3
    regularisation: float = 0.03


def train_comment_head(
    pages: Sequence[CommentPage], *, seed: int = 0, recipe: CommentRecipe | None = None
) -> CommentHead:
    """Train on labelled pages.

    Args:
        pages: of :func:`winnow.training.comments.examples.comment_page`.
        seed: the same seed and pages give the same weights.
        recipe: how.

    Raises:
        ValueError: there are no pages with comments, or none of a forum, or no others.
    """
    recipe = recipe or CommentRecipe()
    pages = [page for page in pages if len(page.texts)]
    if not any(page.has_thread for page in pages) or len({page.forum for page in pages}) < 2:
        raise ValueError("pages with comments, pages of forums and other pages are needed")
    weight = _page_weights(pages, recipe)
    matrices = _stacked_features(pages, weight, recipe, seed)
    inputs = np.concatenate(matrices)
    mean, scale = inputs.mean(axis=0), (1 / (inputs.std(axis=0) + 1e-3)).astype(np.float32)
    label = np.concatenate([page.comment for page in pages])
    mass = np.concatenate([page.mass * share for page, share in zip(pages, weight, strict=True)])
    lesson = Lesson(
        inputs=standardise(inputs, mean, scale),
        target=np.nan_to_num(label),
        weight=np.where(np.isnan(label), 0, mass).astype(np.float32),
        begin=np.append(0, np.cumsum([len(page.texts) for page in pages])),
        windows=[page.features.windows for page in pages],
    )
    network = fit(
        lesson, hidden=recipe.hidden, epochs=recipe.epochs, decay=recipe.decay, dropout=recipe.dropout, seed=seed
    )
    words = word_odds(pages, weight, recipe.least_sources)
    return CommentHead(words, mean, scale, network, *_forum_part(pages, matrices, recipe))


def _page_weights(pages: Sequence[CommentPage], recipe: CommentRecipe) -> Floats:
    """float64[pages]; the pages of one source and kind that are above the most share the weight of so many."""
    kinds = [(page.source, "thread" if page.has_thread else "forum" if page.forum else "other") for page in pages]
    number = Counter(kinds)
    of_kind = {"thread": recipe.of_threads, "forum": recipe.of_forums, "other": recipe.of_others}
    return np.array([of_kind[kind[1]] * min(number[kind], recipe.most_pages) / number[kind] for kind in kinds])


def _stacked_features(pages: Sequence[CommentPage], weight: Floats, recipe: CommentRecipe, seed: int) -> list[Matrix]:
    """float32[m, k] of every page, its learned features from word odds that have not seen its source."""

    def learn(seen: Sequence[CommentPage], weights: Floats) -> Callable[[CommentPage], Matrix]:
        odds = word_odds(seen, weights, recipe.least_sources)
        return lambda page: word_features(page.features.tokens, odds)

    return stacked(pages, weight, learn, folds=FOLDS, seed=seed)


def word_odds(pages: Sequence[CommentPage], weight: Floats, least_sources: int) -> Matrix:
    """float32[TABLE_SIZE], log-odds of words for comment, 0 for those of too few sources.

    Every page has a vote on each of its words, as for the tables of :mod:`winnow.training.blocks.model`.
    """
    votes = np.zeros((2, TABLE_SIZE))
    sources: defaultdict[str, NDArray[np.bool_]] = defaultdict(lambda: np.zeros(TABLE_SIZE, bool))
    for page, share in zip(pages, weight, strict=True):
        tokens = page.features.tokens
        mass = np.where(np.isnan(page.comment), 0, page.mass)
        covered, in_comments = (
            np.bincount(tokens.word, values[tokens.word_block], TABLE_SIZE)
            for values in (mass, mass * np.nan_to_num(page.comment))
        )
        vote = share * np.minimum(covered * _SPREAD, 1)
        votes[1] += vote * in_comments / np.maximum(covered, 1e-12)
        votes[0] += vote
        sources[page.source][tokens.word] = True
    votes[0] -= votes[1]
    prior = votes[1].sum() / max(votes.sum(), 1e-12)
    odds = np.log((votes[1] + _SMOOTHING * prior + 1e-9) / (votes[0] + _SMOOTHING * (1 - prior) + 1e-9))
    odds -= np.log((prior + 1e-9) / (1 - prior + 1e-9))
    known = np.sum(list(sources.values()), axis=0) >= least_sources
    return np.where(known, odds, 0).astype(np.float16).astype(np.float32)


_SMOOTHING: Final = 2.0  # pages that say what the prior says, added to every word
_SPREAD: Final = 20.0  # a word votes for a page in full from a twentieth of its mass on


def _forum_part(
    pages: Sequence[CommentPage], matrices: Sequence[Matrix], recipe: CommentRecipe
) -> tuple[Matrix, Matrix, Matrix]:
    """Mean, scale and weights of the logistic regression that tells pages of forums from others."""
    rows = np.stack(
        [page_features([matrix], page.features.words) for page, matrix in zip(pages, matrices, strict=True)]
    )
    mean, scale = rows.mean(axis=0).astype(np.float32), (1 / (rows.std(axis=0) + 1e-3)).astype(np.float32)
    bags = [name_bag(page.features) for page in pages]
    index = np.concatenate([np.full(len(bag), row) for row, bag in enumerate(bags)]), np.concatenate(bags)
    names = sparse.csr_array((np.ones(len(index[0])), index), shape=(len(pages), NAMES_OF_A_PAGE)).toarray()
    spread = names.std(axis=0) + 1e-3
    centre = names.mean(axis=0)
    number = Counter(page.source for page in pages)
    inputs = np.concatenate([standardise(rows.astype(np.float32), mean, scale), (names - centre) / spread], axis=1)
    regression = LogisticRegression(C=recipe.regularisation, max_iter=500).fit(
        np.clip(inputs, -_CLIP, _CLIP),
        np.array([page.forum for page in pages]),
        sample_weight=[1 / np.sqrt(number[page.source]) for page in pages],
    )
    of_page, of_names = regression.coef_[0, :OF_A_PAGE], regression.coef_[0, OF_A_PAGE:]
    # a name is there or not: two values, of which the regression saw the clipped ones
    here, away = (np.clip((value - centre) / spread, -_CLIP, _CLIP) for value in (1.0, 0.0))
    bias = regression.intercept_[0] + (of_names * away).sum()
    weight = np.concatenate([of_page, of_names * (here - away), [bias]])
    return mean, scale, weight.astype(np.float32)


_CLIP: Final = 4.0
