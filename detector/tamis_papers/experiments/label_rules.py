"""What the rules for training labels are worth: section 5.1 as printed, and as they are here.

The paper calls an element template when 85% of its HTML is in templates, and all that is no template, non-template.
Here 85% of its text must be, too, `html` and `body` never are, and non-template is only what no other page has (the
rule of Kolcz and Yih, section 3); what lies in between has no label. For each combination, in five folds over the
sites, the model `logistic` is fitted to the labels of the other sites and measured on the marked pages: f-measure of
the words of template without and with smoothing, with 95% intervals over sites.

Chakrabarti, Kumar and Punera: Page-level Template Detection via Isotonic Smoothing (WWW 2007), section 5.1.

    python -m tamis_papers.experiments.label_rules [SITES ...]
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.smoothing import smooth, unsmoothed
from tamis_papers.element_features import Measures, node_features
from tamis_papers.experiments.detection import block_masses, overlap
from tamis_papers.experiments.harness import estimate, experiment_parser, report, say, sites_of
from tamis_papers.page_level import SiteLevel
from tamis_papers.pages import SiteError, distinct_pages
from tamis_papers.training.logistic import Examples, fit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tamis_papers.experiments.harness import MarkedSite

FOLDS: Final = 5
_PAGES: Final = 20  # of each site
_ELEMENTS: Final = 100  # of each page


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    options = experiment_parser(__doc__ or "").parse_args(arguments)
    headings = ["85% of", "non-template", "f-measure, Basic", "f-measure, Smooth"]
    report(options, headings, compare(sites_of(options)))


def compare(sites: Sequence[MarkedSite]) -> list[list[object]]:
    """A row for each combination of rules, and estimates of both f-measures."""
    fold = np.random.default_rng(0).permutation(len(sites)) % FOLDS
    rows: list[list[object]] = []
    for printed, all_others in product((False, True), repeat=2):
        names = ["HTML" if printed else "HTML and text", "all others" if all_others else "on one page only"]
        say(", ".join(names))
        parts = [each for number, site in enumerate(sites) for each in _examples(site, number, printed, all_others)]
        examples = Examples(*map(np.concatenate, zip(*parts, strict=True)))
        models = [fit(examples, fold[examples.site] != number) for number in range(min(FOLDS, len(sites)))]
        found: list[list[tuple[float, ...]]] = [[], []]
        for site, of in zip(sites, fold.tolist(), strict=True):
            sums = np.zeros((2, 2))
            for read, truth in site.read_marked():
                page, scores, masses = read.page, models[of].score(read.page), block_masses(read.page)
                for way, smoothed in enumerate((unsmoothed, smooth)):
                    template = smoothed(page.unit_parent, scores).value[page.n :] >= 0.5
                    sums[way] += overlap(template, truth, masses)[0]
            for way, each in enumerate(sums.tolist()):
                found[way].append(tuple(each))
        rows.append([*names, *(estimate((above, below) for above, below in each) for each in found)])
    return rows


def _examples(site: MarkedSite, number: int, printed: bool, all_others: bool) -> Iterator[Examples]:
    """Labelled elements of pages of a site, each page with the same weight, and elements by the root of their words."""
    random = np.random.default_rng(number)
    try:
        learned = SiteLevel(printed=printed).learn(site.pages)
    except SiteError:
        return
    for read in islice(distinct_pages(site.pages), _PAGES):
        measures, (template, content) = Measures(read.page), learned.label(read)
        labelled = template | (True if all_others or content is None else content)
        rows = random.permutation(np.flatnonzero(labelled[measures.elements]))[:_ELEMENTS]
        elements, weight = measures.elements[rows], np.sqrt(1 + measures.words[rows])
        yield Examples(
            values=node_features(measures)[rows],
            label=template[elements],
            area=measures.area[elements],
            weight=weight / max(weight.sum(), 1),
            site=np.full(len(rows), number),
        )


if __name__ == "__main__":
    main()
