"""Segments of pages against those of a reader: Figure 1, by the adjusted Rand index over the blocks of a page.

A reader's segments are the largest elements that are all template or all content. In Basic every element that is
scored is a segment; Basic+Merge puts neighbouring blocks together whose scores differ by less than delta, with the
delta that is best on these very pages; in Smooth the sections of the smoother are the segments. Means over the marked
pages, with 95% intervals over sites.

Chakrabarti, Kumar and Punera: Page-level Template Detection via Isotonic Smoothing (WWW 2007), section 6.1.

    python -m tamis_papers.experiments.segmentation [SITES ...] [--model MODEL]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import adjusted_rand_score

from tamis import load_model
from tamis.page.tree import nearest, sums_over_blocks
from tamis.smoothing import smooth, unsmoothed
from tamis_papers.experiments.harness import estimates_by_name, experiment_parser, report, sites_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tamis.arrays import Floats, Integers
    from tamis.models import Model
    from tamis.page.page import Page
    from tamis_papers.experiments.harness import MarkedSite


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    options = experiment_parser(__doc__, "logistic").parse_args(arguments)
    report(options, ["segments", "adjusted Rand index"], figure_1(sites_of(options), load_model(options.model)))


def figure_1(sites: Sequence[MarkedSite], model: Model) -> list[list[object]]:
    """Rows of Basic, Basic+Merge with the best delta, and Smooth, each with an estimate."""

    def measure(site: MarkedSite) -> Iterator[tuple[str, list[float]]]:
        for read, truth in site.read_marked():
            page, scores = read.page, model.score(read.page)
            basic = unsmoothed(page.unit_parent, scores)
            segments: dict[str, NDArray[np.integer]] = {"Basic": basic.section[page.n :]}
            change = np.abs(np.diff(basic.value[page.n :], prepend=basic.value[page.n]))
            for delta in (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7):
                segments[f"Basic+Merge, delta {delta}"] = np.cumsum(change >= delta)
            segments["Smooth"] = smooth(page.unit_parent, scores).section[page.n :]
            for name, labels in segments.items():
                yield name, [agreement(page, truth, labels)]

    estimates = {name: each for name, (each,) in estimates_by_name(sites, measure).items()}
    best = max((name for name in estimates if "delta" in name), key=lambda name: estimates[name].value)
    return [[name, estimates[name]] for name in ("Basic", best, "Smooth")]


def agreement(page: Page, truth: Floats, segments: NDArray[np.integer]) -> float:
    """Adjusted Rand index between segments (int[m]) and those of the truth (float64[m]), over the known blocks."""
    known = ~np.isnan(truth)
    return float(adjusted_rand_score(true_segments(page, truth)[known], segments[known]))


def true_segments(page: Page, truth: Floats) -> Integers:
    """int64[m], the segment of each block: the topmost element of one kind around it, or itself where there is none."""
    kinds = [sums_over_blocks(page, truth == kind) > 0 for kind in (0, 1)]
    pure = ~(kinds[0] & kinds[1])
    top = pure & ~np.append(pure, False)[page.parent]
    around = nearest(page.parent, top)[page.block_node]
    return np.where(around >= 0, around, np.arange(page.n, page.n + page.m))


if __name__ == "__main__":
    main()
