"""What a training produced: the model, its metrics on sources it was not fitted to, and its model card."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sklearn.metrics import precision_recall_curve, roc_auc_score

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from winnow.models import StoredModel


SITE_LABELS: Final = "site-level labels"
GOLD_LABELS: Final = "gold text"


@dataclass(frozen=True, slots=True)
class Metrics:
    """Quality of scores on sources (sites, or domains of gold pages) that the weights were not fitted to.

    Attributes:
        content_f_measure: of the words that stay of a page; whether after smoothing, the method says.
        auc: area under the ROC curve; NaN where all labels are of one kind.
        content_precision, content_recall: of units of content, not smoothed, at the threshold.
        template_precision, template_recall: of units of template, likewise.
        recall_at_precision_90: recall of template at the threshold where its precision is 0.90; 0 likewise.
        text_f1: word F1 of the cleaned text against gold text, mean over pages; ``None`` without gold text.
    """

    content_f_measure: float
    auc: float
    content_precision: float
    content_recall: float
    template_precision: float
    template_recall: float
    recall_at_precision_90: float
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
    ) -> Metrics:
        """Compare scores (float64[e]) and what is cut (bool[e]) with labels (bool[e], true for template).

        ``weight`` is that of each unit, float64[e].
        """

        def share(of: NDArray[np.bool_], within: NDArray[np.bool_]) -> float:
            return float(weight[of & within].sum() / max(weight[within].sum(), 1e-12))

        auc, recall_at_precision_90 = float("nan"), 0.0
        if template.any() and not template.all():
            auc = float(roc_auc_score(template, score, sample_weight=weight))
            precision, recall, _ = precision_recall_curve(template, score, sample_weight=weight)
            recall_at_precision_90 = float(recall[precision >= 0.90].max())
        return cls(
            content_f_measure=content_f_measure,
            auc=auc,
            content_precision=share(~template, ~cut),
            content_recall=share(~cut, ~template),
            template_precision=share(template, cut),
            template_recall=share(cut, template),
            recall_at_precision_90=recall_at_precision_90,
            text_f1=text_f1,
        )


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Trained:
    """A trained model, what it was made of, and what its model card says of how, as phrases.

    Attributes:
        model: the model.
        sites, pages, gold_pages, examples: how many it was trained on; ``pages`` are those of the sites.
        metrics: quality on held-out sources, by the kind of labels it was measured with.
        units, labels, threshold: what is scored, where the labels are from, how the threshold is chosen.
        held_out, f_measure: how the metrics were measured, and what the f-measure of the content's words includes.
        limits: what the labels do not know.
        marked_pages: how many of the sites' pages had the mark of an article, and were learned from.
        fold_models, fold_of: models without a part of the sources each, and which of them has not seen a source.
    """

    model: StoredModel
    sites: int
    pages: int
    examples: int
    metrics: dict[str, Metrics]
    units: str
    labels: str
    threshold: str
    held_out: str
    f_measure: str
    limits: str
    gold_pages: int = 0
    marked_pages: int = 0
    fold_models: Sequence[StoredModel] = ()
    fold_of: Mapping[str, int] = field(default_factory=dict)


_WHAT: Final = """\
Scores the units of a web page by templateness, the probability that they belong to the site's template rather than to
the page's content."""

_MEASURED: Final = {
    SITE_LABELS: "Against site-level labels of held-out sites",
    GOLD_LABELS: "Against the gold text of pages of held-out domains",
}


def model_card(trained: Trained, *, data: str, command: str, date: datetime.date, sources: str = "") -> str:
    """Write a model card as Markdown: ``data`` names the folder of sites, ``command`` makes the model again.

    ``sources`` says whom the training data is from, as Markdown; left out if empty.
    """
    gold = f", {trained.gold_pages:,} gold pages" if trained.gold_pages else ""
    gold += f", {trained.marked_pages:,} marked pages" if trained.marked_pages else ""
    rows = {
        "version": f"`{trained.model.version}`",
        "made on": date.isoformat(),
        "made by": f"`{command}`",
        "data": f"{trained.sites} sites of `{data}`, {trained.pages:,} pages{gold}",
        "examples": f"{trained.examples:,} {trained.units}",
        "labels": trained.labels,
        "threshold": trained.threshold,
    }
    table = "\n".join(["| | |", "|---|---|", *(f"| {label} | {value} |" for label, value in rows.items())])
    parts = [
        f"# Model `{trained.model.name}`",
        _WHAT,
        table,
        "## On sources that it was not fitted to",
        trained.held_out,
    ]
    for labels, metrics in trained.metrics.items():
        figures = "\n".join(f"| {name} | {value} |" for name, value in describe_metrics(metrics, trained))
        parts.append(f"### {_MEASURED[labels]}\n\n| figure | value |\n|---|---|\n{figures}")
    parts += ["## Limits", trained.limits]
    if sources.strip():
        parts += ["## Sources of the training data", sources.strip()]
    return "\n\n".join(parts) + "\n"


def describe_metrics(metrics: Metrics, trained: Trained) -> list[tuple[str, str]]:
    """Names and values of metrics, as they are printed; NaN is a dash."""
    units = trained.units
    rows = [
        (f"words of content that stay, {trained.f_measure}: f-measure", f"{metrics.content_f_measure:.3f}"),
        (f"{units}: area under the ROC curve", f"{metrics.auc:.3f}"),
        (f"{units} of content: precision, recall", f"{metrics.content_precision:.3f}, {metrics.content_recall:.3f}"),
        (f"{units} of template: precision, recall", f"{metrics.template_precision:.3f}, {metrics.template_recall:.3f}"),
        (f"{units}: recall of template at precision 0.90", f"{metrics.recall_at_precision_90:.3f}"),
    ]
    if metrics.text_f1 is not None:
        rows.insert(0, ("text after cleaning: word F1", f"{metrics.text_f1:.3f}"))
    return [(name, value.replace("nan", "-")) for name, value in rows]
