"""Pages as sets of DOM paths, and which of a page's paths are essential."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.fingerprints import text_fingerprints
from winnow.hashing import hash_text, mix
from winnow.page.tags import TAG_NAMES, UNKNOWN
from winnow.page.tree import prefix_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]

_TAG_TOKEN: Final = np.array([hash_text(f"<{name}>") for name in TAG_NAMES], np.uint64)
_STEP: Final = np.uint64(0x9E3779B97F4A7C13)
_TEXT: Final = np.uint64(hash_text("#text"))


def path_hashes(page: Page) -> Hashes:
    """Hash the DOM path of every unit of a page.

    The path of an element is the tags from the root down to it, that of a block the path of its element and the block's
    text. Attributes and places among siblings are no part of it: the items of a list share a path, and so do elements
    whose classes name the page or its topic.

    Returns:
        uint64[n + m], elements first. Cost: one vectorised step per level of the tree.
    """
    own = _TAG_TOKEN[page.tag]
    for index in np.flatnonzero(page.tag == UNKNOWN).tolist():
        own[index] ^= np.uint64(hash_text(page.elements[index].tag))
    hashes = np.empty(page.n, np.uint64)
    order = np.argsort(page.depth, kind="stable")
    borders = np.searchsorted(page.depth[order], np.arange(int(page.depth.max(initial=0)) + 2)).tolist()
    for begin, end in pairwise(borders):
        level = order[begin:end]
        above = hashes[page.parent[level]] * _STEP if begin else np.zeros(len(level), np.uint64)
        hashes[level] = mix(above + own[level])
    text = text_fingerprints(page)[page.n :]
    return np.concatenate([hashes, mix(hashes[page.block_node] * _STEP + _TEXT + text)])


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
