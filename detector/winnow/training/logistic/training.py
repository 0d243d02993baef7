"""Fits the four area-bucketed logistic regressions to the site-level labels of a folder of sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from sklearn.linear_model import LogisticRegression

from winnow.models.logistic.features import NODE_FEATURES
from winnow.models.logistic.model import BUCKETS, LogisticModel, bucket_of
from winnow.training.labels import SITE_LEVEL_LIMITS, SITE_LEVEL_METHOD, described
from winnow.training.logistic.examples import collect
from winnow.training.logistic.tuning import best_threshold, content_f_measure
from winnow.training.report import SITE_LABELS, Figures, Method, Trained

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.progress import Progress
    from winnow.training.logistic.examples import Examples
    from winnow.training.sites import Site

FOLDS: Final = 5
_REGULARISATION: Final = 0.1  # scikit-learn's C, for examples whose weights average 1
_CLIP: Final = 6.0  # standard deviations


def train_logistic(
    sites: Sequence[Site],
    gold: Sequence[Path] = (),
    *,
    labels: str = SITE_LEVEL_METHOD,
    seed: int = 0,
    processes: int = 1,
    progress: Progress | None = None,
) -> Trained:
    """Train the ``logistic`` model from site-level labels alone.

    The threshold is the one under which most of the text of held-out sites falls where its labels say, after smoothing.

    Args:
        sites: the sites, at least one for each of 5 folds.
        gold: not used by this model; must be empty.
        labels: the site-level method that labels the sites.
        seed: picks pages and folds.
        processes: worker processes that read pages.
        progress: called with sites done, sites in all, and the site that was read.

    Raises:
        ValueError: gold text was given, or the sites are too few or give no examples of both kinds.
    """
    if gold:
        raise ValueError("the logistic model learns from site-level labels only; it takes no gold text")
    if len(sites) < FOLDS:
        raise ValueError(f"the logistic model needs {FOLDS} or more sites, there are {len(sites)}")
    collected = collect(sites, labels=labels, seed=seed, processes=processes, progress=progress)
    examples = collected.examples.merged()
    fold = np.random.default_rng(seed).permutation(len(sites)) % FOLDS
    score = np.zeros(len(examples.label))
    measured = []
    for number in range(FOLDS):
        tested = fold[examples.site] == number
        model = fit(examples, ~tested)
        score[tested] = model.probability(examples.values[tested], examples.area[tested])
        measured += [
            (page.site, content_f_measure(model, page)) for page in collected.tuning if fold[page.site] == number
        ]
    threshold, f_measure = best_threshold(measured)
    model = fit(examples, np.ones(len(examples.label), bool), threshold)
    figures = Figures.of(score, examples.label, examples.weight, score >= threshold, f_measure)
    method = Method(
        units="elements",
        labels=described(labels),
        threshold=f"{threshold:.2f}, chosen on held-out sites",
        held_out="Five folds over the sites; every site has the same weight.",
        f_measure="after smoothing",
        limits=SITE_LEVEL_LIMITS,
    )
    return Trained(
        model,
        sites=len(sites),
        pages=collected.pages,
        gold_pages=0,
        examples=len(score),
        method=method,
        figures={SITE_LABELS: figures},
    )


def fit(examples: Examples, chosen: NDArray[np.bool_], threshold: float = 0.5) -> LogisticModel:
    """Fit the four regressions to the chosen examples (bool[e]).

    Where those of one size are all of one kind, as large ones of few sites may be, the next sizes are taken in.

    Raises:
        ValueError: the chosen examples are all of one kind.
    """
    shape = (BUCKETS, len(NODE_FEATURES))
    low, high, weight, intercept = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(BUCKETS)
    bucket = bucket_of(examples.area)
    for number in range(BUCKETS):
        rows = _rows_of_both_kinds(examples.label, chosen, abs(bucket - number))
        label = examples.label[rows]
        values = examples.values[rows].astype(np.float64)
        middle, spread = values.mean(axis=0), values.std(axis=0) + 1e-6
        low[number], high[number] = middle - _CLIP * spread, middle + _CLIP * spread
        standard = (np.clip(values, low[number], high[number]) - middle) / spread
        example_weight = examples.weight[rows] / examples.weight[rows].mean()
        regression = LogisticRegression(C=_REGULARISATION, max_iter=1000).fit(standard, label, example_weight)
        weight[number] = regression.coef_[0] / spread
        intercept[number] = regression.intercept_[0] - weight[number] @ middle
    return LogisticModel.from_arrays(threshold, low, high, weight, intercept)


def _rows_of_both_kinds(
    template: NDArray[np.bool_], chosen: NDArray[np.bool_], distance: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rows of the chosen examples nearest in size that include template and content."""
    for reach in range(BUCKETS):
        rows = np.flatnonzero(chosen & (distance <= reach))
        if template[rows].any() and not template[rows].all():
            return rows
    raise ValueError("the sites give examples of one kind only: all template, or all content")
