"""Trains the model of text blocks from sites and gold text, and measures it on sources that it has not seen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.training.blocks.decision.calibration import Calibration
from winnow.training.blocks.examples import of_gold, of_sites
from winnow.training.blocks.fold_models import fit_folds
from winnow.training.blocks.gold_sets import FOLDS, gold_examples, source_of
from winnow.training.blocks.marked import of_marks
from winnow.training.blocks.measuring import measured
from winnow.training.blocks.model import Recipe, train_block_model
from winnow.training.blocks.steps import Steps
from winnow.training.evaluation import read_gold
from winnow.training.gold import aligner
from winnow.training.labels import SITE_LEVEL_LIMITS, SITE_LEVEL_METHOD, described
from winnow.training.report import SITE_LABELS, Figures, Method, Trained

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from winnow.models.networks import BlockPerceptron
    from winnow.progress import Progress
    from winnow.training.blocks.examples import BlockPage
    from winnow.training.blocks.fold_models import Fit
    from winnow.training.sites import Site

_BY_FOLDS: Final = """\
By five folds over the sources, each measured with a model trained in the same way on the others; a collection that a
gold file has beside others is in one fold. Each source has the same weight."""

_BY_A_FIFTH: Final = """\
A model trained in the same way on four fifths of the sites. The others calibrate the scores, for the figures one half
of them for the other half."""

_GOLD_LIMITS: Final = """\
Gold text is one person's opinion of what the content of each page is, on the pages and in the languages of that
collection; the sites' blocks are there to keep the model from taking that collection for the web."""


def train_blocks(
    sites: Sequence[Site],
    gold: Sequence[Path] = (),
    *,
    examples: Sequence[BlockPage] = (),
    marks: bool = False,
    leave_out: Collection[str] = (),
    labels: str = SITE_LEVEL_METHOD,
    seed: int = 0,
    processes: int = 1,
    progress: Progress | None = None,
    recipe: Recipe | None = None,
) -> Trained:
    """Train the ``blocks`` model: without some of the sources, for the figures, and on all, for the weights.

    Args:
        sites: the sites.
        gold: files of gold pages, for :func:`winnow.training.blocks.gold_sets.gold_examples`. With them there are a
            training without each of five folds and a learned decision; without them one training without a fifth.
        examples: labelled pages of further sites, as crawls collect them.
        marks: learn from what authors of the sites' pages have marked as their article, too; not on the domains of any
            gold page, those left out among them.
        leave_out: collections of the gold files that are not learned from.
        labels: the site-level method that labels the sites.
        seed: picks pages and held-out sources, and starts the networks.
        processes: worker processes that read pages.
        progress: called for each site and gold page that was read, then for each step that begins.
        recipe: how to train; the package's own by default.

    Raises:
        FileNotFoundError: the HTML of a gold page is not where it should be.
        ImportError: there is gold text, and a package that it needs is not installed.
        ValueError: a gold file is malformed, the sources are fewer than two, or there are no labels of both kinds.
    """
    if gold:
        aligner()
    folder = sites[0].folder.parent if sites else None
    of_gold_text = gold_examples(gold, folder, leave_out=leave_out)  # first: what is wrong with it shows early
    of_site = of_sites(sites, labels=labels, seed=seed, processes=processes, progress=progress) if sites else []
    of_site += [page for page in examples if not page.marked]
    of_page = of_gold(of_gold_text, processes=processes, progress=progress) if of_gold_text else []
    marked = (
        of_marks(sites, seed=seed, leave_out=_domains(gold), processes=processes, progress=progress) if marks else []
    )
    marked += [page for page in examples if page.marked]
    fit = partial(train_block_model, seed=seed, recipe=recipe)
    if of_gold_text:
        fitted = fit_folds(
            of_gold_text, of_page, of_site, marked=marked, fit=fit, seed=seed, processes=processes, progress=progress
        )
        model, figures, fold_models, fold_of = fitted.model, fitted.figures, fitted.without, fitted.fold_of
    else:
        model, figures = _without_gold(of_site, marked, fit, seed, progress)
        fold_models, fold_of = (), {}
    return Trained(
        model,
        sites=len(sites) + len({page.source for page in examples}),
        pages=len(of_site),
        marked_pages=len(marked),
        gold_pages=sum(not page.copy for page in of_page),
        examples=int(sum(page.labelled.sum() for page in [*of_site, *of_page, *marked] if not page.copy)),
        method=_method(gold, labels, marks=bool(marked)),
        figures=figures,
        fold_models=fold_models,
        fold_of=fold_of,
    )


def _domains(gold: Iterable[Path]) -> set[str]:
    """Registrable domains of all gold pages."""
    return {source_of(page) for file in gold for page in read_gold(file)}


def _without_gold(
    sites: Sequence[BlockPage], marked: Sequence[BlockPage], fit: Fit, seed: int, progress: Progress | None
) -> tuple[BlockPerceptron, dict[str, Figures]]:
    held_out = _held_out(sites, seed)
    steps = Steps(progress, 2)
    steps.of = "for the figures"
    seen = [[page for page in pages if page.source not in held_out] for pages in (sites, marked)]
    model = fit([], seen[0], marked=seen[1], begins=steps)
    unseen = [page for page in sites if page.source in held_out]
    half = held_out[::2]
    halves = [[page for page in unseen if (page.source in half) == first] for first in (True, False)]
    pairs = zip(halves, reversed(halves), strict=True)  # measured on sites that it was not calibrated on either
    figures = measured([(Calibration.of(model, others).applied(model), own) for own, others in pairs])
    calibration = Calibration.of(model, unseen)
    steps.of = "for the weights"
    model = calibration.applied(fit([], sites, marked=marked, begins=steps))
    steps.finish()
    return model, {SITE_LABELS: figures} if figures is not None else {}


def _held_out(sites: Iterable[BlockPage], seed: int) -> list[str]:
    """Pick a fifth of the sites, but at least one."""
    names = sorted({page.source for page in sites})
    if len(names) < 2:
        raise ValueError("two sources with text are needed at least: one to learn from and one to measure on")
    number = max(round(len(names) / FOLDS), 1)
    chosen: list[str] = np.random.default_rng(seed).permutation(np.array(names, object))[:number].tolist()
    return chosen


def _method(gold: Sequence[Path], site_method: str, *, marks: bool) -> Method:
    labels = described(site_method)
    if marks:
        labels += "; what authors have marked as their article, on some pages"
    if gold:
        names = " and ".join(f"`{file.parent.name}/{file.name}`" for file in gold)
        labels = f"gold text of {names}, which people wrote down, and {labels.replace(', no human ones', '')}"
    return Method(
        units="text blocks",
        labels=labels,
        threshold="learned: trees judge the cuts of each page by its scores"
        if gold
        else "none: each page is cut where its own scores expect the best F1",
        held_out=_BY_FOLDS if gold else _BY_A_FIFTH,
        f_measure="before smoothing",
        limits=f"{_GOLD_LIMITS}\n{SITE_LEVEL_LIMITS}" if gold else SITE_LEVEL_LIMITS,
    )
