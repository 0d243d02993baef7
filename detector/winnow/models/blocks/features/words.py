"""The words that the blocks of a page begin with: their hashes, and which of them its title has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from winnow.core import compiled
from winnow.models.blocks.features.hashed_words import NUMBER_HASH, WORD_SEED, word_hashes
from winnow.page.text.kinds import character_properties

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HASHED_CHARACTERS: Final = 160  # words.c has the same numbers
_HASHED_WORDS: Final = 16
_TOLD_CHARACTERS: Final = 400
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, eq=False, slots=True)
class LeadingWords:
    """What the first words of a page's blocks are, lower-cased.

    Attributes:
        number: int32[m], how many of each block are hashed: 16 at most, of its first 160 characters.
        hashes: uint32[sum of number], their hashes, block after block.
        told: int32[m], how many different words of the title are among those of each block's first 400 characters.
        title: number of different words of the title.
    """

    number: NDArray[np.int32]
    hashes: NDArray[np.uint32]
    told: NDArray[np.int32]
    title: int

    @classmethod
    def of(cls, lines: str, m: int, title: str) -> Self:
        """Look at the beginning of each of the m blocks.

        Args:
            lines: their texts, lower-cased, with single spaces between words and line feeds between blocks.
            m: how many there are.
            title: of the page.
        """
        wanted = set(_WORD.findall(title.lower()))
        core = compiled()
        if core is not None:
            number, told = np.zeros((2, m), np.int32)
            words = "".join([f"{word}\n" for word in wanted])
            found = core.leading_words(lines, words, character_properties(), WORD_SEED, NUMBER_HASH, number, told)
            return cls(number, np.frombuffer(found, np.uint32), told, len(wanted))
        texts = lines.split("\n") if m else []
        leading = [text[:_HASHED_CHARACTERS].split(" ", _HASHED_WORDS)[:_HASHED_WORDS] for text in texts]
        leading = [words if words[-1] else words[:-1] for words in leading]  # the cut may stand behind a space
        told = np.zeros(m, np.int32)
        if wanted:
            beginnings = [text[:_TOLD_CHARACTERS].split(" ") for text in texts]
            told[:] = list(map(len, map(wanted.intersection, beginnings)))
        return cls(
            np.fromiter(map(len, leading), np.int32, m),
            word_hashes(list(chain.from_iterable(leading))),
            told,
            len(wanted),
        )
