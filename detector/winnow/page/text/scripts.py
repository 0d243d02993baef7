"""Scripts that are written without spaces between words: one table for all that counts or cuts words."""

from __future__ import annotations

import re
from typing import Final

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
"""Slices ``[begin, end)`` of code points; what is no letter in them stays what it is."""

_CLASS: Final = "".join(f"{chr(begin)}-{chr(end - 1)}" for begin, end in UNSPACED_SCRIPTS)

UNSPACED: Final = re.compile(f"[{_CLASS}]{{2,}}")
"""Stretches of two or more characters of such scripts."""

WORD: Final = re.compile(rf"[{_CLASS}]|[^\W{_CLASS}]+")
"""Words, each character of a script without spaces being one."""
