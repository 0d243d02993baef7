"""The MDL cost of a clustering, and exact agglomerative clustering that lowers it step by step (TEXT-MDL).

C. Kim and K. Shim, "TEXT: Automatic Template Extraction from Heterogeneous Web Pages", IEEE Transactions on Knowledge
and Data Engineering 23(4), 2011, on which "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012),
"Clustering With MDL Cost", stands. The 0/1 matrix of essential paths and documents is written as ::

    M_E = M_T * M_D + M_delta

``M_T`` holds the template of each cluster, ``M_D`` says which cluster a document is in, ``M_delta`` corrects what the
templates get wrong. The cost of the clustering is the bits that all three take. Theirs gives each cell of ``M_T`` and
``M_delta`` that is not 0 a constant number of bits. Then a part of a template that half of its pages have costs so much
a page, whatever is known of it, and however often: with enough pages every such part gets a cluster of its own. (Eight
planted templates came out as 20 clusters of 1,000 pages and as 63 of 10,000.) Here regular exceptions are cheap:

* ``M_D``: a document of a cluster of ``n`` of ``d`` takes ``log2(d / n)`` bits, the entropy of the sizes.
* ``M_delta``: what ``s`` of ``n`` documents have takes ``n * H(s / n)`` bits, with ``H(x)`` the entropy of a coin, and
  nothing where all or none have it. It is said once of all paths that the very same documents have, such as those of a
  subtree: paths come in *columns*, distinct ones of the matrix.
* ``M_T``: a column that any document of the cluster has takes ``log2 p`` bits to be named among ``p`` paths and a bit
  for each of its own; where a share ``f`` of more than half of all documents has it, these bits times ``-log2 f``, so
  that a template of few pages can stand beside that of most. ``log2(n + 1) / 2`` bits tell its share of the cluster.

The cost is a sum over clusters, but for ``d * log2 d``, so that what a merge changes depends on its two clusters alone.
The template of a cluster has the paths of more than half of its documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from winnow.hashing import mix
from winnow.page.subtrees import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.site.methods.clustering.paths import PathSets

    Numbers = NDArray[np.int64]

NOTHING: Final = 1e-9  # bits; a change below is one of rounding


class Merged(NamedTuple):
    """What merging came to.

    Attributes:
        labels: int64[d], cluster of each document; clusters are numbered by their first documents.
        costs: the cost in bits, at the start and after each merge.
    """

    labels: Numbers
    costs: list[float]


class Bits:
    """Bits of clusters of these documents; see the module.

    Args:
        support: int64[q], how many of all documents have each column.
        weight: int64[q], paths of each column.
        documents: number of documents.
    """

    def __init__(self, support: Numbers, weight: Numbers, documents: int) -> None:
        counts = np.arange(documents + 1, dtype=np.float64)
        self._times_log = np.zeros(documents + 1)
        self._times_log[1:] = counts[1:] * np.log2(counts[1:])
        self._share = np.log2(counts + 1) / 2
        path = max(1.0, float(np.log2(max(1, int(weight.sum())))))
        self._named = (path + weight) * np.minimum(1, np.log2(documents / support))
        self.of_all = float(self._times_log[-1])
        """``d * log2 d``: to be added to the bits of all clusters together."""

    def of(self, support: NDArray[np.integer], size: NDArray[np.integer]) -> NDArray[np.float64]:
        """float64[c], bits of each of some clusters, without :attr:`of_all`.

        Args:
            support: integers [c, q], documents of each cluster that have each column.
            size: integers [c], documents of each cluster.
        """
        log, there = self._times_log, support > 0
        exceptions = log[size] * support.shape[1] - (log[support] + log[size[:, None] - support]).sum(axis=1)
        template = there @ self._named + there.sum(axis=1) * self._share[size]
        bits: NDArray[np.float64] = exceptions + template - log[size]
        return bits


def merge_exactly(sets: PathSets) -> Merged:
    """Merge documents, at first each a cluster of its own, while the MDL cost falls (TEXT-MDL).

    The pair that lowers the cost most is merged in every step; among equals, the one of the first documents.

    Cost: ``O(d**2 * q)`` operations in numpy and ``O(d**2 + d * q)`` memory for ``d`` documents and ``q`` columns.
    """
    support, weight = distinct_columns(sets)
    bits = Bits(support.sum(axis=0), weight, sets.documents)
    size = np.ones(sets.documents, np.int64)
    own = bits.of(support, size)
    change = np.full((len(size), len(size)), np.inf)
    for first in range(len(size) - 1):
        others = np.arange(len(size)) > first
        row = bits.of(support[others] + support[first], size[others] + 1) - own[others] - own[first]
        change[first, others], change[others, first] = row, row
    member = np.arange(sets.documents)
    steps = [float(own.sum()) + bits.of_all]
    while len(size) > 1:
        first, second = sorted(divmod(int(change.argmin()), len(size)))
        if change[first, second] >= -NOTHING:
            break
        steps.append(steps[-1] + float(change[first, second]))
        support[first] += support[second]
        size[first] += size[second]
        member[member == second] = first
        member[member > second] -= 1
        support, size = np.delete(support, second, axis=0), np.delete(size, second)
        own = np.delete(own, second)
        own[first] = bits.of(support[first : first + 1], size[first : first + 1])[0]
        change = np.delete(np.delete(change, second, axis=0), second, axis=1)
        others = np.arange(len(size)) != first
        row = bits.of(support[others] + support[first], size[others] + size[first]) - own[others] - own[first]
        change[first, others], change[others, first] = row, row
    return Merged(numbered(member), steps)


def clustering_cost(sets: PathSets, labels: Numbers) -> float:
    """Bits of a clustering.

    Args:
        sets: essential paths of the documents.
        labels: int64[d], cluster of each document, 0 to m - 1.
    """
    matrix, weight = distinct_columns(sets)
    support = np.zeros((int(labels.max(initial=0)) + 1, len(weight)), np.int64)
    np.add.at(support, labels, matrix)
    bits = Bits(support.sum(axis=0), weight, sets.documents)
    return float(bits.of(support, np.bincount(labels)).sum()) + bits.of_all


def template_paths(sets: PathSets, labels: Numbers) -> list[NDArray[np.uint64]]:
    """The template of each cluster, ``uint64[t]`` hashes of paths: those that at least ``(n + 1) / 2`` documents have.

    Args:
        sets: essential paths of the documents.
        labels: int64[d], cluster of each document, 0 to m - 1.
    """
    sizes = np.bincount(labels)
    cluster, path, support = cluster_supports(sets, labels)
    chosen = 2 * support >= sizes[cluster] + 1
    borders = np.searchsorted(cluster[chosen], np.arange(len(sizes) + 1))
    return np.split(sets.paths[path[chosen]], borders[1:-1])


def cluster_supports(sets: PathSets, labels: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Cluster, path and number of documents, int64[k] each, wherever a document of the cluster has the path."""
    width = max(1, len(sets.paths))
    keys, support = np.unique(labels[sets.row] * width + sets.column, return_counts=True)
    cluster, path = np.divmod(keys, width)
    return cluster, path, support


def distinct_columns(sets: PathSets) -> tuple[Numbers, Numbers]:
    """Matrix of documents and different columns, int64[d, q] of 0 and 1, and int64[q] paths that are each column."""
    group, weight = column_groups(sets)
    matrix = np.zeros((sets.documents, len(weight)), np.int64)
    matrix[sets.row, group[sets.column]] = 1
    return matrix, weight


def column_groups(sets: PathSets) -> tuple[Numbers, Numbers]:
    """Group paths that the very same documents have: int64[p] group of each path, int64[q] paths of each group."""
    token = mix(np.arange(1, sets.documents + 1, dtype=np.uint64))
    order = np.argsort(sets.column, kind="stable")
    sums = np.zeros(len(order) + 1, np.uint64)
    np.cumsum(token[sets.row[order]], out=sums[1:])
    border = prefix_sums(sets.support)
    _, group, weight = np.unique(sums[border[1:]] - sums[border[:-1]], return_inverse=True, return_counts=True)
    return group.astype(np.int64), weight.astype(np.int64)


def numbered(member: Numbers) -> Numbers:
    """Number clusters 0, 1, 2 and so on in the order in which they first occur."""
    _, first, inverse = np.unique(member, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)
