"""Templates by menus by the size of the complete subdigraph: Table 2 of the paper on hyperlink analysis.

Of each site of SITES up to three marked pages are key pages, those with the most links to pages that are there. For
each size, recall, precision and F1 of the nodes of the template (elements with text and blocks) and the pages loaded;
means with 95% intervals over sites. A size counts the key page, as the paper's does; of size 1 it is alone, and all of
it is template. Key pages with fewer than three such links are left out.

Alarte, Insa, Silva and Tamarit: Web Template Extraction Based on Hyperlink Analysis (PROLE 2014), section 5.

    python -m tamis_papers.experiments.menu_sizes [SITES ...] [--variant VARIANT]
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.page.tree import elements_of_blocks, sums_over_blocks
from tamis_papers.experiments.harness import estimates_by_name, experiment_parser, report, sites_of
from tamis_papers.menus import PAPER, VARIANTS, Menus, MenuSearch, numbers_by_key, page_key, read_page, site_links

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tamis.arrays import Flags, Floats
    from tamis.page.page import Page
    from tamis_papers.experiments.harness import MarkedSite

SIZES: Final = (1, 2, 3, 4, 5, 6, 7, 8)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = experiment_parser(__doc__)
    parser.add_argument("--variant", choices=VARIANTS, default=PAPER, help="of the search (%(default)s)")
    options = parser.parse_args(arguments)
    rows = table_2(sites_of(options), options.variant)
    report(options, ["size", "recall", "precision", "F1", "pages loaded"], rows)


def table_2(sites: Sequence[MarkedSite], variant: str = PAPER) -> list[list[object]]:
    """A row for each size: it, and estimates of recall, precision, F1 and pages loaded."""
    found = estimates_by_name(sites, partial(_figures, variant=variant))
    return [[f"{size}", *estimates] for size, estimates in sorted(found.items())]


def _figures(site: MarkedSite, variant: str) -> Iterator[tuple[int, tuple[float, ...]]]:
    """Recall, precision, F1 and pages loaded, for the key pages of a site and each size."""
    pages = site.pages
    numbers = numbers_by_key(pages)
    load = cache(lambda address: read_page(pages, numbers[page_key(address)]))
    marked = [(sum(key in numbers for key in site_links(read.page)), read, truth) for read, truth in site.read_marked()]
    marked.sort(key=lambda each: (-each[0], each[1].name))
    for linked, read, truth in marked[:3]:
        for size in SIZES if linked >= 3 else ():
            template, loaded = np.ones(read.page.n + read.page.m, bool), 1
            if size > 1:
                search = MenuSearch(read.page, Menus(variant, size - 1), load, numbers)
                template, loaded = search.template() if search.found else template, search.loaded
            yield size, (*_agreement(read.page, truth, template), loaded)


def _agreement(page: Page, truth: Floats, template: Flags) -> tuple[float, float, float]:
    """Recall, precision and F1 over blocks and elements that hold text of one known kind."""
    known = np.concatenate([sums_over_blocks(page, np.isnan(truth)) == 0, ~np.isnan(truth)])
    wanted, content = (np.concatenate([elements_of_blocks(page, truth == kind), truth == kind]) for kind in (1, 0))
    known &= wanted | content
    both, mine, there = (int((units & known).sum()) for units in (template & wanted, template, wanted))
    recall, precision = both / max(there, 1), both / max(mine, 1)
    return recall, precision, 2 * both / max(mine + there, 1)


if __name__ == "__main__":
    main()
