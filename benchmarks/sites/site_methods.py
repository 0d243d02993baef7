"""The site-level methods side by side on the demo web: template found, and time.

The truth is that of the generator of the demo web (exact). Each method learns from at most --pages pages of a site
(menus from those it finds by links), and --tested pages are labelled. "Text" is precision, recall and F1 of template by
characters of blocks, "node" by elements that hold text; they are summed over the pages of a site, and averaged over
sites. Time is learning and labelling, for each page, in parses of the same pages.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.sites.truth.hand_truth import letters
from demo.hosts import BUILDERS
from demo.web import build_site
from tamis.page.tree import elements_of_blocks
from tamis_papers.experiments.harness import parser_of, say, table, truth_of_runs, write_json
from tamis_papers.experiments.html_pages import HtmlPages
from tamis_papers.methods import METHODS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from demo.nodes import Run
    from tamis.folders import SitePage, SitePages
    from tamis.page.page import Page

    Units = NDArray[np.bool_]


def main() -> None:
    """Measure every method, and print the tables."""
    parser = parser_of(__doc__ or "")
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


def _row(name: str, sites: Sequence[DemoSite], options: argparse.Namespace) -> dict[str, Any]:
    """Measure one method on all sites."""
    by_site: dict[str, float] = {}
    figures, parses = [], []
    for site in sites:
        say(f"{name}: {site.name}")
        part = site if name == "menus" else site.bounded(options.pages, options.seed)
        overlap, times_parse = _measured(name, part, options)
        parses.append(times_parse)
        figures.append([*overlap.figures("text"), *overlap.figures("node")])
        by_site[site.name] = figures[-1][2]
    means = np.mean(figures, axis=0).tolist()
    return {"method": name, "figures": means, "parses": float(np.median(parses)), "by_site": by_site}


def _measured(name: str, site: DemoSite, options: argparse.Namespace) -> tuple[Overlap, float]:
    """What a method finds on a site, and its time for a page in parses of it."""
    pages = site.pages
    tested = range(0, len(pages), max(len(pages) // options.tested, 1))
    truths = {number: site.truth(read) for number, read in ((number, pages.read(number)) for number in tested)}
    begin = time.perf_counter()
    for number in tested:
        pages.read(number)
    parse = (time.perf_counter() - begin) / len(tested)

    begin = time.perf_counter()
    learned = METHODS[name]().learn(pages)
    seconds = (time.perf_counter() - begin) / len(pages)
    overlap = Overlap()
    begin = time.perf_counter()
    for number in tested:
        read = pages.read(number)
        overlap.add(read.page, learned.label(read).template, truths[number])
    seconds += (time.perf_counter() - begin) / len(tested)
    return overlap, seconds / parse


@dataclass(frozen=True, eq=False)
class DemoSite:
    """A host of the demo web, whose generator knows the truth about its pages.

    Attributes:
        name: what it is called.
        pages: its pages.
        runs: text runs of each page by its name, and whether they are template.
    """

    name: str
    pages: SitePages
    runs: dict[str, tuple[Run, ...]]

    def truth(self, read: SitePage) -> Units | None:
        """bool[n + m], the units that are template; ``None`` where a page's runs cannot be told apart."""
        template = truth_of_runs(read, self.runs[read.name])
        if np.isnan(template).any():
            return None
        blocks = template == 1
        return np.concatenate([elements_of_blocks(read.page, blocks), blocks])

    def bounded(self, most: int, seed: int) -> DemoSite:
        """The site with at most so many pages, picked at random."""
        numbers = np.random.default_rng(seed).permutation(len(self.pages))[:most]
        return replace(self, pages=self.pages.subset(sorted(numbers.tolist())))


def demo_sites(pages: int, seed: int) -> Iterator[DemoSite]:
    """Build the hosts of the demo web."""
    for name in BUILDERS:
        site = build_site(name, seed, pages)
        base = f"http://{name}.demo"
        served = [
            (base + path, site.resources[path].body)
            for path, truth in site.truth.items()
            if truth.kind in {"article", "listing"} and site.resources[path].status == 200
        ]
        runs = {base + path: truth.runs for path, truth in site.truth.items()}
        yield DemoSite(name, HtmlPages.from_html(served), runs)


class Overlap(Counter[str]):
    """Template found and template there, by characters of text and by elements that hold text; they add up."""

    def add(self, page: Page, found: Units, there: Units | None) -> None:
        """Count the labels of one page; nothing where there is no truth about it."""
        if there is None:
            return
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
