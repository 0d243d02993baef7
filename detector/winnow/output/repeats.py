"""Text that a page carries more than once: copies for other screen sizes, quotes of the lead, print versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAST_CHARACTERS: Final = 40
"""Shorter blocks may well stand on a page twice: names, prices, answers of one word."""


def later_copies(texts: Sequence[str], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the blocks that repeat, word for word, a longer block kept before them.

    Args:
        texts: text of each block, in reading order.
        kept: bool[m], blocks that are content.

    Returns:
        bool[m], kept blocks of 40 characters and more whose text an earlier kept block has too.
    """
    copies = np.zeros(len(texts), bool)
    seen: set[str] = set()
    for index in np.flatnonzero(kept).tolist():
        text = texts[index]
        if len(text) >= LEAST_CHARACTERS:
            copies[index] = text in seen
            seen.add(text)
    return copies
