"""Counts of characters and words by kind, per text run, as prefix sums: any stretch of text costs two look-ups.

Kinds are told apart by Unicode properties and hold for every script, so that features built on them do too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.page.subtrees import prefix_sums
from winnow.page.text.kinds import (
    COMMA,
    LETTER,
    NUMERIC,
    OTHER,
    SENTENCE_END,
    SPACE,
    UNSPACED,
    UPPER,
    character_kinds,
    character_properties,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.flat_tree import FlatTree

    Prefix = NDArray[np.int64]

_WORD_START: Final = 8  # added to the kind of the first character of a word


@dataclass(frozen=True, eq=False, slots=True)
class TextStatistics:
    """Running totals over the text runs of a page.

    Every total is an int64[r + 1]: the runs ``[begin, end)`` hold ``total[end] - total[begin]`` of the kind.

    Attributes:
        characters: everything but white space and control characters.
        words: space-delimited tokens; in scripts without spaces (Han, kana, Thai and others) two characters count as
            one word. A token that markup cuts (``un<b>able</b>``) counts once per run.
        letters: letters of any script, combining marks included.
        digits: decimal digits and other numbers.
        upper_case: upper-case and title-case letters (also counted as letters).
        commas: commas, enumeration commas and semicolons of any script.
        sentence_ends: full stops, question and exclamation marks of any script.
        symbols: all other punctuation and symbols.
        unit_run_begin, unit_run_end: int32[n + m], slice of the runs of each unit.
    """

    characters: Prefix
    words: Prefix
    letters: Prefix
    digits: Prefix
    upper_case: Prefix
    commas: Prefix
    sentence_ends: Prefix
    symbols: Prefix
    unit_run_begin: NDArray[np.int32]
    unit_run_end: NDArray[np.int32]

    @classmethod
    def of(cls, page: FlatTree) -> TextStatistics:
        """Count the characters of a page by kind, in one pass over its text."""
        characters, words, letters, digits, upper_case, commas, sentence_ends, symbols = text_totals(page)
        return cls(
            characters=characters,
            words=words,
            letters=letters,
            digits=digits,
            upper_case=upper_case,
            commas=commas,
            sentence_ends=sentence_ends,
            symbols=symbols,
            unit_run_begin=np.concatenate([page.run_begin, page.block_run_begin]),
            unit_run_end=np.concatenate([page.run_end, page.block_run_end]),
        )

    def per_unit(self, prefix: Prefix) -> Prefix:
        """int64[n + m], a total's share of each unit: subtrees of the elements, then the blocks."""
        return prefix[self.unit_run_end] - prefix[self.unit_run_begin]

    @staticmethod
    def only(prefix: Prefix, runs: NDArray[np.bool_]) -> Prefix:
        """int64[r + 1], the same total over the chosen runs only (``runs``: bool[r]), e.g. those inside links."""
        return prefix_sums(np.diff(prefix) * runs)


def text_totals(page: FlatTree) -> Prefix:
    """int64[8, r + 1], the totals in the order of the attributes of :class:`TextStatistics`."""
    core = compiled()
    if core is not None:
        totals = np.zeros((8, page.r + 1), np.int64)
        core.count_kinds(page.text, page.run_offset, character_properties(), totals)
        return totals
    sums = np.zeros((16, page.r + 1), np.int64)
    np.cumsum(_counts_by_kind(page).T, axis=1, out=sums[:, 1:])
    kinds = sums[:8] + sums[8:]
    characters = kinds[UNSPACED:].sum(axis=0)
    words = sums[_WORD_START:].sum(axis=0) + kinds[UNSPACED] // 2
    letters = kinds[UNSPACED] + kinds[LETTER] + kinds[UPPER]
    return np.stack([characters, words, letters, *kinds[[NUMERIC, UPPER, COMMA, SENTENCE_END, OTHER]]])


def _counts_by_kind(page: FlatTree) -> NDArray[np.int64]:
    """int64[r, 16]: characters of each run by kind, those that begin a word counted apart, 8 columns further on."""
    kind = character_kinds().take(page.code_points)
    begins = page.run_offset[:-1]
    word_start = kind >= LETTER
    word_start[1:] &= kind[:-1] == SPACE
    word_start[begins] = kind[begins] >= LETTER
    kind += word_start.view(np.uint8) * np.uint8(_WORD_START)
    place = np.arange(0, 16 * len(begins), 16).repeat(np.diff(page.run_offset))
    place += kind
    return np.bincount(place, minlength=16 * len(begins)).reshape(-1, 16)
