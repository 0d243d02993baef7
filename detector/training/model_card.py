"""Writes the model card: what a model was made of, by which command, and what it can do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime

    from detector.training.report import Trained


def model_card(trained: Trained, *, data: str, command: str, date: datetime.date) -> str:
    """Write a model card as Markdown.

    Args:
        trained: the model and its figures.
        data: name of the folder of sites.
        command: the command that makes the model again.
        date: when it was made.
    """
    model, figures = trained.model, trained.figures
    reliability = "\n".join(
        f"| {number / 10:.1f} to {(number + 1) / 10:.1f} | {_two(score)} | {_two(share)} |"
        for number, (score, share) in enumerate(figures.reliability)
    )
    return f"""\
# Model `{model.name}`

Scores the units of a web page by templateness, the probability that they belong to the site's template rather than to
the page's content.

| | |
|---|---|
| version | `{model.version}` |
| made on | {date.isoformat()} |
| made by | `{command}` |
| data | {trained.sites} sites of `{data}`, {trained.pages:,} pages, {trained.examples:,} different examples |
| labels | site-level, no human ones: template is what at least 10% of a site's pages share, content what one page has |
| threshold | {model.threshold:.2f}, chosen on held-out sites |

## On sites that it was not fitted to

Five folds over the sites, against the same kind of labels; every site has the same weight.

| figure | value |
|---|---|
| words of content that stay after smoothing: f-measure | {figures.content_f_measure:.3f} |
| elements: area under the ROC curve | {figures.auc:.3f} |
| elements of content: precision, recall | {figures.content_precision:.3f}, {figures.content_recall:.3f} |
| elements of template: precision, recall | {figures.template_precision:.3f}, {figures.template_recall:.3f} |
| elements: recall of template at precision 0.90 | {figures.recall_at_precision_90:.3f} |

| score | mean score | share of template |
|---|---|---|
{reliability}

## Limits

Site-level labels call every list that differs from page to page content, "related articles" included. They know
nothing of comments, advertisements or cookie notices that a crawler's copy of a page lacks.
"""


def _two(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:.2f}"
