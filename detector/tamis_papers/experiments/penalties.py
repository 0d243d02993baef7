"""The three penalties of the smoother and their factor: section 5.3, and Figures 2 and 3.

For each of the penalties ``c * N / N(i)`` (nodes), ``c * A / A(i)`` (area) and ``c * A(parent) / A(i)`` (parent) and
each c, on the marked pages of SITES: the f-measure of the words of template (Figure 2) and the mean adjusted Rand index
of segments (Figure 3), with 95% intervals over sites. The paper settles on areas and c = 0.01.

Chakrabarti, Kumar and Punera: Page-level Template Detection via Isotonic Smoothing (WWW 2007).

    python -m tamis_papers.experiments.penalties [SITES ...] [--factors C ...]
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from tamis import load_model
from tamis.smoothing import smooth
from tamis_papers.element_features import Measures
from tamis_papers.experiments.detection import block_masses, overlap
from tamis_papers.experiments.harness import estimates_by_name, experiment_parser, report, sites_of
from tamis_papers.experiments.segmentation import agreement
from tamis_papers.page_level import PENALTIES, section_penalty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tamis.arrays import Floats
    from tamis_papers.experiments.harness import MarkedSite


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = experiment_parser(__doc__)
    factors = [0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 1.0]
    parser.add_argument("--factors", type=float, nargs="+", default=factors, metavar="C", help="values of c")
    options = parser.parse_args(arguments)
    rows = figures_2_and_3(sites_of(options), options.factors)
    report(options, ["penalty", "c", "f-measure, words", "adjusted Rand index"], rows)


def figures_2_and_3(sites: Sequence[MarkedSite], factors: Sequence[float]) -> list[list[object]]:
    """A row for each penalty and factor: both, and estimates of f-measure and adjusted Rand index."""
    model = load_model("logistic")

    def measure(site: MarkedSite) -> Iterator[tuple[tuple[str, float], Floats]]:
        for read, truth in site.read_marked():
            page, scores, masses = read.page, model.score(read.page), block_masses(read.page)
            area, penalty = Measures(page).area, np.zeros(page.n + page.m)
            for rule, c in product(PENALTIES, factors):
                penalty[: page.n] = section_penalty(page, area, rule, c)
                smoothed = smooth(page.unit_parent, scores._replace(penalty=penalty))
                words = overlap(smoothed.value[page.n :] >= 0.5, truth, masses)[0]
                rand = agreement(page, truth, smoothed.section[page.n :])
                yield (rule, c), np.array([words, (rand, 1)])

    return [[rule, f"{c:g}", *estimates] for (rule, c), estimates in estimates_by_name(sites, measure).items()]


if __name__ == "__main__":
    main()
