"""The MDL cost of a clustering, and exact agglomerative clustering that lowers it step by step (TEXT-MDL).

C. Kim and K. Shim, "TEXT: Automatic Template Extraction from Heterogeneous Web Pages", IEEE Transactions on Knowledge
and Data Engineering 23(4), 2011, on which "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012),
"Clustering With MDL Cost", stands. With ``d`` documents, ``p`` essential paths and ``m`` clusters, the 0/1 matrix of
paths and documents is written as ::

    M_E = M_T * M_D + M_delta

``M_T`` (p x m, 0/1) holds the template of each cluster, ``M_D`` (m x d, a single 1 in each column) says which cluster a
document is in, ``M_delta`` (p x d, -1, 0 or 1) corrects what the templates get wrong. The cost of the clustering is ::

    L(C) = L(M_T) + L(M_D) + L(M_delta)

The entropy of ``M_D`` is that of 1s in ``1 / m`` of the cells: ``L(M_D) = d * m * H(1 / m)``, where ``H(x)`` is
``-x log2 x - (1 - x) log2(1 - x)``. For ``M_T`` and ``M_delta`` theirs is the approximate entropy model, in which a
cell that is not 0 costs a constant number of bits; ours is ``b = log2 p``, what it takes to name the path.

In a cluster of ``n`` documents, ``s`` of which have a path, the path costs ``1 + n - s`` cells when it belongs to the
template and ``s`` when it does not. So the best template has the paths with ``s >= (n + 1) / 2``, and ::

    L(C) = d * m * H(1 / m)  +  b * sum over clusters and paths of min(s, 1 + n - s)

which is what is minimised: the pair is merged whose merging lowers the cost most, as long as one lowers it.
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


_ITSELF: Final = np.iinfo(np.int64).max // 4  # what it would cost to merge a cluster with itself


class Merged(NamedTuple):
    """What merging came to.

    Attributes:
        labels: int64[d], cluster of each document; clusters are numbered by their first documents.
        costs: the cost in bits, at the start and after each merge.
    """

    labels: Numbers
    costs: list[float]


def merge_exactly(sets: PathSets) -> Merged:
    """Merge documents, at first each a cluster of its own, while the MDL cost falls (TEXT-MDL).

    The pair that lowers the cost most is merged in every step; among equals, the one of the first documents.

    Cost: ``O(d**2 * q)`` operations in numpy and ``O(d**2 + d * q)`` memory for ``d`` documents and ``q`` different
    columns of the matrix (paths that the same documents have are one column with a weight).
    """
    count, weight = distinct_columns(sets)
    size = np.ones(sets.documents, np.int64)
    own = count @ weight
    change = -((count * weight) @ count.T)  # of two single documents, all that they share is written once less
    np.fill_diagonal(change, _ITSELF)
    member = np.arange(sets.documents)
    costs = CostOf(sets)
    total = float(own.sum())
    steps = [costs.bits(total, sets.documents)]
    while len(size) > 1:
        first, second = sorted(divmod(int(change.argmin()), len(size)))
        after = costs.bits(total + int(change[first, second]), len(size) - 1)
        if after >= steps[-1]:
            break
        steps.append(after)
        total += int(change[first, second])
        count[first] += count[second]
        size[first] += size[second]
        own[first] = np.minimum(count[first], 1 + size[first] - count[first]) @ weight
        member[member == second] = first
        member[member > second] -= 1
        count, size, own = (np.delete(array, second, axis=0) for array in (count, size, own))
        change = np.delete(np.delete(change, second, axis=0), second, axis=1)
        both = count + count[first]
        row = np.minimum(both, (1 + size + size[first])[:, None] - both) @ weight - own - own[first]
        row[first] = _ITSELF
        change[first], change[:, first] = row, row
    return Merged(numbered(member), steps)


class CostOf:
    """Bits of a clustering of these documents, by the number of cells that are not 0 and the number of clusters."""

    def __init__(self, sets: PathSets) -> None:
        self._documents = sets.documents
        self._bits_per_cell = max(1.0, float(np.log2(max(1, len(sets.paths)))))

    def bits(self, cells: float, clusters: int) -> float:
        """Return ``L(C)`` of a clustering whose ``M_T`` and ``M_delta`` together have so many cells that are not 0."""
        if clusters < 2:
            return self._bits_per_cell * cells
        share = 1 / clusters
        entropy = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
        return self._bits_per_cell * cells + self._documents * clusters * float(entropy)


def clustering_cost(sets: PathSets, labels: Numbers) -> float:
    """Bits of a clustering, ``L(C)``, with the best template for each cluster.

    Args:
        sets: essential paths of the documents.
        labels: int64[d], cluster of each document.
    """
    cluster, _, support = cluster_supports(sets, labels)
    sizes = np.bincount(labels)
    cells = np.minimum(support, 1 + sizes[cluster] - support).sum()
    return CostOf(sets).bits(float(cells), int(np.count_nonzero(sizes)))


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
