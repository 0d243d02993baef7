"""Keywords found with and without templates: the template-blocks paper's Table 1 (section 5).

A keyword's weight is its frequency on the page times its inverse document frequency in another collection: all text of
pages of SITES_DIR, a few of each site. The right keywords of a page are the ten of highest weight in its gold text. ORD
takes the keywords from all text of the page, DN (de-noised) from its clean text, DF and DN-DF the same with document
frequencies of both collections together. The top-N score is the paper's: right ones among the first N keywords, over
the most there can be.

What differs from the paper: gold text instead of annotators, single words, and weights that are not learned.

    python -m benchmarks.applications.keyword_extraction GOLD PAGES_DIR SITES_DIR --model 'without-{fold}.npz'
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.shared.common import (
    Models,
    add_gold_arguments,
    add_model_argument,
    gold_pages,
    parser_of,
    shown,
    spread,
    table,
    write_json,
)
from benchmarks.shared.intervals import mean_interval, percent
from benchmarks.shared.peers import peers
from winnow import Page, clean
from winnow.output.text import block_texts
from winnow.page.page import PageTooLarge
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TOP: Final = (1, 2, 3, 5, 10)
RIGHT: Final = 10
"""Keywords of the gold text that count as right."""

ORD, DN, DF, DN_DF = "ORD", "DN", "DF", "DN-DF"

_TERM: Final = re.compile(r"[^\W\d_]{3,}")


def main() -> None:
    """Find keywords in every way and print the table."""
    parser = parser_of(__doc__ or "")
    add_gold_arguments(parser)
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="sites for the document frequencies")
    parser.add_argument("--pages-per-site", type=int, default=7, metavar="N", help="their pages (default: 7)")
    add_model_argument(parser)
    options = parser.parse_args()

    others = _frequencies(shown(_site_pages(options.sites, options.pages_per_site), "pages of sites"))
    models, extractors = Models(options.model), peers()
    pages = gold_pages(options)
    texts = []
    for gold, html in shown(pages, "gold pages"):
        of_page = {"gold": gold.text, ORD: _all_text(html), DN: clean(html, gold.url, model=models.of(gold)).text}
        texts.append(of_page | {f"DN, {name}": extract(html) for name, extract in extractors.items()})
    both = _frequencies((of_page[ORD] for of_page in texts), others)

    scores: dict[str, list[list[float]]] = {}
    for of_page in texts:
        right = keywords(of_page["gold"], others, RIGHT)
        if right:
            for method in (ORD, DN, *(name for name in of_page if name.startswith("DN, "))):
                scores.setdefault(method, []).append(_top_scores(keywords(of_page[method], others, max(TOP)), right))
            for method, source in ((DF, ORD), (DN_DF, DN)):
                scores.setdefault(method, []).append(_top_scores(keywords(of_page[source], both, max(TOP)), right))
    _print(scores)
    write_json(options, {method: np.mean(rows, axis=0).tolist() for method, rows in scores.items()})


def keywords(text: str, frequencies: Mapping[str, int], number: int) -> list[str]:
    """The terms of highest weight: frequency times inverse document frequency; of equals, the first by alphabet.

    Args:
        text: of one page.
        frequencies: documents of a collection that have a term; their number under ``""``.
        number: how many.
    """
    documents = frequencies[""]
    weight = {
        term: times * math.log((1 + documents) / (1 + frequencies.get(term, 0)))
        for term, times in Counter(_TERM.findall(text.lower())).items()
    }
    return sorted(weight, key=lambda term: (-weight[term], term))[:number]


def _frequencies(texts: Iterable[str], onto: Mapping[str, int] | None = None) -> Counter[str]:
    frequencies = Counter(onto or {})
    for text in texts:
        frequencies.update({"", *_TERM.findall(text.lower())})
    return frequencies


def _site_pages(folder: Path, number: int) -> list[str]:
    try:
        sites = find_sites(folder)
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    return [_all_text(file.read_bytes()) for site in shown(sites, "sites") for file in spread(site.files, number)]


def _all_text(html: bytes) -> str:
    try:
        return "\n".join(block_texts(Page.parse(html)))
    except PageTooLarge:
        return ""


def _top_scores(found: Sequence[str], right: Sequence[str]) -> list[float]:
    """Top-N score for each N of :data:`TOP`: right ones among the first N, over the most there can be."""
    return [len(set(found[:number]) & set(right)) / min(len(right), number) for number in TOP]


def _print(scores: Mapping[str, Sequence[Sequence[float]]]) -> None:
    columns = {method: np.array(rows) for method, rows in scores.items()}
    headings = [f"top {number}, %" for number in TOP]
    rows = [
        [method, *(percent(float(values.mean()), mean_interval(values.tolist())) for values in of_method.T)]
        for method, of_method in columns.items()
    ]
    print(table(["keywords from", *headings], rows))
    gain = columns[DN] - columns[ORD]
    print("\nDN over ORD: points (95% interval, paired), and relative\n")
    relative = gain.mean(axis=0) / np.maximum(columns[ORD].mean(axis=0), 1e-9)
    print(
        table(
            ["", *headings],
            [
                ["points", *(percent(float(values.mean()), mean_interval(values.tolist())) for values in gain.T)],
                ["relative, %", *(f"{100 * value:+.1f}" for value in relative.tolist())],
            ],
        )
    )


if __name__ == "__main__":
    main()
