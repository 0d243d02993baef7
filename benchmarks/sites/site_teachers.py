"""What site-level methods teach: page-level models that learned from each one's labels, on gold pages.

    python -m benchmarks.sites.site_teachers SITES_DIR GOLD PAGES_DIR

A page-level model is trained by each method's labels on up to --taught-sites sites, ten pages of each, of which forty
are counted, and cleans gold pages. Intervals are of 95%, over domains; the last column is the difference from the first
of the methods.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scrapy_tamis.commands.common import with_progress
from tamis import clean
from tamis_papers.evaluation import by_page_type, page_accuracy, read_gold
from tamis_papers.experiments.harness import Estimate, estimate, exit_on_bad_input, parser_of, say, table, write_json
from tamis_papers.methods import METHODS
from tamis_papers.pages import find_sites, spread
from tamis_papers.training.examples import label_pages, label_site
from tamis_papers.training.gold import source_of
from tamis_papers.training.networks import DROPOUT_WITHOUT_GOLD, fit_block_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis_papers.evaluation import Accuracy, GoldPage
    from tamis_papers.training.examples import BlockPage

COUNTED, TAUGHT = 40, 10
"""Pages of a site that a method counts, and those that a model learns from."""

SEED = 1


def main() -> None:
    """Train a model by each method's labels, clean the gold pages with it, and print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", type=Path, metavar="SITES_DIR", help="folder with one folder a site")
    parser.add_argument("gold", type=Path, metavar="GOLD", help="gold pages, .jsonl or .jsonl.xz")
    parser.add_argument("pages", type=Path, metavar="PAGES_DIR", help="folder with their HTML, <id>.html")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--taught-sites", type=int, default=60, metavar="N", help="sites (default: %(default)s)")
    options = parser.parse_args()
    with exit_on_bad_input():
        sites = find_sites(options.sites)
        pages = read_gold(options.gold)
        gold = [(page, (options.pages / f"{page.page_id}.html").read_bytes()) for page in pages]
    chosen = np.random.default_rng(SEED).permutation(len(sites))[: options.taught_sites]
    some = [sites[number].subset(spread(range(len(sites[number])), COUNTED)) for number in sorted(chosen)]
    rows: dict[str, dict[str, Any]] = {}
    domains = [source_of(page) for page in pages]
    first = None
    for name in options.methods:
        say(f"{name}: labels of {len(some)} sites")
        label = partial(label_site, labels=name, pages_per_site=TAUGHT, seed=SEED)
        examples = label_pages(label, some)
        if not examples:
            say(f"{name}: no labels")
            continue
        labels = np.concatenate([page.label[page.labelled] for page in examples])
        accuracies = _accuracies(examples, gold)
        figures = by_page_type(zip(pages, accuracies, strict=True))
        say(f"{name}: F1 {figures['all'].f1:.3f}")
        f1 = np.array([accuracy.f1 for accuracy in accuracies])
        first = f1 if first is None else first
        rows[name] = {
            "blocks": len(labels),
            "template": float((labels == 0).mean()),
            **{kind: row.f1 for kind, row in figures.items()},
            "F1": _mean_by_domain(f1, domains),
            "less the first": _mean_by_domain(f1 - first, domains),
        }
    print(table(["labels by", *next(iter(rows.values()), {})], [[name, *row.values()] for name, row in rows.items()]))
    write_json(options, rows)


def _accuracies(examples: list[BlockPage], gold: list[tuple[GoldPage, bytes]]) -> list[Accuracy]:
    """Train a model by labelled pages, and measure it on gold pages."""
    model = fit_block_model([], examples, seed=SEED, dropout=DROPOUT_WITHOUT_GOLD)
    return [
        page_accuracy(clean(html, page.url, model=model).text, page) for page, html in with_progress(gold, "gold pages")
    ]


def _mean_by_domain(values: NDArray[np.float64], domains: list[str]) -> Estimate:
    """Estimate the mean of pages, with an interval over their domains."""
    _, domain = np.unique(domains, return_inverse=True)
    return estimate(zip(np.bincount(domain, values).tolist(), np.bincount(domain).tolist(), strict=True))


if __name__ == "__main__":
    main()
