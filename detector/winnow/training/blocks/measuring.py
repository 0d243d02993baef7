"""Measures how well models of text blocks score pages whose sources they have not seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from winnow.models.scores import expected_f1_threshold
from winnow.training.report import Figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from winnow.models.networks import BlockPerceptron
    from winnow.training.blocks.examples import BlockPage


def measured(
    held_out: Iterable[tuple[BlockPerceptron, Sequence[BlockPage]]], text_f1: float | None = None
) -> Figures | None:
    """Measure models on pages held out of each, every source with the same weight; ``None`` where there is no label."""
    judged = [(model, page) for model, pages in held_out for page in pages]
    number = Counter(page.source for _, page in judged)
    score, template, weight, cut = [], [], [], []
    f_measures: dict[str, list[float]] = defaultdict(list)
    for model, page in judged:
        templateness = 1.0 - model.content_probability(page.matrix(model.tables), page.windows)
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
