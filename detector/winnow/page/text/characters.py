"""Look-up tables over UTF-16 codes: folded case, white space, and what words are made of, for work on text in numpy."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.hashing import mix
from winnow.page.text.scripts import UNSPACED_SCRIPTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

CODES: Final = 1 << 16
"""Number of UTF-16 codes; characters outside the basic plane are two of them."""

SEPARATOR: Final = 0
WORD: Final = 1
UNSPACED: Final = 2
LOW_SURROGATE: Final = 3

_FOLDING = ((0x41, 0x590), (0x1E00, 0x2000), (0xFF21, 0xFF3B))
_WHITE_SPACE = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    *(0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
    *range(0x2000, 0x200B),
)


def utf16(text: str) -> NDArray[np.uint16]:
    """uint16: the text's UTF-16 codes."""
    codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.dtype("<u2"))
    return codes if sys.byteorder == "little" else codes.astype(np.uint16)


@cache
def character_tokens() -> NDArray[np.uint64]:
    """uint64[2 * CODES]: hash token by code with its case folded, and by code + CODES for the same after a gap.

    Case folds only where no later version of Unicode can change it (up to Armenian, the Latin and Greek extensions, the
    full-width forms) and where one character becomes one, so that tokens do not depend on the version of Python.
    """
    folded = np.arange(CODES, dtype=np.uint64)
    for begin, end in _FOLDING:
        for code in range(begin, end):
            lower = chr(code).casefold()
            if len(lower) == 1:
                folded[code] = ord(lower)
    return mix(np.concatenate([folded, folded + np.uint64(CODES)]) * np.uint64(2) + np.uint64(1))


@cache
def white_space() -> NDArray[np.bool_]:
    """bool[CODES]: white space as in ``str.isspace``."""
    table = np.zeros(CODES, bool)
    table[list(_WHITE_SPACE)] = True
    return table


@cache
def word_kinds() -> NDArray[np.int8]:
    """int8[CODES]: SEPARATOR, WORD (letters, digits, and marks on them) or UNSPACED (of a script without spaces).

    Letters outside the basic plane other than Han are separators. Only characters that Unicode gained after 14.0 may
    depend on the version of Python.
    """
    kinds = np.array([unicodedata.category(chr(code))[0] in "LMN" for code in range(CODES)], np.int8)
    for begin, end in UNSPACED_SCRIPTS:
        kinds[begin:end] *= UNSPACED
    kinds[0xD840:0xD8C0] = UNSPACED  # first halves of Han outside the basic plane
    kinds[0xDC00:0xE000] = LOW_SURROGATE
    return kinds
