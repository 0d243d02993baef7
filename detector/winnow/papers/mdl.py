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

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.fingerprints import text_fingerprints
from winnow.hashing import hash_text, mix
from winnow.page.tree import prefix_sums
from winnow.papers.pages import path_hashes, tag_hashes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]
    Numbers = NDArray[np.int64]


_TEXT: Final = np.uint64(hash_text("#text"))


def dom_paths(page: Page) -> Hashes:
    """uint64[n + m], hash of the DOM path of every unit of a page, elements first.

    The path of an element is the tags from the root down to it, that of a block the path of its element and the block's
    text. Attributes and places among siblings are no part of it: the items of a list share a path, and so do elements
    whose classes name the page or its topic.
    """
    return path_hashes(page, tag_hashes(page), _TEXT + text_fingerprints(page)[page.n :])


@dataclass(frozen=True, eq=False, slots=True)
class PathSets:
    """The sets of paths of ``d`` documents: the 0/1 matrix of documents and paths, stored by documents.

    Attributes:
        paths: uint64[p], the distinct paths, ascending.
        begin: int64[d + 1], slice of :attr:`column` of each document.
        column: int64[e], indices of :attr:`paths`, ascending in each document.
    """

    paths: Hashes
    begin: NDArray[np.int64]
    column: NDArray[np.int64]

    @classmethod
    def of(cls, documents: Sequence[Hashes]) -> Self:
        """Make the sets of sequences of path hashes, in which a path may occur more than once."""
        once = [np.unique(hashes) for hashes in documents]
        paths, column = np.unique(np.concatenate([np.empty(0, np.uint64), *once]), return_inverse=True)
        return cls(paths, prefix_sums(np.array([len(hashes) for hashes in once], np.int64)), column.astype(np.int64))

    @property
    def documents(self) -> int:
        """Number of documents."""
        return len(self.begin) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """int64[d], number of paths of each document."""
        return np.diff(self.begin)

    @property
    def row(self) -> NDArray[np.int64]:
        """int64[e], document of each entry."""
        return np.repeat(np.arange(self.documents), self.sizes)

    @property
    def support(self) -> NDArray[np.int64]:
        """int64[p], number of documents that have each path."""
        return np.bincount(self.column, minlength=len(self.paths))

    def keep(self, entries: NDArray[np.bool_]) -> PathSets:
        """Return the matrix with these entries only (bool[e]), and without the paths that no document has any more."""
        used, column = np.unique(self.column[entries], return_inverse=True)
        sizes = np.bincount(self.row[entries], minlength=self.documents)
        return PathSets(self.paths[used], prefix_sums(sizes), column.astype(np.int64))


# Essential paths: those that enough documents have, by a threshold for each document.

MIN_SUPPORT: Final = 0.05
_SHARED: Final = 2  # documents that have a path in common


def essential_paths(sets: PathSets, least_support: float = MIN_SUPPORT) -> PathSets:
    """Leave only the essential paths of each document: those whose support reaches the document's threshold.

    ``least_support`` is a fraction of the documents, but never below 2 documents; 0 is for :func:`mode_supports`.
    """
    if least_support == 0:
        threshold = mode_supports(sets)
    else:
        threshold = np.full(sets.documents, max(_SHARED, ceil(least_support * sets.documents)))
    return sets.keep(sets.support[sets.column] >= threshold[sets.row])


def mode_supports(sets: PathSets) -> NDArray[np.int64]:
    """int64[d], the most frequent support among each document's paths, the smaller of two that are as frequent.

    Paths that no other document has are left out of account; a document of nothing else gets 2. Kim and Shim's rule. It
    suits documents of unrelated templates. Where all pages share much, the paths that only some have are not essential
    by it, so that the templates of one host are not told apart.
    """
    support = sets.support[sets.column]
    shared = support >= _SHARED
    pairs, number = np.unique(sets.row[shared] * (sets.documents + 1) + support[shared], return_counts=True)
    document, value = np.divmod(pairs, sets.documents + 1)
    order = np.lexsort((-value, number, document))  # the last of a document is its most frequent, smallest support
    modes = np.full(sets.documents, _SHARED, np.int64)
    modes[document[order]] = value[order]
    return modes


NOTHING: Final = 1e-9  # bits; a change below is one of rounding
_CELL: Final = 63  # bits of a cell
_SEED: Final = 0


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

    def of(self, cells: Numbers, size: Numbers) -> NDArray[np.float64]:
        """float64[c], bits of each of some clusters; to their sum ``d * log2 d`` is to be added.

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


def merge_exactly(sets: PathSets) -> Numbers:
    """int64[d], clusters of documents, merged as long as the MDL cost falls (TEXT-MDL).

    The pair that lowers the cost most is merged in every step; among equals, the one of the first documents. It takes
    ``O(d**2 * q)`` operations in numpy and ``O(d**2 + d * q)`` memory for ``d`` documents and ``q`` columns.
    """
    matrix, weight = distinct_columns(sets)
    bits = Bits(matrix.sum(axis=0), weight, sets.documents)
    cells = matrix * bits.cells[:, None]
    size = np.ones(sets.documents, np.int64)
    own = bits.of(cells, size)
    change = np.full((len(size), len(size)), np.inf)

    def compare(first: int, others: NDArray[np.bool_]) -> None:
        merged = bits.of(cells[others] + cells[first], size[others] + size[first])
        change[first, others] = change[others, first] = merged - own[others] - own[first]

    for first in range(len(size) - 1):
        compare(first, np.arange(len(size)) > first)
    member = np.arange(sets.documents)
    while len(size) > 1:
        least = int(np.argmax(change <= change.min() + NOTHING))
        first, second = sorted(divmod(least, len(size)))
        if change[first, second] >= -NOTHING:
            break
        cells[first] += cells[second]
        size[first] += size[second]
        member[member == second] = first
        member[member > second] -= 1
        cells, size, own = np.delete(cells, second, axis=0), np.delete(size, second), np.delete(own, second)
        change = np.delete(np.delete(change, second, axis=0), second, axis=1)
        own[first] = bits.of(cells[first : first + 1], size[first : first + 1])[0]
        compare(first, np.arange(len(size)) != first)
    return numbered(member)


def template_paths(sets: PathSets, labels: Numbers) -> list[NDArray[np.uint64]]:
    """Template of each cluster, uint64[t]: paths of at least ``(n + 1) / 2`` of its documents (labels: int64[d])."""
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


def numbered(member: NDArray[np.signedinteger]) -> Numbers:
    """Number clusters 0, 1, 2 and so on in the order in which they first occur."""
    _, first, inverse = np.unique(member, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)


# The MinHash variant: signatures of clusters, and merging among near ones only.
#
# Kim and Shim, and "Automatic Template Detection Using Novel Approach", "Estimation of MDL Cost with MinHash" and
# "Clustering with MinHash". ``k`` functions give every path a random rank, and of a cluster the least rank of each is
# kept. Two clusters have as many least ranks in common as their Jaccard coefficient says, so that only those with the
# most are compared. They estimate the cost from signatures, too; here it is counted, and the search differs from the
# exact one by its candidates alone.

FUNCTIONS: Final = 128
_SALT: Final = np.uint64(0xD1B54A32D192ED03)


def signatures(sets: PathSets, functions: int = FUNCTIONS) -> NDArray[np.uint32]:
    """uint32[k, d], least rank of each function among the paths of each document; the greatest where it has none."""
    group, weight = column_groups(sets)
    order = np.argsort(group, kind="stable")
    starts = prefix_sums(weight)[:-1]
    some = sets.sizes > 0
    ranks = np.full((functions, sets.documents), len(sets.paths), np.uint32)
    for number in range(functions if some.any() else 0):
        hashes = mix(sets.paths ^ mix(np.array([number], np.uint64) * _SALT + _SALT))
        # paths that the same documents have share a rank: which of them has it makes no difference
        rank = np.argsort(np.argsort(np.minimum.reduceat(hashes[order], starts)))[group]
        ranks[number, some] = np.minimum.reduceat(rank[sets.column], sets.begin[:-1][some])
    return ranks


def merge_by_minhash(sets: PathSets, functions: int = FUNCTIONS) -> Numbers:
    """Merge documents while the MDL cost falls, looking for partners by MinHash; int64[d], cluster of each document.

    Documents with equal signatures are merged at once. Then every cluster looks for the best partner among those only
    whose estimated Jaccard coefficient with it is the greatest, and the best of these pairs is merged. A cluster whose
    partner has been merged with another takes the merged cluster for the time being, and looks again when its turn
    comes. With ``k`` functions (255 at most), ``p`` paths, ``e`` entries, ``m`` different signatures and ``q`` columns
    it takes ``O(k * (p + e))``, then about twice ``O(k * m)`` for each cluster, and ``O((k + q) * m)`` memory.
    """
    search = _MinHashSearch(sets, functions)
    while search.alive > 1:
        one, other, change = search.best()
        if change >= -NOTHING:
            break
        search.merge(one, other)
    return numbered(search.member[search.group])


class _MinHashSearch:
    """Clusters, and for each the partner that it would best be merged with, and by how much that changes the cost."""

    def __init__(self, sets: PathSets, functions: int) -> None:
        rows = np.ascontiguousarray(signatures(sets, functions).T)
        as_bytes = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
        _, first, self.group = np.unique(as_bytes, return_index=True, return_inverse=True)
        matrix, weight = distinct_columns(sets)
        self._cost = Bits(matrix.sum(axis=0), weight, sets.documents)
        self.alive = number = len(first)
        self._rank = rows[first].T.copy()
        self._size = np.bincount(self.group, minlength=number)
        self._cells = np.zeros((number, matrix.shape[1]), np.int64)
        np.add.at(self._cells, self.group, matrix * self._cost.cells[:, None])
        self._bits = self._cost.of(self._cells, self._size)
        self.member = np.arange(number)  # by number at the start: where the cluster is now
        self._living = np.ones(number, bool)
        self._partner = np.zeros(number, np.int64)
        self._shared = np.zeros(number, np.uint8)
        self._change = np.full(number, np.inf)
        self._provisional = np.ones(number, bool)
        for cluster in range(number if number > 1 else 0):
            self._look(cluster)

    def best(self) -> tuple[int, int, float]:
        """The best pair, and how its merging changes the cost."""
        while True:
            cluster = int(self._change.argmin())
            if not self._provisional[cluster]:
                return cluster, int(self._partner[cluster]), float(self._change[cluster])
            self._look(cluster)

    def merge(self, cluster: int, other: int) -> None:
        """Merge a pair into the place of the first, and let the others know."""
        self._rank[:, cluster] = np.minimum(self._rank[:, cluster], self._rank[:, other])
        self._cells[cluster] += self._cells[other]
        self._size[cluster] += self._size[other]
        self._bits[cluster] = self._cost.of(self._cells[[cluster]], self._size[[cluster]])[0]
        self.member[self.member == other] = cluster
        self._living[other] = False
        self.alive -= 1
        self._change[other] = np.inf
        if self.alive < 2:
            return
        shared = self._look(cluster)
        left = self._living & ((self._partner == cluster) | (self._partner == other))
        nearer = self._living & (shared > self._shared)
        left[cluster] = nearer[cluster] = False
        self._provisional |= left & (shared < self._shared)
        concerned = np.flatnonzero(left | nearer)
        self._partner[concerned] = cluster
        self._shared[concerned] = shared[concerned]
        self._change[concerned] = self._change_with(cluster, concerned)
        self._provisional[nearer] = False

    def _change_with(self, cluster: int, others: Numbers) -> NDArray[np.float64]:
        """float64[c], by how much merging one cluster with each of others changes the cost."""
        cells, size = self._cells[others] + self._cells[cluster], self._size[others] + self._size[cluster]
        change: NDArray[np.float64] = self._cost.of(cells, size) - self._bits[cluster] - self._bits[others]
        return change

    def _look(self, cluster: int) -> NDArray[np.uint8]:
        """Find the best partner of a cluster; uint8[m], least ranks that each cluster shares with it."""
        equal = self._rank == self._rank[:, cluster : cluster + 1]
        shared: NDArray[np.uint8] = np.add.reduce(equal, axis=0, dtype=np.uint8)
        shared[~self._living] = shared[cluster] = 0
        candidates = self._living & (shared == shared.max())
        candidates[cluster] = False
        others = np.flatnonzero(candidates)
        change = self._change_with(cluster, others)
        best = int(change.argmin())
        self._partner[cluster], self._shared[cluster], self._change[cluster] = others[best], shared.max(), change[best]
        self._provisional[cluster] = False
        return shared
