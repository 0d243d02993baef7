"""Text accuracy by page type: Winnow's models next to other extractors, on gold main content.

    python -m benchmarks.accuracy.extraction GOLD PAGES_DIR [--model NAME|FILE ...] [--no-smooth] [--no-peers]

The figure is the word F1 of the WCXB benchmark: lower-cased words as multisets, averaged over pages. Every extractor
gets the HTML and its own default options; milliseconds are processor time, the parse included.

A model that has been trained on gold pages must be measured on others. `--model 'without-{fold}.npz'` takes for each
page the model with the page's fold in its name, the one that was trained without that fold.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING

from benchmarks.shared.common import Models, add_gold_arguments, gold_pages, parser_of, say, shown, table, write_json
from benchmarks.shared.peers import peers
from winnow import Page, clean
from winnow.output.text import block_texts
from winnow.page.page import PageTooLarge
from winnow.training.evaluation import by_page_type, page_accuracy

if TYPE_CHECKING:
    from collections.abc import Callable

    from winnow.training.evaluation import Accuracy, GoldPage


def main() -> None:
    """Clean every page with every extractor and print the table."""
    parser = parser_of(__doc__)
    add_gold_arguments(parser)
    parser.add_argument("--model", nargs="+", default=[None], metavar="MODEL", help="models (default: the package's)")
    parser.add_argument("--no-smooth", action="store_true", help="also every model without smoothing")
    parser.add_argument("--no-peers", action="store_true", help="Winnow alone")
    parser.add_argument("--unit", choices=("word", "char"), default="word", help="char where words have no spaces")
    options = parser.parse_args()

    extractors: dict[str, Callable[[bytes, GoldPage], str]] = {}
    for name in options.model:
        models = Models(name)
        extractors[f"winnow {models.label}"] = partial(_winnow, models=models, smooth=True)
        if options.no_smooth:
            extractors[f"winnow {models.label}, basic"] = partial(_winnow, models=models, smooth=False)
    if not options.no_peers:
        extractors |= {name: _without_gold(extract) for name, extract in peers().items()}
        extractors["all text"] = _all_text

    accuracies: dict[str, list[tuple[GoldPage, Accuracy]]] = defaultdict(list)
    seconds: dict[str, float] = defaultdict(float)
    pages = gold_pages(options)
    for gold, html in shown(pages, "pages"):
        for name, extract in extractors.items():
            start = thread_time()
            text = extract(html, gold)
            seconds[name] += thread_time() - start
            accuracies[name].append((gold, page_accuracy(text, gold, options.unit)))
    figures = {name: by_page_type(results) for name, results in accuracies.items()}
    kinds = list(next(iter(figures.values())))
    rows = [
        [name, *(row[kind].f1 for kind in kinds), row["all"].precision, row["all"].recall,
         f"{seconds[name] / len(pages) * 1000:.1f}"]
        for name, row in figures.items()
    ]  # fmt: skip
    print(table(["F1", *kinds, "precision", "recall", "ms, mean"], rows))
    counts = next(iter(figures.values()))
    say("pages: " + ", ".join(f"{kind} {counts[kind].pages}" for kind in kinds))
    write_json(options, {name: {kind: asdict(row[kind]) for kind in kinds} for name, row in figures.items()})


def _winnow(html: bytes, gold: GoldPage, *, models: Models, smooth: bool) -> str:
    return clean(html, gold.url, model=models.of(gold), smooth=smooth).text


def _without_gold(extract: Callable[[bytes], str]) -> Callable[[bytes, GoldPage], str]:
    return lambda html, _gold: extract(html)


def _all_text(html: bytes, _gold: GoldPage) -> str:
    try:
        return "\n".join(block_texts(Page.parse(html)))
    except PageTooLarge:
        return ""


if __name__ == "__main__":
    main()
