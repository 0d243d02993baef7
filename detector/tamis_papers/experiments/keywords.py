"""Keywords found with and without templates: Table 1 of the template-blocks paper, top-N scores.

A keyword's weight is its frequency on the page times its inverse document frequency in a collection. The right keywords
of a marked page are the ten of highest weight in its content. ORD takes the keywords from all text of the page, DN
(de-noised) from its clean text, both with document frequencies of other sites; DF and DN-DF with those of the page's
own site, too. The top-N score is the paper's: right ones among the first N, over the most there can be. Means over the
marked pages, with 95% intervals over sites.

What differs from the paper: keywords of a reader's content instead of annotated ones, single words, weights that are
not learned. Kolcz and Yih: Site-Independent Template-Block Detection (PKDD 2007), section 5.

    python -m tamis_papers.experiments.keywords [SITES ...] [--model MODEL]
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from tamis import clean, load_model
from tamis_papers.experiments.harness import estimate_rows, experiment_parser, report, sites_of
from tamis_papers.pages import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tamis.models import Model
    from tamis_papers.experiments.harness import MarkedSite

TOP: Final = (1, 2, 3, 5, 10)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    options = experiment_parser(__doc__, "blocks-self-taught").parse_args(arguments)
    rows = table_1(sites_of(options), load_model(options.model))
    report(options, ["keywords from", *(f"top {number}" for number in TOP)], rows)


def table_1(sites: Sequence[MarkedSite], model: Model) -> list[list[object]]:
    """A row for each way: its name, and an estimate of each top-N score."""
    frequencies_of = {site.name: document_frequencies(site) for site in sites}
    everywhere = sum(frequencies_of.values(), Counter[str]())

    def measure(site: MarkedSite) -> Iterator[tuple[str, list[float]]]:
        elsewhere = everywhere - frequencies_of[site.name]
        for read, truth in site.read_marked():
            texts = read.page.block_texts()
            content = "\n".join(text for text, kind in zip(texts, truth, strict=True) if kind == 0)
            right, everything = keywords(content, elsewhere, 10), "\n".join(texts)
            cleaned = clean(read.page, model=model).text
            sources = {"ORD": (everything, elsewhere), "DN": (cleaned, elsewhere)}
            sources |= {"DF": (everything, everywhere), "DN-DF": (cleaned, everywhere)}
            for name, (text, frequencies) in sources.items() if right else ():
                yield name, top_scores(keywords(text, frequencies, max(TOP)), right)

    return estimate_rows(sites, measure)


def document_frequencies(site: MarkedSite) -> Counter[str]:
    """Pages that have a term, of 30 of a site; their number under ``""``."""
    pages = site.pages.subset(spread(range(len(site.pages)), 30))
    frequencies = Counter[str]()
    for read in pages.read_all():
        frequencies.update({"", *_terms("\n".join(read.page.block_texts()))})
    return frequencies


def keywords(text: str, frequencies: Mapping[str, int], number: int) -> list[str]:
    """The terms with the highest weight, frequency times inverse document frequency; ties go by alphabet."""
    documents = frequencies[""]
    weight = {
        term: times * math.log((1 + documents) / (1 + frequencies.get(term, 0)))
        for term, times in Counter(_terms(text)).items()
    }
    return sorted(weight, key=lambda term: (-weight[term], term))[:number]


def top_scores(found: Sequence[str], right: Iterable[str]) -> list[float]:
    """Top-N score for each N of :data:`TOP`."""
    wanted = set(right)
    return [len(wanted.intersection(found[:number])) / min(len(wanted), number) for number in TOP]


def _terms(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{3,}", text.lower())


if __name__ == "__main__":
    main()
