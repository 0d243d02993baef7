"""How many sites a self-taught model needs: word F1 on gold pages against the number of training sites.

    python -m benchmarks.accuracy.learning_curve SITES_DIR GOLD PAGES_DIR [--numbers 10 20 40 80] [--sample 400]

The package's own kind of model is trained on site-level labels of so many sites, picked at random, the smaller
selections parts of the larger ones, and of all of them; no gold text is used in training. Every model then cleans the
gold pages, with smoothing. `--plot` draws the curve.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.accuracy.site_examples import add_site_arguments, site_examples
from benchmarks.shared.common import add_gold_arguments, gold_pages, parser_of, say, shown, table, write_json
from benchmarks.shared.plots import Panel, add_plot_argument, draw
from winnow import clean
from winnow.training.evaluation import by_page_type, page_accuracy
from winnow.training.networks import train_block_model

if TYPE_CHECKING:
    from winnow.training.evaluation import Accuracy

NUMBERS: Final = (10, 20, 40, 80)


def main() -> None:
    """Train on more and more sites, clean the gold pages with each model, and print the table."""
    parser = parser_of(__doc__ or "")
    add_site_arguments(parser)
    add_gold_arguments(parser)
    parser.add_argument("--numbers", type=int, nargs="+", default=NUMBERS, metavar="N", help="of sites, besides all")
    add_plot_argument(parser)
    options = parser.parse_args()
    gold = gold_pages(options)
    sites = site_examples(options)
    order = np.random.default_rng(options.seed).permutation(sorted(sites)).tolist()

    results: dict[int, dict[str, Accuracy]] = {}
    for number in sorted({*(number for number in options.numbers if 0 < number < len(order)), len(order)}):
        pages = [page for site in order[:number] for page in sites[site]]
        model = train_block_model([], pages, seed=options.seed, on_step=partial(_announce, number))
        results[number] = by_page_type(
            (page, page_accuracy(clean(html, page.url, model=model).text, page)) for page, html in shown(gold, "pages")
        )
        say(f"{number} sites: F1 {results[number]['all'].f1:.3f}")
    kinds = list(results[len(order)])
    rows = [[number, *(row[kind].f1 for kind in kinds)] for number, row in results.items()]
    print(table(["sites", *kinds], rows))
    write_json(options, {str(number): {kind: row[kind].f1 for kind in kinds} for number, row in results.items()})
    if options.plot:
        lines = {kind: [(number, row[kind].f1) for number, row in results.items()] for kind in kinds}
        draw(options.plot, [Panel("training sites", "word F1", lines, {}, log_x=True, at=tuple(results))])


def _announce(number: int, step: str) -> None:
    say(f"{number} sites: {step}")


if __name__ == "__main__":
    main()
