"""Clustering of pages by MDL cost, counted and estimated by MinHash: the evaluation of the paper's four algorithms.

Pages of several sites of SITES in one heap are clustered by template. For each number of pages and way: the adjusted
Rand index with the sites, clusters for each site (a site of several templates should come out as several), seconds of
processor time, and how far the estimate by MinHash is from the paper's cost of these clusters, in percent. *counted* is
TEXT-MDL by the paper's cost, *MinHash* the paper's estimate and search, *by entropy* `python -m tamis_papers clusters`.
Means over heaps, with 95% intervals over them.

Automatic Template Detection Using Novel Approach (IJERT 1(7), 2012); C. Kim and K. Shim: TEXT (TKDE 23(4), 2011).

    python -m tamis_papers.experiments.clustering_cost [SITES ...]
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np
from sklearn.metrics import adjusted_rand_score

from tamis_papers.clustering import dom_paths, essential_paths, merge_documents
from tamis_papers.experiments.harness import estimate, experiment_parser, report, say, sites_of
from tamis_papers.minhash import Counted, Estimated, cells_of, merge_greedily
from tamis_papers.pages import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tamis.arrays import Flags, Integers
    from tamis_papers.experiments.harness import MarkedSite

FUNCTIONS: Final = 128


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    options = experiment_parser(__doc__).parse_args(arguments)
    headings = ["pages", "cost", "adjusted Rand index", "clusters a site", "seconds", "estimate is off by, %"]
    report(options, headings, compare(sites_of(options)))


def compare(sites: Sequence[MarkedSite], pages: Sequence[int] = (5, 10, 20)) -> list[list[object]]:
    """A row for each number of pages and way of clustering."""
    chosen = [site.pages.subset(spread(range(len(site.pages)), max(pages))) for site in sites]
    documents = [[np.unique(dom_paths(read.page)) for read in site.read_all()] for site in chosen]
    rows: list[list[object]] = []
    mixed = min(4, len(sites))
    for number in pages:
        say(f"{number} pages of {mixed} sites")
        found: dict[str, list[tuple[float, ...]]] = {}
        for heap in range(5):
            own = [documents[each][:number] for each in np.random.default_rng(heap).permutation(len(sites))[:mixed]]
            truth = np.repeat(np.arange(mixed), [len(each) for each in own])
            matrix = essential_paths([each for site in own for each in site], 0.05)[1]
            for way, (labels, seconds) in cluster(matrix).items():
                off = 100 * abs(estimated_cost(matrix, labels) / counted_cost(matrix, labels) - 1)
                agreement = float(adjusted_rand_score(truth, labels))
                found.setdefault(way, []).append((agreement, (labels.max() + 1) / mixed, seconds, off))
        for way, figures in found.items():
            columns = zip(*figures, strict=True)
            rows.append([f"{mixed * number}", way, *(estimate((each, 1) for each in column) for column in columns)])
    return rows


def cluster(matrix: Flags) -> dict[str, tuple[Integers, float]]:
    """Cluster documents in each way: labels, and seconds."""
    ways: dict[str, Callable[[], Integers]] = {
        "by entropy": lambda: merge_documents(matrix),
        "counted": lambda: merge_greedily(Counted(matrix), len(matrix)),
        "MinHash": lambda: merge_greedily(Estimated(matrix, FUNCTIONS), len(matrix)),
    }
    found = {}
    for way, run in ways.items():
        begin = time.process_time()
        labels = run()
        found[way] = labels, time.process_time() - begin
    return found


def counted_cost(matrix: Flags, labels: Integers) -> int:
    """Cells that clusters take by the paper's cost."""
    clusters = [matrix[labels == label] for label in range(labels.max() + 1)]
    return sum(int(cells_of(each.sum(axis=0), np.array(len(each))).sum()) for each in clusters)


def estimated_cost(matrix: Flags, labels: Integers) -> float:
    """Estimate of :func:`counted_cost` from signatures."""
    clusters = Estimated(matrix, FUNCTIONS)
    groups = [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]
    for first, *others in groups:
        for other in others:
            clusters.merge(first, other)
    return float(clusters.costs()[[members[0] for members in groups]].sum())


if __name__ == "__main__":
    main()
