"""Where the words of a page's title turn up in its text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.text import UNSPACED_RUN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Floats = NDArray[np.float64]

_MOST_WORDS: Final = 8
_SHORTEST_WORD: Final = 4  # characters; shorter ones are mostly function words
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, eq=False, slots=True)
class TitleWords:
    """Occurrences of the w different words of a title.

    Attributes:
        totals: int64[w, r + 1], running totals over the text runs; w is 0 for a page without a title.
    """

    totals: NDArray[np.int64]

    @classmethod
    def of(cls, page: Page) -> TitleWords:
        """Look for the words of the title, at most 8 of them, in the text of the page, lower-cased."""
        words = _words(page.title.lower())
        lowered = page.text.lower()
        text = lowered if len(lowered) == len(page.text) else page.text  # a few letters change length, offsets must not
        found = [_positions(text, word) for word in words]
        positions = np.fromiter(chain.from_iterable(found), np.int64)
        word = np.repeat(np.arange(len(words)), [len(each) for each in found])
        runs = page.run_offset.searchsorted(positions, side="right") - 1
        r = len(page.runs)
        totals = np.zeros((len(words), r + 1), np.int64)
        counts = np.bincount(word * r + runs, minlength=len(words) * r).reshape(len(words), r)
        np.cumsum(counts, axis=1, out=totals[:, 1:])
        return cls(totals)

    def between(self, run_begin: NDArray[np.int32], run_end: NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Count title words in slices of the runs (int32[k] each).

        Returns:
            float64[k] occurrences, and float64[k] share of the title's different words that occur, 0 without a title.
        """
        hits = self.totals[:, run_end] - self.totals[:, run_begin]
        return hits.sum(axis=0).astype(np.float64), (hits > 0).sum(axis=0) / max(len(hits), 1)


def _words(title: str) -> list[str]:
    found: dict[str, None] = {}
    for match in _WORD.finditer(title):
        word = match[0]
        if UNSPACED_RUN.fullmatch(word):
            found.update((word[k : k + 2], None) for k in range(0, len(word) - 1, 2))
        elif len(word) >= _SHORTEST_WORD:
            found[word] = None
    return list(found)[:_MOST_WORDS]


def _positions(text: str, word: str) -> list[int]:
    positions = []
    at = text.find(word)
    while at >= 0:
        positions.append(at)
        at = text.find(word, at + len(word))
    return positions
