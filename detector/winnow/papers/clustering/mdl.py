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
  ``log2(n + 1) / 2`` bits that tell ``s``; nothing where all or none have it. It is said once of all paths that the
  very same documents have, such as those of a subtree: paths come in *columns*, distinct ones of the matrix. Of two
  columns that the same documents of the cluster have, the second takes no more than the ``2 * log2 q`` bits that name
  both among ``q`` columns. (Otherwise an optional part whose tags another template has, too, is several columns, paid
  for several times: with enough pages it gets a cluster of its own.)
* ``M_T``: a column that any document of the cluster has takes ``log2 p`` bits to be named among ``p`` paths and a bit
  for each of its own; where a share ``f`` of more than half of all documents has it, these bits times ``-log2 f``, so
  that a template of few pages can stand beside that of most.

The cost is a sum over clusters, but for ``d * log2 d``, so that what a merge changes depends on its two clusters alone.
The template of a cluster has the paths of more than half of its documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from winnow.hashing import mix
from winnow.page.tree import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.papers.clustering.paths import PathSets

    Numbers = NDArray[np.int64]

NOTHING: Final = 1e-9  # bits; a change below is one of rounding
_CELL: Final = 63  # bits of a cell
_SEED: Final = 0


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

    A cluster has a *cell* for each column: how many of its documents have it, and, below :attr:`_count`, the sum of
    random numbers of those documents. The cells of two clusters add up to those of both together, and columns with
    equal cells are those that the very same documents have.

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
        self._same = 2 * float(np.log2(max(1, len(weight))))
        bits = documents.bit_length()
        self._count = _CELL - bits
        below = np.random.default_rng(_SEED).integers(1, 1 << (self._count - bits), documents)
        self.cells: Numbers = below + (1 << self._count)
        """int64[d], what each document adds to the cells of the columns that it has."""
        self.of_all = float(self._times_log[-1])
        """``d * log2 d``: to be added to the bits of all clusters together."""

    def of(self, cells: Numbers, size: Numbers) -> NDArray[np.float64]:
        """float64[c], bits of each of some clusters, without :attr:`of_all`.

        Args:
            cells: int64[c, q], cells of each cluster.
            size: int64[c], documents of each cluster.
        """
        log, of_all = self._times_log, size[:, None]
        ordered = np.sort(cells, axis=1)
        some = ordered >> self._count
        exceptions = log[of_all] - log[some] - log[of_all - some]
        exceptions += np.where((some > 0) & (some < of_all), self._share[of_all], 0)
        again = ordered[:, 1:] == ordered[:, :-1]
        np.minimum(exceptions[:, 1:], self._same, out=exceptions[:, 1:], where=again)
        bits: NDArray[np.float64] = exceptions.sum(axis=1) + (cells > 0) @ self._named - log[size]
        return bits


def merge_exactly(sets: PathSets) -> Merged:
    """Merge documents, at first each a cluster of its own, while the MDL cost falls (TEXT-MDL).

    The pair that lowers the cost most is merged in every step; among equals, the one of the first documents.

    Cost: ``O(d**2 * q)`` operations in numpy and ``O(d**2 + d * q)`` memory for ``d`` documents and ``q`` columns.
    """
    matrix, weight = distinct_columns(sets)
    bits = Bits(matrix.sum(axis=0), weight, sets.documents)
    cells = matrix * bits.cells[:, None]
    size = np.ones(sets.documents, np.int64)
    own = bits.of(cells, size)
    change = np.full((len(size), len(size)), np.inf)
    for first in range(len(size) - 1):
        others = np.arange(len(size)) > first
        row = bits.of(cells[others] + cells[first], size[others] + 1) - own[others] - own[first]
        change[first, others], change[others, first] = row, row
    member = np.arange(sets.documents)
    steps = [float(own.sum()) + bits.of_all]
    while len(size) > 1:
        least = int(np.argmax(change <= change.min() + NOTHING))
        first, second = sorted(divmod(least, len(size)))
        if change[first, second] >= -NOTHING:
            break
        steps.append(steps[-1] + float(change[first, second]))
        cells[first] += cells[second]
        size[first] += size[second]
        member[member == second] = first
        member[member > second] -= 1
        cells, size = np.delete(cells, second, axis=0), np.delete(size, second)
        own = np.delete(own, second)
        own[first] = bits.of(cells[first : first + 1], size[first : first + 1])[0]
        change = np.delete(np.delete(change, second, axis=0), second, axis=1)
        others = np.arange(len(size)) != first
        row = bits.of(cells[others] + cells[first], size[others] + size[first]) - own[others] - own[first]
        change[first, others], change[others, first] = row, row
    return Merged(numbered(member), steps)


def clustering_cost(sets: PathSets, labels: Numbers) -> float:
    """Bits of a clustering.

    Args:
        sets: essential paths of the documents.
        labels: int64[d], cluster of each document, 0 to m - 1.
    """
    matrix, weight = distinct_columns(sets)
    bits = Bits(matrix.sum(axis=0), weight, sets.documents)
    cells = np.zeros((int(labels.max(initial=0)) + 1, matrix.shape[1]), np.int64)
    np.add.at(cells, labels, matrix * bits.cells[:, None])
    return float(bits.of(cells, np.bincount(labels)).sum()) + bits.of_all


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
