"""What features need of attributes, gathered in one pass: names of elements, signatures, and what markup hides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from detector.memo import Memo
from detector.subtrees import within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from detector.page import Page

_NAMING: Final = frozenset({"id", "role", "itemprop", "aria-label", "itemtype", "data-testid", "rel"})
_TELLING: Final = _NAMING | {"class", "style", "hidden", "aria-hidden"}
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, eq=False, slots=True)
class Naming:
    """Names that attributes give to the elements of a page.

    Attributes:
        names: element and value of every attribute that names what an element is for, ``class`` among them.
        signature: int64[n], equal for elements of the same tag and classes, numbers apart (``post-12``, ``post-13``).
        hidden: bool[n], inside an element that markup hides: ``hidden``, ``aria-hidden``, inline ``display: none``.
    """

    names: list[tuple[int, str]]
    signature: NDArray[np.int64]
    hidden: NDArray[np.bool_]

    @classmethod
    def of(cls, page: Page) -> Naming:
        """Gather the names of a page."""
        names: list[tuple[int, str]] = []
        classes = [0] * page.n
        hidden = np.zeros(page.n, bool)
        telling = [
            (index, name, value)
            for index, pairs in enumerate(page.attributes)
            for name, value in pairs
            if name in _TELLING
        ]
        for index, name, value in telling:
            if name == "class":
                names.append((index, value))
                classes[index] = _CLASS_SIGNATURES[value]
            elif name in _NAMING:
                names.append((index, value))
            elif _hides(name, value):
                hidden[index] = True
        return cls(names, np.array(classes, np.int64) * 257 + page.tag, within(page, hidden))


def _hides(name: str, value: str) -> bool:
    if name == "style":
        return "none" in value and "display:none" in value.replace(" ", "")
    return name == "hidden" or value == "true"


def _class_signature(value: str) -> int:
    return crc32(_NUMBER.sub("#", value).encode("utf-8", "surrogatepass")) + 1


_CLASS_SIGNATURES: Final = Memo(_class_signature, 16_384)
