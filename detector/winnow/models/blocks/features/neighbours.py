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

    Floats = NDArray[np.float64]

_OFFSETS: Final = (-1, 1)
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


def neighbour_features(measures: BlockMeasures) -> Floats:
    """float64[m, len(NAMES)]; neighbours beyond the ends of the page read -1."""
    block, m = measures.block, measures.page.m
    words, characters = block[:, WORDS], block[:, CHARACTERS]
    told = np.column_stack(
        [
            np.log1p(words),
            block[:, LINKED] / np.maximum(characters, 1),
            np.minimum(block[:, SENTENCE_ENDS] / np.maximum(words, 0.5), 2),
            measures.enclosing[:, HEADINGS].any(axis=1),
            measures.enclosing[:, GROUP["p"]] > 0,
            measures.enclosing[:, GROUP["li"]] > 0,
        ]
    )
    reach = max(_OFFSETS)
    padded = np.full((m + 2 * reach, told.shape[1]), _OUTSIDE)
    padded[reach : reach + m] = told
    around = [padded[reach + offset : reach + offset + m] for offset in _OFFSETS]

    totals = np.zeros((m + 1, 4))
    np.cumsum(block[:, [WORDS, LINKED, SENTENCE_ENDS, CHARACTERS]], axis=0, out=totals[1:])
    number, window = np.arange(m)[:, None], np.array(_WINDOWS)
    begin, end = np.maximum(number - window, 0), np.minimum(number + window + 1, m)
    words_in, linked_in, ends_in, characters_in = np.moveaxis(totals[end] - totals[begin], 2, 0)
    windows = [
        np.log1p(words_in / np.maximum(end - begin, 1)),
        linked_in / np.maximum(characters_in, 1),
        ends_in / np.maximum(words_in, 1),
    ]
    return np.concatenate([*around, np.stack(windows, axis=2).reshape(m, 3 * len(_WINDOWS))], axis=1)
