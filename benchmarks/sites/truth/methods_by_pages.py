"""The site-level methods on pages marked by hand, by the number of pages of the site that they see.

    python -m benchmarks.sites.truth.methods_by_pages SITES_DIR ...

For each marked page, so many pages of its site are taken, itself and others by lot; each method learns from them, and
labels the marked page. ``menus`` starts from it, and is given all pages of the site, of which it loads a few. F1 of the
template by characters of blocks and by nodes (elements and blocks), means over sites. Where a method refuses so few
pages, or a site has fewer, the site is left out of that mean; "sites" says how many there were.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from benchmarks.sites.truth.hand_truth import HandTruth, f1, letters, marked_sites
from tamis.folders import SitePages
from tamis_papers.experiments.harness import parser_of, say, table, write_json
from tamis_papers.menus import Menus
from tamis_papers.methods import METHODS
from tamis_papers.pages import SiteError

if TYPE_CHECKING:
    from tamis.folders import SitePage

NUMBERS: Final = (2, 5, 10, 20, 100)
Figures = dict[tuple[str, int], list[tuple[float, float]]]


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, nargs="+", metavar="SITES_DIR", help="folders with one folder a site")
    options = parser.parse_args()
    figures: Figures = defaultdict(list)
    for of, pages, read, truth in marked_sites(options.sites):
        say(of.site)
        measure(pages, read.number, truth, figures)
    rows = []
    for name in METHODS:
        row: list[object] = [name]
        for number in NUMBERS:
            values = figures.get((name, number), [])
            row += [*(np.mean(values, axis=0).tolist() if values else [None, None]), len(values)]
        rows.append(row)
    headings = [heading for number in NUMBERS for heading in (f"{number}: text", "nodes", "sites")]
    print(table(["", *headings], rows))
    write_json(options, {f"{name}, {number}": values for (name, number), values in figures.items()})


def measure(pages: SitePages, marked: int, truth: HandTruth, figures: Figures) -> None:
    """Add the F1 of characters and of nodes of one site, by method and number of pages."""
    others = np.random.default_rng(0).permutation([number for number in range(len(pages)) if number != marked])
    kept = KeptPages.of(pages.subset([marked, *others.tolist()[: max(NUMBERS) - 1]]))
    page = kept.read(0).page
    for number in NUMBERS:
        if number > len(kept) and number != max(NUMBERS):
            continue
        part = kept.subset(range(min(number, len(kept))))
        for name in METHODS:
            try:
                if name != "menus":
                    found = METHODS[name]().learn(part).label(part.read(0)).template
                elif number == max(NUMBERS):
                    found = Menus(key_page=pages.names[marked]).learn(kept).label(kept.read(0)).template
                else:
                    continue
            except SiteError:
                continue
            weights = letters(page), np.ones(page.n + page.m, np.int64)
            text, nodes = (f1(found & truth.known, truth.template & truth.known, weight) for weight in weights)
            figures[name, number].append((text, nodes))


class KeptPages(SitePages):
    """Pages of a site that stay in memory with their trees, to learn from them again and again."""

    @classmethod
    def of(cls, pages: SitePages) -> Self:
        """Read all pages."""
        kept: Any = [pages.read(number) for number in range(len(pages))]
        return cls(pages.names, pages.urls, kept)

    def read(self, number: int) -> SitePage:
        """One of the pages."""
        kept: Any = self.files[number]
        read: SitePage = kept._replace(number=number)
        return read


if __name__ == "__main__":
    main()
