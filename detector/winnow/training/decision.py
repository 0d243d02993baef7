"""Learns what is decided of whole pages: their kind, and how good their text will be."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from winnow.cleaning import clean
from winnow.features.blocks import features_of
from winnow.models.blocks import BlockModel
from winnow.models.decision import (
    ARTICLE,
    CONFIDENCE_INPUTS,
    KINDS,
    NAMES,
    KindHead,
    KindInputs,
    LearnedDecision,
    PageDecision,
    kind_inputs,
    standardise_inputs,
)
from winnow.training.evaluation import page_accuracy
from winnow.training.gold import parse_with_copy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.training.gold import GoldExample

    Floats = NDArray[np.float64]

_STRENGTH: Final = 0.1  # inverse of the regularisation of kinds
_OF_A_NAME: Final = 0.6  # what a name counts, where numbers have a standard deviation of 1
UNTAUGHT: Final = np.zeros(len(CONFIDENCE_INPUTS))
"""Weights of a confidence that has not been learned."""


class PageOfKind(NamedTuple):
    """A gold page as a model sees it that was trained without it.

    Attributes:
        collection: of the page.
        kind: index of the kind of page; of pages without a type that of articles.
        inputs: what the kind of page is judged by.
    """

    collection: str
    kind: int
    inputs: KindInputs


def pages_of_kind(example: GoldExample, model: BlockModel) -> list[PageOfKind]:
    """Look at a gold page and its copy in another style; pages without text and pages above the caps give nothing."""
    kind = KINDS.index(example.gold.page_type) if example.gold.page_type in KINDS else ARTICLE
    pages = [page for page in parse_with_copy(example) if page.m]
    inputs = [kind_inputs(features_of(page), model.score(page).templateness[page.n :], page.url) for page in pages]
    return [PageOfKind(example.collection, kind, each) for each in inputs]


def learn_kinds(pages: Sequence[PageOfKind]) -> KindHead:
    """Fit the regression that tells kinds of pages apart."""
    numbers, kind = np.stack([page.inputs.numbers for page in pages]), np.array([page.kind for page in pages])
    is_known = ~np.isnan(numbers)
    known_pages = np.maximum(is_known.sum(axis=0), 1)
    mean = np.where(is_known, numbers, 0).sum(axis=0) / known_pages
    scale = 1 / (np.sqrt(np.where(is_known, (numbers - mean) ** 2, 0).sum(axis=0) / known_pages) + 1e-3)
    d = len(mean)
    weight, bias = np.zeros((d + NAMES, len(KINDS))), np.full(len(KINDS), -30.0)
    present = np.unique(kind)
    if len(present) == 1:
        bias[present] = 0.0
        return KindHead(mean, scale, weight[:d], weight[d:], bias)
    bags = [page.inputs.names for page in pages]
    begin = np.append(0, np.cumsum([len(bag) for bag in bags]))
    names = csr_matrix((np.full(begin[-1], _OF_A_NAME), np.concatenate(bags), begin), (len(pages), NAMES))
    learner = LogisticRegression(C=_STRENGTH, max_iter=500)
    mass = collection_weights([page.collection for page in pages])
    rows = hstack([csr_matrix(standardise_inputs(numbers, mean, scale)), names]).tocsr()
    learner.fit(rows, kind, mass / mass.mean())
    if len(present) == 2:  # scikit-learn has one row of weights then
        weight[:, present[1]], bias[present] = learner.coef_[0], [0.0, learner.intercept_[0]]
    else:
        weight[:, present], bias[present] = learner.coef_.T, learner.intercept_
    return KindHead(mean, scale, weight[:d], _OF_A_NAME * weight[d:], bias)


def collection_weights(collections: Sequence[str]) -> Floats:
    """float64[pages]: a collection counts as the square root of its pages, so that a large one is not the web."""
    number = Counter(collections)
    return np.array([number[collection] ** -0.5 for collection in collections])


def text_f1(example: GoldExample, model: BlockModel) -> tuple[float, Floats]:
    """Word F1 of a gold page that is cleaned, and float64[len(CONFIDENCE_INPUTS)] what its confidence is judged by."""
    cleaned = clean(example.file.read_bytes(), example.gold.url, model=model)
    f1, draft = page_accuracy(cleaned.text, example.gold).f1, cleaned.decided
    if draft is None or not isinstance(draft.scores.decision, PageDecision):
        return f1, UNTAUGHT
    templateness = draft.smoothed.value[draft.page.n :]
    return f1, draft.scores.decision.confidence_inputs(templateness, draft.choice.threshold)


def learn_confidence(collections: Sequence[str], f1: Sequence[float], inputs: Sequence[Floats]) -> Floats:
    """float64[len(CONFIDENCE_INPUTS)], weights of the least squares; pages that were passed through teach nothing."""
    seen = np.array([row[0] for row in inputs]) > 0
    root = np.sqrt(collection_weights(collections))[seen]
    rows, target = np.stack(inputs)[seen], np.array(f1)[seen]
    weights: Floats = np.linalg.lstsq(rows * root[:, None], target * root, rcond=None)[0]
    return weights


def with_decision(model: BlockModel, decision: LearnedDecision) -> BlockModel:
    """The same model, with what was learned of whole pages."""
    return BlockModel.of(model.tables, model.mean, model.scale, model.network, decision)
