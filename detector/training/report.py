"""What came out of a training: the model, what it was made of, and how it does on what it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from sklearn.metrics import roc_auc_score

from detector.scores import Model

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_BINS = 10


class TrainedModel(Model, Protocol):
    """A model that can be written to a file."""

    def save(self, path: Path) -> None:
        """Write the model."""
        ...


@dataclass(frozen=True, slots=True)
class Figures:
    """Quality of scores on held-out sites, by the site-level labels; every site has the same weight.

    Attributes:
        content_f_measure: of the words that stay of a page, smoothed and cut at the threshold.
        auc: area under the ROC curve.
        content_precision, content_recall: of content elements, not smoothed, at the threshold.
        template_precision, template_recall: of template elements, likewise.
        recall_at_precision_90: recall of template at the threshold where its precision is 0.90.
        reliability: for ten equal ranges of scores, the mean score and the share of template; NaN where there is none.
    """

    content_f_measure: float
    auc: float
    content_precision: float
    content_recall: float
    template_precision: float
    template_recall: float
    recall_at_precision_90: float
    reliability: tuple[tuple[float, float], ...]

    @classmethod
    def of(
        cls,
        score: NDArray[np.float64],
        template: NDArray[np.bool_],
        weight: NDArray[np.float64],
        threshold: float,
        content_f_measure: float,
    ) -> Figures:
        """Compare scores (float64[e]) with labels (bool[e], true for template), weighted (float64[e])."""
        cut = score >= threshold

        def share(of: NDArray[np.bool_], within: NDArray[np.bool_]) -> float:
            return float(weight[of & within].sum() / max(weight[within].sum(), 1e-12))

        bins = np.minimum((score * _BINS).astype(np.int64), _BINS - 1)
        there = np.bincount(bins, weight, _BINS)
        sums = (np.bincount(bins, weight * score, _BINS), np.bincount(bins, weight * template, _BINS))
        means = [np.divide(each, there, out=np.full(_BINS, np.nan), where=there > 0).tolist() for each in sums]
        return cls(
            content_f_measure=content_f_measure,
            auc=float(roc_auc_score(template, score, sample_weight=weight)),
            content_precision=share(~template, ~cut),
            content_recall=share(~cut, ~template),
            template_precision=share(template, cut),
            template_recall=share(cut, template),
            recall_at_precision_90=_recall_at_precision(score, template, weight, 0.90),
            reliability=tuple(zip(*means, strict=True)),
        )


@dataclass(frozen=True, eq=False, slots=True)
class Trained:
    """A trained model and what it was made of.

    Attributes:
        model: the model.
        sites, pages, examples: how many it was trained on.
        figures: quality on held-out sites.
    """

    model: TrainedModel
    sites: int
    pages: int
    examples: int
    figures: Figures


def _recall_at_precision(
    score: NDArray[np.float64], template: NDArray[np.bool_], weight: NDArray[np.float64], precision: float
) -> float:
    order = np.argsort(-score, kind="stable")
    right = np.cumsum((weight * template)[order])
    precise = right >= precision * np.cumsum(weight[order])
    return float(right[precise].max(initial=0.0) / max(right[-1], 1e-12))
