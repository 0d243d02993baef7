"""How much of the template is found, in text, anchor text and links, with and without smoothing (the paper's Table 1).

    python -m benchmarks.accuracy.template_measures GOLD PAGES_DIR [--model NAME|FILE]

Blocks are template where the gold text does not have them. Precision and recall of template are weighed by the words of
text, the words inside links, and the number of links in each block; the f-measures are those over the whole collection,
as in Table 1 of Chakrabarti, Kumar and Punera (WWW 2007), whose labels were drawn by hand on other pages.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.accuracy.gold_labels import labelled_pages
from benchmarks.shared.common import Models, add_gold_arguments, add_model_argument, parser_of, table, write_json
from winnow.page.tags import TAG_ID
from winnow.page.tree import prefix_sums, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow import Page

MASSES: Final = ("text", "anchor text", "links")


def main() -> None:
    """Score every page with and without smoothing and print a row per page type."""
    parser = parser_of(__doc__)
    add_gold_arguments(parser)
    add_model_argument(parser)
    options = parser.parse_args()
    models = Models(options.model)
    # by page type and method: true positives, predicted and actual template, in each of the three masses
    sums: dict[str, dict[str, NDArray[np.float64]]] = defaultdict(lambda: defaultdict(lambda: np.zeros((3, 3))))
    pages: dict[str, int] = defaultdict(int)
    for labelled in labelled_pages(options, models):
        masses = block_masses(labelled.page)
        kinds = ("all", labelled.gold.page_type)
        for method, factor in (("basic", None), ("smooth", 1.0)):
            cut = labelled.cut(labelled.smoothed(factor))
            found = np.stack([masses @ (cut & labelled.template), masses @ cut, masses @ labelled.template])
            for kind in kinds:
                sums[kind][method] += found
        for kind in kinds:
            pages[kind] += 1
    figures = {
        kind: {method: dict(zip(MASSES, f_measures(found), strict=True)) for method, found in methods.items()}
        for kind, methods in sorted(sums.items(), key=lambda item: (item[0] != "all", item[0]))
    }
    headings = [
        "template f-measure",
        "pages",
        *(f"{mass}, {method}" for mass in MASSES for method in ("basic", "smooth")),
    ]
    rows = [
        [kind, pages[kind], *(methods[method][mass] for mass in MASSES for method in ("basic", "smooth"))]
        for kind, methods in figures.items()
    ]
    print(table(headings, rows))
    write_json(options, {"model": models.label, **figures})


def block_masses(page: Page) -> NDArray[np.float64]:
    """float64[3, m]: words of each block, words in links, and links that begin in it."""
    links = page.tag == TAG_ID["a"]
    words = np.fromiter((len(run.split()) for run in page.runs), np.int64, len(page.runs))
    linked = within(page, links)[page.run_node]
    starts = np.zeros(len(page.runs) + 1, np.int64)
    np.add.at(starts, page.run_begin[links & (page.run_end > page.run_begin)], 1)
    rows = [prefix_sums(values) for values in (words, words * linked, starts[:-1])]
    return np.array([sums[page.block_run_end] - sums[page.block_run_begin] for sums in rows], np.float64)


def f_measures(found: NDArray[np.float64]) -> list[float]:
    """F-measure of each mass from true positives, predicted and actual."""
    return [float(2 * both / max(predicted + actual, 1)) for both, predicted, actual in found.T]


if __name__ == "__main__":
    main()
