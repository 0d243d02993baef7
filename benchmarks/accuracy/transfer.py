"""Text accuracy on collections that were left out of the training, beside other extractors.

    winnow train SITES --gold GOLD ... -o MODEL --folds FOLDS
    python -m benchmarks.accuracy.transfer FOLDS GOLD [GOLD ...] [--sites SITES] [--unit char] [--no-peers]

FOLDS has a model without each fold of the sources, as `winnow train --folds` writes them: each page is cleaned by the
one that has seen neither its site nor, where a gold file has several collections, any page of its collection. Pages of
sources that no fold has are cleaned by the first model, and must be of sources that taught none. Precision, recall and
F1 are those of the words of the text, mean over pages; rows that say no other have the default options.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.shared.common import parser_of, shown, table, write_json
from benchmarks.shared.peers import peers, trafilatura_precision_text, trafilatura_recall_text
from winnow import clean
from winnow.models import ModelError
from winnow.models.scores import FAVORS, SCOPES
from winnow.training.evaluation import mean_accuracy, models_of_folds, page_accuracy
from winnow.training.gold import gold_examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from winnow.models.scores import Favor
    from winnow.training.evaluation import Accuracy
    from winnow.training.gold import GoldExample


def main() -> None:
    """Clean every page with every extractor and print a table for each collection."""
    parser = parser_of(__doc__)
    parser.add_argument("folds", type=Path, metavar="FOLDS", help="folder with the models and folds.json")
    parser.add_argument("gold", type=Path, nargs="+", metavar="GOLD", help="gold pages; HTML in html/ beside them")
    parser.add_argument("--sites", type=Path, metavar="SITES", help="folder of sites, for gold of their pages")
    parser.add_argument("--unit", choices=("word", "char"), default="word", help="char where words have no spaces")
    parser.add_argument("--scope", choices=SCOPES, default="auto", help="what is wanted (%(default)s)")
    parser.add_argument("--no-peers", action="store_true", help="Winnow alone")
    options = parser.parse_args()
    try:
        model_of = models_of_folds(options.folds)
    except (OSError, ModelError) as error:
        sys.exit(str(error))

    def winnow(html: bytes, example: GoldExample, favor: Favor) -> str:
        return clean(html, example.gold.url, model=model_of(example.source), scope=options.scope, favor=favor).text

    extractors: dict[str, Callable[[bytes, GoldExample], str]] = {
        "winnow" if favor == "balanced" else f"winnow, {favor}": partial(winnow, favor=favor) for favor in FAVORS
    }
    if not options.no_peers:
        others = peers()
        if "trafilatura" in others:
            others |= {
                "trafilatura, precision": trafilatura_precision_text,
                "trafilatura, recall": trafilatura_recall_text,
            }
        extractors |= {name: lambda html, _, extract=extract: extract(html) for name, extract in others.items()}
    examples = gold_examples(options.gold, options.sites)
    results: dict[str, dict[str, list[Accuracy]]] = defaultdict(lambda: defaultdict(list))
    for example in shown(examples, "pages"):
        html = example.file.read_bytes()
        for name, extract in extractors.items():
            accuracy = page_accuracy(extract(html, example), example.gold, options.unit)
            for group in _groups(example):
                results[group][name].append(accuracy)
    figures = {}
    for group, accuracies in sorted(results.items()):
        means = {name: mean_accuracy(own) for name, own in accuracies.items()}
        figures[group] = {name: (mean.precision, mean.recall, mean.f1) for name, mean in means.items()}
        print(f"\n{group}, {means['winnow'].pages} pages\n")
        print(table(["", "precision", "recall", "F1"], [[name, *row] for name, row in figures[group].items()]))
    write_json(options, figures)


def _groups(example: GoldExample) -> list[str]:
    name = example.gold.source or Path(example.collection).parent.name
    return [name, *([f"{name}: {example.gold.page_type}"] if example.gold.page_type != "untyped" else [])]


if __name__ == "__main__":
    main()
