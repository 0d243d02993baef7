"""Clustering by the paper's own MDL cost: TEXT-MDL, its estimate by MinHash, and clustering with MinHash.

"Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), Algorithms 1 to 4, after C. Kim and K. Shim,
"TEXT: Automatic Template Extraction from Heterogeneous Web Pages" (TKDE 23(4), 2011). The approximate entropy model
takes the same number of bits for each cell of the templates and of the corrections to them that is not 0; the cost here
is the number of such cells. A cluster of ``n`` documents, ``s`` of which have a path, has ``min(s, n - s)`` corrections
for it, and a cell of the template if ``2 * s > n``. What the library clusters by, and why it is another cost, is in
:mod:`tamis_papers.clustering`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tamis.arrays import Flags, Floats, Integers


def cells_of(support: Integers, documents: Integers) -> Integers:
    """Cells that a path takes in a template and in corrections, by how many documents of a cluster have it."""
    cells: Integers = np.minimum(support, documents - support) + (2 * support > documents)
    return cells


class Counted:
    """Clusters whose cost is counted (TEXT-MDL); there is one for each document at first.

    Args:
        matrix: bool[d, p], which document has which path.
    """

    def __init__(self, matrix: Flags) -> None:
        self._support, self._size = matrix.astype(np.int64), np.ones(len(matrix), np.int64)

    def costs(self) -> Floats:
        """float64[d], cost of each cluster."""
        cost: Floats = cells_of(self._support, self._size[:, None]).sum(axis=1).astype(np.float64)
        return cost

    def merged_costs(self, one: int) -> Floats:
        """float64[d], cost of one cluster merged with each."""
        size = self._size + self._size[one]
        cost: Floats = cells_of(self._support + self._support[one], size[:, None]).sum(axis=1).astype(np.float64)
        return cost

    def similarity(self, one: int) -> Floats:  # noqa: ARG002
        """float64[d], similarity of one cluster to each; only the most similar are candidates. Here all are alike."""
        return np.ones(len(self._size))

    def merge(self, one: int, other: int) -> None:
        """Put the other cluster into one."""
        self._support[one] += self._support[other]
        self._size[one] += self._size[other]


class Estimated(Counted):
    """Clusters by their MinHash signatures, by which cost and similarity are estimated.

    Each function gives every path a random rank. Of a cluster are kept, for each function, the lowest rank of its
    paths, and how many of its documents have that path: over the functions, this is how many documents have a path
    drawn at random from all that the cluster has. How many it has follows from the fraction of equal lowest ranks, the
    Jaccard coefficient.

    Args:
        matrix: bool[d, p], which document has which path.
        functions: length of a signature.
    """

    def __init__(self, matrix: Flags, functions: int) -> None:
        random = np.random.default_rng(0)
        documents, paths = matrix.shape
        self._rank = np.full((documents, functions), paths)
        for number in range(functions):
            ranks = random.permutation(paths)
            self._rank[:, number] = np.where(matrix, ranks, paths).min(axis=1, initial=paths)
        self._support = np.ones((documents, functions), np.int64)
        self._size, self._paths = np.ones(documents, np.int64), matrix.sum(axis=1).astype(np.float64)

    def costs(self) -> Floats:  # noqa: D102
        cost: Floats = self._paths * cells_of(self._support, self._size[:, None]).mean(axis=1)
        return cost

    def merged_costs(self, one: int) -> Floats:  # noqa: D102
        cells = cells_of(self._merged_support(one), (self._size + self._size[one])[:, None])
        cost: Floats = self._merged_paths(one) * cells.mean(axis=1)
        return cost

    def similarity(self, one: int) -> Floats:
        """float64[d], estimated Jaccard coefficients with one cluster."""
        equal: Floats = (self._rank == self._rank[one]).mean(axis=1)
        return equal

    def merge(self, one: int, other: int) -> None:  # noqa: D102
        self._support[one] = self._merged_support(one)[other]
        self._paths[one] = self._merged_paths(one)[other]
        self._rank[one] = np.minimum(self._rank[one], self._rank[other])
        self._size[one] += self._size[other]

    def _merged_support(self, one: int) -> Integers:
        mine, theirs = self._rank[one] <= self._rank, self._rank <= self._rank[one]
        support: Integers = mine * self._support[one] + theirs * self._support
        return support

    def _merged_paths(self, one: int) -> Floats:
        paths: Floats = (self._paths + self._paths[one]) / (1 + self.similarity(one))
        return paths


def merge_greedily(clusters: Counted, documents: int) -> Integers:
    """int64[d], number of each document's cluster: the best pair is merged as long as that lowers the cost.

    A pair is a candidate if one of the two is the most similar cluster to the other, or one of several.
    """
    member, alive = np.arange(documents), np.ones(documents, bool)
    change, most_similar = np.full((documents, documents), np.inf), np.full(documents, -1.0)
    own, stale = clusters.costs(), np.ones(documents, bool)
    while True:
        for one in np.flatnonzero(stale & alive).tolist():
            similarity = np.where(alive, clusters.similarity(one), -1.0)
            similarity[one] = -1.0
            most_similar[one] = similarity.max()
            change[one] = np.inf
            pairs = alive & (similarity == most_similar[one]) & (most_similar[one] >= 0)
            change[one, pairs] = (clusters.merged_costs(one) - own[one] - own)[pairs]
        first, second = sorted(divmod(int(change.argmin()), documents))
        if not change[first, second] < 0 and not change[second, first] < 0:
            return np.unique(member, return_inverse=True)[1]
        stale = np.isfinite(change[:, [first, second]]).any(axis=1)
        clusters.merge(first, second)
        member[member == second] = first
        alive[second], change[second], change[:, second] = False, np.inf, np.inf
        own = clusters.costs()
        stale |= clusters.similarity(first) >= most_similar
        stale[first] = True
