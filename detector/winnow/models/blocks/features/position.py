"""Features of a block's place in reading order: from the top, from the title, from the nearest long paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.models.blocks.features.measures import CHARACTERS, GROUP, HEADINGS, LINKED, WORDS, BlockMeasures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

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
    characters = np.maximum(measures.counts[CHARACTERS], 1)
    long: NDArray[np.bool_] = (measures.counts[WORDS] >= _LONG_WORDS) & (
        measures.counts[LINKED] / characters < _LONG_LINK_SHARE
    )
    return long


def write(rows: Rows, measures: BlockMeasures) -> None:
    """Write float32[len(NAMES), m]."""
    m = measures.page.m
    if not m:
        return
    characters, total = measures.counts[CHARACTERS], measures.total[CHARACTERS]
    before = np.cumsum(characters) - characters
    block = np.arange(m)

    np.divide(before, total, out=rows[0])
    np.divide(block, m, out=rows[1])
    np.log1p(np.maximum(total - before - characters, 0), out=rows[2])
    np.log1p(before, out=rows[3])
    np.divide(characters, total, out=rows[4])
    np.log1p(block, out=rows[5])
    rows[6] = rows[5, ::-1]

    h1 = np.flatnonzero(measures.enclosing[GROUP["h1"]])
    rows[7:9] = _NO_H1
    if len(h1):
        longest = h1[np.argmax(characters[h1])]
        distance = np.stack([block - longest, before - before[longest]])
        np.multiply(np.sign(distance), np.log1p(np.abs(distance)), out=rows[7:9])
    rows[9] = min(len(h1), _MOST_H1)

    heading = np.maximum.accumulate(np.where(measures.enclosing[HEADINGS, :].any(axis=0), block, -1))
    long = long_blocks(measures)
    never = 10 * m + 100_000
    last_long = np.maximum.accumulate(np.where(long, block, -never))
    next_long = np.minimum.accumulate(np.where(long, block, never)[::-1])[::-1]
    rows[10] = np.where(heading >= 0, np.log1p(block - heading), _NO_HEADING)
    np.minimum(np.log1p([block - last_long, next_long - block]), _FARTHEST, out=rows[11:13])
    long_text = np.cumsum(long * characters)
    np.divide(long_text, max(long_text[-1], 1), out=rows[13])
