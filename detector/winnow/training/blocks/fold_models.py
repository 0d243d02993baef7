"""Trains a model without each fold of the sources: what is measured, and what is decided, has not been seen."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from winnow.cleaning import clean
from winnow.models.networks import BlockPerceptron
from winnow.training.blocks.decision.cut_examples import cut_pages
from winnow.training.blocks.decision.deciding import learn_decisions
from winnow.training.blocks.gold_sets import FOLDS, folds
from winnow.training.blocks.measuring import measured
from winnow.training.blocks.steps import Steps
from winnow.training.evaluation import page_accuracy
from winnow.training.report import GOLD_LABELS, SITE_LABELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from winnow.models.decision import LearnedDecision
    from winnow.progress import Progress
    from winnow.training.blocks.decision.cut_examples import CutPage
    from winnow.training.blocks.examples import BlockPage
    from winnow.training.blocks.gold_sets import GoldExample
    from winnow.training.report import Figures

_Result = TypeVar("_Result")


class Fit(Protocol):
    """Trains the networks of a model."""

    def __call__(
        self,
        gold: Sequence[BlockPage],
        sites: Sequence[BlockPage],
        *,
        marked: Sequence[BlockPage] = (),
        begins: Callable[[str], None] | None = None,
    ) -> BlockPerceptron:
        """Train on gold pages, pages of sites and marked pages."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Folded:
    """A model, and the models that it is measured by.

    Attributes:
        model: trained on everything.
        without: for each fold, trained and taught to decide without it.
        fold_of: the fold of every source.
        figures: of the models without a fold on that fold, by kind of labels.
    """

    model: BlockPerceptron
    without: tuple[BlockPerceptron, ...]
    fold_of: dict[str, int]
    figures: dict[str, Figures]


def fit_folds(
    examples: Sequence[GoldExample],
    gold: Sequence[BlockPage],
    sites: Sequence[BlockPage],
    *,
    marked: Sequence[BlockPage] = (),
    fit: Fit,
    seed: int = 0,
    processes: int = 1,
    progress: Progress | None = None,
) -> Folded:
    """Train without each fold, learn from what these models say of their folds where to cut, and train on everything.

    Args:
        examples: the gold pages.
        gold: their blocks.
        sites: blocks of pages of sites.
        marked: blocks of marked pages.
        fit: how networks are trained.
        seed: deals out the sources.
        processes: worker processes that cut pages.
        progress: called for each step that begins.

    Raises:
        ValueError: the sources are too few, or a fold leaves no labels of both kinds.
    """
    fold_of = folds(examples, {page.source for page in [*sites, *marked]}, seed)
    steps = Steps(progress, FOLDS + 1)
    networks: list[BlockPerceptron] = []
    cuts: list[CutPage] = []
    for fold in range(FOLDS):
        steps.of = f"without fold {fold}"
        seen = [_other(pages, fold_of, fold) for pages in (gold, sites, marked)]
        networks.append(fit(seen[0], seen[1], marked=seen[2], begins=steps))
        own = [example for example in examples if fold_of[example.source] == fold]
        for found in _mapped(cut_pages, own, networks[fold], fold, processes):
            cuts += found
    decisions = learn_decisions(cuts)
    without = tuple(map(_deciding, networks, decisions.without))
    figures = {
        GOLD_LABELS: measured(
            [(model, _own(gold, fold_of, fold)) for fold, model in enumerate(without)],
            _text_f1(examples, without, fold_of, processes),
        ),
        SITE_LABELS: measured([(model, _own(sites, fold_of, fold)) for fold, model in enumerate(without)]),
    }
    steps.of = "for the weights"
    model = _deciding(fit(gold, sites, marked=marked, begins=steps), decisions.learned)
    steps.finish()
    return Folded(model, without, fold_of, {of: row for of, row in figures.items() if row is not None})


def _deciding(model: BlockPerceptron, decision: LearnedDecision) -> BlockPerceptron:
    return BlockPerceptron.of(model.tables, model.mean, model.scale, model.networks, decision)


def _own(pages: Sequence[BlockPage], fold_of: dict[str, int], fold: int) -> list[BlockPage]:
    return [page for page in pages if fold_of[page.source] == fold and not page.copy]


def _other(pages: Sequence[BlockPage], fold_of: dict[str, int], fold: int) -> list[BlockPage]:
    return [page for page in pages if fold_of[page.source] != fold]


def _text_f1(
    examples: Sequence[GoldExample], models: Sequence[BlockPerceptron], fold_of: dict[str, int], processes: int
) -> float:
    """Word F1 of the whole way of a page, mean over pages, each cleaned by the model without its fold."""
    measures: list[float] = []
    for fold, model in enumerate(models):
        own = [example for example in examples if fold_of[example.source] == fold]
        measures += _mapped(_page_f1, own, model, fold, processes)
    return float(np.mean(measures))


def _page_f1(example: GoldExample, model: BlockPerceptron, fold: int) -> float:
    del fold  # its model has been chosen
    text = clean(example.file.read_bytes(), example.gold.url, model=model).text
    return page_accuracy(text, example.gold).f1


def _mapped(
    work: Callable[..., _Result],
    examples: Sequence[GoldExample],
    model: BlockPerceptron,
    fold: int,
    processes: int,
) -> list[_Result]:
    one = partial(work, model=model, fold=fold)
    if processes == 1:
        return list(map(one, examples))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return list(pool.map(one, examples, chunksize=16))
