"""Clusters the pages of a site by the template they were made from: TEXT-MDL, exact and by MinHash.

"Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), "Clustering With MDL Cost", after Kim and Shim.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from winnow.fingerprints import text_fingerprints
from winnow.papers.mdl import (
    FUNCTIONS,
    MIN_SUPPORT,
    dom_paths,
    essential_paths,
    merge_documents,
    path_matrix,
    template_paths,
)
from winnow.papers.pages import Labels, Learned, check_enough, parameter, whole_elements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress

    Hashes = NDArray[np.uint64]

VARIANTS: Final = ("auto", "exact", "minhash")
AUTO_EXACT: Final = 400  # documents up to which "auto" is exact: a second or two
SAMPLE: Final = AUTO_EXACT  # documents that are clustered
_SEED: Final = 0


class Clustering(NamedTuple):
    """Clusters of ``d`` documents.

    Attributes:
        labels: int64[d], cluster of each document, numbered by their first documents of the sample.
        templates: template of each cluster: uint64[t], ascending hashes of paths.
    """

    labels: NDArray[np.int64]
    templates: list[Hashes]


def cluster(
    documents: Sequence[Hashes],
    least_support: float = MIN_SUPPORT,
    variant: str = "auto",
    functions: int = FUNCTIONS,
    sample: int = SAMPLE,
) -> Clustering:
    """Cluster documents by the template that they were made from.

    Of more than a sample, one drawn at random (always the same) is clustered, and the others go to the cluster whose
    template is nearest: the more documents are clustered, the more clusters come out.

    Args:
        documents: uint64 hashes of the paths of each, at least one (:func:`winnow.papers.mdl.dom_paths`).
        least_support: fraction of documents that must have a path to make it essential, 0 for each document's mode.
        variant: ``"exact"`` or ``"minhash"``; ``"auto"`` is exact for up to 400 documents.
        functions: length of a MinHash signature, 1 to 255.
        sample: documents that are clustered.
    """
    chosen = np.sort(np.random.default_rng(_SEED).permutation(len(documents))[:sample])
    paths, matrix = essential_paths(*path_matrix([documents[number] for number in chosen.tolist()]), least_support)
    exact = variant == "exact" or (variant == "auto" and len(chosen) <= AUTO_EXACT)
    of_chosen = merge_documents(matrix, 0 if exact else functions)
    templates = template_paths(paths, matrix, of_chosen)
    labels = np.full(len(documents), -1, np.int64)
    labels[chosen] = of_chosen
    for number in np.flatnonzero(labels < 0).tolist():
        labels[number] = nearest_template(np.unique(documents[number]), templates)
    return Clustering(labels, templates)


def nearest_template(paths: Hashes, templates: Sequence[Hashes]) -> int:
    """Number of the template (uint64[t]) with the greatest Jaccard coefficient with a document (uint64[k]).

    Only paths of some template are looked at, since a document has content besides.
    """
    known = paths[np.isin(paths, np.concatenate(templates))]
    shared = np.array([np.isin(known, template).sum() for template in templates])
    sizes = np.array([len(template) for template in templates])
    return int((shared / np.maximum(1, len(known) + sizes - shared)).argmax())


@dataclass(frozen=True)
class Clusters:
    """Pages clustered by the template they were made from; template is what most pages of a page's cluster share.

    Paper: "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), "HTML Documents and Cluster
    Initialization" to "Clustering with MinHash"; the MDL cost is that of Kim and Shim (TKDE 2011), written down in
    :mod:`winnow.papers.mdl`. A page is the set of its DOM paths (tags from the root down, and text at the end); pages
    are merged into clusters as long as that shortens the description of all of them by templates and exceptions; the
    template of a cluster has the paths of more than half of its pages.

    Cost: a parse of each page and 8 bytes of memory for each of its units. Then exact clustering takes time with the
    square of the sample times the number of different columns, and both with its cube.

    When to use: for hosts with more than one template (article, listing, product), and before another method, which
    then works on each cluster for itself.
    """

    name: ClassVar[str] = "clusters"

    least_support: float = parameter(
        MIN_SUPPORT, "pages that must have a path to make it essential; 0 for each page's mode", "share, 0 to 1"
    )
    variant: str = parameter("auto", "how to search; auto is exact up to 400 pages", choices=VARIANTS)
    functions: int = parameter(FUNCTIONS, "length of a MinHash signature", "ranks")
    sample: int = parameter(SAMPLE, "different pages that are clustered; others go to the nearest cluster", "pages")

    def __post_init__(self) -> None:
        if not 0 <= self.least_support <= 1:
            raise ValueError(f"least_support is a share of the pages, 0 to 1: {self.least_support}")
        if self.variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}: {self.variant!r}")
        if not 1 <= self.functions <= np.iinfo(np.uint8).max:
            raise ValueError(f"functions must be from 1 to 255: {self.functions}")
        if self.sample < 2:
            raise ValueError(f"sample must be at least 2 pages: {self.sample}")

    def learn(self, pages: SitePages, progress: Progress | None = None) -> Learned:
        """Cluster the pages of a site. Copies of a page count once and go with it; pages without text count as copies.

        Raises:
            SiteError: there are fewer than two different pages.
        """
        documents: list[Hashes] = []
        document_of: dict[int, int] = {}
        known: dict[int, int] = {}  # place of a document by the hash of its text
        for read in pages.read_all(progress):
            key = int(text_fingerprints(read.page)[0])
            if key not in known:
                known[key] = len(documents)
                documents.append(np.unique(dom_paths(read.page)))
            document_of[read.number] = known[key]
        check_enough(pages, len(known.keys() - {0}))
        labels, templates = cluster(documents, self.least_support, self.variant, self.functions, self.sample)
        cluster_of = {number: int(labels[document]) for number, document in document_of.items()}
        groups: list[list[int]] = [[] for _ in templates]
        for number, found in cluster_of.items():
            groups[found].append(number)
        return Learned(len(labels), partial(_label, templates, cluster_of), groups)


def _label(templates: Sequence[Hashes], cluster_of: dict[int, int], read: SitePage) -> Labels:
    """Label a page by the template of its cluster, or of the nearest one when it is new.

    A block is template when its path is in the template; of elements see :func:`~winnow.papers.pages.whole_elements`.
    """
    paths = dom_paths(read.page)
    found = cluster_of.get(read.number)
    if found is None:
        found = nearest_template(np.unique(paths), templates)
    return Labels(whole_elements(read.page, np.isin(paths, templates[found])))
