"""MinHash signatures of clusters, and agglomerative clustering among near ones only (the MinHash variant of TEXT-MDL).

Kim and Shim (TKDE 2011; see :mod:`winnow.papers.clustering.mdl`), and "Automatic Template Detection Using Novel
Approach", "Estimation of MDL Cost with MinHash" and "Clustering with MinHash". ``k`` functions give every path a random
rank, and of a cluster the least rank of each is kept. Two clusters have as many least ranks in common as their Jaccard
coefficient says, so that only those with the most are compared. They estimate the cost from signatures, too; here it is
counted, since what columns have in common is kept, and the search differs from the exact one by its candidates alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.hashing import mix
from winnow.page.tree import prefix_sums
from winnow.papers.clustering.mdl import NOTHING, Bits, Merged, column_groups, distinct_columns, numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.papers.clustering.paths import PathSets

    Numbers = NDArray[np.int64]

FUNCTIONS: Final = 128
_SEED: Final = np.uint64(0xD1B54A32D192ED03)
_COMPACT: Final = 0.75  # share of living clusters below which the arrays are made shorter


@dataclass(eq=False, slots=True)
class Signatures:
    """What is kept of ``m`` clusters.

    Attributes:
        rank: uint16 or uint32[k, m], least rank of each function among the paths of each cluster.
        cells: int64[m, q], of each column, see :class:`~winnow.papers.clustering.mdl.Bits`.
        size: int64[m], documents of each cluster.
        cost: bits of clusters.
    """

    rank: NDArray[np.unsignedinteger]
    cells: Numbers
    size: Numbers
    cost: Bits

    @classmethod
    def of(cls, sets: PathSets, functions: int = FUNCTIONS) -> Self:
        """Signatures of single documents. Those without paths have the greatest rank everywhere."""
        ranks = np.stack([_least_ranks(sets, ranked) for ranked in _path_ranks(sets, functions)])
        matrix, weight = distinct_columns(sets)
        cost = Bits(matrix.sum(axis=0), weight, sets.documents)
        return cls(ranks, matrix * cost.cells[:, None], np.ones(sets.documents, np.int64), cost)

    def jaccard_with(self, cluster: int) -> NDArray[np.uint8]:
        """uint8[m], least ranks that each cluster shares with one: its estimated Jaccard coefficient times ``k``."""
        equal = self.rank == self.rank[:, cluster : cluster + 1]
        shared: NDArray[np.uint8] = np.add.reduce(equal, axis=0, dtype=np.uint8)
        return shared

    def bits(self, clusters: Numbers) -> NDArray[np.float64]:
        """float64[c], bits of some clusters."""
        return self.cost.of(self.cells[clusters], self.size[clusters])

    def bits_merged(self, cluster: int, others: Numbers) -> NDArray[np.float64]:
        """float64[c], bits when one cluster is merged with each of others."""
        return self.cost.of(self.cells[others] + self.cells[cluster], self.size[others] + self.size[cluster])

    def merge(self, cluster: int, other: int) -> None:
        """Make one cluster of two; it takes the place of the first, and the other's place is to be left alone."""
        self.rank[:, cluster] = np.minimum(self.rank[:, cluster], self.rank[:, other])
        self.cells[cluster] += self.cells[other]
        self.size[cluster] += self.size[other]

    def subset(self, clusters: Numbers | NDArray[np.bool_]) -> Signatures:
        """Return some of the clusters."""
        return Signatures(self.rank[:, clusters], self.cells[clusters], self.size[clusters], self.cost)


def merge_by_minhash(sets: PathSets, functions: int = FUNCTIONS) -> Merged:
    """Merge documents while the MDL cost falls.

    Documents with equal signatures are merged at once. Then every cluster looks for the best partner among those only
    whose estimated Jaccard coefficient with it is the greatest, and the best of these pairs is merged. A cluster whose
    partner has been merged with another takes the merged cluster for the time being, and looks again when its turn
    comes.

    Args:
        sets: essential paths of the documents.
        functions: length of the signatures, at most 255.

    Cost: ``O(k * p)`` for the ranks of ``p`` paths, ``O(k * e)`` for the signatures of ``e`` entries, and in numpy for
    each of the ``m`` different signatures ``O(k * m)``, about twice, and ``O(q)`` for each candidate. Memory
    ``O((k + q) * m)``, of all documents at first.
    """
    if not sets.documents:
        return Merged(np.zeros(0, np.int64), [0.0])
    alone = Signatures.of(sets, functions)
    _, first, group = np.unique(_as_bytes(alone.rank), return_index=True, return_inverse=True)
    signatures = alone.subset(first)
    signatures.size = np.bincount(group).astype(np.int64)
    signatures.cells = np.zeros_like(signatures.cells)
    np.add.at(signatures.cells, group, alone.cells)

    each = (alone.bits(np.arange(sets.documents)), signatures.bits(np.arange(len(first))))
    steps = [float(bits.sum()) + alone.cost.of_all for bits in each]
    search = Partners(signatures)
    while search.alive > 1:
        one, other, change = search.best()
        if change >= -NOTHING:
            break
        search.merge(one, other)
        steps.append(steps[-1] + change)
    return Merged(numbered(search.member[group]), steps)


class Partners:
    """For each cluster the partner that it would best be merged with, and by how much that changes the cost."""

    def __init__(self, signatures: Signatures) -> None:
        self._signatures = signatures
        number = len(signatures.size)
        self.alive = number
        self.member = np.arange(number)  # by number at the start: where the cluster is now
        self._living = np.ones(number, bool)
        self._bits = signatures.bits(np.arange(number))
        self._partner = np.zeros(number, np.int64)
        self._shared = np.zeros(number, np.uint8)
        self._change = np.full(number, np.inf)
        self._provisional = np.ones(number, bool)
        if number > 1:
            for cluster in range(number):
                self._look(cluster)

    def best(self) -> tuple[int, int, float]:
        """The best pair, and how its merging changes the cost."""
        while True:
            cluster = int(self._change.argmin())
            if not self._provisional[cluster]:
                return cluster, int(self._partner[cluster]), float(self._change[cluster])
            self._look(cluster)

    def merge(self, cluster: int, other: int) -> None:
        """Merge a pair, and let the others know."""
        self._signatures.merge(cluster, other)
        self.member[self.member == other] = cluster
        self._living[other] = False
        self.alive -= 1
        self._change[other] = np.inf
        self._bits[cluster] = self._signatures.bits(np.array([cluster]))[0]
        if self.alive < 2:
            return
        shared = self._look(cluster)
        left = self._living & ((self._partner == cluster) | (self._partner == other))
        left[cluster] = False
        nearer = self._living & (shared > self._shared)
        nearer[cluster] = False
        self._provisional |= left & (shared < self._shared)
        concerned = np.flatnonzero(left | nearer)
        self._partner[concerned] = cluster
        self._shared[concerned] = shared[concerned]
        self._change[concerned] = (
            self._signatures.bits_merged(cluster, concerned) - self._bits[cluster] - self._bits[concerned]
        )
        self._provisional[nearer] = False
        if self.alive < _COMPACT * len(self._living):
            self._compact()

    def _look(self, cluster: int) -> NDArray[np.uint8]:
        """Find the best partner of one cluster among those with the greatest Jaccard coefficient."""
        shared = self._signatures.jaccard_with(cluster)
        shared[~self._living] = 0
        shared[cluster] = 0
        most = shared.max()
        candidates = self._living & (shared == most)
        candidates[cluster] = False
        others = np.flatnonzero(candidates)
        change = self._signatures.bits_merged(cluster, others) - self._bits[cluster] - self._bits[others]
        best = int(change.argmin())
        self._partner[cluster], self._shared[cluster], self._change[cluster] = others[best], most, change[best]
        self._provisional[cluster] = False
        return shared

    def _compact(self) -> None:
        living = np.flatnonzero(self._living)
        place = np.full(len(self._living), -1)
        place[living] = np.arange(len(living))
        self._signatures = self._signatures.subset(living)
        self.member = place[self.member]
        self._partner = place[self._partner[living]]
        self._bits, self._shared = self._bits[living], self._shared[living]
        self._change, self._provisional = self._change[living], self._provisional[living]
        self._living = np.ones(len(living), bool)


def _path_ranks(sets: PathSets, functions: int) -> NDArray[np.uint32]:
    """uint32[k, p], rank of each path in each permutation.

    Paths that the same documents have share the least rank among them: which of them has it makes no difference.
    """
    group, weight = column_groups(sets)
    order = np.argsort(group, kind="stable")
    starts = prefix_sums(weight)[:-1]
    ranks = np.empty((functions, len(sets.paths)), np.uint32)
    for number in range(functions):
        hashes = mix(sets.paths ^ mix(np.array([number], np.uint64) * _SEED + _SEED))
        least = np.minimum.reduceat(hashes[order], starts) if len(order) else hashes
        ranks[number] = np.argsort(np.argsort(least))[group]
    return ranks


def _least_ranks(sets: PathSets, ranks: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """uint32[d], least rank among the paths of each document; the number of paths where it has none."""
    least = np.full(sets.documents, len(sets.paths), np.uint32)
    some = sets.sizes > 0
    if some.any():
        least[some] = np.minimum.reduceat(ranks[sets.column], sets.begin[:-1][some])
    return least


def _as_bytes(rank: NDArray[np.unsignedinteger]) -> NDArray[np.void]:
    """void[m], the signature of each cluster as one value."""
    rows = np.ascontiguousarray(rank.T)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
