"""Writes the model card: what a model was made of, by which command, and what it can do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from winnow.training.report import GOLD_LABELS, SITE_LABELS

if TYPE_CHECKING:
    import datetime

    from winnow.training.report import Figures, Trained

_WHAT: Final = """\
Scores the units of a web page by templateness, the probability that they belong to the site's template rather than to
the page's content."""

_MEASURED: Final = {
    SITE_LABELS: "Against site-level labels of held-out sites",
    GOLD_LABELS: "Against the gold text of pages of held-out domains",
}


def model_card(trained: Trained, *, data: str, command: str, date: datetime.date, sources: str = "") -> str:
    """Write a model card as Markdown.

    Args:
        trained: the model and its figures.
        data: name of the folder of sites.
        command: the command that makes the model again.
        date: when it was made.
        sources: whom the training data is from, as Markdown; left out if empty.
    """
    method = trained.method
    gold = f", {trained.gold_pages:,} gold pages" if trained.gold_pages else ""
    gold += f", {trained.marked_pages:,} marked pages" if trained.marked_pages else ""
    rows = [
        ("version", f"`{trained.model.version}`"),
        ("made on", date.isoformat()),
        ("made by", f"`{command}`"),
        ("data", f"{trained.sites} sites of `{data}`, {trained.pages:,} pages{gold}"),
        ("examples", f"{trained.examples:,} {method.units}"),
        ("labels", method.labels),
        ("threshold", method.threshold),
    ]
    parts = [
        f"# Model `{trained.model.name}`",
        _WHAT,
        "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]),
        "## On sources that it was not fitted to",
        method.held_out,
        *(_figures(figures, _MEASURED[labels], trained) for labels, figures in trained.figures.items()),
        "## Limits",
        method.limits,
    ]
    if sources.strip():
        parts += ["## Sources of the training data", sources.strip()]
    return "\n\n".join(parts) + "\n"


def _figures(figures: Figures, heading: str, trained: Trained) -> str:
    units = trained.method.units
    rows = [
        (
            f"words of content that stay, {trained.method.f_measure}: f-measure",
            f"{figures.content_f_measure:.3f}",
        ),
        (f"{units}: area under the ROC curve", f"{figures.auc:.3f}"),
        (f"{units} of content: precision, recall", f"{figures.content_precision:.3f}, {figures.content_recall:.3f}"),
        (f"{units} of template: precision, recall", f"{figures.template_precision:.3f}, {figures.template_recall:.3f}"),
        (f"{units}: recall of template at precision 0.90", f"{figures.recall_at_precision_90:.3f}"),
    ]
    if figures.text_f1 is not None:
        rows.insert(0, ("text after cleaning: word F1", f"{figures.text_f1:.3f}"))
    reliability = [
        f"| {number / 10:.1f} to {(number + 1) / 10:.1f} | {_two(score)} | {_two(share)} |"
        for number, (score, share) in enumerate(figures.reliability)
    ]
    return "\n".join(
        [
            f"### {heading}",
            "",
            "| figure | value |",
            "|---|---|",
            *(f"| {name} | {value.replace('nan', '-')} |" for name, value in rows),
            "",
            "| score | mean score | share of template |",
            "|---|---|---|",
            *reliability,
        ]
    )


def _two(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:.2f}"
