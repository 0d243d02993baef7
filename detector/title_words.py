"""Where the words of a page's title turn up in its text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from detector.subtrees import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from detector.page import Page

_MOST_WORDS: Final = 12
_SHORTEST_WORD: Final = 4  # characters; shorter ones are mostly function words
_WORD: Final = re.compile(r"[^\W\d_]+")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{2,}")


@dataclass(frozen=True, eq=False, slots=True)
class TitleWords:
    """Occurrences of title words.

    Attributes:
        occurrences: int64[r + 1], running total over the text runs.
        covered: float64[n], share of the title's different words that each subtree contains.
    """

    occurrences: NDArray[np.int64]
    covered: NDArray[np.float64]

    @classmethod
    def of(cls, page: Page) -> TitleWords:
        """Look for the words of the title, at most 12 of them, in the text of the page, lower-cased."""
        words = _words(page.title.lower())
        lowered = page.text.lower()
        text = lowered if len(lowered) == len(page.text) else page.text  # a few letters change length, offsets must not
        hits = np.zeros(len(page.runs), np.int64)
        covered = np.zeros(page.n)
        for word in words:
            runs = page.run_offset.searchsorted(_positions(text, word), side="right") - 1
            hits += np.bincount(runs, minlength=len(hits))
            first = runs.searchsorted(page.run_begin)  # is there a hit inside the subtree's slice of runs?
            covered += runs.searchsorted(page.run_end) > first
        return cls(prefix_sums(hits), covered / max(len(words), 1))


def _words(title: str) -> list[str]:
    found: dict[str, None] = {}
    for match in _WORD.finditer(title):
        word = match[0]
        if _UNSPACED.fullmatch(word):
            found.update((word[k : k + 2], None) for k in range(0, len(word) - 1, 2))
        elif len(word) >= _SHORTEST_WORD:
            found[word] = None
    return list(found)[:_MOST_WORDS]


def _positions(text: str, word: str) -> NDArray[np.int64]:
    positions = []
    at = text.find(word)
    while at >= 0:
        positions.append(at)
        at = text.find(word, at + len(word))
    return np.array(positions, np.int64)
