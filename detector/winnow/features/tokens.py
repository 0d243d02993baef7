"""Words of class, id and role attributes and of the text, hashed, and what a table of log-odds makes of them.

The stacking of a naive Bayes score into the features of another classifier is that of the site-independent template
blocks paper, section 4.1; here the names that authors give to elements are scored the same way as words.
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
from winnow.page.attributes import question
from winnow.page.text import character_properties

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Indices = NDArray[np.int64]
    Matrix = NDArray[np.float32]

TABLE_SIZE: Final = 1 << 15
"""Entries of a table; words that hash alike share one."""

_TABLED_LEVELS: Final = 4

WORD_FEATURES: Final = 4
"""How many features a table makes of the words of a block: total, mean, lowest and highest log-odds."""

TOKEN_FEATURE_NAMES: Final = (
    *(f"words: {name} log-odds" for name in ("total", "mean", "lowest", "highest")),
    *(f"names: {name} log-odds" for name in ("path", "lowest on path", "highest on path", "own")),
    *(f"names: path log-odds of container {level}" for level in range(_TABLED_LEVELS)),
)

_NAME_SEED: Final = crc32(b"name:")
_WORD_SEED: Final = crc32(b"word:")
_NUMBER_WORD: Final = crc32(b"#", _WORD_SEED)  # all numbers are one word
_NUMBER_PART: Final = crc32(b"#", _NAME_SEED)
_NAMING: Final = question("class", "id", "role", "itemprop", "aria-label", "itemtype", "data-testid", "rel")
_WORD: Final = re.compile(r"\w+")
_NAME_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_MAX_NAME_PARTS: Final = 12


class LeadingWords(NamedTuple):
    """The first words of each of a page's m blocks, lower-cased.

    Attributes:
        number: int32[m], how many of each block are hashed: 16 at most, of its first 160 characters.
        hashes: uint32[sum of number], their hashes, block after block.
        title_overlap: int32[m], how many different words of the title are among those of each block's first 400
            characters.
        title_words: number of different words of the title.
    """

    number: NDArray[np.int32]
    hashes: NDArray[np.uint32]
    title_overlap: NDArray[np.int32]
    title_words: int


def leading_words(lines: str, m: int, title: str) -> LeadingWords:
    """Hash the first words of each of the m blocks, and look for those of the title.

    Args:
        lines: their texts, lower-cased, with single spaces between words and line feeds between blocks.
        m: how many there are.
        title: of the page.
    """
    number, overlap = np.zeros((2, m), np.int32)
    wanted = set(_WORD.findall(title.lower()))
    words = "".join([f"{word}\n" for word in wanted])
    hashes = core.leading_words(lines, words, character_properties(), _WORD_SEED, _NUMBER_WORD, number, overlap)
    return LeadingWords(number, np.frombuffer(hashes, np.uint32), overlap, len(wanted))


def name_hashes(name: str) -> tuple[int, ...]:
    """32-bit hashes of the different parts of a name, 12 at most: ``"postMeta_12"`` -> post, meta, #.

    The core does the same for names in ASCII.
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
    """Hashed words of a page, and what of its tree their features need; no lxml node is kept.

    Attributes:
        name_element, name: int64[...], element and table entry of each part of its names.
        word_block, word: int64[...], block and table entry of each of its first 16 words.
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
        """int64[...], the different names of the page, as entries of a table of so many."""
        return np.flatnonzero(np.bincount(self.name % entries, minlength=entries))


def _name_entries(page: Page) -> tuple[Indices, Indices]:
    """Element and table entry of each part of the names, int64[...] each, in document order."""
    table, values = page.attributes, page.attributes.by_name
    chosen = values.answering(_NAMING)
    number = np.empty(len(chosen), np.int32)
    hashes = np.frombuffer(
        core.name_parts(values.data, values.begin, chosen, _NAME_SEED, _NUMBER_PART, number), np.uint32
    )
    others = np.flatnonzero(number < 0)
    if len(others):  # names with letters beyond ASCII, which are put behind those that the core has divided
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
    repeats *= (page.block_end > page.block_begin).take(table.element)  # other elements enclose nothing that is scored
    named = repeats.nonzero()[0]
    repeats, first = repeats.take(named), table.first.take(named)
    ends = repeats.cumsum()
    part = np.arange(ends[-1] if len(ends) else 0) + (begins.take(first) - ends + repeats).repeat(repeats)
    entries = hashes.take(part).astype(np.int64) % TABLE_SIZE
    return table.element.take(named).astype(np.int64).repeat(repeats), entries


@dataclass(frozen=True, eq=False, slots=True)
class TokenTables:
    """Log-odds for content of every table entry.

    Attributes:
        names: float32[TABLE_SIZE], of parts of names.
        words: float32[TABLE_SIZE], of words.
    """

    names: Matrix
    words: Matrix

    def features(self, tokens: Tokens) -> Matrix:
        """float32[m, len(TOKEN_FEATURE_NAMES)], features of the blocks of a page."""
        rows = np.empty((len(TOKEN_FEATURE_NAMES), len(tokens.owner)), np.float32)
        self.write(rows, tokens)
        return rows.T

    def write(self, rows: Matrix, tokens: Tokens) -> None:
        """Write float32[len(TOKEN_FEATURE_NAMES), m], features of the blocks of a page."""
        write_word_features(rows[:WORD_FEATURES], tokens, self.words)
        core.name_features(
            *(tokens.name_element, tokens.name, self.names, tokens.parent, tokens.end, tokens.owner, tokens.levels),
            rows[WORD_FEATURES:],
        )


def write_word_features(rows: Matrix, tokens: Tokens, odds: Matrix) -> None:
    """Write total, mean, lowest and highest log-odds of each block's words, by a table, into float32[4, m]."""
    core.word_features(tokens.word_block, tokens.word, odds, rows)


def word_features(tokens: Tokens, odds: Matrix) -> Matrix:
    """float32[m, 4], total, mean, lowest and highest log-odds of each block's words, by a table of log-odds."""
    rows = np.empty((WORD_FEATURES, len(tokens.owner)), np.float32)
    write_word_features(rows, tokens, odds)
    return rows.T
