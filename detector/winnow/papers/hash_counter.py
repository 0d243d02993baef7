"""How often each of millions of 64-bit hashes occurs, in two sorted arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

_LEAST_WAITING: Final = 1 << 18


class HashCounter:
    """Counts hashes; new ones wait until they are as many as the old ones, so that merging costs little."""

    def __init__(self) -> None:
        self._hashes = np.zeros(0, np.uint64)
        self._counts = np.zeros(0, np.int64)
        self._waiting: list[Hashes] = []
        self._length = 0

    def add(self, hashes: Hashes) -> None:
        """Count hashes, each as often as it is among them."""
        self._waiting.append(hashes)
        self._length += len(hashes)
        if self._length > max(_LEAST_WAITING, len(self._hashes)):
            self._merge()

    def between(self, least: float, most: float = np.inf) -> Hashes:
        """Return the hashes that were counted so often, sorted."""
        self._merge()
        return self._hashes[(self._counts >= least) & (self._counts <= most)]

    def _merge(self) -> None:
        new, count = np.unique(np.concatenate([*self._waiting, np.zeros(0, np.uint64)]), return_counts=True)
        hashes = np.concatenate([self._hashes, new])
        counts = np.concatenate([self._counts, count])
        order = np.argsort(hashes, kind="stable")
        hashes, counts = hashes[order], counts[order]
        first = np.ones(len(hashes), bool)
        first[1:] = hashes[1:] != hashes[:-1]
        starts = np.flatnonzero(first)
        self._hashes = hashes[starts]
        self._counts = np.add.reduceat(counts, starts) if len(starts) else counts
        self._waiting, self._length = [], 0


def among(hashes: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """bool, shaped like ``hashes``: which of them are among the known ones, which are sorted."""
    if not len(known):
        return np.zeros(hashes.shape, bool)
    place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    found: NDArray[np.bool_] = known[place] == hashes
    return found
