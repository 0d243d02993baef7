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

from functools import partial
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

from tamis.smoothing import smooth, unsmoothed
from tamis_papers.element_features import Measures
from tamis_papers.experiments.detection import block_masses, overlap
from tamis_papers.experiments.harness import estimates_by_name, experiment_parser, report, say, sites_of
from tamis_papers.page_level import SiteLevel
from tamis_papers.pages import SiteError, distinct_pages
from tamis_papers.training.gold import FOLDS
from tamis_papers.training.logistic import Examples, fit, page_examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tamis.arrays import Floats
    from tamis_papers.experiments.harness import MarkedSite
    from tamis_papers.page_level import LogisticModel


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    options = experiment_parser(__doc__).parse_args(arguments)
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
        model_of = {site.name: models[of] for site, of in zip(sites, fold.tolist(), strict=True)}
        rows.append([*names, *estimates_by_name(sites, partial(_f_measures, model_of=model_of))[""]])
    return rows


def _f_measures(site: MarkedSite, model_of: Mapping[str, LogisticModel]) -> Iterator[tuple[str, list[Floats]]]:
    """Numerators and denominators of the f-measure of words, without and with smoothing."""
    for read, truth in site.read_marked():
        page, scores, masses = read.page, model_of[site.name].score(read.page), block_masses(read.page)
        values = (smoothed(page.unit_parent, scores).value[page.n :] for smoothed in (unsmoothed, smooth))
        yield "", [overlap(value >= 0.5, truth, masses)[0] for value in values]


def _examples(site: MarkedSite, number: int, printed: bool, all_others: bool) -> Iterator[Examples]:
    """Labelled elements of 20 pages of a site, each page with the same weight."""
    random = np.random.default_rng(number)
    try:
        learned = SiteLevel(printed=printed).learn(site.pages)
    except SiteError:
        return
    for read in islice(distinct_pages(site.pages), 20):
        template, content = learned.label(read)
        label = np.where(template, 0, np.where(True if all_others or content is None else content, 1, np.nan))
        yield page_examples(Measures(read.page), label.astype(np.float32), number, random)


if __name__ == "__main__":
    main()
