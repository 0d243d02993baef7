"""Clusters the pages of a site by the template they were made from: TEXT-MDL.

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
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from tamis.hashing import BASE, hash_text, mix
from tamis.page.tree import path_sums
from tamis_papers.pages import (
    Labels,
    Learned,
    SiteMethod,
    check_enough,
    parameter,
    tag_hashes,
    text_fingerprints,
    whole_elements,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tamis.arrays import Flags, Floats, Hashes, Integers
    from tamis.folders import SitePage, SitePages
    from tamis.page.page import Page


NOTHING: Final = 1e-9  # bits; a change below is one of rounding

_SEED: Final = 0


def dom_paths(page: Page) -> Hashes:
    """uint64[n + m], hash of the DOM path of every unit of a page, elements first.

    The path of an element is the tags from the root down to it, that of a block the path of its element and the block's
    text. Attributes and positions among siblings are no part of it: the items of a list share a path, and so do
    elements whose classes name the page or its topic.
    """
    step = mix(tag_hashes(page) + page.depth.astype(np.uint64) * BASE)
    elements = path_sums(page, step)  # the steps of a path in any order
    texts = text_fingerprints(page)[page.n :] + np.uint64(hash_text("#text"))
    return np.concatenate([elements, mix(elements[page.block_node] + texts)])


def essential_paths(documents: Sequence[Hashes], least_support: float) -> tuple[Hashes, Flags]:
    """The paths with enough support: uint64[p], ascending, and bool[d, p], which document has which.

    ``least_support`` is a fraction of the documents, but never below 2 documents. It is one for all of them: by Kim and
    Shim's rule, the mode of the supports of a document's paths, the templates of one host are not told apart.
    """
    once = [np.unique(hashes) for hashes in documents]
    paths, support = np.unique(np.concatenate(once), return_counts=True)
    essential = paths[support >= max(2, ceil(least_support * len(documents)))]
    return essential, np.array([np.isin(essential, hashes, assume_unique=True) for hashes in once])


def template_paths(paths: Hashes, matrix: Flags, labels: Integers) -> list[Hashes]:
    """Template of each cluster (labels: int64[d]), uint64[t]: paths of more than half of its documents."""
    clusters = (matrix[labels == label] for label in range(labels.max() + 1))
    return [paths[2 * cluster.sum(axis=0) > len(cluster)] for cluster in clusters]


def distinct_columns(matrix: Flags) -> tuple[Integers, Integers]:
    """The different columns, int64[d, q] of 0 and 1, and int64[q], how many paths have each."""
    packed = np.packbits(matrix, axis=0)
    _, first, weight = np.unique(packed, axis=1, return_index=True, return_counts=True)
    return matrix[:, first].astype(np.int64), weight


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

    def __init__(self, support: Integers, weight: Integers, documents: int) -> None:
        counts = np.arange(documents + 1, dtype=np.float64)
        self._times_log = np.zeros(documents + 1)
        self._times_log[1:] = counts[1:] * np.log2(counts[1:])
        self._share = np.log2(counts + 1) / 2
        path = max(1.0, float(np.log2(max(1, int(weight.sum())))))
        self._named = (path + weight) * np.minimum(1, np.log2(documents / support))
        self._same = 2 * float(np.log2(max(1, len(weight))))
        bits = documents.bit_length()
        self._count = 63 - bits  # of a cell's 63 bits
        below = np.random.default_rng(_SEED).integers(1, 1 << (self._count - bits), documents)
        self.cells: Integers = below + (1 << self._count)
        """int64[d], what each document adds to the cells of the columns that it has."""

    def cost(self, cells: Integers, size: Integers) -> Floats:
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
        bits: Floats = exceptions.sum(axis=1) + (cells > 0) @ self._named - log[size]
        return bits


def merge_documents(matrix: Flags) -> Integers:
    """int64[d], clusters of documents, merged as long as the MDL cost falls, numbered by their first documents.

    In every step the pair is merged that lowers the cost most; among equals, that of the first documents.

    It takes ``O(d**3 + d**2 * q)`` operations in numpy and ``O(d * (d + q))`` memory for ``d`` documents and ``q``
    columns.
    """
    columns, weight = distinct_columns(matrix)
    bits = Bits(columns.sum(axis=0), weight, len(matrix))
    cells = columns * bits.cells[:, None]
    size, member = np.ones(len(matrix), np.int64), np.arange(len(matrix))
    own, change = bits.cost(cells, size), np.full((len(matrix), len(matrix)), np.nan)
    np.fill_diagonal(change, np.inf)
    changed = range(len(matrix))
    while len(size) > 1:
        for one in changed:
            others = np.isnan(change[one])
            merged = bits.cost(cells[others] + cells[one], size[others] + size[one])
            change[one, others] = change[others, one] = merged - own[others] - own[one]
        first, second = divmod(int(np.argmax(change <= change.min() + NOTHING)), len(size))
        if change[first, second] >= -NOTHING:
            break
        cells[first] += cells[second]
        size[first] += size[second]
        member[member == second] = first
        member[member > second] -= 1
        cells, size, own = (np.delete(each, second, axis=0) for each in (cells, size, own))
        change = np.delete(np.delete(change, second, 0), second, 1)
        own[first] = bits.cost(cells[[first]], size[[first]])[0]
        change[first] = change[:, first] = np.nan
        change[first, first] = np.inf
        changed = range(first, first + 1)
    return member


def nearest_template(paths: Hashes, templates: Sequence[Hashes]) -> int:
    """Number of the template (uint64[t]) with the greatest Jaccard coefficient with a document (uint64[k]).

    Only paths of some template are looked at, since a document has content besides.
    """
    known = np.intersect1d(paths, np.concatenate(templates))
    shared = np.array([np.isin(known, template).sum() for template in templates])
    sizes = np.array([len(template) for template in templates])
    return int((shared / np.maximum(1, len(known) + sizes - shared)).argmax())


@dataclass(frozen=True)
class Clusters(SiteMethod):
    """Pages clustered by the template they were made from; template is what most pages of a page's cluster share.

    Paper: "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), "HTML Documents and Cluster
    Initialization" and "Clustering With MDL Cost"; the MDL cost is that of Kim and Shim (TKDE 2011), written down in
    :mod:`tamis_papers.clustering`. A page is the set of its DOM paths (tags from the root down, and text at the end);
    pages are merged into clusters as long as that shortens the description of all of them by templates and exceptions;
    the template of a cluster has the paths of more than half of its pages.

    Cost: a parse of each page and 8 bytes of memory for each of its units. Then clustering takes time with the square
    of the sample times the number of different columns, and with its cube.

    When to use: for hosts with more than one template (article, listing, product).
    """

    name: ClassVar[str] = "clusters"

    least_support: float = parameter(
        0.05, "pages that must have a path to make it essential, 2 at least", "share, 0 to 1", least=0, most=1
    )
    sample: int = parameter(
        400, "different pages that are clustered; others go to the nearest cluster", "pages", least=2
    )

    def learn(self, pages: SitePages) -> Learned:
        """Cluster the pages of a site. Copies of a page count once and go with it; pages without text count as copies.

        Raises:
            SiteError: there are fewer than two different pages.
        """
        documents: list[Hashes] = []
        document_of: dict[int, int] = {}
        known: dict[int, int] = {}  # index of a document by the hash of its text
        for read in pages.read_all():
            key = int(text_fingerprints(read.page)[0])
            document_of[read.number] = known.setdefault(key, len(documents))
            if len(known) > len(documents):
                documents.append(np.unique(dom_paths(read.page)))
        check_enough(pages, len(known.keys() - {0}))
        labels, templates = self.cluster(documents)
        cluster_of = {number: int(labels[document]) for number, document in document_of.items()}
        groups: list[list[int]] = [[] for _ in templates]
        for number, found in cluster_of.items():
            groups[found].append(number)
        return Learned(len(labels), partial(_label, templates, cluster_of), groups)

    def cluster(self, documents: Sequence[Hashes]) -> tuple[Integers, list[Hashes]]:
        """Cluster documents, at least one, each given by uint64 hashes of its paths (:func:`dom_paths`).

        Of more than a sample, one drawn at random (always the same) is clustered, and the others go to the cluster
        whose template is nearest: the more documents are clustered, the more clusters come out.

        Returns:
            int64[d], cluster of each document, numbered by their first documents of the sample; and the template of
            each cluster, uint64[t], ascending hashes of paths.
        """
        chosen = np.sort(np.random.default_rng(_SEED).permutation(len(documents))[: self.sample])
        paths, matrix = essential_paths([documents[number] for number in chosen.tolist()], self.least_support)
        of_chosen = merge_documents(matrix)
        templates = template_paths(paths, matrix, of_chosen)
        labels = np.full(len(documents), -1, np.int64)
        labels[chosen] = of_chosen
        for number in np.flatnonzero(labels < 0).tolist():
            labels[number] = nearest_template(documents[number], templates)
        return labels, templates


def _label(templates: Sequence[Hashes], cluster_of: dict[int, int], read: SitePage) -> Labels:
    """Label a page by the template of its cluster, or of the nearest one when it is new.

    A block is template when its path is in the template; of elements see :func:`~tamis_papers.pages.whole_elements`.
    """
    paths = dom_paths(read.page)
    found = cluster_of.get(read.number)
    if found is None:
        found = nearest_template(paths, templates)
    return Labels(whole_elements(read.page, np.isin(paths, templates[found])))
