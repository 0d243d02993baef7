"""Features of a block's own text and of the elements that enclose it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.memo import Memo
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


def wording_features(measures: BlockMeasures, twins: Floats, hidden: NDArray[np.bool_]) -> Floats:
    """float64[m, len(NAMES)].

    Args:
        measures: of the page.
        twins: float64[m], number of other blocks of the page with the same text.
        hidden: bool[n], elements inside something that markup hides.
    """
    page, block = measures.page, measures.block
    characters, words = np.maximum(block[:, CHARACTERS], 1), np.maximum(block[:, WORDS], 0.5)
    shares = block[:, [LINKED, EMPHASISED, UPPER_CASE, DIGITS, SYMBOLS, LETTERS]] / characters[:, None]
    per_word = np.minimum(block[:, [COMMAS, SENTENCE_ENDS]] / words[:, None], 2)
    links = prefix_sums(page.tag == TAG_ID["a"])
    container_links = links[page.end[page.block_node]] - links[page.block_node]
    told = measures.words.told.astype(np.float64)
    return np.column_stack(
        [
            np.log1p(block[:, [CHARACTERS, WORDS]]),
            np.minimum(characters / words, 20),
            shares,
            per_word,
            np.log1p(block[:, [COMMAS, SENTENCE_ENDS]]),
            _edges(measures),
            np.minimum(measures.enclosing[:, :-1], _MOST_ENCLOSING),
            hidden[measures.owner],
            np.log1p(np.column_stack([page.depth[measures.owner], container_links, twins])),
            told / max(measures.words.title, 1),
            told / words,
        ]
    )


def _edges(measures: BlockMeasures) -> Floats:
    """float64[m, 5], kinds of the first and last character."""
    codes = np.array([list(map(_FIRST.__getitem__, measures.first)), list(map(_LAST.__getitem__, measures.last))])
    bits = codes.astype(np.int64).repeat([3, 2], axis=0) >> np.array([[0], [1], [2], [0], [1]]) & 1
    edges: Floats = bits.T.astype(np.float64)
    return edges


_FIRST: Final = Memo[str, int](lambda c: c.isupper() | c.isdigit() << 1 | (not c.isalnum()) << 2, 4_096)
_LAST: Final = Memo[str, int](lambda c: (c in _SENTENCE_ENDS) | (c in _COMMAS) << 1, 4_096)
