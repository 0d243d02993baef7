"""What site-level methods teach: page-level models that learned from each one's labels, on gold pages."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.shared.common import say, shown, spread, table
from benchmarks.shared.intervals import mean_interval
from winnow import clean
from winnow.training.evaluation import by_page_type, page_accuracy, read_gold
from winnow.training.examples import label_sites
from winnow.training.gold import source_of
from winnow.training.networks import train_block_model
from winnow.training.sites import find_sites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def add_teaching_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how much is taught and how much is measured on."""
    group = parser.add_argument_group("with --teach")
    group.add_argument("--taught-sites", type=int, default=60, metavar="N", help="sites (default: %(default)s)")
    group.add_argument(
        "--counted", type=int, default=40, metavar="N", help="pages of each counted (default: %(default)s)"
    )
    group.add_argument("--taught-pages", type=int, default=10, metavar="N", help="learned from (default: %(default)s)")
    group.add_argument("--sample", type=int, default=500, metavar="N", help="gold pages cleaned (default: %(default)s)")


def taught(options: argparse.Namespace, methods: Sequence[str]) -> dict[str, Any]:
    """Train a model by each method's labels, clean the gold pages with it, and print the table.

    Intervals are of 95%, by domains; the last is of the difference from the first of the methods.
    """
    folder, gold, html = options.teach
    try:
        sites = find_sites(folder)
        pages = spread(read_gold(gold), options.sample)
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    chosen = np.random.default_rng(options.seed).permutation(len(sites))[: options.taught_sites]
    some = [
        replace(sites[number], files=tuple(spread(sites[number].files, options.counted))) for number in sorted(chosen)
    ]
    rows: dict[str, dict[str, Any]] = {}
    domains = [source_of(page) for page in pages]
    first = None
    for name in methods:
        say(f"{name}: labels of {len(some)} sites")
        examples = label_sites(some, labels=name, pages_per_site=options.taught_pages, seed=options.seed)
        if not examples:
            say(f"{name}: no labels")
            continue
        begins = partial(_announce, name)
        model = train_block_model([], examples, seed=options.seed, on_step=begins)
        labels = np.concatenate([page.content[page.labelled] for page in examples])
        accuracies = [
            page_accuracy(clean((html / f"{page.page_id}.html").read_bytes(), page.url, model=model).text, page)
            for page in shown(pages, "gold pages")
        ]
        figures = by_page_type(zip(pages, accuracies, strict=True))
        say(f"{name}: F1 {figures['all'].f1:.3f}")
        f1 = np.array([accuracy.f1 for accuracy in accuracies])
        first = f1 if first is None else first
        rows[name] = {
            "blocks": len(labels),
            "template": float((labels == 0).mean()),
            **{kind: row.f1 for kind, row in figures.items()},
            "interval": mean_interval(f1.tolist(), groups=domains),
            "less the first": mean_interval((f1 - first).tolist(), groups=domains),
        }
    others = {"blocks", "template", "interval", "less the first"}
    kinds = [kind for kind in next(iter(rows.values()), {}) if kind not in others]
    cells = [
        [name, row["blocks"], row["template"], *(row[kind] for kind in kinds), *map(_between, list(row.values())[-2:])]
        for name, row in rows.items()
    ]
    print(table(["taught by", "blocks", "template", *kinds, "interval", "less the first"], cells))
    return rows


def _between(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.3f} to {interval[1]:.3f}"


def _announce(name: str, step: str) -> None:
    say(f"{name}: {step}")
