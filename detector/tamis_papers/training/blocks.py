"""Trains the block model on sites and gold text, with what it decides of whole pages, and measures it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from tamis.cleaning import clean
from tamis.features import TABLE_SIZE
from tamis.folders import no_progress
from tamis.models import log_odds, standardise
from tamis.models.blocks import BlockModel, score_blocks
from tamis.models.decision import (
    ARTICLE,
    CONFIDENCE_INPUTS,
    PAGE_KINDS,
    TOKENS,
    KindHead,
    KindInputs,
    LearnedDecision,
    PageDecision,
)
from tamis.processes import map_in_processes
from tamis_papers.training.examples import (
    SITE_LEVEL_METHOD,
    describe_labels,
    label_gold_page,
    label_marked_site,
    label_pages,
    label_site,
)
from tamis_papers.training.gold import FOLDS, folds, parse_with_copy
from tamis_papers.training.networks import train_block_model
from tamis_papers.training.report import GOLD_LABELS, SITE_LABELS, Metrics, Trained, measure_models

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tamis.arrays import Floats
    from tamis.folders import Progress, SitePages
    from tamis_papers.training.examples import BlockPage
    from tamis_papers.training.gold import GoldExample

_Item = TypeVar("_Item")
_OF_A_TOKEN: Final = 0.4  # what a name or word counts, where numbers have a standard deviation of 1
UNLEARNED: Final = np.zeros(len(CONFIDENCE_INPUTS))
"""Weights of a confidence that has not been learned."""


class KindExample(NamedTuple):
    """A gold page as a model that has not seen it does: its collection, index of its kind, inputs of the kind."""

    collection: str
    kind: int
    inputs: KindInputs


def kind_examples(example: GoldExample, model: BlockModel) -> list[KindExample]:
    """Make examples of a gold page and its restyled copy.

    Each is learned with its address and without, as it is known or not, and with its words and without, as it is in a
    language that was learned or another. Pages whose kind nobody has written down, and pages without text or above the
    caps give nothing.
    """
    if not example.gold.page_type:
        return []
    kind = PAGE_KINDS.index(example.gold.page_type) if example.gold.page_type in PAGE_KINDS else ARTICLE
    scored = [(score_blocks(page, model)[1], page.url) for page in parse_with_copy(example) if page.m]
    inputs = [each.with_address(address) for each, url in scored for address in (url, None)]
    inputs += [each._replace(tokens=each.tokens[each.tokens < TABLE_SIZE]) for each in inputs]
    return [KindExample(example.collection, kind, each) for each in inputs]


def learn_kinds(pages: Sequence[KindExample]) -> KindHead:
    """Fit the regression that tells kinds of pages apart."""
    numbers, kind = np.stack([page.inputs.numbers for page in pages]), np.array([page.kind for page in pages])
    is_known = ~np.isnan(numbers)
    known_pages = np.maximum(is_known.sum(axis=0), 1)
    mean = np.where(is_known, numbers, 0).sum(axis=0) / known_pages
    scale = 1 / (np.sqrt(np.where(is_known, (numbers - mean) ** 2, 0).sum(axis=0) / known_pages) + 1e-3)
    d = len(mean)
    weight, bias = np.zeros((d, len(PAGE_KINDS))), np.full(len(PAGE_KINDS), -30.0)
    tokens = np.zeros((TOKENS, len(PAGE_KINDS)), np.float32)
    present = np.unique(kind)
    if len(present) == 1:
        bias[present] = 0.0
        return KindHead(mean, scale, weight, bias, tokens)
    bags = [page.inputs.tokens for page in pages]
    begin = np.append(0, np.cumsum([len(bag) for bag in bags]))
    has_token = csr_matrix((np.full(begin[-1], _OF_A_TOKEN), np.concatenate(bags), begin), (len(pages), TOKENS))
    learned = np.flatnonzero(has_token.getnnz(axis=0) >= 0.02 * len(pages))  # words of one subject tell no kind
    rows = hstack([csr_matrix(standardise(numbers, mean, scale)), has_token[:, learned]]).tocsr()
    # strength, tolerance and what a token counts were chosen on the folds of WCXB
    learner = LogisticRegression(C=0.2, tol=1e-3, max_iter=500)
    mass = collection_weights([page.collection for page in pages])
    learner.fit(rows, kind, mass / mass.mean())
    found, intercept = learner.coef_, learner.intercept_
    if len(present) == 2:  # scikit-learn has one row of weights then, of the second kind
        found, intercept = np.append(0 * found, found, axis=0), np.append(0, intercept)
    weight[:, present], bias[present] = found[:, :d].T, intercept
    tokens[np.ix_(learned, present)] = _OF_A_TOKEN * found[:, d:].T
    return KindHead(mean, scale, weight, bias, tokens)


def collection_weights(collections: Sequence[str]) -> Floats:
    """float64[pages]: a collection counts as the square root of its pages, so that no large one outweighs the rest."""
    number = Counter(collections)
    return np.array([number[collection] ** -0.5 for collection in collections])


def text_f1(example: GoldExample, model: BlockModel) -> tuple[float, Floats]:
    """Word F1 of a cleaned gold page, and float64[len(CONFIDENCE_INPUTS)], inputs of its confidence."""
    cleaned = clean(example.file.read_bytes(), example.gold.url, model=model)
    f1, draft = example.f1(cleaned.text), cleaned.decided
    if draft is None or not isinstance(draft.scores.decision, PageDecision) or not draft.scores.decision.learned:
        return f1, UNLEARNED
    templateness = draft.smoothed.value[draft.page.n :]
    return f1, draft.scores.decision.confidence_inputs(templateness, draft.choice.threshold)


def learn_confidence(collections: Sequence[str], f1: Sequence[float], inputs: Sequence[Floats]) -> Floats:
    """float64[len(CONFIDENCE_INPUTS)], weights fitted by least squares, without pages that were not read."""
    seen = np.array([row[0] for row in inputs]) > 0
    root = np.sqrt(collection_weights(collections))[seen]
    rows, target = np.stack(inputs)[seen], np.array(f1)[seen]
    weights: Floats = np.linalg.lstsq(rows * root[:, None], target * root, rcond=None)[0]
    return weights


def with_decision(model: BlockModel, decision: LearnedDecision) -> BlockModel:
    """The same model, with what was learned of whole pages."""
    return BlockModel.create(model.tables, model.mean, model.scale, model.network, decision)


# Calibration (Platt, "Probabilistic outputs for support vector machines", 1999). Networks trained on site-level labels
# are too certain on other sites, and too often of content. Without gold text no decision is learned: pages are cut
# where their scores expect the best F1, which needs scores that are probabilities on unseen sites.


def calibration_of(model: BlockModel, pages: Sequence[BlockPage]) -> tuple[float, float]:
    """Find scale and shift of a network's logits, ``scale * logit - shift``, that make its scores most likely.

    A scale below 1 makes a network less certain, a shift above 0 makes more of a page template. The model has not seen
    the sources of the pages; each counts the same, and each page of one. Without labels of both kinds nothing changes.
    """
    scored = [page for page in pages if page.labelled_mass.sum() > 0]
    number = Counter(page.source for page in scored)
    logits, content, weights = [], [], []
    for page in scored:
        labelled, mass = page.labelled, page.labelled_mass
        logits.append(log_odds(model.content_probability(page.page)[labelled], 1e-6))
        content.append(page.label[labelled] > 0.5)
        weights.append(mass[labelled] / (mass.sum() * number[page.source]))
    if not scored or len(np.unique(np.concatenate(content))) < 2:
        return 1.0, 0.0
    learner = LogisticRegression(C=1e6)  # not regularised
    learner.fit(np.concatenate(logits)[:, None], np.concatenate(content), np.concatenate(weights))
    return float(np.clip(learner.coef_[0, 0], 0.25, 4.0)), float(np.clip(-learner.intercept_[0], -3.0, 3.0))


def calibrated(model: BlockModel, calibration: tuple[float, float]) -> BlockModel:
    """Write a calibration into the last layer of a network."""
    (scale, shift), network = map(np.float32, calibration), model.network
    network = replace(network, last_weight=network.last_weight * scale, last_bias=network.last_bias * scale - shift)
    return BlockModel.create(model.tables, model.mean, model.scale, network, decision=model.decision)


def cross_validate(
    examples: Sequence[GoldExample],
    gold: Sequence[BlockPage],
    sites: Sequence[SitePages],
    labelled: Sequence[BlockPage],
    fit: Callable[..., BlockModel],
    *,
    partial_examples: Sequence[GoldExample] = (),
    seed: int = 0,
    processes: int = 1,
    progress: Progress = no_progress,
) -> tuple[BlockModel, list[BlockModel], dict[str, int], dict[str, Metrics]]:
    """Train without each fold, learn the decisions from the predictions on these folds, and train on everything.

    ``gold`` has the blocks of the gold pages; ``fit`` trains a model on such, on sites, and on pages of which only some
    blocks have labels. The models are measured on ``gold`` and on ``labelled``, pages of the sites with site-level
    labels.

    Returns:
        The model that is trained on everything; for each fold one that is trained, and decides, without it; the
        fold of every source; and the metrics of the models without a fold on that fold, by kind of labels.

    Raises:
        ValueError: the sources are too few, or a fold leaves no labels of both kinds.
    """
    fold_of = folds([*examples, *partial_examples], [site.name for site in sites], seed)
    if len({fold_of[example.source] for example in examples}) < 2:
        raise ValueError("gold pages of more sites are needed: a model is measured on other ones than it learns from")
    partial_pages = label_pages(label_gold_page, partial_examples, processes, progress, "page")
    by_fold, partial_by_fold = (
        [[example for example in some if fold_of[example.source] == fold] for fold in range(FOLDS)]
        for some in (examples, partial_examples)
    )

    def outside(pages: Sequence[BlockPage], fold: int) -> list[BlockPage]:
        return [page for page in pages if fold_of[page.source] != fold]

    def inside(pages: Sequence[BlockPage], fold: int) -> list[BlockPage]:
        return [page for page in pages if fold_of[page.source] == fold and not page.copy]

    fitted: list[BlockModel] = []
    kinds: list[list[KindExample]] = []  # of each fold, as a model without it sees them
    for fold in range(FOLDS):
        progress(fold, FOLDS + 1, f"training without fold {fold}")
        others = [site for site in sites if fold_of[site.name] != fold]
        model = fit(outside(gold, fold), others, partial_pages=outside(partial_pages, fold))
        fitted.append(model)
        found = map_in_processes(partial(kind_examples, model=model), by_fold[fold], processes)
        kinds.append(list(chain.from_iterable(found)))
    heads = [learn_kinds(_of_others(kinds, fold)) for fold in range(FOLDS)]
    measured: list[list[_MeasuredText]] = []
    for fold, (model, head) in enumerate(zip(fitted, heads, strict=True)):
        undecided = with_decision(model, LearnedDecision(head, UNLEARNED))
        held_out = [*by_fold[fold], *partial_by_fold[fold]]
        found_f1 = map_in_processes(partial(text_f1, model=undecided), held_out, processes)
        measured.append([(example.collection, *found) for example, found in zip(held_out, found_f1, strict=True)])
    fold_models = [
        with_decision(model, LearnedDecision(head, learn_confidence(*zip(*_of_others(measured, fold), strict=True))))
        for fold, (model, head) in enumerate(zip(fitted, heads, strict=True))
    ]
    mean_f1 = fmean(f1 for fold in range(FOLDS) for _, f1, _ in measured[fold][: len(by_fold[fold])])
    metrics = {
        labels: measure_models([(model, inside(pages, fold)) for fold, model in enumerate(fold_models)], f1)
        for labels, pages, f1 in ((GOLD_LABELS, gold, mean_f1), (SITE_LABELS, labelled, None))
    }
    progress(FOLDS, FOLDS + 1, "training for the weights")
    confidence = learn_confidence(*zip(*chain.from_iterable(measured), strict=True))
    decision = LearnedDecision(learn_kinds(list(chain.from_iterable(kinds))), confidence)
    model = with_decision(fit(gold, sites, partial_pages=partial_pages), decision)
    progress(FOLDS + 1, FOLDS + 1, "trained")
    return model, fold_models, fold_of, {labels: row for labels, row in metrics.items() if row is not None}


_MeasuredText = tuple[str, float, "Floats"]  # collection of a page, F1 of its text, and inputs of its confidence


def _of_others(folds: Sequence[Sequence[_Item]], fold: int) -> list[_Item]:
    """Items of all folds but one."""
    return [item for number, items in enumerate(folds) for item in items if number != fold]


_BY_FOLDS: Final = """\
By five folds over the sources, each measured with a model trained in the same way on the others; a collection that a
gold file has beside others is in one fold. Each source has the same weight."""

_BY_A_FIFTH: Final = """\
A model trained in the same way on four fifths of the sites. The others calibrate the scores, for the figures one half
of them for the other half."""


def train_blocks(
    sites: Sequence[SitePages],
    gold: Sequence[GoldExample] = (),
    *,
    partial_examples: Sequence[GoldExample] = (),
    marks: bool = False,
    labels: str = SITE_LEVEL_METHOD,
    seed: int = 0,
    processes: int = 1,
    progress: Progress = no_progress,
) -> Trained:
    """Train the ``blocks`` model: without some of the sources, for the metrics, and on all, for the weights.

    With gold pages there are a training without each of five folds and a learned decision; without them one training
    without a fifth. Of partial examples, which need gold pages beside them, only some blocks have labels. The other
    arguments, and the errors, are those of :func:`tamis_papers.training.train.train`.
    """
    site_pages = label_pages(partial(label_site, labels=labels, seed=seed), sites, processes, progress)
    gold_pages = label_pages(label_gold_page, gold, processes, progress, "gold page")
    marked = label_pages(partial(label_marked_site, seed=seed), sites if marks else [], processes, progress, "marks of")
    fit = partial(train_block_model, seed=seed, processes=processes)
    if gold:
        model, fold_models, fold_of, metrics = cross_validate(
            *(gold, gold_pages, sites, site_pages, fit),
            partial_examples=partial_examples,
            seed=seed,
            processes=processes,
            progress=progress,
        )
    else:
        model, metrics = _without_gold(sites, site_pages, marked, fit, seed, progress)
        fold_models, fold_of = [], {}
    of_marks = "; what authors have marked as their article, on some pages" if marked else ""
    described = "gold text, which people wrote down or marked" if gold else describe_labels(labels) + of_marks
    return Trained(
        model=model,
        sites=len(sites),
        pages=len(site_pages),
        marked_pages=len(marked),
        gold_pages=sum(not page.copy for page in gold_pages),
        examples=int(sum(page.labelled.sum() for page in [*site_pages, *gold_pages, *marked] if not page.copy)),
        metrics=metrics,
        labels=f"{described}; pages of sites, by what a first model finds with the counts of the whole site",
        held_out=_BY_FOLDS if gold else _BY_A_FIFTH,
        fold_models=fold_models,
        fold_of=fold_of,
    )


def _without_gold(
    sites: Sequence[SitePages],
    labelled: Sequence[BlockPage],
    marked: Sequence[BlockPage],
    fit: Callable[..., BlockModel],
    seed: int,
    progress: Progress,
) -> tuple[BlockModel, dict[str, Metrics]]:
    held_out = _held_out(labelled, seed)
    progress(0, 2, "training for the metrics")
    seen = [[page for page in pages if page.source not in held_out] for pages in (labelled, marked)]
    others = [site for site in sites if site.name not in held_out]
    model = fit([], others, labelled=seen[0], marked=seen[1])
    unseen = [page for page in labelled if page.source in held_out]
    half = held_out[::2]
    halves = [[page for page in unseen if (page.source in half) == first] for first in (True, False)]
    pairs = zip(halves, reversed(halves), strict=True)  # measured on sites that it was not calibrated on either
    metrics = measure_models([(calibrated(model, calibration_of(model, others)), own) for own, others in pairs])
    calibration = calibration_of(model, unseen)
    progress(1, 2, "training for the weights")
    model = calibrated(fit([], sites, labelled=labelled, marked=marked), calibration)
    progress(2, 2, "trained")
    return model, {SITE_LABELS: metrics} if metrics is not None else {}


def _held_out(sites: Iterable[BlockPage], seed: int) -> list[str]:
    """Pick a fifth of the sites, but at least one."""
    names = sorted({page.source for page in sites})
    if len(names) < 2:
        raise ValueError("two sources with text are needed at least: one to learn from and one to measure on")
    number = max(round(len(names) / FOLDS), 1)
    chosen: list[str] = np.random.default_rng(seed).permutation(np.array(names, object))[:number].tolist()
    return chosen
