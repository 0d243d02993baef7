"""Time of the smoother by size of the tree: section 4, whose method takes ``n * n * log n`` steps.

Medians over the marked pages of SITES by their number of units, and over made-up trees of 100 to 100,000 nodes: random
scores of three digits, each node below one of the eight before it or anywhere, penalties by the nodes of subtrees.
Milliseconds of processor time. An exhaustive search that none of its answers may be worse than is among the tests.

Chakrabarti, Kumar and Punera: Page-level Template Detection via Isotonic Smoothing (WWW 2007), section 4.

    python -m tamis_papers.experiments.smoother_time [SITES ...]
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis import load_model
from tamis.models import Scores
from tamis.models.decision import FixedThreshold
from tamis.smoothing import smooth
from tamis_papers.experiments.harness import experiment_parser, report, sites_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SIZES: Final = (100, 1_000, 10_000, 100_000)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    options = experiment_parser(__doc__).parse_args(arguments)
    model, by_size = load_model("logistic"), defaultdict[int, list[tuple[int, float]]](list)
    for site in sites_of(options):
        for read, _ in site.read_marked():
            units = read.page.n + read.page.m
            seconds = seconds_of(read.page.unit_parent, model.score(read.page))
            by_size[units.bit_length()].append((units, seconds))
    pages = [("pages", len(found), *np.median(found, axis=0).tolist()) for _, found in sorted(by_size.items())]
    trees = [("made-up trees", 1, size, seconds_of(*made_up_tree(size))) for size in SIZES]
    rows = [
        [kind, number, round(units), f"{1e3 * seconds:.2f}", f"{1e6 * seconds / units:.2f}"]
        for kind, number, units, seconds in pages + trees
    ]
    report(options, ["trees", "number", "nodes", "milliseconds", "microseconds a node"], rows)


def seconds_of(parent: NDArray[np.int32], scores: Scores) -> float:
    """Median processor time of smoothing."""
    found = []
    for _ in range(5):
        begin = time.process_time()
        smooth(parent, scores)
        found.append(time.process_time() - begin)
    return float(np.median(found))


def made_up_tree(size: int) -> tuple[NDArray[np.int32], Scores]:
    """Parents and scores of a random tree."""
    random, node = np.random.default_rng(size), np.arange(size)
    near, far = node - 1 - random.integers(0, 8, size), (random.random(size) * node).astype(np.int64)
    parent = np.where(random.random(size) < 0.7, np.maximum(near, 0), far).astype(np.int32)
    parent[0] = -1
    nodes = np.ones(size, np.int64)
    for child, above in zip(node[:0:-1].tolist(), parent[:0:-1].tolist(), strict=True):
        nodes[above] += nodes[child]
    penalty, one = 0.01 * size / nodes, np.ones(size, np.int64)
    return parent, Scores(np.round(random.random(size), 3), one, one > 0, penalty, FixedThreshold(0.5))


if __name__ == "__main__":
    main()
