"""Trains the four area-bucketed logistic regressions of the page-level paper from site-level labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from tamis.folders import no_progress
from tamis.processes import map_in_processes
from tamis_papers.element_features import NODE_FEATURES, Measures, node_features
from tamis_papers.page_level import BUCKETS, LogisticModel, bucket_of
from tamis_papers.training.examples import SITE_LEVEL_METHOD, SiteLabels, block_page, describe_labels
from tamis_papers.training.gold import FOLDS
from tamis_papers.training.report import SITE_LABELS, Trained, measure_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tamis.arrays import Flags, Floats, Integers, Singles
    from tamis.folders import Progress, SitePages
    from tamis_papers.training.examples import BlockPage


class Examples(NamedTuple):
    """Labelled elements of the pages of some sites (e of them).

    Attributes:
        values: float32[e, k], features.
        label: bool[e], true for template, false for content.
        area: float64[e], px².
        weight: float64[e]; those of a site add up to 1, its pages have equal parts, and so has an element the more text
            it holds, by its square root.
        site: int64[e], number of the site.
    """

    values: Singles
    label: Flags
    area: Floats
    weight: Floats
    site: Integers


def page_examples(measures: Measures, label: Singles, site: int, random: np.random.Generator) -> Examples:
    """Pick up to 100 labelled elements of a page; their weights add up to 1."""
    elements = measures.elements
    rows = np.flatnonzero(~np.isnan(label[elements]))
    rows = np.sort(random.permutation(rows)[:100])
    by_text = np.sqrt(1 + measures.words[rows])
    return Examples(
        values=node_features(measures)[rows],
        label=label[elements[rows]] == 0,
        area=measures.area[elements[rows]],
        weight=by_text / max(by_text.sum(), 1),
        site=np.full(len(rows), site),
    )


def _site_examples(task: tuple[int, SitePages, str, int]) -> tuple[list[Examples], list[BlockPage]]:
    """Examples of up to 30 pages of a site, and pages to measure on."""
    number, site, labels, seed = task
    site_labels, random = SiteLabels(site, labels), np.random.default_rng([seed, number])
    parts: list[Examples] = []
    measured: list[BlockPage] = []
    for read, label in site_labels.pages(random.permutation(site_labels.numbers)[:30].tolist()):
        parts.append(page_examples(Measures(read.page), label, number, random))
        if len(measured) < 8:
            measured.append(block_page(read.page, label[read.page.n :], site.name))
    if not any(len(part.label) for part in parts):
        return [], []
    return [part._replace(weight=part.weight / len(parts)) for part in parts], measured


def train_logistic(
    sites: Sequence[SitePages],
    *,
    labels: str = SITE_LEVEL_METHOD,
    seed: int = 0,
    processes: int = 1,
    progress: Progress = no_progress,
) -> Trained:
    """Train the ``logistic`` model from site-level labels alone.

    The arguments are those of :func:`tamis_papers.training.train.train`.

    Raises:
        ValueError: the sites are fewer than 5 or give no examples of both kinds.
    """
    if len(sites) < FOLDS:
        raise ValueError(f"the logistic model needs {FOLDS} or more sites, there are {len(sites)}")
    tasks = [(number, site, labels, seed) for number, site in enumerate(sites)]
    names = [f"site {site.name}" for site in sites]
    found = list(map_in_processes(_site_examples, tasks, processes, names, progress))
    parts = [part for of_site, _ in found for part in of_site]
    if not parts:
        raise ValueError("no site has enough pages with text in common and of their own to learn from")
    examples = Examples(*map(np.concatenate, zip(*parts, strict=True)))
    fold = np.random.default_rng(seed).permutation(len(sites)) % FOLDS
    fold_models = [fit(examples, fold[examples.site] != number) for number in range(FOLDS)]
    metrics = measure_models([(fold_models[of], pages) for of, (_, pages) in zip(fold.tolist(), found, strict=True)])
    return Trained(
        model=fit(examples, np.ones(len(examples.label), bool)),
        sites=len(sites),
        pages=len(parts),
        examples=len(examples.label),
        metrics={SITE_LABELS: metrics} if metrics is not None else {},
        labels=describe_labels(labels),
        held_out="Five folds over the sites; every site has the same weight.",
    )


def fit(examples: Examples, chosen: Flags) -> LogisticModel:
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
        low[number], high[number] = middle - 6 * spread, middle + 6 * spread
        standard = (np.clip(values, low[number], high[number]) - middle) / spread
        example_weight = examples.weight[rows] / examples.weight[rows].mean()
        regression = LogisticRegression(C=0.1, max_iter=1000).fit(standard, label, example_weight)
        weight[number] = regression.coef_[0] / spread
        intercept[number] = regression.intercept_[0] - weight[number] @ middle
    return LogisticModel(low, high, weight, intercept)


def _rows_of_both_kinds(template: Flags, chosen: Flags, distance: Integers) -> Integers:
    """Rows of the chosen examples nearest in size that include template and content."""
    for reach in range(BUCKETS):
        rows = np.flatnonzero(chosen & (distance <= reach))
        if template[rows].any() and not template[rows].all():
            return rows
    raise ValueError("the sites give examples of one kind only: all template, or all content")
