"""Counts of characters and words by kind, per text run, as prefix sums: any stretch of text costs two look-ups.

Kinds are told apart by Unicode properties and hold for every script, so that features built on them do too.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.subtrees import prefix_sums
from winnow.page.text.scripts import UNSPACED_SCRIPTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Prefix = NDArray[np.int64]

# Kinds of characters; a space-delimited token begins with one of the kinds from _LETTER on.
_SPACE, _UNSPACED, _LETTER, _UPPER, _DIGIT, _COMMA, _SENTENCE_END, _OTHER = range(8)
_WORD_START: Final = 8  # added to the kind of the first character of a word

_COMMAS: Final = ",;،؛、，；﹐﹑﹔､՝፣፤၊᠂᠈"
_SENTENCE_ENDS: Final = ".!?…。．｡！？﹒﹖﹗‼‽⁇⁈⁉؟۔।॥።፧፨။។៕։՞᠃᠉"
_JOINERS: Final = "\u00ad\u200c\u200d"  # soft hyphen, zero-width (non-)joiner: inside a word, never between two


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
    def of(cls, page: Page) -> TextStatistics:
        """Count the characters of a page by kind, in one pass over its text."""
        totals = np.zeros((16, len(page.runs) + 1), np.int64)
        np.cumsum(_counts_by_kind(page).T, axis=1, out=totals[:, 1:])
        kinds = totals[:8] + totals[8:]
        letters = kinds[_UNSPACED] + kinds[_LETTER] + kinds[_UPPER]
        return cls(
            characters=kinds[_UNSPACED:].sum(axis=0),
            words=totals[_WORD_START:].sum(axis=0) + kinds[_UNSPACED] // 2,
            letters=letters,
            digits=kinds[_DIGIT],
            upper_case=kinds[_UPPER],
            commas=kinds[_COMMA],
            sentence_ends=kinds[_SENTENCE_END],
            symbols=kinds[_OTHER],
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


def _counts_by_kind(page: Page) -> NDArray[np.int64]:
    """int64[r, 16]: characters of each run by kind, those that begin a word counted apart, 8 columns further on."""
    kind = _kinds().take(page.code_points)
    begins = page.run_offset[:-1]
    word_start = kind >= _LETTER
    word_start[1:] &= kind[:-1] == _SPACE
    word_start[begins] = kind[begins] >= _LETTER
    kind += word_start.view(np.uint8) * np.uint8(_WORD_START)
    place = np.arange(0, 16 * len(begins), 16).repeat(np.diff(page.run_offset))
    place += kind
    return np.bincount(place, minlength=16 * len(begins)).reshape(-1, 16)


@lru_cache(maxsize=1)
def _kinds() -> NDArray[np.uint8]:
    """uint8[0x110000], kind of every code point; built once, on first use."""
    by_category = {
        "Z": _SPACE, "C": _SPACE, "L": _LETTER, "M": _LETTER, "N": _DIGIT, "P": _OTHER, "S": _OTHER,
    }  # fmt: skip
    kinds = np.full(0x110000, _LETTER, np.uint8)
    planes = range(0x20000)  # nothing above is assigned but Han, tags and private use
    kinds[: len(planes)] = [
        _UPPER if category in {"Lu", "Lt"} else by_category[category[0]]
        for category in map(unicodedata.category, map(chr, planes))
    ]
    for begin, end in UNSPACED_SCRIPTS:
        script = kinds[begin:end]
        script[script == _LETTER] = _UNSPACED
    for characters, kind in ((_COMMAS, _COMMA), (_SENTENCE_ENDS, _SENTENCE_END), (_JOINERS, _LETTER)):
        kinds[[ord(character) for character in characters]] = kind
    return kinds
