"""Features of the blocks around a block in reading order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.features.measures import (
    CHARACTERS,
    GROUP,
    HEADINGS,
    LINKED,
    SENTENCE_ENDS,
    WORDS,
    BlockMeasures,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

_OFFSETS: Final = (-1, 1)  # before and after it
_WINDOWS: Final = (5, 15, 40)
_TOLD: Final = ("log words", "link share", "sentence ends per word", "heading", "p", "li")

NAMES: Final = (
    *(f"neighbour {offset:+d}: {name}" for offset in _OFFSETS for name in _TOLD),
    *(
        f"{window} blocks around: {name}"
        for window in _WINDOWS
        for name in ("log words per block", "link share", "sentence ends per word")
    ),
)

_OUTSIDE: Final = -1.0


def write(rows: Rows, measures: BlockMeasures) -> None:
    """Write float32[len(NAMES), m]; neighbours beyond the ends of the page read -1."""
    counts, m = measures.counts, measures.page.m
    words, characters = counts[WORDS], counts[CHARACTERS]
    told = np.empty((len(_TOLD), m), np.float32)
    np.log1p(words, out=told[0])
    np.divide(counts[LINKED], np.maximum(characters, 1), out=told[1])
    np.minimum(counts[SENTENCE_ENDS] / np.maximum(words, 0.5), 2, out=told[2])
    told[3] = measures.enclosing[HEADINGS, :].any(axis=0)
    told[4] = measures.enclosing[GROUP["p"]] > 0
    told[5] = measures.enclosing[GROUP["li"]] > 0
    before, after = rows[: len(_TOLD)], rows[len(_TOLD) : 2 * len(_TOLD)]
    before[:, 1:], before[:, :1] = told[:, :-1], _OUTSIDE
    after[:, :-1], after[:, -1:] = told[:, 1:], _OUTSIDE

    totals = np.zeros((4, m + 1))
    np.cumsum(counts[[WORDS, LINKED, SENTENCE_ENDS, CHARACTERS]], axis=1, out=totals[:, 1:])
    block = np.arange(m)
    for number, window in enumerate(_WINDOWS):
        begin, end = np.maximum(block - window, 0), np.minimum(block + window + 1, m)
        words_in, linked_in, ends_in, characters_in = totals.take(end, axis=1) - totals.take(begin, axis=1)
        to = rows[2 * len(_TOLD) + 3 * number :]
        np.log1p(words_in / np.maximum(end - begin, 1), out=to[0])
        np.divide(linked_in, np.maximum(characters_in, 1), out=to[1])
        np.divide(ends_in, np.maximum(words_in, 1), out=to[2])
