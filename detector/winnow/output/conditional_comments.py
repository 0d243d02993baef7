"""Leftovers of conditional comments: where one was cut or nested wrongly, its end stands on the page as text.

``<!--[if IE]> ... <![endif]-->`` is a comment, and ``<![endif]>`` alone a declaration, which the parser drops. But in
``<!--[if IE]> --> ... [endif]-->`` the last part is text to a parser and to a browser.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_BORDERS: Final = r"(?>--+>|<!----+>|<!--+| )*+"
_MARK: Final = r"\[(?:if [^\]]{1,60}|endif)\]"
_OPENING: Final = r"(?:<!)?(?:--)?"
_CLOSING: Final = r"(?:--)?>?(?:<!)?"
# Linear: what lies between two marks has no bracket, is tried in at most 32 ways and, once matched, never again.
_LEFTOVER: Final = re.compile(
    f"(?:{_BORDERS}{_OPENING}{_MARK}(?>{_CLOSING}{_BORDERS}{_OPENING}{_MARK})*+{_CLOSING})?{_BORDERS}"
)
_BEGINNINGS: Final = frozenset("<[-")


def is_leftover(text: str) -> bool:
    """Tell whether a block of text, white space normalised, is nothing but the borders of conditional comments."""
    return text[:1] in _BEGINNINGS and _LEFTOVER.fullmatch(text) is not None


def leftovers(texts: Sequence[str]) -> NDArray[np.bool_]:
    """bool[m], the blocks that are; a block that holds other text, too, such as a line of code, is none."""
    found = np.zeros(len(texts), bool)
    found[[block for block, text in enumerate(texts) if text[:1] in _BEGINNINGS and is_leftover(text)]] = True
    return found
