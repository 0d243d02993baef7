"""Templates by menus: recall, precision and F1 of nodes by site, variant and equality.

Table 1 of Alarte, Insa, Silva and Tamarit (2014), in kind, on key pages whose template a reader has marked
(``benchmarks/sites/truth``): nodes are elements and blocks of text. Links to pages that are not among those of the
site's folder are left alone, since it has a sample of the site. Averages are over sites with at least three linked
pages, those that the variant "agreeing" was tuned on apart from the others. "Strict" counts own navigation
(breadcrumbs, related pages, pagers) as template, too; otherwise it does not count. On the demo web, whose front pages
are key pages, the truth is exact.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.sites.truth.hand_truth import HandTruth, f1, letters, marked_sites
from demo.hosts import BUILDERS
from demo.web import build_site
from winnow.page.page import Page, PageTooLarge
from winnow.page.tree import prefix_sums
from winnow.papers.menu_mapping import EQUALITIES, WEIGHTED
from winnow.papers.menus import AGREEING, PAPER, VARIANTS, Menus, page_key, site_links

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from winnow.papers.pages import SitePages

LINKED: Final = 3
HALVES: Final = {True: "tuned on", False: "not tuned on"}


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
    pages: int
    loaded: int
    seconds: float


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("sites", type=Path, nargs="+", metavar="SITES_DIR", help="folders with one folder a site")
    options = parser.parse_args()
    groups: dict[str, dict[str, list[Result]]] = {}
    per_site: dict[str, list[object]] = {}
    for kind, cases in (("marked", marked_cases(options.sites)), ("demo", demo_cases())):
        for case in cases:
            say(case.name)
            results = measured(case)
            per_site[case.name] = [case.genre, case.language, *results[f"{AGREEING}, {WEIGHTED}"][:-1]]
            per_site[case.name].append(results[f"{PAPER}, {WEIGHTED}"].f1)
            group = kind if kind == "demo" else HALVES[case.tuned_on]
            for name, result in results.items():
                if result.linked >= LINKED:
                    groups.setdefault(group, {}).setdefault(name, []).append(result)
    fields = [*Result._fields[:-1]]
    print(table(["site", "genre", "language", *fields, "paper's f1"], [[k, *v] for k, v in per_site.items()]))
    columns = ["recall", "precision", "f1", "strict", "text", "pages", "loaded", "seconds"]
    for group, found in groups.items():
        print(f"\n{group}: averages of {len(next(iter(found.values())))}")
        print(table([group, *columns], [[name, *means(each)] for name, each in found.items()]))
    averages = {group: {name: means(each) for name, each in found.items()} for group, found in groups.items()}
    write_json(options, {"sites": per_site, "averages": averages})


def means(results: Iterable[Result]) -> list[float]:
    """Average figures from recall on."""
    return [float(value) for value in np.mean([result[4:] for result in results], axis=0)]


def measured(case: Case) -> dict[str, Result]:
    """Search from the key page of a case: both variants with each equality."""
    results = {
        f"{variant}, {equality}": found(case, variant, equality) for variant in VARIANTS for equality in EQUALITIES
    }
    everything = np.ones(case.key_page.n + case.key_page.m, bool)
    results["the key page alone"] = compared(case, everything, 0, 1, 0.0)
    return results


def found(case: Case, variant: str, equality: str) -> Result:
    """Find the template of a case; the key page alone is all template."""
    begin = time.process_time()
    search = Menus(variant, equality=equality).search(case.key_page, case.load, case.known)
    template = search.template() if search.found else np.ones(case.key_page.n + case.key_page.m, bool)
    return compared(case, template, len(search.found), search.loaded, time.process_time() - begin)


def compared(case: Case, template: NDArray[np.bool_], pages: int, loaded: int, seconds: float) -> Result:
    """Compare a template with the truth."""
    page, truth = case.key_page, case.truth
    one = np.ones(page.n + page.m, np.int64)
    known, wanted = truth.known, truth.template & truth.known
    both, mine, there = (int((units & known).sum()) for units in (template & wanted, template, wanted))
    return Result(
        linked=case.linked,
        nodes=int(known.sum()),
        template=there,
        retrieved=mine,
        recall=both / max(1, there),
        precision=both / max(1, mine),
        f1=f1(template & known, wanted, one),
        strict=f1(template & (known | truth.own), wanted | truth.own, one),
        text=f1(template & known, wanted, letters(page)),
        pages=pages,
        loaded=loaded,
        seconds=seconds,
    )


@dataclass(frozen=True, eq=False)
class Case:
    """A key page, how to load the pages that it links to, and the truth.

    Attributes:
        name, genre, language: of the site.
        key_page: the page.
        load: loads the page at an address.
        known: keys of the pages that can be loaded; ``None`` for whatever :attr:`load` finds.
        linked: how many of these the key page links to.
        truth: what is template.
    """

    name: str
    genre: str
    language: str
    key_page: Page
    load: Callable[[str], Page | None]
    known: Container[str] | None
    linked: int
    truth: HandTruth

    @property
    def tuned_on(self) -> bool:
        """Whether the variant's values were chosen on this site: half of the families of sites."""
        return int(sha256(family(self.name).encode()).hexdigest(), 16) % 2 == 0


def family(site: str) -> str:
    """Sites of one owner, which may share a template, by the name of the folder: all of them are in one half."""
    if site.startswith("uci"):
        return "uci.edu"
    return f"deb:{site.split('-', maxsplit=1)[0]}" if site.startswith("deb_") else site.split("__", maxsplit=1)[0]


def marked_cases(folders: Sequence[Path]) -> Iterator[Case]:
    """The key pages with a truth by hand, of those sites that one of the folders has."""
    for of, pages, read, truth in marked_sites(folders):
        numbers = {page_key(url): number for number, url in reversed(list(enumerate(pages.urls)))}

        @cache
        def load(address: str, pages: SitePages = pages, numbers: dict[str, int] = numbers) -> Page | None:
            try:
                return pages.read(numbers[page_key(address)]).page
            except (OSError, PageTooLarge):
                return None

        linked = sum(key in numbers for key in site_links(read.page))
        yield Case(of.site, of.genre, of.language, read.page, load, numbers, linked, truth)


def demo_cases() -> Iterator[Case]:
    """The hosts of the demo web: template is its text, and the elements that hold any."""
    for name in BUILDERS:
        site = build_site(name)
        base = f"https://{name}.example"

        @cache
        def load(address: str, site=site, base: str = base) -> Page | None:  # type: ignore[no-untyped-def]
            resource = site.resources.get(address.removeprefix(base))
            if resource is None or not resource.is_page:
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
        begin = np.concatenate([page.run_begin, page.block_run_begin])
        end = np.concatenate([page.run_end, page.block_run_end])
        truth = HandTruth(_any(known, begin, end), _any(template, begin, end), np.zeros(page.n + page.m, bool))
        yield Case(f"demo, {name}", name, "en", page, load, None, len(site_links(page)), truth)


def _any(runs: NDArray[np.bool_], begin: NDArray[np.int32], end: NDArray[np.int32]) -> NDArray[np.bool_]:
    totals = prefix_sums(runs)
    held: NDArray[np.bool_] = totals[end] > totals[begin]
    return held


if __name__ == "__main__":
    main()
