"""Essential paths: those that enough documents have, by a threshold for each document."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.papers.clustering.paths import PathSets

LEAST_SUPPORT: Final = 0.05
_SHARED: Final = 2  # documents that have a path in common


def essential_paths(sets: PathSets, least_support: float = LEAST_SUPPORT) -> PathSets:
    """Leave only the essential paths of each document: those whose support reaches the document's threshold.

    Args:
        sets: all paths of the documents.
        least_support: threshold for all documents, as a share of their number, but never below 2 documents; 0 takes the
            mode of each document, :func:`mode_supports`.
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
