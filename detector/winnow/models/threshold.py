"""The threshold of a page: the cut that the scores themselves expect to give the best text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def expected_f1_threshold(templateness: Floats, words: Floats) -> float:
    """Templateness from which a block is better cut, if the kept text is to have the highest expected F1.

    With calibrated scores the expected F1 of keeping the blocks below a cut is, to first order, ``2 * C / (K + W)``:
    content words kept, over words kept plus content words of the page. A page whose blocks are all doubtful is cut
    later than one with clear content: a lost paragraph costs it more than a kept caption.

    Args:
        templateness: float64[m] in 0..1, scores of the text blocks.
        words: float64[m], words of each block.

    Returns:
        A number in 0..1; blocks whose templateness is not below it are cut. 0.5 for a page without text.
    """
    mass = np.maximum(words, 0.5)
    content = (1 - templateness) * mass
    if not len(mass):
        return 0.5
    order = np.argsort(templateness, kind="stable")
    expected = 2 * np.cumsum(content[order]) / (np.cumsum(mass[order]) + content.sum())
    best = int(np.argmax(expected))
    last_kept = float(templateness[order[best]])
    just_above = float(np.nextafter(last_kept, 2.0))
    if best + 1 == len(order):
        return just_above
    return max((last_kept + float(templateness[order[best + 1]])) / 2, just_above)
