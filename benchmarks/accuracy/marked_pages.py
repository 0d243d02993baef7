"""Text of single pages that a reader marked block by block, and lines that must be in the text of pages.

    python -m benchmarks.accuracy.marked_pages DATA [--models FOLDS] [--apart] [--peers]

With ``--models`` each page is cleaned by the model that has not seen its source. ``--apart`` measures the pages of
which nothing was trained or chosen, and no lines. Printed are precision, recall and F1 of words, which blocks that may
be either are held against nobody, and holes as `whole_sites` counts them; then of the lines of each field the mean
fraction that is in the text, the pages that lose half of them, and their mean confidence.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.accuracy.whole_sites import holes_of, scores_of, words_by_mark
from benchmarks.shared.common import models_of_folds
from benchmarks.shared.facts import FactExample, fact_examples
from benchmarks.shared.peers import peers
from tamis import Page, clean
from tamis_papers.experiments.harness import parser_of, table
from tamis_papers.marks import CONTENT, MarkedExample, marked_page_examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.shared.peers import Extractor
    from tamis.models import Model

_GOLD: Final = Path("benchmarks/gold")


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder with the collections")
    parser.add_argument("--models", type=Path, metavar="FOLDS", help="models as `train_weights` writes them")
    parser.add_argument("--apart", action="store_true", help="the pages that nothing was trained or chosen on")
    parser.add_argument("--peers", action="store_true", help="other extractors beside it, as far as they are installed")
    options = parser.parse_args()
    model_of = models_of_folds(options.models)
    others = peers() if options.peers else {}
    marks = _GOLD / ("pages-apart.jsonl" if options.apart else "pages.jsonl")
    _measure_marked(marked_page_examples(options.data, marks), model_of, others)
    if not options.apart:
        _measure_lines(fact_examples(options.data / "facts"), model_of, others)


def _measure_marked(
    examples: list[MarkedExample], model_of: Callable[[str], Model], others: dict[str, Extractor]
) -> None:
    scores: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    holes: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for example in examples:
        html = example.file.read_bytes()
        page = Page.parse(html, example.gold.url)
        letters = example.marks.of_blocks(page.block_texts())
        words = words_by_mark(page, letters)
        if words[CONTENT].total() < 4:
            continue
        for name, smooth in (("tamis", True), ("tamis, not smoothed", False)):
            cleaned = clean(page, model=model_of(example.source), smooth=smooth)
            for kind in ("all", example.marks.kind, f"from {example.marks.collection}"):
                scores[kind, name].append(scores_of(cleaned.text, words))
            cut, kept = holes_of(cleaned, np.array([letter == CONTENT for letter in letters]))
            holes[name] = [holes[name][0] + cut, holes[name][1] + kept]
        for name, extract in others.items():
            text = extract(html)
            for kind in ("all", example.marks.kind, f"from {example.marks.collection}"):
                scores[kind, name].append(scores_of(text, words))
    rows = [
        [kind, name, len(of), *map(fmean, zip(*of, strict=True))]
        for (kind, name), of in sorted(scores.items(), key=lambda item: item[0][0] != "all")
    ]
    print(table(["pages", "", "number", "precision", "recall", "F1"], rows))
    for name, (cut, kept) in holes.items():
        print(f"holes, {name}: {1000 * cut / max(kept, 1):.1f} a thousand blocks kept")


def _measure_lines(examples: list[FactExample], model_of: Callable[[str], Model], others: dict[str, Extractor]) -> None:
    found: dict[tuple[str, str], list[tuple[float, float | None]]] = defaultdict(list)
    lengths: dict[str, list[int]] = defaultdict(list)
    for example in examples:
        html = example.file.read_bytes()
        cleaned = clean(html, example.gold.url, model=model_of(example.source))
        texts: dict[str, tuple[str, float | None]] = {"tamis": (cleaned.text, cleaned.confidence)}
        texts |= {name: (extract(html), None) for name, extract in others.items()}
        for name, (text, confidence) in texts.items():
            lengths[name].append(len(text.split()))
            for field, fraction in example.fractions(text).items():
                found[name, field].append((fraction, confidence))
    rows = []
    for (name, field), of in sorted(found.items()):
        low = [confidence for fraction, confidence in of if fraction < 0.5]
        known = [confidence for confidence in low if confidence is not None]
        mean = fmean(fraction for fraction, _ in of)
        rows.append([name, field, len(of), mean, len(low), fmean(known) if known else None])
    print(table(["", "field", "pages", "of lines", "lose half", "confidence of these"], rows))
    print(table(["", "words a text"], [[name, round(fmean(of))] for name, of in lengths.items()]))


if __name__ == "__main__":
    main()
