"""Clustering of documents given as sets of paths: which belong together, and the template of each cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.papers.clustering.essential import LEAST_SUPPORT, essential_paths
from winnow.papers.clustering.mdl import merge_exactly, template_paths
from winnow.papers.clustering.minhash import FUNCTIONS, merge_by_minhash
from winnow.papers.clustering.paths import PathSets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

EXACT: Final = "exact"
MINHASH: Final = "minhash"
AUTO: Final = "auto"
VARIANTS: Final = (AUTO, EXACT, MINHASH)
AUTO_EXACT: Final = 400  # documents up to which "auto" is exact: a second or two
SAMPLE: Final = AUTO_EXACT  # documents that are clustered
_SEED: Final = 0
_LEAST: Final = 2


@dataclass(frozen=True, eq=False, slots=True)
class Clustering:
    """Clusters of ``d`` documents.

    Attributes:
        labels: int64[d], cluster of each document, numbered by their first documents of the sample.
        templates: template of each cluster: uint64[t], ascending hashes of paths.
        costs: MDL cost in bits at the start and after each merge (estimated by the MinHash variant).
    """

    labels: NDArray[np.int64]
    templates: list[Hashes]
    costs: list[float]

    def nearest(self, paths: Hashes) -> int:
        """Return the cluster whose template has the greatest Jaccard coefficient with a document's paths.

        Only paths of some template are looked at, since a document has content besides.

        Args:
            paths: uint64[k], each once.
        """
        known = paths[np.isin(paths, np.concatenate(self.templates))]
        shared = np.array([np.isin(known, template).sum() for template in self.templates])
        sizes = np.array([len(template) for template in self.templates])
        return int((shared / np.maximum(1, len(known) + sizes - shared)).argmax())


def cluster(
    documents: Sequence[Hashes],
    least_support: float = LEAST_SUPPORT,
    variant: str = AUTO,
    functions: int = FUNCTIONS,
    sample: int = SAMPLE,
) -> Clustering:
    """Cluster documents by the template that they were made from.

    Of more than a sample, one drawn at random (always the same) is clustered, and the others go to the cluster whose
    template is nearest. What two parts of a template have to do with each other shows in the end, however weak it is:
    the more documents, the more clusters.

    Args:
        documents: hashes of the paths of each, as :func:`~.paths.path_hashes` gives them for a page.
        least_support: share of the documents that have to have a path to make it essential, 0 for each document's mode.
        variant: ``"exact"`` or ``"minhash"``; ``"auto"`` is exact for up to 400 documents.
        functions: length of a MinHash signature, 1 to 255.
        sample: documents that are clustered.

    Raises:
        ValueError: there are no documents, or a parameter will not do.
    """
    if not documents:
        raise ValueError("there are no documents to cluster")
    check_parameters(least_support, variant, functions, sample)
    chosen = np.sort(np.random.default_rng(_SEED).permutation(len(documents))[:sample])
    essential = essential_paths(PathSets.of([documents[number] for number in chosen.tolist()]), least_support)
    exact = variant == EXACT or (variant == AUTO and len(chosen) <= AUTO_EXACT)
    merged = merge_exactly(essential) if exact else merge_by_minhash(essential, functions)
    found = Clustering(merged.labels, template_paths(essential, merged.labels), merged.costs)
    if len(chosen) == len(documents):
        return found
    labels = np.full(len(documents), -1, np.int64)
    labels[chosen] = found.labels
    for number in np.flatnonzero(labels < 0).tolist():
        labels[number] = found.nearest(np.unique(documents[number]))
    return Clustering(labels, found.templates, found.costs)


def check_parameters(least_support: float, variant: str, functions: int, sample: int = SAMPLE) -> None:
    """Check the parameters of :func:`cluster`.

    Raises:
        ValueError: one of them will not do.
    """
    if not 0 <= least_support <= 1:
        raise ValueError(f"least_support is a share of the documents, 0 to 1: {least_support}")
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}: {variant!r}")
    if not 1 <= functions <= np.iinfo(np.uint8).max:
        raise ValueError(f"functions must be from 1 to 255: {functions}")
    if sample < _LEAST:
        raise ValueError(f"sample must be at least {_LEAST} pages: {sample}")
