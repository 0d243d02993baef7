"""Kinds of characters, told apart by Unicode properties, so that they hold for every script."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.text.characters import CODES, white_space
from winnow.page.text.scripts import UNSPACED_SCRIPTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Kinds of characters; a space-delimited token begins with one of the kinds from LETTER on.
SPACE, UNSPACED, LETTER, UPPER, NUMERIC, COMMA, SENTENCE_END, OTHER = range(8)

_COMMAS: Final = ",;،؛、，；﹐﹑﹔､՝፣፤၊᠂᠈"
_SENTENCE_ENDS: Final = ".!?…。．｡！？﹒﹖﹗‼‽⁇⁈⁉؟۔।॥።፧፨။។៕։՞᠃᠉"
_JOINERS: Final = "\u00ad\u200c\u200d"  # soft hyphen, zero-width (non-)joiner: inside a word, never between two
_WHITE_SPACE: Final = np.uint8(0x08)  # the kind is in the three bits below; core.h has the same numbers
_IS_DIGIT: Final = np.uint8(0x10)
_IS_UPPER_CASE: Final = np.uint8(0x20)
_IS_ALPHANUMERIC: Final = np.uint8(0x40)
_LETTERED: Final = 0x33480  # no letter or number beyond, as of Unicode 17


@cache
def character_kinds() -> NDArray[np.uint8]:
    """uint8[0x110000], kind of every code point; built once, on first use."""
    by_category = {
        "Z": SPACE, "C": SPACE, "L": LETTER, "M": LETTER, "N": NUMERIC, "P": OTHER, "S": OTHER,
    }  # fmt: skip
    kinds = np.full(0x110000, LETTER, np.uint8)
    planes = range(0x20000)  # nothing above is assigned but Han, tags and private use
    kinds[: len(planes)] = [
        UPPER if category in {"Lu", "Lt"} else by_category[category[0]]
        for category in map(unicodedata.category, map(chr, planes))
    ]
    for begin, end in UNSPACED_SCRIPTS:
        script = kinds[begin:end]
        script[script == LETTER] = UNSPACED
    for characters, kind in ((_COMMAS, COMMA), (_SENTENCE_ENDS, SENTENCE_END), (_JOINERS, LETTER)):
        kinds[[ord(character) for character in characters]] = kind
    return kinds


@cache
def character_properties() -> NDArray[np.uint8]:
    """uint8[0x110000], what the compiled core knows of every code point: its kind, and four bits more.

    They are white space as in ``str.isspace``, digits as in ``str.isdigit``, upper case and letters or numbers as in
    ``str.isupper`` and ``str.isalnum``.
    """
    properties = character_kinds().copy()
    properties[:CODES][white_space()] |= _WHITE_SPACE
    digits = [code for code in np.flatnonzero(properties == NUMERIC).tolist() if chr(code).isdigit()]
    properties[digits] |= _IS_DIGIT
    lettered = list(map(chr, range(_LETTERED)))
    for bit, is_one in ((_IS_UPPER_CASE, str.isupper), (_IS_ALPHANUMERIC, str.isalnum)):
        properties[: len(lettered)][np.fromiter(map(is_one, lettered), bool, len(lettered))] |= bit
    return properties
