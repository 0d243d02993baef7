"""The stretches of blocks around each block over which the network averages what it has made of single blocks.

A stretch is a slice of the blocks in reading order, because the blocks inside an element are one. So any mean over any
stretch is a difference of two running totals.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.core import SEED, compiled
from winnow.models.blocks.running_totals import running_totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.models.blocks.features.tokens import Tokens

    Matrix = NDArray[np.float32]
    Indices = NDArray[np.int64]

_REACH: Final = 2
_LEVELS: Final = 3

NAMES: Final = ("two blocks each way", *(f"container {level}" for level in range(_LEVELS)), "page")
"""What the stretches of a block are, in their order."""


@dataclass(frozen=True, eq=False, slots=True)
class Stretches:
    """k stretches of blocks.

    Attributes:
        begin, end: int64[k], slices of the blocks.
        scale: float32[k], one over the weight of each.
    """

    begin: Indices
    end: Indices
    scale: Matrix

    def of(self, piece: slice, first: int) -> Stretches:
        """Some of them, over blocks of which ``first`` is the first."""
        return Stretches(self.begin[piece] - first, self.end[piece] - first, self.scale[piece])


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Stretches of blocks around each of m blocks, of one page or of several one after the other.

    Attributes:
        begin, end: int64[len(NAMES), m], slice of the blocks of each stretch.
        weight: float32[m], how much a block counts in a mean: the square root of its words.
        scale: float32[len(NAMES), m, 1], one over the weight of each stretch.
    """

    begin: Indices
    end: Indices
    weight: Matrix
    scale: Matrix

    @classmethod
    def of(cls, tokens: Tokens, words: NDArray[np.float64]) -> Self:
        """Find the stretches of the blocks of a page.

        Args:
            tokens: of the page; they know its tree.
            words: float64[m], words of each block.
        """
        m = len(words)
        core = compiled()
        if core is not None:
            begin, end = np.empty((2, len(NAMES), m), np.int64)
            weight, scale = np.empty(m, np.float32), np.empty((len(NAMES), m, 1), np.float32)
            core.surroundings(tokens.levels, tokens.block_begin, tokens.block_end, words, begin, end, weight, scale)
            return cls(begin, end, weight, scale)
        block = np.arange(m)
        levels = tokens.levels[:_LEVELS]
        begin = np.vstack([np.maximum(block - _REACH, 0), tokens.block_begin[levels], np.zeros_like(block)])
        end = np.vstack([np.minimum(block + _REACH + 1, m), tokens.block_end[levels], np.full_like(block, m)])
        weight = np.sqrt(np.maximum(words, 0.5))
        totals = np.append(0.0, np.cumsum(weight))
        scale = 1 / np.maximum(totals[end] - totals[begin], 1e-6)
        return cls(begin, end, weight.astype(np.float32), scale.astype(np.float32)[:, :, None])

    @classmethod
    def joined(cls, pages: Sequence[Surroundings]) -> Self:
        """Put pages behind each other."""
        offsets = np.cumsum([0, *(len(page.weight) for page in pages[:-1])])
        return cls(
            np.concatenate([page.begin + offset for page, offset in zip(pages, offsets, strict=True)], axis=1),
            np.concatenate([page.end + offset for page, offset in zip(pages, offsets, strict=True)], axis=1),
            np.concatenate([page.weight for page in pages]),
            np.concatenate([page.scale for page in pages], axis=1),
        )

    @cached_property
    def near(self) -> Stretches:
        """The near blocks of each of m blocks."""
        return Stretches(self.begin[0], self.end[0], self.scale[0, :, 0])

    @cached_property
    def of_containers(self) -> tuple[Stretches, Indices]:
        """The different stretches that containers make, and int64[kinds, m], which of them each block has around it."""
        kinds, m = self.begin.shape
        core = compiled()
        if core is not None:
            first, place = np.empty((kinds - 1) * m, np.int64), np.empty((kinds - 1) * m, np.int32)
            first = first[: core.number_slices(self.begin[1:], self.end[1:], SEED, first, place)]
        else:
            key = self.begin[1:] * (m + 1) + self.end[1:]
            _, first, place = np.unique(key, return_index=True, return_inverse=True)
        first += m
        begin, end, scale = self.begin.ravel(), self.end.ravel(), self.scale.ravel()
        return Stretches(begin.take(first), end.take(first), scale.take(first)), place.astype(np.int64).reshape(
            kinds - 1, m
        )

    def add_means(self, to: Matrix, values: Matrix) -> None:
        """Add the means over the stretches.

        Args:
            to: float32[m, d], what they are added to.
            values: float32[m, len(NAMES) * d], for each kind of stretch the values that its mean is taken of.
        """
        width = to.shape[1]
        totals = running_totals(values, self.weight)
        for kind, (begin, end, scale) in enumerate(zip(self.begin, self.end, self.scale, strict=True)):
            column = totals[:, kind * width : (kind + 1) * width]
            to += (column.take(end, axis=0) - column.take(begin, axis=0)) * scale
