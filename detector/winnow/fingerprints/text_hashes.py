"""Hashes of stretches of a page's text, as differences of prefix sums over its characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.hashing import BASE, inverse_powers, mix, powers
from winnow.page.subtrees import prefix_sums
from winnow.page.text.characters import CODES, character_tokens, utf16, white_space
from winnow.page.text.kinds import character_properties

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.core import Core
    from winnow.page.page import Page

    Hashes = NDArray[np.uint64]
    Positions = NDArray[np.int64]

_EMPTY: Final = np.uint64(1)  # stands for a hash that happens to be 0, which means "no text"


class TextHashes:
    """Prefix sums over the characters of a page that are not white space, kept at the borders of its runs.

    A character's token says whether white space stands before it; a slice's first character is taken as one without.
    """

    def __init__(self, page: Page) -> None:
        core = compiled()
        found = _prefix_sums(page) if core is None else _compiled_prefix_sums(core, page)
        self._exponent, self._sums, self._correction = found
        self._shift = inverse_powers(self._exponent)

    def of(self, begin: NDArray[np.int32], end: NDArray[np.int32]) -> Hashes:
        """Hash slices of runs; 0 where there is nothing but white space."""
        hashes = mix((self._sums[end] - self._sums[begin]) * self._shift[begin] + self._correction[begin])
        hashes[hashes == 0] = _EMPTY
        hashes[self._exponent[begin] == self._exponent[end]] = 0
        return hashes

    def of_runs(self) -> Hashes:
        """uint64[r], hash of each run."""
        border = np.arange(len(self._exponent), dtype=np.int32)
        return self.of(border[:-1], border[1:])

    def of_units(self, page: Page) -> Hashes:
        """uint64[n + m], hash of the text of each unit."""
        return self.of(
            np.concatenate([page.run_begin, page.block_run_begin]), np.concatenate([page.run_end, page.block_run_end])
        )


def _compiled_prefix_sums(core: Core, page: Page) -> tuple[Positions, Hashes, Hashes]:
    starts = np.zeros(page.r, bool)
    starts[page.block_run_begin] = True
    exponent = np.empty(page.r + 1, np.int64)
    sums, correction = np.empty((2, page.r + 1), np.uint64)
    core.text_hashes(
        page.text, page.run_offset, starts, character_properties(), character_tokens(), BASE, exponent, sums, correction
    )
    return exponent, sums, correction


def _prefix_sums(page: Page) -> tuple[Positions, Hashes, Hashes]:
    """For every border of runs (r + 1), the codes before it that are no white space, their sum, and a correction.

    The correction makes the first code of a slice that begins there one without white space before it.
    """
    token = character_tokens()
    codes = utf16(page.text)
    offset = page.run_offset
    if len(codes) != len(page.text):  # characters outside the basic plane are two codes
        offset = offset + prefix_sums(page.code_points >= CODES)[offset]

    ink = np.flatnonzero(~white_space().take(codes))  # take: three times as fast as indexing by uint16
    exponent = np.searchsorted(ink, offset)
    spaced = np.ones(len(ink), bool)
    np.not_equal(ink[1:], ink[:-1] + 1, out=spaced[1:])
    spaced[exponent[page.block_run_begin]] = True
    rows = codes.take(ink).astype(np.int32)
    rows += spaced * np.int32(CODES)
    weighted = token.take(rows)
    weighted *= powers(0, len(ink))
    sums = np.zeros(len(offset), np.uint64)
    if len(ink):
        inked = exponent[1:] > exponent[:-1]
        sums[1:][inked] = np.add.reduceat(weighted, exponent[:-1][inked])
        np.cumsum(sums, out=sums)
        first = rows.take(np.minimum(exponent, len(ink) - 1))
        return exponent, sums, token.take(first & (CODES - 1)) - token.take(first)
    return exponent, sums, sums
