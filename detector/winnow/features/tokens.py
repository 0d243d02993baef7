"""Hashed words of the text and of class, id and role attributes, and features from their learned log-odds.

Using a naive Bayes score as a feature of another classifier is section 4.1 of the site-independent template blocks
paper; here the names that authors give to elements are scored like words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from winnow.core import core
from winnow.memo import Memo
from winnow.page.text import character_properties

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Matrix = NDArray[np.float32]

TABLE_SIZE: Final = 1 << 15
"""Entries of a table; words with the same hash share one."""

_ENTRY: Final = np.uint32(TABLE_SIZE - 1)
"""Bits of a hash that are its entry."""

_TABLED_LEVELS: Final = 4

_WORD_FEATURES: Final = 4  # total, mean, lowest and highest log-odds

TOKEN_FEATURE_NAMES: Final = (
    *(f"words: {name} log-odds" for name in ("total", "mean", "lowest", "highest")),
    *(f"names: {name} log-odds" for name in ("path", "lowest on path", "highest on path", "own")),
    *(f"names: path log-odds of container {level}" for level in range(_TABLED_LEVELS)),
)

_NAME_SEED: Final = crc32(b"name:")
_WORD_SEED: Final = crc32(b"word:")
_NUMBER_WORD: Final = crc32(b"#", _WORD_SEED)  # all numbers are one word
_NUMBER_PART: Final = crc32(b"#", _NAME_SEED)
_NAMING: Final = ("class", "id", "role", "itemprop", "aria-label", "itemtype", "data-testid", "rel")
_WORD: Final = re.compile(r"\w+")
_NAME_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_MAX_NAME_PARTS: Final = 12
_MAX_TITLE_WORDS: Final = 64  # token_model.c has the same number


def name_hashes(name: str) -> tuple[int, ...]:
    """32-bit hashes of the distinct parts of a name, at most 12: ``"postMeta_12"`` -> post, meta, #.

    Must match the core, which hashes ASCII names.
    """
    parts = [part.lower() for part in _NAME_PART.findall(name)[:_MAX_NAME_PARTS]]
    return tuple(
        dict.fromkeys(
            _NUMBER_PART if part.isdigit() else crc32(part.encode("utf-8", "surrogatepass"), _NAME_SEED)
            for part in parts
        )
    )


_NAME_HASHES: Final = Memo(name_hashes, 16_384)


@dataclass(frozen=True, eq=False, slots=True)
class Tokens:
    """Hashed names and words of a page, with the parts of its tree that their features need, without lxml nodes.

    Attributes:
        name_element, name: int32[...] and uint32[...], element and table entry of each name part of the elements with
            blocks, in document order.
        words_per_block: int32[m], number of leading words of each block: at most 16, from its first 160 characters.
        word: uint32[...], table entry of each leading word, block after block.
        title_overlap: int32[m], number of distinct title words in the first 400 characters of each block.
        title_words: number of distinct title words; the first 64 count.
        arrays: those of the page, for the core.
        block_begin, block_end: int32[n], slice of the blocks inside each element.
    """

    name_element: NDArray[np.int32]
    name: NDArray[np.uint32]
    words_per_block: NDArray[np.int32]
    word: NDArray[np.uint32]
    title_overlap: NDArray[np.int32]
    title_words: int
    arrays: tuple[NDArray[np.generic], ...]
    block_begin: NDArray[np.int32]
    block_end: NDArray[np.int32]

    @classmethod
    def of(cls, page: Page, lines: str) -> Tokens:
        """Gather the names of the elements, and the first words of the blocks from their texts in lower case."""
        title = list(dict.fromkeys(_WORD.findall(page.title.lower())))[:_MAX_TITLE_WORDS]
        title_lines = "".join([f"{word}\n" for word in title])
        words_per_block, overlap = np.zeros((2, page.m), np.int32)
        words = core.leading_words(
            *(lines, title_lines, character_properties(), _WORD_SEED, _NUMBER_WORD, words_per_block, overlap)
        )
        table = page.attributes
        naming = table.numbers_of(*_NAMING)
        elements, names = core.name_parts(page.arrays, table.arrays, naming, _NAME_SEED, _NUMBER_PART, _NAME_HASHES)
        return cls(
            name_element=np.frombuffer(elements, np.int32),
            name=np.frombuffer(names, np.uint32) & _ENTRY,
            words_per_block=words_per_block,
            word=np.frombuffer(words, np.uint32) & _ENTRY,
            title_overlap=overlap,
            title_words=len(title),
            arrays=page.arrays,
            block_begin=page.block_begin,
            block_end=page.block_end,
        )


@dataclass(frozen=True, eq=False, slots=True)
class TokenTables:
    """Learned log-odds of content.

    Attributes:
        names: float32[TABLE_SIZE], for name parts.
        words: float32[TABLE_SIZE], for words.
    """

    names: Matrix
    words: Matrix

    def features(self, tokens: Tokens) -> Matrix:
        """float32[m, len(TOKEN_FEATURE_NAMES)], token features of a page's blocks."""
        rows = np.empty((len(TOKEN_FEATURE_NAMES), len(tokens.words_per_block)), np.float32)
        core.word_features(tokens.words_per_block, tokens.word, self.words, rows[:_WORD_FEATURES])
        core.name_features(tokens.arrays, tokens.name_element, tokens.name, self.names, rows[_WORD_FEATURES:])
        return rows.T
