"""Trains the model of text blocks from sites and gold text, and measures it on sources that it has not seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.cleaning import clean
from winnow.models.threshold import expected_f1_threshold
from winnow.training.blocks.examples import html_file, of_gold, of_sites, source_of
from winnow.training.blocks.model import STEPS, Recipe, train_block_model
from winnow.training.evaluation import page_accuracy, read_gold
from winnow.training.gold import aligner
from winnow.training.labels import SITE_LEVEL_LIMITS, SITE_LEVEL_METHOD, described
from winnow.training.report import GOLD_LABELS, SITE_LABELS, Figures, Method, Trained

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from winnow.models.blocks.perceptron import BlockPerceptron
    from winnow.progress import Progress
    from winnow.training.blocks.examples import BlockPage
    from winnow.training.evaluation import GoldPage
    from winnow.training.sites import Site

HELD_OUT: Final = 5
"""One of so many sources is held out to be measured on."""

_GOLD_LIMITS: Final = """\
Gold text is one person's opinion of what the content of each page is, on the pages and in the languages of that
collection; the sites' blocks are there to keep the model from taking that collection for the web."""


def train_blocks(
    sites: Sequence[Site],
    gold: Path | None = None,
    *,
    examples: Sequence[BlockPage] = (),
    labels: str = SITE_LEVEL_METHOD,
    seed: int = 0,
    processes: int = 1,
    progress: Progress | None = None,
    recipe: Recipe | None = None,
) -> Trained:
    """Train the ``blocks`` model twice: without a fifth of the sources, for the figures, and on all, for the weights.

    Args:
        sites: the sites.
        gold: gold pages, for :func:`winnow.training.evaluation.read_gold`; their HTML is ``html/ID.html`` beside it.
        examples: labelled pages of further sites, as crawls collect them.
        labels: the site-level method that labels the sites.
        seed: picks pages and held-out sources, and starts the perceptron.
        processes: worker processes that read pages.
        progress: called for each site and gold page that was read, then for each step that begins.
        recipe: how to train; the package's own by default.

    Raises:
        FileNotFoundError: the HTML of a gold page is not where it should be.
        ImportError: there is gold text, and rapidfuzz is not installed.
        ValueError: the gold file is malformed, the sources are fewer than two, or there are no labels of both kinds.
    """
    gold_pages = _gold_pages(gold)  # first: what is wrong with it shows before the long work
    folder = gold.parent / "html" if gold else None
    of_site = of_sites(sites, labels=labels, seed=seed, processes=processes, progress=progress) if sites else []
    of_site += examples
    of_page = of_gold(gold_pages, folder, processes=processes, progress=progress) if folder else []
    held_out = _held_out(of_site, of_page, seed)

    steps = _Steps(progress)
    fitted, tested = _split(of_site, held_out)
    fitted_gold, tested_gold = _split(of_page, held_out)
    steps.of = "for the figures"
    model = train_block_model(fitted_gold, fitted, seed=seed, recipe=recipe, begins=steps)
    figures = {SITE_LABELS: measured(model, tested)}
    if folder:
        f1 = _text_f1(model, [page for page in gold_pages if source_of(page) in held_out], folder)
        figures = {GOLD_LABELS: measured(model, tested_gold, f1), **figures}
    steps.of = "for the weights"
    model = train_block_model(of_page, of_site, seed=seed, recipe=recipe, begins=steps)
    steps.finish()
    return Trained(
        model,
        sites=len(sites) + len({page.source for page in examples}),
        pages=len(of_site),
        gold_pages=len(of_page),
        examples=int(sum(page.labelled.sum() for page in [*of_site, *of_page])),
        method=_method(gold, labels),
        figures={of: row for of, row in figures.items() if row is not None},
    )


class _Steps:
    """Tells the progress which step of the two trainings begins."""

    def __init__(self, progress: Progress | None) -> None:
        self.of = ""
        self._progress = progress
        self._begun = 0

    def __call__(self, step: str) -> None:
        if self._progress:
            self._progress(self._begun, 2 * len(STEPS), f"{step} {self.of}")
        self._begun += 1

    def finish(self) -> None:
        if self._progress:
            self._progress(self._begun, 2 * len(STEPS), "trained")


def _gold_pages(gold: Path | None) -> list[GoldPage]:
    if gold is None:
        return []
    aligner()
    try:
        pages = read_gold(gold)
    except ValueError as error:
        raise ValueError(f"{gold}: {error}") from error
    for page in pages:
        file = html_file(page, gold.parent / "html")
        if not file.is_file():
            raise FileNotFoundError(
                f"no such file: {file}; the HTML of the gold page ID is read from html/ID.html there"
            )
    return pages


def _held_out(sites: Iterable[BlockPage], gold: Iterable[BlockPage], seed: int) -> frozenset[str]:
    """Pick a fifth of the sites and a fifth of the other sources of gold pages, but at least one of both together."""
    random = np.random.default_rng(seed)
    of_sites = sorted({page.source for page in sites})
    of_gold = sorted({page.source for page in gold} - set(of_sites))
    if len(of_sites) + len(of_gold) < 2:
        raise ValueError("two sources with text are needed at least: one to learn from and one to measure on")
    chosen: list[str] = []
    for sources in (of_sites, of_gold):
        number = max(round(len(sources) / HELD_OUT), 1) if len(sources) > 1 else 0
        chosen += random.permutation(np.array(sources, object))[:number].tolist()
    return frozenset(chosen or of_gold[:1])


def _split(pages: Sequence[BlockPage], held_out: frozenset[str]) -> tuple[list[BlockPage], list[BlockPage]]:
    return [page for page in pages if page.source not in held_out], [page for page in pages if page.source in held_out]


def measured(model: BlockPerceptron, pages: Sequence[BlockPage], text_f1: float | None = None) -> Figures | None:
    """Measure on held-out pages, every source with the same weight; ``None`` where they have no label."""
    number = Counter(page.source for page in pages)
    score, template, weight, cut = [], [], [], []
    f_measures: dict[str, list[float]] = defaultdict(list)
    for page in pages:
        matrix = np.concatenate([page.static, model.tables.features(page.tokens)], axis=1, dtype=np.float32)
        templateness = 1.0 - model.content_probability(matrix, page.surroundings)
        is_cut = templateness >= expected_f1_threshold(templateness, page.words)
        labelled, content = page.labelled, np.nan_to_num(page.content).astype(np.float64)
        score.append(templateness[labelled])
        template.append(content[labelled] <= 0.5)
        weight.append(page.mass[labelled] / number[page.source])
        cut.append(is_cut[labelled])
        words = page.words * labelled
        if content @ words > 0:
            stays = words * ~is_cut
            f_measures[page.source].append(float(2 * (content @ stays) / (stays.sum() + content @ words)))
    if not any(map(len, score)):
        return None
    f_measure = float(np.mean([np.mean(each) for each in f_measures.values()])) if f_measures else float("nan")
    return Figures.of(
        np.concatenate(score),
        np.concatenate(template),
        np.concatenate(weight),
        np.concatenate(cut),
        content_f_measure=f_measure,
        text_f1=text_f1,
    )


def _text_f1(model: BlockPerceptron, pages: Sequence[GoldPage], folder: Path) -> float | None:
    """Word F1 of the whole pipeline, mean over pages; ``None`` without pages."""
    texts = [clean(html_file(page, folder).read_bytes(), page.url, model=model).text for page in pages]
    accuracies = [page_accuracy(text, page).f1 for text, page in zip(texts, pages, strict=True)]
    return float(np.mean(accuracies)) if accuracies else None


def _method(gold: Path | None, site_method: str) -> Method:
    labels = described(site_method)
    if gold is not None:
        labels = f"gold text of `{gold.name}`, which people wrote down, and {labels.replace(', no human ones', '')}"
    return Method(
        units="text blocks",
        labels=labels,
        threshold="none: each page is cut where its own scores expect the best F1",
        held_out="A model trained in the same way on four fifths of the sources; each source left has the same weight.",
        f_measure="before smoothing",
        limits=SITE_LEVEL_LIMITS if gold is None else f"{_GOLD_LIMITS}\n{SITE_LEVEL_LIMITS}",
    )
