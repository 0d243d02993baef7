"""Text F1 by the pages of a host that have been seen: page-level model alone, site-level labels alone, and both.

GOLD names its pages ``site/file``, as in ``news/12.html``, and SITES_DIR has them below ``site``. For every gold page
so many pages of its site are counted, the page itself and others drawn at random, and the page is cleaned with their
counts, those of its leaves as in a crawl. "Site level" cuts what SiteLevel(0.10) labels and nothing else.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import winnow
from benchmarks.shared.common import parser_of, say, table, write_json
from winnow.counting import MemoryCounts, frequencies_from_leaves, leaves, site_level_templates
from winnow.fingerprints import node_fingerprints
from winnow.output.text import block_texts, join_blocks
from winnow.page.page import Page
from winnow.site import PageCounts
from winnow.training.evaluation import GoldPage, page_accuracy, read_gold
from winnow.training.sites import Site, find_sites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from winnow.models.scores import Model

SEEN = (1, 2, 5, 10, 30, 100)
METHODS = ("page level", "site level", "both")


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("gold", type=Path, metavar="GOLD", help="gold pages, .jsonl or .jsonl.xz")
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--model", help="page-level model (default: the package's own)")
    parser.add_argument(
        "--folds", type=Path, metavar="DIR", help="of winnow train --folds: the model without each site"
    )
    parser.add_argument("--unit", choices=("word", "char"), default="word", help="char for unspaced scripts")
    parser.add_argument("--sample", type=int, default=30, metavar="N", help="gold pages of each site (default: 30)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    gold = {page.page_id: page for page in read_gold(options.gold)}
    figures: dict[tuple[str, int], list[float]] = defaultdict(list)
    for site in find_sites(options.sites):
        wanted = {name.partition("/")[2]: page for name, page in gold.items() if name.partition("/")[0] == site.name}
        if wanted:
            say(f"{site.name}: {len(wanted)} gold pages")
            measure(site, wanted, figures, options)
    if not figures:
        sys.exit(f"{options.sites}: no page of {options.gold} is there")
    means = {(method, seen): float(np.mean(values)) for (method, seen), values in figures.items()}
    print(table(["pages seen", *METHODS], [[seen, *(means[method, seen] for method in METHODS)] for seen in SEEN]))
    write_json(options, {f"{method}, {seen}": value for (method, seen), value in means.items()})


def model_of(site: Site, options: argparse.Namespace) -> Model:
    """The model to judge the pages of a site."""
    if options.folds is None:
        return winnow.load_model(options.model)
    fold_of = json.loads((options.folds / "folds.json").read_text(encoding="utf-8"))
    return winnow.load_model(options.folds / f"without-{fold_of[site.name]}.npz")


def measure(
    site: Site, wanted: Mapping[str, GoldPage], figures: dict[tuple[str, int], list[float]], options: argparse.Namespace
) -> None:
    """Add the F1 of a site's gold pages (by file) to ``figures``, by method and pages seen."""
    model = model_of(site, options)
    random = np.random.default_rng(options.seed)
    pages = [Page.parse(file.read_bytes(), site.url(file)) for file in site.files]
    units = [np.flatnonzero(leaves(page)) for page in pages]
    fingerprints = [node_fingerprints(page) for page in pages]
    order = random.permutation(len(pages)).tolist()
    names = [file.relative_to(site.folder).as_posix() for file in site.files]
    for index in [index for index in order if names[index] in wanted][: options.sample]:
        page, company = pages[index], [index, *(other for other in order if other != index)]
        page_level = winnow.clean(page, model=model).text
        for seen in SEEN:
            counts = MemoryCounts()
            for other in company[:seen]:
                counts.add(other, np.unique(fingerprints[other][units[other]]))
            df = np.zeros(page.n + page.m, np.int64)
            df[units[index]] = counts.df(fingerprints[index][units[index]])
            df = frequencies_from_leaves(page, df)
            texts = {
                "page level": page_level,
                "site level": join_blocks(
                    page, block_texts(page), ~site_level_templates(page, df, counts.pages)[page.n :]
                ),
                "both": winnow.clean(page, model=model, site=PageCounts(df, counts.pages)).text,
            }
            for method, text in texts.items():
                figures[method, seen].append(page_accuracy(text, wanted[names[index]], options.unit).f1)


if __name__ == "__main__":
    main()
