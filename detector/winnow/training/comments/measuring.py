"""Measures the comments head on sources that it has not seen, with the names of comments hidden and shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.evidence.comments import threads, unlinked_words
from winnow.features.blocks import STATIC_NAMES
from winnow.training.comments.fitting import train_comment_head
from winnow.training.stacking import dealt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from winnow.evidence.comment_model import CommentHead
    from winnow.training.comments.examples import CommentPage
    from winnow.training.comments.fitting import CommentRecipe

FOLDS: Final = 5


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures by words.

    Attributes:
        precision, recall: of the comments of pages that have some, over all their words.
        f1: mean over the sources.
        sources: sources with comments.
        on_forums: share of the words of forums that are taken for comments, mean over their pages.
        elsewhere: the same of pages without comments.
    """

    precision: float
    recall: float
    f1: float
    sources: int
    on_forums: float
    elsewhere: float


def measured(pages: Iterable[CommentPage], found: Iterable[NDArray[np.bool_]]) -> Measured:
    """Compare the blocks found with the labels."""
    of_source: dict[str, NDArray[np.float64]] = {}
    on_forums: list[float] = []
    elsewhere: list[float] = []
    for page, comments in zip(pages, found, strict=True):
        words, label = page.features.words, page.comment
        if page.has_thread:
            counts = [words[comments & (label == 1)], words[comments & (label == 0)], words[~comments & (label == 1)]]
            of_source.setdefault(page.source, np.zeros(3))
            of_source[page.source] += [each.sum() for each in counts]
        elif (label == 0).any():
            share = words[comments & (label == 0)].sum() / max(words[label == 0].sum(), 1)
            (on_forums if page.forum else elsewhere).append(float(share))
    right, wrong, missed = sum(of_source.values(), np.zeros(3))
    by_source = [2 * r / max(2 * r + w + m, 1e-9) for r, w, m in of_source.values()]
    return Measured(
        precision=float(right / max(right + wrong, 1e-9)),
        recall=float(right / max(right + missed, 1e-9)),
        f1=float(np.mean(by_source)) if by_source else float("nan"),
        sources=len(of_source),
        on_forums=float(np.mean(on_forums)) if on_forums else float("nan"),
        elsewhere=float(np.mean(elsewhere)) if elsewhere else float("nan"),
    )


def measured_by_folds(
    pages: Sequence[CommentPage], *, seed: int = 0, recipe: CommentRecipe | None = None
) -> tuple[Measured, Measured]:
    """Measure heads trained without a fifth of the sources each, on that fifth, with every block taken for a story.

    Args:
        pages: labelled pages.
        seed: of the training and of the folds.
        recipe: how to train.

    Returns:
        The figures with names hidden, and with names shown.
    """
    fold_of = dealt((page.source for page in pages), FOLDS, seed)
    tested: list[CommentPage] = []
    hidden: list[NDArray[np.bool_]] = []
    shown: list[NDArray[np.bool_]] = []
    for fold in range(FOLDS):
        head = train_comment_head([page for page in pages if fold_of[page.source] != fold], seed=seed, recipe=recipe)
        for page in pages:
            if fold_of[page.source] == fold and page.texts:
                tested.append(page)
                hidden.append(_found(head, page, np.zeros_like(page.named)))
                shown.append(_found(head, page, page.named))
    return measured(tested, hidden), measured(tested, shown)


def _found(head: CommentHead, page: CommentPage, named: NDArray[np.bool_]) -> NDArray[np.bool_]:
    judgement = head.judge(page.static[:, len(STATIC_NAMES) :].astype(np.float64), page.features)
    features = page.features
    return threads(judgement, named, page.texts, features.words, unlinked_words(features), np.zeros(len(page.texts)))
