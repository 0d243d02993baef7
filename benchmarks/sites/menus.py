"""Templates by menus: recall, precision and F1 of nodes by site, variant and equality, and by the size asked for.

Tables 1 and 2 of Alarte, Insa, Silva and Tamarit (2014), in kind, on key pages whose template a reader has marked
(``benchmarks/sites/truth``): nodes are elements and blocks of text. Links to pages that are not among those of the
site's folder are left alone, since it has a sample of the site. Averages are over sites with at least three linked
pages, those that the variant "agreeing" was tuned on apart from the others. "Strict" counts own navigation
(breadcrumbs, related pages, pagers) as template, too; otherwise it does not count. On the demo web, whose front pages
are key pages, the truth is exact.

The paper's sizes count the key page: its size 1 is our row 0, the key page alone, where the whole page is the template.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from benchmarks.shared.common import parser_of, say, table, write_json
from benchmarks.sites.menu_cases import Case, demo_cases, marked_cases
from winnow.papers.menu_mapping import EQUALITIES, WEIGHTED, Equality
from winnow.papers.menu_search import AGREEING, PAPER, SIZE, VARIANTS, MenuSearch, search_menu

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

SIZES: Final = range(1, 9)
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
    """Search from the key page of a case: both variants with each equality, and with each size."""
    results = {
        f"{variant}, {equality}": found(case, variant, equality, SIZE)
        for variant in VARIANTS
        for equality in EQUALITIES
    }
    everything = np.ones(case.key_page.n + case.key_page.m, bool)
    results["size 0"] = compared(case, everything, 0, 1, 0.0)
    for variant in VARIANTS:
        results |= {f"{variant}, size {size}": found(case, variant, WEIGHTED, size) for size in SIZES}
    return results


def found(case: Case, variant: str, equality: str, size: int) -> Result:
    """Find the template of a case; the key page alone is all template."""
    begin = time.process_time()
    search = MenuSearch(case.key_page, size, known=case.known, variant=variant, equality=Equality(equality))
    search_menu(search, case.load)
    template = search.template() if search.found else np.ones(case.key_page.n + case.key_page.m, bool)
    return compared(case, template, len(search.found), search.loaded, time.process_time() - begin)


def compared(case: Case, template: NDArray[np.bool_], pages: int, loaded: int, seconds: float) -> Result:
    """Compare a template with the truth."""
    page, truth = case.key_page, case.truth
    letters = np.concatenate([np.zeros(page.n, np.int64), np.fromiter(map(len, page.block_texts()), np.int64, page.m)])
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
        text=f1(template & known, wanted, letters),
        pages=pages,
        loaded=loaded,
        seconds=seconds,
    )


def f1(found: NDArray[np.bool_], there: NDArray[np.bool_], weight: NDArray[np.int64]) -> float:
    """F1 of units with weights; 1 where there is nothing to find and nothing found."""
    total = int(weight[found].sum() + weight[there].sum())
    return 2 * int(weight[found & there].sum()) / total if total else 1.0


if __name__ == "__main__":
    main()
