"""Templates by menus: recall, precision and F1 of nodes by site and by equality, and by the size of the subdigraph.

Tables 1 and 2 of Alarte, Insa, Silva and Tamarit (2014), in kind. For each site of SITES_DIR the key page is the one
that exchanges links with most others, since a folder holds a sample of a site only; links to pages that are not in it
are left alone. Nodes are the elements that a reader sees and the blocks of text. Where there is no truth by hand, the
template is what SiteLevel labels with all pages of the site at hand, and the elements around it. For the hosts of the
demo web, with their front pages as key pages, the truth is exact: the template's text, and the elements that hold any.

The paper's sizes count the key page: its size 1 is our row 0, the key page alone, where the whole page is the template.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

import numpy as np

from benchmarks.shared.common import parser_of, say, spread, table, write_json
from demo.hosts import BUILDERS
from demo.web import build_site
from winnow.fingerprints.units import UNSEEN
from winnow.page.page import Page, PageTooLarge
from winnow.page.subtrees import subtree_sums, within
from winnow.site.methods.menus import MenuSearch, Profile, equality_of, search_menu, template_of
from winnow.site.methods.menus.equality import EQUALITIES, WEIGHTED
from winnow.site.methods.menus.links import page_key, site_links
from winnow.site.methods.menus.subdigraph import SIZE
from winnow.site.methods.pages import SitePages
from winnow.site.methods.site_level import SiteLevel
from winnow.training.sites import Site, find_sites

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from numpy.typing import NDArray

SIZES = range(1, 9)


@dataclass(eq=False)
class Case:
    """A key page, how to load the pages that it links to, and the truth.

    Attributes:
        name: of the site.
        key_page: the page.
        load: loads the page at an address.
        known: keys of the pages that can be loaded.
        nodes: bool[n + m], units that are looked at.
        template: bool[n + m], units that are template.
        seconds: of each mapping of the key page with another, by equality.
    """

    name: str
    key_page: Page
    load: Callable[[str], Page | None]
    known: Container[str] | None
    nodes: NDArray[np.bool_]
    template: NDArray[np.bool_]
    seconds: dict[str, list[float]] = field(default_factory=dict)
    _mapped: dict[tuple[str, str], NDArray[np.bool_]] = field(default_factory=dict)

    def template_of(self, found: dict[str, Profile], equality: str) -> NDArray[np.bool_]:
        """What is mapped to all of some pages, each of which is mapped once only."""
        mine = Profile.of(self.key_page)
        for key, profile in found.items():
            if (key, equality) not in self._mapped:
                begin = time.process_time()
                self._mapped[key, equality] = template_of(mine, [profile], equality_of(equality))
                self.seconds.setdefault(equality, []).append(time.process_time() - begin)
        return np.logical_and.reduce([self._mapped[key, equality] for key in found])


class Result(NamedTuple):
    """Nodes of a template found, against the truth."""

    nodes: int
    template: int
    retrieved: int
    recall: float
    precision: float
    f1: float
    pages: int
    loaded: int


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("--equality", choices=EQUALITIES, default=WEIGHTED, help="of the tables (default: weighted)")
    options = parser.parse_args()
    per_site: dict[str, Result] = {}
    by_size: dict[str, dict[int, list[Result]]] = {"sites": {}, "demo": {}}
    by_equality: dict[str, dict[str, list[Result]]] = {"sites": {}, "demo": {}}
    seconds: dict[str, list[float]] = {}
    for kind, cases in (("sites", site_cases(find_sites(options.sites))), ("demo", demo_cases())):
        for case in cases:
            found = found_by_size(case)
            for size, search in found.items():
                result = compared(case, search, options.equality)
                by_size[kind].setdefault(size, []).append(result)
            for equality in EQUALITIES:
                by_equality[kind].setdefault(equality, []).append(compared(case, found[SIZE], equality))
                seconds.setdefault(equality, []).extend(case.seconds[equality])
            per_site[f"{kind}: {case.name}"] = compared(case, found[SIZE], options.equality)
            say(case.name)
    columns = ["recall", "precision", "F1"]
    print(
        table(
            ["site", "nodes", "template", "retrieved", *columns, "pages", "loaded"],
            [[k, *v] for k, v in per_site.items()],
        )
    )
    for kind, results in by_equality.items():
        rows = [[name, *means(each), float(np.mean(seconds[name]))] for name, each in results.items()]
        print(f"\n{kind}: averages of {len(results[WEIGHTED])} by equality, size {SIZE}; CPU seconds for two pages")
        print(table(["equality", *columns, "pages", "loaded", "seconds"], rows))
        print(f"\n{kind}: averages by size, equality {options.equality}")
        print(table(["size", *columns, "pages", "loaded"], [[s, *means(each)] for s, each in by_size[kind].items()]))
    write_json(
        options,
        {
            "sites": {name: result._asdict() for name, result in per_site.items()},
            "equality": {k: {name: means(each) for name, each in v.items()} for k, v in by_equality.items()},
            "size": {k: {size: means(each) for size, each in v.items()} for k, v in by_size.items()},
        },
    )


def means(results: Iterable[Result]) -> list[float]:
    """Average recall, precision, F1, pages and loads."""
    return [float(value) for value in np.mean([result[3:] for result in results], axis=0)]


def found_by_size(case: Case) -> dict[int, MenuSearch | None]:
    """Search a subdigraph of each size; none for size 0, the key page alone."""
    found: dict[int, MenuSearch | None] = {0: None}
    for size in SIZES:
        found[size] = search_menu(MenuSearch(case.key_page, size, known=case.known), case.load)
    return found


def compared(case: Case, search: MenuSearch | None, equality: str) -> Result:
    """Map the key page with the pages found, and compare with the truth."""
    page = case.key_page
    if search is None:
        found, pages, loaded = np.ones(page.n + page.m, bool), 0, 1
    else:
        found, pages, loaded = case.template_of(search.found, equality), len(search.found), search.loaded
    right = int((found & case.template & case.nodes).sum())
    retrieved, wanted = int((found & case.nodes).sum()), int((case.template & case.nodes).sum())
    f1 = 2 * right / max(1, retrieved + wanted)
    total = int(case.nodes.sum())
    return Result(total, wanted, retrieved, right / max(1, wanted), right / max(1, retrieved), f1, pages, loaded)


def site_cases(sites: Iterable[Site]) -> Iterable[Case]:
    """The sites of a folder; those without links between their pages, or without a template, are left out."""
    for site in sites:
        pages = SitePages.of_files(site.folder, site.files)
        pages = SitePages.of_files(site.folder, site.files, base_url(pages))
        numbers = {page_key(url): number for number, url in reversed(list(enumerate(pages.urls)))}
        links = {page_key(pages.urls[read.number]): set(site_links(read.page)) for read in pages.read_all()}
        mutual = {key: sum(key in links.get(other, ()) for other in links[key]) for key in links}
        key = max(mutual, key=lambda each: (mutual[each], -each.count("/")))
        read = pages.read(numbers[key])
        labelled = SiteLevel().learn(pages).label(read).template
        if not mutual[key] or not labelled.any():
            say(f"{site.name} is left out: {'no template' if mutual[key] else 'no links between its pages'}")
            continue

        @cache
        def load(address: str, pages: SitePages = pages, numbers: dict[str, int] = numbers) -> Page | None:
            try:
                return pages.read(numbers[page_key(address)]).page
            except (OSError, PageTooLarge):
                return None

        page = read.page
        nodes = np.concatenate([~within(page, UNSEEN[page.tag]), np.ones(page.m, bool)])
        yield Case(site.name, page, load, numbers, nodes, with_containers(page, labelled))


def base_url(pages: SitePages) -> str | None:
    """The address that absolute links of a site's pages name, where most of those that lead to its pages are such."""
    paths = {urlsplit(f"http://{page_key(url)}").path for url in pages.urls}
    hosts: Counter[str] = Counter()
    sample = pages.subset(spread(range(len(pages)), 20))
    for read in sample.read_all():
        for href in read.page.attribute("href").values():
            try:
                address = urlsplit(urljoin(read.page.url or "", href))
            except ValueError:
                continue
            if urlsplit(f"http://{page_key(address.geturl())}").path in paths - {""}:
                hosts[f"{address.scheme}://{address.netloc}/"] += 1
    return hosts.most_common(1)[0][0] if hosts else None


def with_containers(page: Page, template: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Add the elements around template units: the template as a tree."""
    elements = template[: page.n].copy()
    elements[page.block_node[template[page.n :]]] = True
    return np.concatenate([subtree_sums(page, elements) > 0, template[page.n :]])


def demo_cases() -> Iterable[Case]:
    """The hosts of the demo web."""
    for name in BUILDERS:
        site = build_site(name)
        base = f"https://{name}.example"

        @cache
        def load(address: str, site=site, base: str = base) -> Page | None:  # type: ignore[no-untyped-def]
            resource = site.resources.get(address.removeprefix(base))
            if resource is None or resource.status >= 300 or "html" not in dict(resource.headers)["Content-Type"]:
                return None
            return Page.parse(resource.body, address)

        page = load(base + "/")
        assert page is not None
        flags: dict[str, set[bool]] = {}
        for text, is_template in site.truth["/"].runs:
            flags.setdefault(text, set()).add(is_template)
        of_run = [flags.get(" ".join(run.split()), set()) for run in page.runs]
        known = np.array([len(each) == 1 for each in of_run], bool)
        template = np.array([each == {True} for each in of_run], bool)
        bounds = (
            np.concatenate([page.run_begin, page.block_run_begin]),
            np.concatenate([page.run_end, page.block_run_end]),
        )
        yield Case(name, page, load, None, sums(known, *bounds) > 0, sums(template, *bounds) > 0)


def sums(values: NDArray[np.bool_], begin: NDArray[np.int32], end: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many are true in each slice."""
    totals = np.concatenate([[0], np.cumsum(values)])
    return totals[end] - totals[begin]


if __name__ == "__main__":
    main()
