"""The cuts among which a page's is chosen: every block below one of several scores is kept.

A page's own scores rank its blocks well; where to stop is the question. As smoothing gives the blocks of a section one
score, a cut never divides a section.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]

LEVELS: Final = np.array(
    [-6, -5, -4, -3.2, -2.5, -1.9, -1.4, -1, -0.6, -0.2, 0.2, 0.6, 1, 1.5, 2, 2.7, 3.5, 4.5, np.inf]
)
"""Logits of templateness below which blocks are kept; the last keeps the whole page."""

_MOST: Final = 0.9  # of the kept words, that a container must hold; above a half, so that of two one is in the other


@dataclass(frozen=True, eq=False, slots=True)
class Cuts:
    """The k cuts of a page of m blocks that keep different blocks, and some; each keeps those of the one before.

    Attributes:
        kept: bool[k, m].
        logit: float64[k], of :data:`LEVELS`.
        container: int64[k], innermost element that holds nine tenths of the kept words.
    """

    kept: NDArray[np.bool_]
    logit: Floats
    container: NDArray[np.int64]

    @classmethod
    def of(cls, page: Page, logits: Floats, words: Floats) -> Self:
        """Make the cuts.

        Args:
            page: the page; it has a block.
            logits: float64[m], logits of the blocks' templateness.
            words: float64[m], words of each block, above 0.
        """
        below = logits < LEVELS[:, None]
        number = below.sum(axis=1)
        new = number > np.append(0, number[:-1])
        kept = below[new]
        return cls(kept, LEVELS[new], _containers(page, kept, words))


def _containers(page: Page, kept: NDArray[np.bool_], words: Floats) -> NDArray[np.int64]:
    """int64[k], innermost element that holds most of the kept words of each cut."""
    held = page.block_end - page.block_begin
    branch = held > 1  # others hold what the elements around or inside them hold
    branch[1:] &= held[1:] != held[page.parent[1:]]
    branch[0] = True
    branches = np.flatnonzero(branch)
    totals = np.zeros((page.m + 1, len(kept)))
    np.cumsum(words[:, None] * kept.T, axis=0, out=totals[1:])
    inside = totals.take(page.block_end[branches], axis=0) - totals.take(page.block_begin[branches], axis=0)
    enough = inside >= _MOST * totals[-1]
    containers: NDArray[np.int64] = branches[len(branches) - 1 - enough[::-1].argmax(axis=0)]  # the innermost is last
    return containers
