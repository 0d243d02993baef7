"""Words of class, id and role attributes and of the text, hashed, and what a table of log-odds makes of them.

The stacking of a naive Bayes score into the features of another classifier is that of the site-independent template
blocks paper, section 4.1; here the names that authors give to elements are scored the same way as words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.blocks.features.names import NameParts
    from winnow.models.blocks.features.words import LeadingWords
    from winnow.page.page import Page

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

TABLE_SIZE: Final = 1 << 15
"""Entries of a table; words that hash alike share one."""

_TABLED_LEVELS: Final = 4

NAMES: Final = (
    *(f"words: {name} log-odds" for name in ("total", "mean", "lowest", "highest")),
    *(f"names: {name} log-odds" for name in ("path", "lowest on path", "highest on path", "own")),
    *(f"names: path log-odds of container {level}" for level in range(_TABLED_LEVELS)),
)

_OF_WORDS: Final = 4  # rows of words; those of names follow


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
    def of(cls, page: Page, words: LeadingWords, owner: NDArray[np.int32], parts: NameParts, levels: Indices) -> Tokens:
        """Gather the names of the elements and the first words of the blocks.

        Args:
            page: the page.
            words: the first words of its blocks.
            owner: int32[m], element that the first run of each block belongs to.
            parts: of its names.
            levels: int64[LEVELS, m] of :func:`winnow.models.blocks.features.containers.containers`.
        """
        name_element, name = _names(page, parts)
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


def _names(page: Page, parts: NameParts) -> tuple[Indices, Indices]:
    """Element and table entry of each part of the names, int64[...] each, in document order."""
    table, core = page.attributes, compiled()
    begins, lengths = np.zeros((2, len(table.first)), np.int64)
    lengths[parts.place] = parts.number
    begins[parts.place] = np.cumsum(parts.number) - parts.number
    if core is not None:
        arrays = table.first, table.begin, page.block_begin, page.block_end, begins, lengths, parts.hashes
        element, name = core.name_tokens(*arrays, TABLE_SIZE)
        return np.frombuffer(element, np.int64), np.frombuffer(name, np.int64)
    holding = page.block_end > page.block_begin  # other elements enclose nothing that is scored
    repeats = lengths[table.first] * holding[table.element]
    chosen = np.flatnonzero(repeats)
    repeats, first = repeats[chosen], table.first[chosen]
    part = np.arange(repeats.sum()) + (begins[first] - np.cumsum(repeats) + repeats).repeat(repeats)
    entries = parts.hashes.astype(np.int64) % TABLE_SIZE
    return table.element[chosen].astype(np.int64).repeat(repeats), entries[part]


@dataclass(frozen=True, eq=False, slots=True)
class TokenTables:
    """Log-odds for content of every table entry.

    Attributes:
        names: float32[TABLE_SIZE], of parts of names.
        words: float32[TABLE_SIZE], of words.
    """

    names: NDArray[np.float32]
    words: NDArray[np.float32]

    def features(self, tokens: Tokens) -> NDArray[np.float32]:
        """float32[m, len(NAMES)], features of the blocks of a page."""
        rows = np.empty((len(NAMES), len(tokens.owner)), np.float32)
        self.write(rows, tokens)
        return rows.T

    def write(self, rows: NDArray[np.float32], tokens: Tokens) -> None:
        """Write float32[len(NAMES), m], features of the blocks of a page."""
        n, core = len(tokens.parent), compiled()
        write_word_features(rows[:_OF_WORDS], tokens, self.words)
        if core is not None:
            arrays = tokens.parent, tokens.end, tokens.owner, tokens.levels
            core.name_features(tokens.name_element, tokens.name, self.names, *arrays, rows[_OF_WORDS:])
            return
        own: Floats = np.bincount(tokens.name_element, self.names[tokens.name], n).astype(np.float64, copy=False)
        change = np.append(own, 0.0) - np.bincount(tokens.end, own, n + 1)
        path = np.cumsum(change)  # over the elements from the root down to each one
        least, most = _extremes(tokens, own)
        owner = tokens.owner
        rows[4], rows[7] = path[owner], own[owner]
        rows[5], rows[6] = least[owner], most[owner]
        rows[8:] = path[tokens.levels]


def write_word_features(rows: NDArray[np.float32], tokens: Tokens, odds: NDArray[np.float32]) -> None:
    """Write total, mean, lowest and highest log-odds of each block's words, by a table, into float32[4, m]."""
    m, core = len(tokens.owner), compiled()
    if core is not None:
        core.word_features(tokens.word_block, tokens.word, odds, rows)
        return
    of_word = odds[tokens.word].astype(np.float64)
    number = np.bincount(tokens.word_block, minlength=m)
    total = np.bincount(tokens.word_block, of_word, m)
    rows[0] = total
    np.divide(total, np.maximum(number, 1), out=rows[1])
    rows[2:4] = 0
    holding = np.flatnonzero(number)  # a block's words stand together
    if len(holding):
        begins = (np.cumsum(number) - number)[holding]
        rows[2, holding] = np.minimum(np.minimum.reduceat(of_word, begins), 0)
        rows[3, holding] = np.maximum(np.maximum.reduceat(of_word, begins), 0)


def word_features(tokens: Tokens, odds: NDArray[np.float32]) -> NDArray[np.float32]:
    """float32[m, 4], total, mean, lowest and highest log-odds of each block's words, by a table of log-odds."""
    rows = np.empty((4, len(tokens.owner)), np.float32)
    write_word_features(rows, tokens, odds)
    return rows.T


def _extremes(tokens: Tokens, own: Floats) -> tuple[Floats, Floats]:
    """float64[n] each, least and most of the elements on the path from the root down to each one, and 0."""
    least, most = np.minimum(own, 0), np.maximum(own, 0)
    above = np.maximum(tokens.parent, 0).astype(np.int64)
    while above.any():  # some have not come to the root, which is the last to look at
        np.minimum(least, least.take(above), out=least)
        np.maximum(most, most.take(above), out=most)
        above = above.take(above)
    return np.minimum(least, least[0]), np.maximum(most, most[0])
