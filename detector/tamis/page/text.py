"""The characters of a page: look-up tables, scripts without spaces, and counts of characters and words by kind.

Kinds follow Unicode properties and hold for every script, and so do the features built on them.
"""

from __future__ import annotations

import re
import unicodedata
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.core import core
from tamis.hashing import mix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tamis.arrays import Floats, Hashes, Integers
    from tamis.page.page import Page


UNSPACED_SCRIPTS: Final = (
    (0x0E00, 0x1000),  # Thai, Lao, Tibetan
    (0x1000, 0x10A0),  # Myanmar
    (0x1780, 0x1800),  # Khmer
    (0x1950, 0x1AB0),  # Tai Le, New Tai Lue, Tai Tham
    (0x3005, 0x3008),  # marks that repeat or stand for Han
    (0x3040, 0x3130),  # Hiragana, Katakana, Bopomofo
    (0x31A0, 0x3200),  # their extensions
    (0x3400, 0xA4D0),  # Han, Yi
    (0xA9E0, 0xAA80),  # Myanmar and its extensions
    (0xF900, 0xFB00),  # Han
    (0xFF66, 0xFFA0),  # half-width Katakana
    (0x1AFF0, 0x1B170),  # Kana
    (0x20000, 0x40000),  # Han
)
"""Ranges ``[begin, end)`` of code points; only their letters are treated as unspaced."""

UNSPACED_CLASS: Final = "".join(f"{chr(begin)}-{chr(end - 1)}" for begin, end in UNSPACED_SCRIPTS)
"""Their characters, for the brackets of a regular expression."""

UNSPACED_RUN: Final = re.compile(f"[{UNSPACED_CLASS}]{{2,}}")
"""Runs of two or more characters of unspaced scripts."""

WORD: Final = re.compile(rf"[0-9a-z_]++(?!\w)|[{UNSPACED_CLASS}]|[^\W{UNSPACED_CLASS}]+")  # the first for speed alone
"""A word to be compared with others; each character of an unspaced script is one. How many there are is for
:func:`count_words`."""

CODE_UNITS: Final = 1 << 16
"""Number of UTF-16 code units; characters outside the basic plane take two."""

# Kinds of characters; a space-delimited token begins with one of the kinds from LETTER on.
SPACE, UNSPACED, LETTER, UPPER, NUMERIC, COMMA, SENTENCE_END, OTHER = range(8)

_COMMAS: Final = ",;،؛、，；﹐﹑﹔､՝፣፤၊᠂᠈"
_SENTENCE_ENDS: Final = ".!?…。．｡！？﹒﹖﹗‼‽⁇⁈⁉؟۔।॥።፧፨။។៕։՞᠃᠉"
_ZERO_WIDTH: Final = "\u00ad\u200b\u2060\u2061\u2062\u2063\u2064\ufeff"
_TAGS: Final = "".join(map(chr, range(0xE0000, 0xE0080)))
_LETTER_JOINERS: Final = "\u200c\u200d"  # zero-width (non-)joiner
UNSEEN_CHARACTERS: Final = re.compile(
    rf"[{_ZERO_WIDTH}]|(?<![\U0001f3f4{_TAGS}])[{_TAGS}]+|(?<!\S)[{_LETTER_JOINERS}]+(?![^\x00-\x7f])"
)
"""Invisible characters that join no letters: soft hyphens, zero-width spaces, tags except those of flags, and joiners
after white space, left by editors in empty paragraphs."""
DIRECTION_MARKS: Final = re.compile("[\u200e\u200f]")
"""Invisible characters that place signs beside letters written from right to left."""
RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
LINE_SEPARATOR: Final = "\0"
"""A line break in the text of a run, which no page can have there: what ``br`` is between two of them."""
_JOINERS: Final = f"\u00ad{_LETTER_JOINERS}"  # with the soft hyphen: inside a word, never between two


def _character_properties() -> NDArray[np.uint8]:
    """uint8[0x110000], properties of every code point, as in ``core.h``: its kind in three bits, and five flags.

    The flags are ``str.isspace``, which holds for :data:`LINE_SEPARATOR` too, ``str.isdigit``, ``str.isupper``,
    ``str.isalnum``, and whether :data:`UNSEEN_CHARACTERS` or :data:`DIRECTION_MARKS` may match the character.
    """
    kinds = {"L": LETTER, "M": LETTER, "N": NUMERIC, "P": OTHER, "S": OTHER, "Z": SPACE, "C": SPACE}
    properties = np.full(0x110000, LETTER, np.uint8)
    assigned = np.arange(0x20000, dtype=np.uint32).view("U1")  # nothing above is assigned but Han, tags, private use
    is_letter = np.strings.isalpha(assigned)
    properties[:0x20000][is_letter & np.strings.istitle(assigned)] = UPPER
    others = np.flatnonzero(~is_letter)  # to look all up would take most of the import
    properties[others] = [kinds[unicodedata.category(chr(code))[0]] for code in others.tolist()]
    for begin, end in UNSPACED_SCRIPTS:
        script = properties[begin:end]
        script[script == LETTER] = UNSPACED
    for characters, kind in ((_COMMAS, COMMA), (_SENTENCE_ENDS, SENTENCE_END), (_JOINERS, LETTER)):
        properties[[ord(character) for character in characters]] = kind
    lettered = np.arange(0x33480, dtype=np.uint32).view("U1")  # no letter or number beyond, as of Unicode 17
    for flag, is_one in (
        (0x08, np.strings.isspace),
        (0x10, np.strings.isdigit),
        (0x20, np.strings.isupper),
        (0x40, np.strings.isalnum),
    ):
        properties[: len(lettered)][is_one(lettered)] |= np.uint8(flag)
    properties[ord(LINE_SEPARATOR)] |= np.uint8(0x08)
    unseen = _ZERO_WIDTH + _TAGS + _LETTER_JOINERS + "\u200e\u200f"
    properties[[ord(character) for character in unseen]] |= np.uint8(0x80)
    return properties


_PROPERTIES: Final = _character_properties()


_SEPARATOR, _WORD, _UNSPACED, _LOW_SURROGATE = range(4)


def _character_tokens() -> Hashes:
    """uint64[2 * CODE_UNITS]: hash by code unit with its case folded, and by code unit + CODE_UNITS after a gap.

    Case folds only where no later version of Unicode can change it (up to Armenian, the Latin and Greek extensions, the
    full-width forms) and where one character becomes one, so that tokens do not depend on the version of Python.
    """
    folded = np.arange(CODE_UNITS, dtype=np.uint64)
    for begin, end in ((0x41, 0x590), (0x1E00, 0x2000), (0xFF21, 0xFF3B)):
        for code in range(begin, end):
            lower = chr(code).casefold()
            if len(lower) == 1:
                folded[code] = ord(lower)
    return mix(np.concatenate([folded, folded + np.uint64(CODE_UNITS)]) * np.uint64(2) + np.uint64(1))


def _word_kinds() -> NDArray[np.int8]:
    """int8[CODE_UNITS]: separators, letters, digits and marks on them, or characters of a script without spaces.

    Letters outside the basic plane other than Han are separators. Only characters that Unicode gained after 14.0 may
    depend on the version of Python.
    """
    kinds = np.isin(_PROPERTIES[:CODE_UNITS] & np.uint8(0x07), (UNSPACED, LETTER, UPPER, NUMERIC)).astype(np.int8)
    kinds[[ord(joiner) for joiner in _JOINERS]] = _SEPARATOR
    for begin, end in UNSPACED_SCRIPTS:
        kinds[begin:end] *= _UNSPACED
    kinds[0xD840:0xD8C0] = _UNSPACED  # first halves of Han outside the basic plane
    kinds[0xDC00:0xE000] = _LOW_SURROGATE
    return kinds


CHARACTER_TOKENS: Final = _character_tokens()
core.set_table("character_properties", _PROPERTIES)
core.set_table("character_tokens", CHARACTER_TOKENS)
core.set_table("word_kinds", _word_kinds())


def without_controls(text: str | bytes) -> str:
    """Remove control characters from a text, and write line ends as line feeds, as in the texts of pages."""
    plain: bytes = core.without_controls(text.encode("utf-8", "ignore") if isinstance(text, str) else text)
    return plain.decode(errors="replace")


class TextTotals(NamedTuple):
    """Running totals over the text runs of a page.

    Every total is an int64[r + 1]: the runs ``[begin, end)`` hold ``total[end] - total[begin]`` of the kind.

    Attributes:
        characters: everything but white space and control characters.
        words: space-delimited tokens; in scripts without spaces (Han, kana, Thai and others) two characters count as
            one word. A token that markup cuts (``un<b>able</b>``) counts once per run.
        letters: letters of any script, combining marks included.
        digits: decimal digits and other numbers.
        upper_case: upper-case and title-case letters (also counted as letters).
        commas: commas, enumeration commas and semicolons of any script.
        sentence_ends: full stops, question and exclamation marks of any script.
        symbols: all other punctuation and symbols.
    """

    characters: Integers
    words: Integers
    letters: Integers
    digits: Integers
    upper_case: Integers
    commas: Integers
    sentence_ends: Integers
    symbols: Integers


def run_text(page: Page, run: int, rewrites: Mapping[int, str] = MappingProxyType({})) -> str:
    """Text of one run, without making the list :attr:`Page.runs`."""
    return rewrites[run] if run in rewrites else page.text[page.run_offset[run] : page.run_offset[run + 1]]


def text_totals(page: Page) -> Integers:
    """int64[r + 1, 8], totals in the order of :class:`TextTotals`, from one pass over the text."""
    totals = np.zeros((page.r + 1, len(TextTotals._fields)), np.uint32)
    core.count_kinds(page.utf8, page.run_offset, totals)
    return totals.astype(np.int64)


def count_words(text: str) -> int:
    """Number of words of a text, see :class:`TextTotals`."""
    totals = np.zeros((2, len(TextTotals._fields)), np.uint32)
    core.count_kinds(text.encode(), np.array([0, len(text)], np.int64), totals)
    return int(totals[1, TextTotals._fields.index("words")])


def block_words(page: Page) -> Floats:
    """float64[m], number of words of each block."""
    before = TextTotals(*text_totals(page).T).words
    return (before[page.block_run_end] - before[page.block_run_begin]).astype(np.float64)


def word_windows(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """All windows of ``size`` consecutive words."""
    return zip(*[words[begin:] for begin in range(size)], strict=False)


def letters_of(text: str) -> str:
    """Letters and digits of a text in lower case, without a leading "the": the form in which names are compared."""
    return re.sub(r"\W", "", text.lower()).removeprefix("the")
