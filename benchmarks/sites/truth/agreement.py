"""How well two readings of the same pages agree: Cohen's kappa of units, and F1 of the template, by page.

    python -m benchmarks.sites.truth.agreement SITES_DIR ...

Units that a reading leaves out of account count as a third kind for kappa; F1 is over those that both count.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.shared.common import parser_of, table, write_json
from benchmarks.sites.truth.hand_truth import FIRST, SECOND, MarkedPage, hand_truth, read_marks
from winnow.page.page import Page


def main() -> None:
    """Compare, and print a line for each page."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("sites", type=Path, nargs="+", metavar="SITES_DIR", help="folders with one folder a site")
    options = parser.parse_args()
    first = {marked.site: marked for marked in read_marks(FIRST)}
    rows = {}
    for again in read_marks(SECOND):
        folder = next(folder for folder in options.sites if (folder / again.site).is_dir())
        rows[again.site] = compared(first[again.site], again, (folder / again.site / again.page).read_bytes())
    means = np.mean(list(rows.values()), axis=0).tolist()
    print(table(["site", "kappa", "F1 of nodes", "F1 of characters"], [[k, *v] for k, v in rows.items()]))
    print(table(["", "kappa", "F1 of nodes", "F1 of characters"], [[f"mean of {len(rows)}", *means]]))
    write_json(options, rows)


def compared(one: MarkedPage, other: MarkedPage, html: bytes) -> list[float]:
    """Kappa, F1 of template units and F1 of the characters of template blocks, of two readings of a page."""
    page = Page.parse(html)
    first, second = hand_truth(page, html, one), hand_truth(page, html, other)
    kinds = [np.where(truth.known, truth.template.astype(int), 2) for truth in (first, second)]
    counts = np.zeros((3, 3))
    np.add.at(counts, tuple(kinds), 1)
    counts /= counts.sum()
    agreed, by_chance = np.trace(counts), counts.sum(axis=0) @ counts.sum(axis=1)
    kappa = (agreed - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0
    both = first.known & second.known
    characters = np.concatenate([np.zeros(page.n), np.fromiter(map(len, page.block_texts()), float, page.m)])
    return [float(kappa), *(_f1(first.template, second.template, both * weight) for weight in (1.0, characters))]


def _f1(one: np.ndarray, other: np.ndarray, weight: np.ndarray) -> float:
    total = float(weight[one].sum() + weight[other].sum())
    return 2 * float(weight[one & other].sum()) / total if total else 1.0


if __name__ == "__main__":
    main()
