"""Trains the perceptron of text blocks: token tables, a forest of boosted trees, and a perceptron that learns from it.

Three steps, each scikit-learn's: (1) log-odds of names and words, for the training rows from the other folds only, as
in the stacked model of the site-independent template blocks paper, section 4.1; (2) gradient-boosted trees on all the
labels; (3) a small perceptron on the labels and, for the blocks that have none, on what the trees say of them. The
trees are the better judge and the perceptron the faster one, by far: it is what is shipped.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.linalg import block_diag
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from detector.blocks.perceptron import BlockPerceptron, standardised
from detector.blocks.tokens import TABLE_SIZE, TokenTables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from detector.training.block_examples import BlockPage

    Matrix = NDArray[np.float32]
    Floats = NDArray[np.float64]

STEPS: Final = ("token tables", "boosted trees", "perceptrons")
"""What training goes through, in this order."""

FOLDS: Final = 5
_SMOOTHING: Final = 2.0  # pages that say what the prior says, added to every table entry
_BATCH: Final = 1_024
_SPREAD: Final = 20.0  # a token votes for a page in full from a twentieth of its mass on


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a block model is trained with.

    Attributes:
        site_share: weight of all site labels together, all gold labels being 1.
        taught_share: weight of the sites' blocks for the perceptron, as the trees judge them, all gold labels being 1.
        trees: boosting rounds.
        hidden: units of the perceptron's hidden layers.
        epochs: passes of the perceptron over the examples.
        least_steps: steps of the perceptron; where examples are few it passes over them more often.
        decay: L2 penalty on its weights.
        perceptrons: how many are trained, from different starts, and averaged.
    """

    site_share: float = 0.3
    taught_share: float = 3.0
    trees: int = 200
    hidden: tuple[int, ...] = (64, 32)
    epochs: int = 5
    least_steps: int = 500
    decay: float = 0.01
    perceptrons: int = 3


def train_block_model(
    gold: Sequence[BlockPage],
    sites: Sequence[BlockPage],
    *,
    seed: int = 0,
    recipe: Recipe | None = None,
    begins: Callable[[str], None] | None = None,
) -> BlockPerceptron:
    """Train on labelled pages.

    Args:
        gold: pages with labels from gold text; none for a model that is taught by sites alone.
        sites: pages with site-level labels; every site counts the same.
        seed: the same seed and pages give the same weights.
        recipe: how.
        begins: called with the name of each of :data:`STEPS` as it begins.

    Raises:
        ValueError: there are no labels of both kinds.
    """
    recipe = recipe or Recipe()
    begins = begins or (lambda _step: None)
    begins(STEPS[0])
    pages = [*gold, *sites]
    weight = _page_weights(len(gold), sites, recipe.site_share)
    matrix = np.concatenate(stacked(pages, weight, seed=seed))
    content = np.concatenate([page.content for page in pages])
    mass = np.concatenate([page.mass * share for page, share in zip(pages, weight, strict=True)])
    labelled = np.flatnonzero(~np.isnan(content) & (mass > 0))
    is_content = content > 0.5
    if is_content[labelled].all() or not is_content[labelled].any():
        raise ValueError("the pages give no labels of both kinds: content and template")
    begins(STEPS[1])
    trees = _trees(matrix[labelled], is_content[labelled], mass[labelled], recipe, seed)

    begins(STEPS[2])
    of_gold = np.arange(len(content)) < sum(len(page.words) for page in gold)
    own, taught = np.flatnonzero(of_gold & (mass > 0)), np.flatnonzero(~of_gold & (mass > 0))
    probability = trees.predict_proba(matrix[taught])[:, 1] if len(taught) else np.zeros(0)
    share = recipe.taught_share * mass[own].sum() / mass[taught].sum() if len(own) and len(taught) else 1.0
    rows = np.concatenate([own, taught])
    row_mass = np.concatenate([mass[own], share * mass[taught]])
    examples = matrix[own if len(own) else taught]
    mean, scale = examples.mean(axis=0), (1 / (examples.std(axis=0) + 1e-3)).astype(np.float32)
    inputs = standardised(matrix[rows], mean, scale)
    perceptrons = []
    for number in range(recipe.perceptrons):
        # Blocks taught by the trees get a label drawn by their probability: on average, that is a soft label.
        drawn = np.random.default_rng([seed, number]).random(len(taught)) < probability
        target = np.concatenate([is_content[own], drawn])
        perceptrons.append(_perceptron(inputs, target, row_mass, recipe, seed + number))
    weights, biases = side_by_side(perceptrons)
    return BlockPerceptron.from_arrays(learn_tables(pages, weight), mean, scale, weights, biases)


def side_by_side(perceptrons: Sequence[MLPClassifier]) -> tuple[list[Matrix], list[Matrix]]:
    """Put fitted perceptrons of one shape into one that gives the mean of their logits: weights and biases by layer."""
    weights, biases = [], []
    for number in range(len(perceptrons[0].coefs_)):
        layers = [perceptron.coefs_[number] for perceptron in perceptrons]
        if number == 0:
            weights.append(np.concatenate(layers, axis=1))
        elif number + 1 < len(perceptrons[0].coefs_):
            weights.append(block_diag(*layers))
        else:
            weights.append(np.concatenate(layers) / len(layers))
        bias = [perceptron.intercepts_[number] for perceptron in perceptrons]
        biases.append(np.concatenate(bias) if number + 1 < len(perceptrons[0].coefs_) else np.mean(bias, axis=0))
    return [layer.astype(np.float32) for layer in weights], [layer.astype(np.float32) for layer in biases]


def _perceptron(inputs: Matrix, target: NDArray[np.bool_], mass: Floats, recipe: Recipe, seed: int) -> MLPClassifier:
    batch = min(_BATCH, len(inputs))
    epochs = max(recipe.epochs, math.ceil(recipe.least_steps * batch / len(inputs)))
    perceptron = MLPClassifier(
        recipe.hidden, alpha=recipe.decay, batch_size=batch, learning_rate_init=0.002, max_iter=epochs,
        n_iter_no_change=epochs + 1, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few passes over so many examples are enough
        return perceptron.fit(inputs, target, sample_weight=mass / mass.mean())


def _page_weights(gold: int, sites: Sequence[BlockPage], site_share: float) -> Floats:
    """float64[gold pages + site pages]: 1 for a gold page; the pages of a site share an equal part of the rest."""
    number = Counter(page.source for page in sites)
    of_sites = np.array([1 / number[page.source] for page in sites])
    total = site_share * gold if gold else float(len(sites))
    return np.concatenate([np.ones(gold), of_sites * total / max(len(number), 1)])


def learn_tables(pages: Sequence[BlockPage], weight: Floats) -> TokenTables:
    """Learn the log-odds of names and words; every page has a vote on every token it has, by how much it covers."""
    names, words = np.zeros((2, TABLE_SIZE)), np.zeros((2, TABLE_SIZE))
    for page, share in zip(pages, weight, strict=True):
        vote = _votes(page)
        names += share * vote[0]
        words += share * vote[1]
    return TokenTables(_log_odds(names), _log_odds(words))


def stacked(pages: Sequence[BlockPage], weight: Floats, *, seed: int) -> list[Matrix]:
    """float32[m, k] of every page, its learned features from tables that have not seen its source."""
    sources = sorted({page.source for page in pages})
    fold_of = dict(zip(sources, np.random.default_rng(seed).permutation(len(sources)) % FOLDS, strict=True))
    fold = np.array([fold_of[page.source] for page in pages])
    matrices: list[Matrix] = [np.zeros((0, 0), np.float32)] * len(pages)
    for number in range(FOLDS):
        seen = np.flatnonzero(fold != number)
        tables = learn_tables([pages[index] for index in seen.tolist()], weight[seen])
        for index in np.flatnonzero(fold == number).tolist():
            page = pages[index]
            matrices[index] = np.concatenate([page.static, tables.features(page.tokens)], axis=1, dtype=np.float32)
    return matrices


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
    votes = np.zeros((2, 2, TABLE_SIZE))
    for vote, token, (covered, kept) in ((votes[0], tokens.name, of_name), (votes[1], tokens.word, of_word)):
        all_of_it = np.bincount(token, covered, TABLE_SIZE)
        strength = np.minimum(all_of_it * _SPREAD, 1.0)
        vote[0] = strength * np.bincount(token, kept, TABLE_SIZE) / np.maximum(all_of_it, 1e-12)
        vote[1] = strength - vote[0]
    return votes


def _log_odds(votes: Floats) -> Matrix:
    """float32[TABLE_SIZE] from float64[2, TABLE_SIZE] votes for content and template, 0 for what was never seen."""
    prior = votes[0].sum() / max(votes.sum(), 1e-12)
    odds = (votes[0] + _SMOOTHING * prior + 1e-9) / (votes[1] + _SMOOTHING * (1 - prior) + 1e-9)
    relative = np.log(odds) - np.log((prior + 1e-9) / (1 - prior + 1e-9))
    return np.where(votes.sum(axis=0) > 0, relative, 0.0).astype(np.float16).astype(np.float32)


def _trees(
    matrix: Matrix, content: NDArray[np.bool_], mass: Floats, recipe: Recipe, seed: int
) -> HistGradientBoostingClassifier:
    trees = HistGradientBoostingClassifier(
        max_iter=recipe.trees, learning_rate=0.1, max_leaf_nodes=31, min_samples_leaf=60, l2_regularization=5.0,
        max_features=0.3, early_stopping=False, random_state=seed,
    )  # fmt: skip
    return trees.fit(matrix, content, sample_weight=mass / mass.mean())
