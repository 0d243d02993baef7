"""What smoothing does to text and to segmentation, and how the penalty matters (Figures 1 to 3 of the paper).

    python -m benchmarks.accuracy.smoothing GOLD PAGES_DIR [--model NAME|FILE] [--factors F ...] [--plot FILE]

Three tables:

1. Word F1 of the text, Basic (no smoothing) against Smooth, by page type.
2. Adjusted Rand index between the segments found and those of the gold text, by page type (Figure 1). In Basic every
   unit that is scored is a segment; Basic+Merge puts neighbouring blocks together whose scores differ by less than
   delta, with the delta that is best for these pages; in Smooth the sections of the smoother are the segments. The gold
   text of a page is one segment, and so is every largest subtree without any of it. Pages of one segment are left out.
3. A factor on the penalty against word F1, template f-measure by words, and Rand index (Figures 2 and 3). `--plot`
   draws it.

Chakrabarti, Kumar and Punera: Page-level Template Detection via Isotonic Smoothing (WWW 2007), section 6.1.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.accuracy.gold_labels import labelled_pages
from benchmarks.accuracy.template_measures import block_masses
from benchmarks.shared.common import Models, add_gold_arguments, add_model_argument, parser_of, table, write_json
from benchmarks.shared.plots import Panel, add_plot_argument, draw
from winnow.output.text import join_blocks
from winnow.training.evaluation import page_accuracy

if TYPE_CHECKING:
    from benchmarks.accuracy.gold_labels import LabelledPage

DELTAS: Final = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)
FACTORS: Final = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)

Sums = dict[str, list[float]]


def main() -> None:
    """Measure every page with every setting and print the three tables."""
    parser = parser_of(__doc__)
    add_gold_arguments(parser)
    add_model_argument(parser)
    parser.add_argument("--factors", type=float, nargs="+", default=FACTORS, metavar="X", help="on the penalty")
    add_plot_argument(parser)
    options = parser.parse_args()
    models = Models(options.model)
    factors = sorted({*options.factors, 1.0})

    f1: dict[str, Sums] = defaultdict(lambda: defaultdict(list))
    rand: dict[str, Sums] = defaultdict(lambda: defaultdict(list))
    template: dict[float | None, list[float]] = {factor: [0.0, 0.0] for factor in (None, *factors)}
    for labelled in labelled_pages(options, models):
        words = block_masses(labelled.page)[0]
        gold_segments = labelled.gold_segments()
        several = len(np.unique(gold_segments)) > 1
        for factor in (None, *factors):
            smoothed = labelled.smoothed(factor)
            cut = labelled.cut(smoothed)
            text = join_blocks(labelled.page, labelled.texts, ~cut)
            both, sizes = words @ (cut & labelled.template), words @ cut + words @ labelled.template
            template[factor][0] += 2 * both
            template[factor][1] += sizes
            name = _name(factor)
            for kind in ("all", labelled.gold.page_type):
                f1[kind][name].append(page_accuracy(text, labelled.gold).f1)
            if several:
                found = smoothed.section[labelled.page.n :]
                _add(rand, labelled, name, adjusted_rand_score(gold_segments, found))
        if several:
            scores = labelled.smoothed(None).value[labelled.page.n :]
            for delta in DELTAS:
                merged = np.cumsum(np.abs(np.diff(scores, prepend=scores[:1])) >= delta)
                _add(rand, labelled, f"merge {delta}", adjusted_rand_score(gold_segments, merged))
    figures = _figures(f1, rand, template)
    _print(figures, factors)
    write_json(options, {"model": models.label, **figures})
    if options.plot:
        draw(options.plot, _panels(figures, factors))


def _name(factor: float | None) -> str:
    return "basic" if factor is None else f"smooth {factor:g}"


def _add(rand: dict[str, Sums], labelled: LabelledPage, name: str, value: float) -> None:
    for kind in ("all", labelled.gold.page_type):
        rand[kind][name].append(value)


def _figures(f1: dict[str, Sums], rand: dict[str, Sums], template: dict[float | None, list[float]]) -> dict[str, Any]:
    """Means over pages, by page type and setting."""

    def means(sums: dict[str, Sums]) -> dict[str, dict[str, float]]:
        return {
            kind: {name: float(np.mean(values)) for name, values in rows.items()}
            for kind, rows in sorted(sums.items(), key=lambda item: (item[0] != "all", item[0]))
        }

    rows = means(rand)
    best = max((name for name in rows["all"] if name.startswith("merge")), key=rows["all"].__getitem__)
    return {
        "text_f1": means(f1),
        "adjusted_rand_index": rows,
        "best_merge": best,
        "template_f": {_name(factor): both / max(sizes, 1.0) for factor, (both, sizes) in template.items()},
        "pages": {kind: len(values["basic"]) for kind, values in f1.items()},
    }


def _print(figures: dict[str, Any], factors: list[float]) -> None:
    f1, rand, best = figures["text_f1"], figures["adjusted_rand_index"], figures["best_merge"]
    rows = [
        [kind, figures["pages"][kind], row["basic"], row["smooth 1"], f"{row['smooth 1'] - row['basic']:+.3f}"]
        for kind, row in f1.items()
    ]
    print(table(["word F1 of the text", "pages", "Basic", "Smooth", "difference"], rows))
    print()
    delta = best.removeprefix("merge ")
    rows = [[kind, row["basic"], row[best], row["smooth 1"]] for kind, row in rand.items()]
    print(table(["adjusted Rand index", "Basic", f"Basic+Merge ({delta})", "Smooth"], rows))
    print()
    rows = [
        [f"{factor:g}", f1["all"][name], figures["template_f"][name], rand["all"][name]]
        for factor in factors
        for name in (_name(factor),)
    ]
    print(table(["factor on the penalty", "word F1", "template f-measure", "adjusted Rand index"], rows))


def _panels(figures: dict[str, Any], factors: list[float]) -> list[Panel]:
    """Figure 2, f-measure, and Figure 3, adjusted Rand index, by the factor on the penalty."""
    f1, template, rand = figures["text_f1"]["all"], figures["template_f"], figures["adjusted_rand_index"]["all"]

    def smoothed(values: dict[str, float]) -> list[tuple[float, float]]:
        return [(factor, values[_name(factor)]) for factor in factors]

    label = "factor on the penalty"
    delta = figures["best_merge"].removeprefix("merge ")
    return [
        Panel(
            label,
            "f-measure",
            {"text, Smooth": smoothed(f1), "template, Smooth": smoothed(template)},
            {"text, Basic": f1["basic"], "template, Basic": template["basic"]},
            log_x=True,
        ),
        Panel(
            label,
            "adjusted Rand index",
            {"Smooth": smoothed(rand)},
            {f"Basic+Merge ({delta})": rand[figures["best_merge"]], "Basic": rand["basic"]},
            log_x=True,
        ),
    ]


if __name__ == "__main__":
    main()
