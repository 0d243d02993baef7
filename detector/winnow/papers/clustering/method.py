"""Clusters of a site's pages as a method among the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from winnow.fingerprints import text_fingerprints
from winnow.papers.base import Labels, parameter
from winnow.papers.clustering.clusters import AUTO, SAMPLE, VARIANTS, Clustering, check_parameters, cluster
from winnow.papers.clustering.essential import LEAST_SUPPORT
from winnow.papers.clustering.minhash import FUNCTIONS
from winnow.papers.clustering.paths import path_hashes
from winnow.papers.pages import check_enough
from winnow.papers.whole_elements import whole_elements

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.papers.pages import SitePage, SitePages
    from winnow.progress import Progress

    Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Clusters:
    """Pages clustered by the template they were made from; template is what most pages of a page's cluster share.

    Paper: "Automatic Template Detection Using Novel Approach" (IJERT 1(7), 2012), "HTML Documents and Cluster
    Initialization" to "Clustering with MinHash"; the MDL cost is that of Kim and Shim (TKDE 2011), written down in
    :mod:`~.clustering.mdl`. A page is the set of its DOM paths (tags from the root down, and text at the
    end); paths that too few pages have are left out; pages are merged into clusters as long as that shortens the
    description of all of them by templates and exceptions; the template of a cluster has the paths of more than half of
    its pages.

    Parameters: ``least_support``, share of the pages that have to have a path (0.05; never below 2 pages; 0 takes the
    most frequent support of each page, for folders mixed of unrelated sites); ``variant``, ``exact``, ``minhash`` or
    ``auto`` (exact up to 400 different pages); ``functions``, length of a MinHash signature (128 ranks); ``sample``,
    pages that are clustered, chosen by lot (400); others go to the nearest cluster.

    Cost: a parse of each page and 8 bytes of memory for each of its units. Then exact clustering takes time with the
    square of the sample times the number of different columns, MinHash time with its different pages times those left.

    When to use: for hosts with more than one template (article, listing, product), and before another method, which
    then works on each cluster for itself.
    """

    name: ClassVar[str] = "clusters"

    least_support: float = parameter(
        LEAST_SUPPORT, "pages that must have a path to make it essential; 0 for each page's mode", "share, 0 to 1"
    )
    variant: str = parameter(AUTO, "how to search; auto is exact up to 400 pages", choices=VARIANTS)
    functions: int = parameter(FUNCTIONS, "length of a MinHash signature", "ranks")

    sample: int = parameter(SAMPLE, "different pages that are clustered; others go to the nearest cluster", "pages")

    def __post_init__(self) -> None:
        check_parameters(self.least_support, self.variant, self.functions, self.sample)

    def learn(self, pages: SitePages, progress: Progress | None = None) -> ClusterTemplates:
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
                documents.append(np.unique(path_hashes(read.page)))
            document_of[read.number] = known[key]
        check_enough(pages, len(known.keys() - {0}))
        found = cluster(documents, self.least_support, self.variant, self.functions, self.sample)
        return ClusterTemplates(found, {number: int(found.labels[at]) for number, at in document_of.items()})


class ClusterTemplates:
    """The clusters of a site's pages and their templates.

    Attributes:
        clustering: what was found, by different pages.
    """

    def __init__(self, clustering: Clustering, cluster_of: dict[int, int]) -> None:
        self.clustering = clustering
        self._cluster_of = cluster_of

    @property
    def pages(self) -> int:
        """Different pages that were clustered."""
        return len(self.clustering.labels)

    @property
    def clusters(self) -> list[list[int]]:
        """Numbers of the pages in each cluster; every readable page is in one, copies with their originals."""
        grouped: list[list[int]] = [[] for _ in self.clustering.templates]
        for number, found in self._cluster_of.items():
            grouped[found].append(number)
        return grouped

    def label(self, read: SitePage) -> Labels:
        """Label a page by the template of its cluster, or of the nearest one when it is new.

        A block is template when its path is in the template; of elements see
        :func:`~winnow.papers.whole_elements.whole_elements`.
        """
        paths = path_hashes(read.page)
        found = self._cluster_of.get(read.number)
        if found is None:
            found = self.clustering.nearest(np.unique(paths))
        shared = np.isin(paths, self.clustering.templates[found])
        return Labels(whole_elements(read.page, shared))
