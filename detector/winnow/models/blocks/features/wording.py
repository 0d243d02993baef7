"""Features of a block's own text and of the elements that enclose it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.features.measures import (
    CHARACTERS,
    COMMAS,
    DIGITS,
    EMPHASISED,
    GROUP_NAMES,
    LETTERS,
    LINKED,
    SENTENCE_ENDS,
    SYMBOLS,
    UPPER_CASE,
    WORDS,
    BlockMeasures,
)
from winnow.page.subtrees import prefix_sums
from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.float32]

NAMES: Final = (
    "log characters", "log words", "characters per word",
    "link share", "emphasised share", "upper-case share", "digit share", "symbol share", "letter share",
    "commas per word", "sentence ends per word", "log commas", "log sentence ends",
    "begins in upper case", "begins with a digit", "begins with a symbol",
    "ends a sentence", "ends with a comma or colon",
    *(f"enclosed by {name}" for name in GROUP_NAMES),
    "hidden by markup", "log depth", "log links of its container", "log twins",
    "share of the title's words", "title's words per word",
)  # fmt: skip

_SENTENCE_ENDS: Final = frozenset('.!?…。！？؟۔।"”»’)')
_COMMAS: Final = frozenset(",;:、،；：，")
_MOST_ENCLOSING: Final = 3
_BEHIND: Final = 18 + len(GROUP_NAMES)  # the first row behind those of the enclosing elements


def write(rows: Rows, measures: BlockMeasures, twins: Floats, hidden: NDArray[np.bool_]) -> None:
    """Write float32[len(NAMES), m].

    Args:
        rows: where to.
        measures: of the page.
        twins: float64[m], number of other blocks of the page with the same text.
        hidden: bool[n], elements inside something that markup hides.
    """
    page, counts, words_here = measures.page, measures.counts, measures.words
    characters, words = np.maximum(counts[CHARACTERS], 1), np.maximum(counts[WORDS], 0.5)
    np.log1p(counts[[CHARACTERS, WORDS]], out=rows[0:2])
    np.minimum(characters / words, 20, out=rows[2])
    np.divide(counts[[LINKED, EMPHASISED, UPPER_CASE, DIGITS, SYMBOLS, LETTERS]], characters, out=rows[3:9])
    np.minimum(counts[[COMMAS, SENTENCE_ENDS]] / words, 2, out=rows[9:11])
    np.log1p(counts[[COMMAS, SENTENCE_ENDS]], out=rows[11:13])
    _write_edges(rows[13:18], measures)
    np.minimum(measures.enclosing[:-1], _MOST_ENCLOSING, out=rows[18:_BEHIND])

    links = prefix_sums(page.tag == TAG_ID["a"])
    of_container = links[page.end[page.block_node]] - links[page.block_node]
    rows[_BEHIND] = hidden[measures.owner]
    np.log1p([page.depth[measures.owner], of_container, twins], out=rows[_BEHIND + 1 : _BEHIND + 4])
    np.divide(words_here.told, max(words_here.title, 1), out=rows[_BEHIND + 4])
    np.divide(words_here.told, words, out=rows[_BEHIND + 5])


def _write_edges(rows: Rows, measures: BlockMeasures) -> None:
    """Write float32[5, m], kinds of the first and last character."""
    m = measures.page.m
    first = np.fromiter(map(_first_kind, measures.first), np.uint8, m)
    last = np.fromiter(map(_last_kind, measures.last), np.uint8, m)
    for row, codes, bit in zip(rows, (first, first, first, last, last), (1, 2, 4, 1, 2), strict=True):
        np.not_equal(codes & bit, 0, out=row, casting="unsafe")


@lru_cache(4_096)
def _first_kind(character: str) -> int:
    return character.isupper() | character.isdigit() << 1 | (not character.isalnum()) << 2


@lru_cache(4_096)
def _last_kind(character: str) -> int:
    return (character in _SENTENCE_ENDS) | (character in _COMMAS) << 1
