"""Labels from gold text: which blocks of a page are in the main content that a person wrote down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.page.text import WORD

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray


def content_shares(block_texts: Sequence[str], gold_text: str) -> NDArray[np.float64]:
    """Share of each block's words that the gold text has in the same order.

    The words of the page and those of the gold text are aligned by a longest common subsequence, so that a word of the
    menu is not taken for the same word of the article. Characters of unspaced scripts count as words.

    Args:
        block_texts: text of each block of a page, in reading order.
        gold_text: main content of the page.

    Returns:
        float64[m] in 0..1; 0 for blocks without words.

    Raises:
        ImportError: rapidfuzz is not installed.
    """
    longest_common = aligner()
    words = [WORD.findall(text.lower()) for text in block_texts]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    numbers: dict[str, int] = {}
    page = [numbers.setdefault(word, len(numbers)) for block in words for word in block]
    gold = [numbers.setdefault(word, len(numbers)) for word in WORD.findall(gold_text.lower())]
    matched = np.zeros(len(page) + 1, np.int64)
    if page and gold:
        for operation in longest_common.opcodes(page, gold):
            if operation.tag == "equal":
                matched[operation.src_start + 1 : operation.src_end + 1] = 1
    ends = np.cumsum(lengths)
    sums = np.cumsum(matched)
    shares: NDArray[np.float64] = (sums[ends] - sums[ends - lengths]) / np.maximum(lengths, 1)
    return shares


def aligner() -> ModuleType:
    """Return the module that finds longest common subsequences.

    Raises:
        ImportError: rapidfuzz is not installed; it is needed for labels from gold text only.
    """
    try:
        from rapidfuzz.distance import LCSseq  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("training with gold text needs rapidfuzz: pip install 'scrapy-winnow[train]'") from error
    return LCSseq
