"""What a training produced: the model, its metrics on sources it was not fitted to, and its model card."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_auc_score

from tamis.models.decision import expected_f1_threshold

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from tamis.models import StoredModel
    from tamis.models.blocks import BlockModel
    from tamis_papers.page_level import LogisticModel
    from tamis_papers.training.examples import BlockPage


SITE_LABELS: Final = "site-level labels"
GOLD_LABELS: Final = "gold text"


@dataclass(frozen=True, slots=True)
class Metrics:
    """Quality of scores on sources (sites, or domains of gold pages) that the weights were not fitted to.

    Attributes:
        content_f_measure: of the words that stay of a page.
        auc: area under the ROC curve of text blocks; NaN where all labels are of one kind.
        content_precision, content_recall: of blocks of content, not smoothed, at the threshold of their page.
        template_precision, template_recall: of blocks of template, likewise.
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


def measure_models(
    held_out: Iterable[tuple[BlockModel | LogisticModel, Sequence[BlockPage]]], text_f1: float | None = None
) -> Metrics | None:
    """Measure models on pages held out of each, every source with the same weight; ``None`` where there is no label."""
    scored = [(model, page) for model, pages in held_out for page in pages]
    number = Counter(page.source for _, page in scored)
    measured: list[tuple[NDArray[Any], ...]] = []
    f_measures: dict[str, list[float]] = defaultdict(list)
    for model, page in scored:
        templateness = 1.0 - model.content_probability(page.page)
        is_cut = templateness >= expected_f1_threshold(templateness, page.words)
        labelled, content = page.labelled, np.nan_to_num(page.label).astype(np.float64)
        weights = page.mass[labelled] / number[page.source]
        measured.append((templateness[labelled], content[labelled] <= 0.5, weights, is_cut[labelled]))
        words = page.words * labelled
        if content @ words > 0:
            stays = words * ~is_cut
            f_measures[page.source].append(float(2 * (content @ stays) / (stays.sum() + content @ words)))
    if not any(len(score) for score, *_ in measured):
        return None
    score, template, weight, cut = map(np.concatenate, zip(*measured, strict=True))

    def share(of: NDArray[np.bool_], within: NDArray[np.bool_]) -> float:
        return float(weight[of & within].sum() / max(weight[within].sum(), 1e-12))

    auc, recall_at_precision_90 = float("nan"), 0.0
    if template.any() and not template.all():
        auc = float(roc_auc_score(template, score, sample_weight=weight))
        precision, recall, _ = precision_recall_curve(template, score, sample_weight=weight)
        recall_at_precision_90 = float(recall[precision >= 0.90].max())
    return Metrics(
        content_f_measure=float(np.mean([np.mean(each) for each in f_measures.values()] or [np.float64("nan")])),
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
    """A trained model, what it was made of, and how it was measured.

    Attributes:
        model: the model.
        sites, pages, gold_pages, examples: how many it was trained on; ``pages`` are those of the sites.
        metrics: quality on held-out sources, by the kind of labels it was measured with.
        labels, held_out: where the labels are from, and how the metrics were measured, as phrases.
        marked_pages: how many of the sites' pages had the mark of an article, and were learned from.
        fold_models, fold_of: models without a part of the sources each, and which of them has not seen a source.
    """

    model: StoredModel
    sites: int
    pages: int
    examples: int
    metrics: dict[str, Metrics]
    labels: str
    held_out: str
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

_SITE_LEVEL_LIMITS: Final = """\
Site-level labels call every list that differs from page to page content, "related articles" included. They know
nothing of comments, advertisements or cookie notices that a crawler's copy of a page lacks."""

_GOLD_LIMITS: Final = """\
Gold text is one person's opinion of what the content of each page is, on the pages and in the languages of that
collection; the pages of sites are there to keep the model from taking that collection for the web."""


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
        "examples": f"{trained.examples:,} units",
        "labels": trained.labels,
        "threshold": "even odds on articles, where its own scores expect the best F1 on other pages"
        if trained.gold_pages
        else "none: each page is cut where its own scores expect the best F1",
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
        figures = "\n".join(f"| {name} | {value} |" for name, value in describe_metrics(metrics))
        parts.append(f"### {_MEASURED[labels]}\n\n| figure | value |\n|---|---|\n{figures}")
    parts += ["## Limits", _GOLD_LIMITS if trained.gold_pages else _SITE_LEVEL_LIMITS]
    if sources.strip():
        parts += ["## Sources of the training data", sources.strip()]
    return "\n\n".join(parts) + "\n"


def describe_metrics(metrics: Metrics) -> list[tuple[str, str]]:
    """Names and values of metrics, as they are printed; NaN is a dash."""
    rows = [
        ("words of content that stay: f-measure", f"{metrics.content_f_measure:.3f}"),
        ("text blocks: area under the ROC curve", f"{metrics.auc:.3f}"),
        ("blocks of content: precision, recall", f"{metrics.content_precision:.3f}, {metrics.content_recall:.3f}"),
        ("blocks of template: precision, recall", f"{metrics.template_precision:.3f}, {metrics.template_recall:.3f}"),
        ("blocks: recall of template at precision 0.90", f"{metrics.recall_at_precision_90:.3f}"),
    ]
    if metrics.text_f1 is not None:
        rows.insert(0, ("text after cleaning: word F1", f"{metrics.text_f1:.3f}"))
    return [(name, value.replace("nan", "-")) for name, value in rows]
