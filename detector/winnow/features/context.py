"""The context windows of a block: its neighbours, its innermost containers and the page.

A network averages over them what it has made of single blocks. A window is a slice of the blocks in reading order,
because the blocks inside an element are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.features.tokens import Tokens

_REACH: Final = 2
_LEVELS: Final = 3

WINDOWS: Final = ("two blocks each way", *(f"container {level}" for level in range(_LEVELS)), "page")
"""What the windows of a block are, in their order."""


@dataclass(frozen=True, eq=False, slots=True)
class ContextWindows:
    """Windows around each of m blocks, of one page or of several one after the other.

    Attributes:
        begin, end: int64[len(WINDOWS), m], slice of the blocks of each window.
        weight: float32[m], how much a block counts in a mean: the square root of its words.
        scale: float32[len(WINDOWS), m], one over the weight of each window.
    """

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    weight: NDArray[np.float32]
    scale: NDArray[np.float32]

    @classmethod
    def of(cls, tokens: Tokens, words: NDArray[np.float64]) -> Self:
        """Find the windows of the blocks of a page.

        Args:
            tokens: of the page; they know its tree.
            words: float64[m], words of each block.
        """
        m = len(words)
        begin, end = np.empty((2, len(WINDOWS), m), np.int64)
        levels, block = tokens.levels[:_LEVELS], np.arange(m)
        np.maximum(block - _REACH, 0, out=begin[0])
        np.minimum(block + _REACH + 1, m, out=end[0])
        begin[1:-1], end[1:-1] = tokens.block_begin[levels], tokens.block_end[levels]
        begin[-1], end[-1] = 0, m
        weight = np.sqrt(np.maximum(words, 0.5))
        totals = np.zeros(m + 1)
        np.cumsum(weight, out=totals[1:])
        scale = 1 / np.maximum(totals.take(end) - totals.take(begin), 1e-6)
        return cls(begin, end, weight.astype(np.float32), scale.astype(np.float32))

    @classmethod
    def joined(cls, pages: Sequence[ContextWindows]) -> Self:
        """Put pages behind each other."""
        offsets = np.cumsum([0, *(len(page.weight) for page in pages[:-1])])
        return cls(
            np.concatenate([page.begin + offset for page, offset in zip(pages, offsets, strict=True)], axis=1),
            np.concatenate([page.end + offset for page, offset in zip(pages, offsets, strict=True)], axis=1),
            np.concatenate([page.weight for page in pages]),
            np.concatenate([page.scale for page in pages], axis=1),
        )
