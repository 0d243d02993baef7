"""Hashed words of the text and of class, id and role attributes, and features from their learned log-odds.

Using a naive Bayes score as a feature of another classifier is section 4.1 of the site-independent template blocks
paper; here the names that authors give to elements are scored like words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

import numpy as np

from winnow.core import core
from winnow.memo import Memo
from winnow.page.attributes import attribute_predicate
from winnow.page.text import character_properties

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Indices = NDArray[np.int64]
    Matrix = NDArray[np.float32]

TABLE_SIZE: Final = 1 << 15
"""Entries of a table; words with the same hash share one."""

_TABLED_LEVELS: Final = 4

WORD_FEATURES: Final = 4
"""Number of features of a block's words: total, mean, lowest and highest log-odds."""

TOKEN_FEATURE_NAMES: Final = (
    *(f"words: {name} log-odds" for name in ("total", "mean", "lowest", "highest")),
    *(f"names: {name} log-odds" for name in ("path", "lowest on path", "highest on path", "own")),
    *(f"names: path log-odds of container {level}" for level in range(_TABLED_LEVELS)),
)

_NAME_SEED: Final = crc32(b"name:")
_WORD_SEED: Final = crc32(b"word:")
_NUMBER_WORD: Final = crc32(b"#", _WORD_SEED)  # all numbers are one word
_NUMBER_PART: Final = crc32(b"#", _NAME_SEED)
_NAMING: Final = attribute_predicate("class", "id", "role", "itemprop", "aria-label", "itemtype", "data-testid", "rel")
_WORD: Final = re.compile(r"\w+")
_NAME_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_MAX_NAME_PARTS: Final = 12


class LeadingWords(NamedTuple):
    """The first words of each of a page's m blocks, lower-cased.

    Attributes:
        number: int32[m], number of words hashed: at most 16, from the first 160 characters of each block.
        hashes: uint32[sum of number], their hashes, block after block.
        title_overlap: int32[m], number of distinct title words in the first 400 characters of each block.
        title_words: number of distinct title words.
    """

    number: NDArray[np.int32]
    hashes: NDArray[np.uint32]
    title_overlap: NDArray[np.int32]
    title_words: int


def leading_words(lines: str, m: int, title: str) -> LeadingWords:
    """Hash the first words of each block, and count the words of the title among them.

    Args:
        lines: lower-case texts of the blocks, with single spaces between words and line feeds between blocks.
        m: number of blocks.
        title: title of the page.
    """
    number, overlap = np.zeros((2, m), np.int32)
    wanted = set(_WORD.findall(title.lower()))
    words = "".join([f"{word}\n" for word in wanted])
    hashes = core.leading_words(lines, words, character_properties(), _WORD_SEED, _NUMBER_WORD, number, overlap)
    return LeadingWords(number, np.frombuffer(hashes, np.uint32), overlap, len(wanted))


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
        name_element, name: int64[...], element and table entry of each name part.
        word_block, word: int64[...], block and table entry of each leading word.
        parent, end: int32[n], tree of the elements.
        block_begin, block_end: int32[n], slice of the blocks inside each element.
        owner: int32[m], element that the first run of each block belongs to.
        levels: int64[4, m], the innermost containers of each block.
    """

    name_element: Indices
    name: Indices
    word_block: Indices
    word: Indices
    parent: NDArray[np.int32]
    end: NDArray[np.int32]
    block_begin: NDArray[np.int32]
    block_end: NDArray[np.int32]
    owner: NDArray[np.int32]
    levels: Indices

    @classmethod
    def of(cls, page: Page, words: LeadingWords, owner: NDArray[np.int32], levels: Indices) -> Tokens:
        """Gather the names of the elements and the first words of the blocks.

        Args:
            page: the page.
            words: the first words of its blocks.
            owner: int32[m], element that the first run of each block belongs to.
            levels: int64[..., m], the containers of each block, innermost first.
        """
        name_element, name = _name_entries(page)
        return cls(
            name_element=name_element,
            name=name,
            word_block=np.arange(page.m).repeat(words.number),
            word=words.hashes.astype(np.int64) % TABLE_SIZE,
            parent=page.parent,
            end=page.end,
            block_begin=page.block_begin,
            block_end=page.block_end,
            owner=owner,
            levels=levels[:_TABLED_LEVELS],
        )

    def name_bag(self, entries: int) -> Indices:
        """int64[...], the distinct names of the page, as indices into a table with this many entries."""
        return np.flatnonzero(np.bincount(self.name % entries, minlength=entries))


def _name_entries(page: Page) -> tuple[Indices, Indices]:
    """Element and table entry of each name part, int64[...] each, in document order."""
    table, values = page.attributes, page.attributes.by_name
    chosen = values.numbers_matching(_NAMING)
    number = np.empty(len(chosen), np.int32)
    hashes = np.frombuffer(
        core.name_parts(values.data, values.begin, chosen, _NAME_SEED, _NUMBER_PART, number), np.uint32
    )
    others = np.flatnonzero(number < 0)
    if len(others):  # non-ASCII names, which the core does not split, are appended
        divided = list(map(_NAME_HASHES.__getitem__, values.strings(chosen[others])))
        hashes = np.append(hashes, np.fromiter(chain.from_iterable(divided), np.uint32))
        known = np.flatnonzero(number >= 0)
        number = np.append(number[known], np.fromiter(map(len, divided), np.int32, len(divided)))
        chosen = np.append(chosen[known], chosen[others])
    begins, counts = np.zeros((2, len(table.first)), np.int64)  # by first attribute
    place = values.place[chosen]
    counts[place] = number
    begins[place] = np.cumsum(number) - number
    repeats = counts.take(table.first)
    repeats *= (page.block_end > page.block_begin).take(table.element)  # elements without blocks are not needed
    named = repeats.nonzero()[0]
    repeats, first = repeats.take(named), table.first.take(named)
    ends = repeats.cumsum()
    part = np.arange(ends[-1] if len(ends) else 0) + (begins.take(first) - ends + repeats).repeat(repeats)
    entries = hashes.take(part).astype(np.int64) % TABLE_SIZE
    return table.element.take(named).astype(np.int64).repeat(repeats), entries


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
        rows = np.empty((len(TOKEN_FEATURE_NAMES), len(tokens.owner)), np.float32)
        self.write(rows, tokens)
        return rows.T

    def write(self, rows: Matrix, tokens: Tokens) -> None:
        """Write the token features of a page's blocks into float32[len(TOKEN_FEATURE_NAMES), m]."""
        write_word_features(rows[:WORD_FEATURES], tokens, self.words)
        core.name_features(
            *(tokens.name_element, tokens.name, self.names, tokens.parent, tokens.end, tokens.owner, tokens.levels),
            rows[WORD_FEATURES:],
        )


def write_word_features(rows: Matrix, tokens: Tokens, odds: Matrix) -> None:
    """Write total, mean, lowest and highest log-odds of each block's words into float32[4, m]."""
    core.word_features(tokens.word_block, tokens.word, odds, rows)


def word_features(tokens: Tokens, odds: Matrix) -> Matrix:
    """float32[m, 4], total, mean, lowest and highest log-odds of each block's words."""
    rows = np.empty((WORD_FEATURES, len(tokens.owner)), np.float32)
    write_word_features(rows, tokens, odds)
    return rows.T
