"""Templates by menus: recall, precision and F1 of nodes by site and variant.

Table 1 of Alarte, Insa, Silva and Tamarit (2014), in kind, on key pages whose template a reader has marked
(``benchmarks/sites/truth``): nodes are elements and blocks of text. Links to pages that are not among those of the
site's folder are left alone, since it has a sample of the site. Averages are over sites with at least three linked
pages, those that the variant "agreeing" was tuned on apart from the others. "Strict" counts own navigation
(breadcrumbs, related pages, pagers) as template, too; otherwise it does not count.
"""

from __future__ import annotations

import time
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.sites.truth.hand_truth import HandTruth, f1, letters, marked_sites
from tamis_papers.experiments.harness import parser_of, say, table, write_json
from tamis_papers.menus import (
    AGREEING,
    PAPER,
    VARIANTS,
    Menus,
    MenuSearch,
    numbers_by_key,
    page_key,
    read_page,
    site_links,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tamis.folders import SitePage, SitePages
    from tamis.page.page import Page


class Result(NamedTuple):
    """A template found, against the truth; figures are of nodes but for ``text``, F1 of the characters of blocks."""

    linked: int
    nodes: int
    template: int
    retrieved: int
    recall: float
    precision: float
    f1: float
    strict: float
    text: float
    pages: float
    loaded: float
    seconds: float


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, nargs="+", metavar="SITES_DIR", help="folders with one folder a site")
    options = parser.parse_args()
    groups: dict[str, dict[str, list[Result]]] = {}
    per_site: dict[str, list[object]] = {}
    for of, pages, read, truth in marked_sites(options.sites):
        say(of.site)
        results = measured(pages, read, truth)
        per_site[of.site] = [of.genre, of.language, *results[AGREEING][:-1]]
        per_site[of.site].append(results[PAPER].f1)
        half = "tuned on" if is_tuned_on(of.site) else "not tuned on"
        for name, result in results.items():
            if result.linked >= 3:
                groups.setdefault(half, {}).setdefault(name, []).append(result)
    fields = [*Result._fields[:-1]]
    print(table(["site", "genre", "language", *fields, "paper's f1"], [[k, *v] for k, v in per_site.items()]))
    columns = ["recall", "precision", "f1", "strict", "text", "pages", "loaded", "seconds"]
    for name, found in groups.items():
        print(f"\n{name}: averages of {len(next(iter(found.values())))}")
        print(table([name, *columns], [[way, *means(each)] for way, each in found.items()]))
    averages = {name: {way: means(each) for way, each in found.items()} for name, found in groups.items()}
    write_json(options, {"sites": per_site, "averages": averages})


def is_tuned_on(site: str) -> bool:
    """Whether the variant's values were chosen on this site: half of the families of sites.

    A family are the sites of one owner, which may share a template, by the name of the folder.
    """
    family = site.split("__", maxsplit=1)[0]
    if site.startswith("uci"):
        family = "uci.edu"
    elif site.startswith("deb_"):
        family = f"deb:{site.split('-', maxsplit=1)[0]}"
    return int(sha256(family.encode()).hexdigest(), 16) % 2 == 0


def means(results: Iterable[Result]) -> list[float]:
    """Average figures from recall on."""
    return [float(value) for value in np.mean([result[4:] for result in results], axis=0)]


def measured(pages: SitePages, read: SitePage, truth: HandTruth) -> dict[str, Result]:
    """Search from a key page, by both variants; without links all of it is template."""
    numbers = numbers_by_key(pages)
    linked = sum(key in numbers for key in site_links(read.page))
    everything = np.ones(read.page.n + read.page.m, bool)
    load = cache(lambda address: read_page(pages, numbers[page_key(address)]))
    results: dict[str, Result] = {}
    for variant in VARIANTS:
        begin = time.process_time()
        search = MenuSearch(read.page, Menus(variant), load, numbers)
        template = search.template() if search.found else everything
        effort = len(search.found), search.loaded, time.process_time() - begin
        results[variant] = compared(read.page, truth, template, linked, *effort)
    results["the key page alone"] = compared(read.page, truth, everything, linked, 0, 1, 0.0)
    return results


def compared(page: Page, truth: HandTruth, template: NDArray[np.bool_], linked: int, *effort: float) -> Result:
    """Compare a template with the truth; ``effort`` is pages, those loaded, and seconds."""
    one = np.ones(page.n + page.m, np.int64)
    known, wanted = truth.known, truth.template & truth.known
    both, mine, there = (int((units & known).sum()) for units in (template & wanted, template, wanted))
    by_nodes = f1(template & known, wanted, one)
    strict = f1(template & (known | truth.own), wanted | truth.own, one)
    by_text = f1(template & known, wanted, letters(page))
    recall, precision = both / max(1, there), both / max(1, mine)
    return Result(linked, int(known.sum()), there, mine, recall, precision, by_nodes, strict, by_text, *effort)


if __name__ == "__main__":
    main()
