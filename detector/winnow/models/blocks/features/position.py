"""Features of a block's place in reading order: from the top, from the title, from the nearest long paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.features.measures import CHARACTERS, GROUP, HEADINGS, LINKED, WORDS, BlockMeasures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAMES: Final = (
    "text before, share", "blocks before, share", "log text after", "log text before", "share of page",
    "log blocks before", "log blocks after",
    "signed log blocks from h1", "signed log characters from h1", "h1 blocks",
    "log blocks since a heading", "log blocks since long text", "log blocks to long text", "long text before, share",
)  # fmt: skip

_NO_H1: Final = -9.0
_NO_HEADING: Final = 8.0
_FARTHEST: Final = 8.0  # log of about 3,000 blocks
_LONG_WORDS: Final = 20
_LONG_LINK_SHARE: Final = 0.3
_MOST_H1: Final = 5


def long_blocks(measures: BlockMeasures) -> NDArray[np.bool_]:
    """bool[m], blocks of 20 words and more that are not mostly links."""
    characters = np.maximum(measures.block[:, CHARACTERS], 1)
    return (measures.block[:, WORDS] >= _LONG_WORDS) & (measures.block[:, LINKED] / characters < _LONG_LINK_SHARE)


def position_features(measures: BlockMeasures) -> Floats:
    """float64[m, len(NAMES)]."""
    m = measures.page.m
    if not m:
        return np.zeros((0, len(NAMES)))
    characters, total = measures.block[:, CHARACTERS], measures.total[CHARACTERS]
    before = np.cumsum(characters) - characters
    block = np.arange(m)

    h1 = np.flatnonzero(measures.enclosing[:, GROUP["h1"]])
    from_h1 = np.full((2, m), _NO_H1)
    if len(h1):
        longest = h1[np.argmax(characters[h1])]
        distance = np.stack([block - longest, before - before[longest]])
        from_h1 = np.sign(distance) * np.log1p(np.abs(distance))

    heading = np.maximum.accumulate(np.where(measures.enclosing[:, HEADINGS].any(axis=1), block, -1))
    long = long_blocks(measures)
    never = 10 * m + 100_000
    last_long = np.maximum.accumulate(np.where(long, block, -never))
    next_long = np.minimum.accumulate(np.where(long, block, never)[::-1])[::-1]
    long_text = np.cumsum(long * characters)
    return np.column_stack(
        [
            before / total,
            block / m,
            np.log1p(np.stack([np.maximum(total - before - characters, 0), before], axis=1)),
            characters / total,
            np.log1p(np.stack([block, m - 1 - block], axis=1)),
            from_h1.T,
            np.full(m, min(len(h1), _MOST_H1)),
            np.where(heading >= 0, np.log1p(block - heading), _NO_HEADING),
            np.minimum(np.log1p(np.stack([block - last_long, next_long - block], axis=1)), _FARTHEST),
            long_text / max(long_text[-1], 1),
        ]
    )
