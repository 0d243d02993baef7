"""Text accuracy on collections that were left out of the training, beside other extractors.

    python -m benchmarks.accuracy.train_weights DATA --folds FOLDS
    python -m benchmarks.accuracy.transfer FOLDS GOLD [GOLD ...] [--sites SITES] [--unit char] [--no-peers] [--rules]
                                           [--curve FILE]

FOLDS has a model without each fold of the sources, as `train_weights` writes them: each page is cleaned by the
one that has seen neither its site nor, where a gold file has several collections, any page of its collection. Pages of
sources that no fold has are cleaned by the first model, and must be of sources that taught none. Precision, recall and
F1 are those of the words of the text, mean over pages; rows that say no other have the default options. The curve draws
precision over recall of what `favor` may be, and of thresholds between and beyond.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.shared.common import models_of_folds, rules_in_turn, svg_figure
from benchmarks.shared.peers import peers
from scrapy_tamis.commands.common import with_progress
from tamis import clean
from tamis.models import ModelError
from tamis.models.decision import BETAS, FAVORS, SHIFTS
from tamis_papers.evaluation import mean_accuracy, page_accuracy
from tamis_papers.experiments.harness import parser_of, table, write_json
from tamis_papers.training.gold import gold_examples

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from tamis.models import Model
    from tamis.models.decision import Favor
    from tamis_papers.evaluation import Accuracy
    from tamis_papers.training.gold import GoldExample

    Extractor = Callable[[bytes, GoldExample], str]

_ON_CURVE: Final = {f"on the curve, {strength}": strength for strength in np.linspace(-3, 3, 9).tolist()}
"""Points of the curve: -1 is what `favor="precision"` does, 0 `"balanced"` and 1 `"recall"`."""


def main() -> None:
    """Clean every page with every extractor and print a table for each collection."""
    parser = parser_of(__doc__)
    parser.add_argument("folds", type=Path, metavar="FOLDS", help="folder with the models and folds.json")
    parser.add_argument("gold", type=Path, nargs="+", metavar="GOLD", help="gold pages; HTML in html/ beside them")
    parser.add_argument("--sites", type=Path, metavar="SITES", help="folder of sites, for gold of their pages")
    parser.add_argument("--unit", choices=("word", "char"), default="word", help="char where words have no spaces")
    parser.add_argument("--rules", action="store_true", help="also without each rule of the decision")
    parser.add_argument("--curve", type=Path, metavar="FILE", help="draw precision over recall there, as SVG")
    parser.add_argument("--no-peers", action="store_true", help="Tamis alone")
    options = parser.parse_args()
    try:
        model_of = models_of_folds(options.folds)
    except (OSError, ModelError) as error:
        sys.exit(str(error))

    extractors = _extractors(model_of, options)
    examples = gold_examples(options.gold, options.sites)
    results: dict[str, dict[str, list[Accuracy]]] = defaultdict(lambda: defaultdict(list))
    for example in with_progress(examples, "pages"):
        html = example.file.read_bytes()
        for name, extract in extractors.items():
            for without in rules_in_turn(options.rules and name == "tamis"):
                accuracy = page_accuracy(extract(html, example), example.gold, options.unit)
                for group in _groups(example):
                    results[group][name + without].append(accuracy)
    figures = {}
    for group, accuracies in sorted(results.items()):
        means = {name: mean_accuracy(own) for name, own in accuracies.items()}
        figures[group] = {name: (mean.precision, mean.recall, mean.f1) for name, mean in means.items()}
        print(f"\n{group}, {means['tamis'].pages} pages\n")
        rows = [[name, *row] for name, row in figures[group].items() if name not in _ON_CURVE]
        print(table(["", "precision", "recall", "F1"], rows))
    write_json(options, figures)
    if options.curve:
        _draw(options.curve, {name: own for name, own in figures.items() if len(results[name]["tamis"]) >= 50})


def _extractors(model_of: Callable[[str], Model], options: Namespace) -> dict[str, Extractor]:
    """Tamis by what is favoured, points of its curve, and the other extractors, by name."""

    def tamis(html: bytes, example: GoldExample, favor: Favor) -> str:
        return clean(html, example.gold.url, model=model_of(example.source), favor=favor).text

    def on_curve(html: bytes, example: GoldExample, strength: float) -> str:
        before = BETAS["balanced"], SHIFTS["balanced"]
        BETAS["balanced"], SHIFTS["balanced"] = 2.0**strength, strength * SHIFTS["recall"]
        try:
            return tamis(html, example, "balanced")
        finally:
            BETAS["balanced"], SHIFTS["balanced"] = before

    def by(extract: Callable[[bytes], str], html: bytes, _: GoldExample) -> str:
        return extract(html)

    found: dict[str, Extractor] = {
        "tamis" if favor == "balanced" else f"tamis, {favor}": partial(tamis, favor=favor) for favor in FAVORS
    }
    if options.curve:
        found |= {name: partial(on_curve, strength=strength) for name, strength in _ON_CURVE.items()}
    if not options.no_peers:
        found |= {name: partial(by, extract) for name, extract in peers(modes=True).items()}
    return found


def _draw(file: Path, figures: dict[str, dict[str, Any]]) -> None:
    """Draw precision over recall: Tamis's thresholds as a line, the values of `favor` and other extractors as dots."""
    collections = [name for name in figures if ": " not in name]
    columns = 3
    rows = -(-len(collections) // columns)
    with svg_figure(file, 3.1 * columns, 2.9 * rows) as figure:
        panels = figure.subplots(rows, columns, squeeze=False).flat
        for name, axes in zip(collections, panels, strict=False):
            drawn = [figures[name][point][:2] for point in _ON_CURVE]
            axes.plot([recall for _, recall in drawn], [precision for precision, _ in drawn], "k-", linewidth=1.4)
            for extractor, (precision, recall, _) in figures[name].items():
                if extractor.startswith("tamis"):
                    axes.plot(recall, precision, "ko", markersize=5)
                elif extractor not in _ON_CURVE:
                    axes.plot(recall, precision, "o", markersize=5, label=extractor)
            axes.set(title=name, xlabel="recall", ylabel="precision")
        for axes in panels:
            axes.axis("off")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)


def _groups(example: GoldExample) -> list[str]:
    name = example.gold.source or Path(example.collection).parent.name
    return [name, *([f"{name}: {example.gold.page_type}"] if example.gold.page_type != "untyped" else [])]


if __name__ == "__main__":
    main()
