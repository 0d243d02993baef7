"""Chooses the threshold of a model by what it keeps of pages whose sites it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.page import Page
from winnow.smoothing import smooth_scores
from winnow.training.labels import CONTENT, IGNORED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from winnow.models.scores import Model

THRESHOLDS: Final = np.round(np.arange(0.30, 0.91, 0.05), 2)


@dataclass(frozen=True, eq=False, slots=True)
class TuningPage:
    """A page with site-level labels of its text blocks.

    Attributes:
        file: where it is.
        url: its address.
        site: number of its site.
        label: int8[m], one of the labels of :mod:`winnow.training.labels`.
        words: int64[m], words of each block.
    """

    file: Path
    url: str
    site: int
    label: NDArray[np.int8]
    words: NDArray[np.int64]


def content_f_measure(model: Model, page: TuningPage) -> NDArray[np.float64]:
    """F-measure of the content words that stay after smoothing, for each of :data:`THRESHOLDS`; NaN without content."""
    tree = Page.parse(page.file.read_bytes(), page.url)
    value = smooth_scores(tree, model.score(tree)).value[tree.n :]
    kept = value[:, None] < THRESHOLDS
    content = page.words * (page.label == CONTENT)
    labelled = page.words * (page.label != IGNORED)
    measure = np.full(len(THRESHOLDS), np.nan)
    if content.any():
        measure = 2.0 * (content @ kept) / (content.sum() + labelled @ kept)
    return measure


def best_threshold(measured: Iterable[tuple[int, NDArray[np.float64]]]) -> tuple[float, float]:
    """Pick the threshold with the highest f-measure, mean over sites.

    Args:
        measured: for each page the number of its site and its :func:`content_f_measure`.

    Returns:
        the threshold and its mean f-measure; of thresholds that do equally well the lowest.

    Raises:
        ValueError: no page has content.
    """
    by_site: dict[int, list[NDArray[np.float64]]] = {}
    for site, values in measured:
        if not np.isnan(values).any():
            by_site.setdefault(site, []).append(values)
    if not by_site:
        raise ValueError("no page of the sites has text of its own to choose a threshold by")
    means = np.mean([np.mean(pages, axis=0) for pages in by_site.values()], axis=0)
    best = int(np.argmax(means))
    return float(THRESHOLDS[best]), float(means[best])
