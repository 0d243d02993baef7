"""Template found by a page's own model, without and with smoothing, and by its site: Table 1.

The f-measure of words, of words of anchors and of links that are in template blocks, over the marked pages of SITES
together, with 95% intervals over sites. Basic is the model's score of each block from 0.5 on, Smooth the smoothed one.
Of SiteLevel, which needs many pages of each site, the paper has no figure on marked pages.

Chakrabarti, Kumar and Punera: Page-level Template Detection via Isotonic Smoothing (WWW 2007), section 6.1.

    python -m tamis_papers.experiments.detection [SITES ...] [--model MODEL ...]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tamis import load_model
from tamis.page.text import TextTotals, text_totals
from tamis.page.tree import linked_runs, prefix_sums
from tamis.smoothing import smooth, unsmoothed
from tamis_papers.element_features import find_links
from tamis_papers.experiments.harness import estimate_rows, experiment_parser, report, sites_of
from tamis_papers.page_level import SiteLevel
from tamis_papers.pages import SiteError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tamis.arrays import Flags, Floats, Integers
    from tamis.models import Model
    from tamis.page.page import Page
    from tamis_papers.experiments.harness import MarkedSite

MEASURES: Final = ("words", "words of anchors", "links")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = experiment_parser(__doc__)
    parser.add_argument(
        "--model", nargs="+", default=["logistic", "blocks-self-taught"], metavar="MODEL", help="page-level models"
    )
    options = parser.parse_args(arguments)
    models = {name: load_model(name) for name in options.model}
    report(options, ["f-measure of template", *MEASURES], table_1(sites_of(options), models))


def table_1(sites: Sequence[MarkedSite], models: Mapping[str, Model]) -> list[list[object]]:
    """A row for each way to find template: its name, and an estimate for each of :data:`MEASURES`."""

    def measure(site: MarkedSite) -> Iterator[tuple[str, Floats]]:
        try:
            learned = SiteLevel().learn(site.pages)
        except SiteError:
            return
        for read, truth in site.read_marked():
            page, masses = read.page, block_masses(read.page)
            yield "SiteLevel", overlap(learned.label(read).template[page.n :], truth, masses)
            for name, model in models.items():
                scores = model.score(page)
                for method, smoothed in (("Basic", unsmoothed), ("Smooth", smooth)):
                    template = smoothed(page.unit_parent, scores).value[page.n :] >= 0.5
                    yield f"{method}, {name}", overlap(template, truth, masses)

    return estimate_rows(sites, measure)


def block_masses(page: Page) -> Integers:
    """int64[m, 3], how many words, words of anchors, and links each block has."""
    words = np.diff(TextTotals(*text_totals(page).T).words)
    links = np.zeros(page.r, np.int64)
    elements = np.flatnonzero(find_links(page)[0] & (page.run_begin < page.run_end))
    np.add.at(links, page.run_begin[elements], 1)
    sums = [prefix_sums(values) for values in (words, words * linked_runs(page), links)]
    return np.stack([each[page.block_run_end] - each[page.block_run_begin] for each in sums], axis=1)


def overlap(found: Flags, truth: Floats, masses: Integers) -> Floats:
    """float64[3, 2], numerator and denominator of the f-measure for each mass: twice what both have, and their sum."""
    known = ~np.isnan(truth)
    mine, there = found & known, truth == 1
    return np.stack([2 * masses[mine & there].sum(axis=0), masses[mine].sum(axis=0) + masses[there].sum(axis=0)], 1)


if __name__ == "__main__":
    main()
