"""What came out of a training: the model, what it was made of, and how it does on what it has not seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from sklearn.metrics import roc_auc_score

from winnow.models.scores import Model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SITE_LABELS: Final = "site-level labels"
GOLD_LABELS: Final = "gold text"

_BINS: Final = 10


class TrainedModel(Model, Protocol):
    """A model that can be written to a file."""

    def save(self, path: Path) -> None:
        """Write the model."""
        ...


@dataclass(frozen=True, slots=True)
class Figures:
    """Quality of scores on sources (sites, or domains of gold pages) that the weights were not fitted to.

    Attributes:
        content_f_measure: of the words that stay of a page; whether after smoothing, the method says.
        auc: area under the ROC curve; NaN where all labels are of one kind.
        content_precision, content_recall: of units of content, not smoothed, at the threshold.
        template_precision, template_recall: of units of template, likewise.
        recall_at_precision_90: recall of template at the threshold where its precision is 0.90.
        reliability: for ten equal ranges of scores, the mean score and the share of template; NaN where there is none.
        text_f1: word F1 of the cleaned text against gold text, mean over pages; ``None`` without gold text.
    """

    content_f_measure: float
    auc: float
    content_precision: float
    content_recall: float
    template_precision: float
    template_recall: float
    recall_at_precision_90: float
    reliability: tuple[tuple[float, float], ...]
    text_f1: float | None = None

    @classmethod
    def of(
        cls,
        score: NDArray[np.float64],
        template: NDArray[np.bool_],
        weight: NDArray[np.float64],
        cut: NDArray[np.bool_],
        content_f_measure: float,
        text_f1: float | None = None,
    ) -> Figures:
        """Compare scores (float64[e]) and what is cut (bool[e]) with labels (bool[e], true for template).

        ``weight`` is that of each unit, float64[e].
        """

        def share(of: NDArray[np.bool_], within: NDArray[np.bool_]) -> float:
            return float(weight[of & within].sum() / max(weight[within].sum(), 1e-12))

        bins = np.minimum((score * _BINS).astype(np.int64), _BINS - 1)
        there = np.bincount(bins, weight, _BINS)
        sums = (np.bincount(bins, weight * score, _BINS), np.bincount(bins, weight * template, _BINS))
        means = [np.divide(each, there, out=np.full(_BINS, np.nan), where=there > 0).tolist() for each in sums]
        return cls(
            content_f_measure=content_f_measure,
            auc=float(roc_auc_score(template, score, sample_weight=weight)) if len(set(template)) > 1 else float("nan"),
            content_precision=share(~template, ~cut),
            content_recall=share(~cut, ~template),
            template_precision=share(template, cut),
            template_recall=share(cut, template),
            recall_at_precision_90=_recall_at_precision(score, template, weight, 0.90),
            reliability=tuple(zip(*means, strict=True)),
            text_f1=text_f1,
        )


@dataclass(frozen=True, slots=True)
class Method:
    """What a model card says of how a model was made, as phrases.

    Attributes:
        units: what is scored: ``"elements"`` or ``"text blocks"``.
        labels: where the labels are from.
        threshold: how the threshold is chosen.
        held_out: how the figures were measured.
        f_measure: what the f-measure of the content's words includes.
        limits: what the labels do not know.
    """

    units: str
    labels: str
    threshold: str
    held_out: str
    f_measure: str
    limits: str


@dataclass(frozen=True, eq=False, slots=True)
class Trained:
    """A trained model and what it was made of.

    Attributes:
        model: the model.
        sites, pages, gold_pages, examples: how many it was trained on; ``pages`` are those of the sites.
        marked_pages: how many of the sites' pages had the mark of an article, and were learned from.
        method: how it was made.
        figures: quality on held-out sources, by the kind of labels it was measured with.
        fold_models: models without a part of the sources each, where there are such; for measuring.
        fold_of: number of the model that has not seen each source.
    """

    model: TrainedModel
    sites: int
    pages: int
    gold_pages: int
    examples: int
    method: Method
    figures: dict[str, Figures]
    marked_pages: int = 0
    fold_models: Sequence[TrainedModel] = ()
    fold_of: Mapping[str, int] = field(default_factory=dict)


def _recall_at_precision(
    score: NDArray[np.float64], template: NDArray[np.bool_], weight: NDArray[np.float64], precision: float
) -> float:
    order = np.argsort(-score, kind="stable")
    right = np.cumsum((weight * template)[order])
    precise = right >= precision * np.cumsum(weight[order])
    return float(right[precise].max(initial=0.0) / max(right[-1], 1e-12))
