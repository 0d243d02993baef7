"""The site-level methods side by side on the demo web: template found, and time.

The truth is that of the generator of the demo web (exact). Each method learns from at most --pages pages of a site
(menus from those it finds by links), and --tested pages are labelled. "Text" is precision, recall and F1 of template by
characters of blocks, "node" by elements that hold text; they are summed over the pages of a site, and averaged over
sites. Time is learning and labelling, for each page, in parses of the same pages.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.sites.truth.hand_truth import letters
from tamis.page.tree import elements_of_blocks
from tamis_papers.experiments.harness import demo_sites, parser_of, say, table, write_json
from tamis_papers.methods import METHODS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from tamis.arrays import Flags, Floats
    from tamis.folders import SitePage, SitePages
    from tamis.page.page import Page
    from tamis_papers.experiments.harness import MarkedSite


def main() -> None:
    """Measure every method, and print the tables."""
    parser = parser_of(__doc__)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--pages", type=int, default=60, metavar="N", help="pages of each site (default: %(default)s)")
    parser.add_argument("--tested", type=int, default=12, metavar="N", help="of them, labelled (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="picks pages, and is that of the demo web")
    options = parser.parse_args()
    sites = list(demo_sites(options.pages, options.seed))
    rows = [_row(name, sites, options) for name in options.methods]
    headings = ["", *(f"{kind} {figure}" for kind in ("text", "node") for figure in ("P", "R", "F1"))]
    print(table([*headings, "parses"], [[row["method"], *row["figures"], f"{row['parses']:.1f}"] for row in rows]))
    cells = [[row["method"], *(row["by_site"][site.name] for site in sites)] for row in rows]
    print("\n" + table(["text F1", *(site.name for site in sites)], cells))
    write_json(options, {row["method"]: row for row in rows})


def _row(name: str, sites: Sequence[MarkedSite], options: argparse.Namespace) -> dict[str, Any]:
    """Measure one method on all sites."""
    by_site: dict[str, float] = {}
    figures, parses = [], []
    for site in sites:
        say(f"{name}: {site.name}")
        pages = site.pages
        if name != "menus":
            numbers = np.random.default_rng(options.seed).permutation(len(pages))[: options.pages]
            pages = pages.subset(sorted(numbers.tolist()))
        overlap, times_parse = _measure(name, pages, site.truth, options.tested)
        parses.append(times_parse)
        figures.append([*overlap.figures("text"), *overlap.figures("node")])
        by_site[site.name] = figures[-1][2]
    means = np.mean(figures, axis=0).tolist()
    return {"method": name, "figures": means, "parses": float(np.median(parses)), "by_site": by_site}


def _measure(name: str, pages: SitePages, truth: Callable[[SitePage], Floats], tested: int) -> tuple[Overlap, float]:
    """Compare what a method finds on a site with the truth; also its time for a page, in parses of it."""
    numbers = range(0, len(pages), max(len(pages) // tested, 1))
    truths = [truth(pages.read(number)) for number in numbers]
    begin = time.perf_counter()
    for number in numbers:
        pages.read(number)
    parse = (time.perf_counter() - begin) / len(numbers)

    begin = time.perf_counter()
    learned = METHODS[name]().learn(pages)
    seconds = (time.perf_counter() - begin) / len(pages)
    overlap = Overlap()
    begin = time.perf_counter()
    for number, blocks in zip(numbers, truths, strict=True):
        read = pages.read(number)
        overlap.add(read.page, learned.label(read).template, blocks)
    seconds += (time.perf_counter() - begin) / len(numbers)
    return overlap, seconds / parse


class Overlap(Counter[str]):
    """Template found and template there, by characters of text and by elements that hold text; they add up."""

    def add(self, page: Page, found: Flags, truth: Floats) -> None:
        """Count the labels of one page; nothing where its blocks (float64[m]) are not known to be template or not."""
        if np.isnan(truth).any():
            return
        blocks = truth == 1
        there = np.concatenate([elements_of_blocks(page, blocks), blocks])
        holding = np.append(page.block_end > page.block_begin, np.zeros(page.m, bool)).astype(np.int64)
        for kind, weight in (("text", letters(page)), ("node", holding)):
            self[f"{kind} both"] += int(weight[found & there].sum())
            self[f"{kind} found"] += int(weight[found].sum())
            self[f"{kind} there"] += int(weight[there].sum())

    def figures(self, kind: str) -> tuple[float, float, float]:
        """Precision, recall and F1 of ``text`` or of ``node``; 1 where there is nothing to find and nothing found."""
        both, found, there = (self[f"{kind} {part}"] for part in ("both", "found", "there"))
        precision = both / found if found else 1.0
        recall = both / there if there else 1.0
        return precision, recall, 2 * both / (found + there) if found + there else 1.0


if __name__ == "__main__":
    main()
