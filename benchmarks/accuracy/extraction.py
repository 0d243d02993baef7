"""Text accuracy by page type: Winnow's models next to other extractors, on gold main content.

    python -m benchmarks.accuracy.extraction GOLD PAGES_DIR [--model NAME|FILE ...] [--models FOLDS] [--no-smooth]

The figure is the word F1 of the WCXB benchmark: lower-cased words as multisets, averaged over pages. Every extractor
gets the HTML and its own default options; milliseconds are processor time, the parse included.

A model that has been trained on gold pages must be measured on others. `--models FOLDS` takes for each page the model
that has not seen its source, of those that `winnow train --folds` writes.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING

from benchmarks.shared.common import add_gold_arguments, gold_pages, parser_of, say, shown, table, write_json
from benchmarks.shared.peers import peers
from winnow import Page, clean, load_model
from winnow.models import ModelError
from winnow.output.text import block_texts
from winnow.page.page import PageTooLarge
from winnow.training.evaluation import by_page_type, models_of_folds, page_accuracy
from winnow.training.gold import source_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from winnow.models.scores import Model
    from winnow.training.evaluation import Accuracy, GoldPage


def main() -> None:
    """Clean every page with every extractor and print the table."""
    parser = parser_of(__doc__)
    add_gold_arguments(parser)
    parser.add_argument("--model", nargs="+", default=[None], metavar="MODEL", help="models (default: the package's)")
    parser.add_argument("--models", type=Path, metavar="FOLDS", help="models by fold instead")
    parser.add_argument("--no-smooth", action="store_true", help="also every model without smoothing")
    parser.add_argument("--no-peers", action="store_true", help="Winnow alone")
    parser.add_argument("--unit", choices=("word", "char"), default="word", help="char where words have no spaces")
    options = parser.parse_args()

    extractors: dict[str, Callable[[bytes, GoldPage], str]] = {}
    for label, model_of in _models(options).items():
        extractors[f"winnow {label}"] = partial(_winnow, model_of=model_of, smooth=True)
        if options.no_smooth:
            extractors[f"winnow {label}, basic"] = partial(_winnow, model_of=model_of, smooth=False)
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


def _models(options: argparse.Namespace) -> dict[str, Callable[[str], Model]]:
    """Return what gives the model for a source, by a name for it."""
    try:
        if options.models:
            return {"by folds": models_of_folds(options.models)}
        models = {Path(name).stem if name else "": load_model(name) for name in options.model}
    except (OSError, ModelError) as error:
        sys.exit(str(error))
    return {label or model.name: lambda _, model=model: model for label, model in models.items()}


def _winnow(html: bytes, gold: GoldPage, *, model_of: Callable[[str], Model], smooth: bool) -> str:
    return clean(html, gold.url, model=model_of(source_of(gold)), smooth=smooth).text


def _without_gold(extract: Callable[[bytes], str]) -> Callable[[bytes, GoldPage], str]:
    return lambda html, _gold: extract(html)


def _all_text(html: bytes, _gold: GoldPage) -> str:
    try:
        return "\n".join(block_texts(Page.parse(html)))
    except PageTooLarge:
        return ""


if __name__ == "__main__":
    main()
