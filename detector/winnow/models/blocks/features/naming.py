"""What features need of attributes: names of elements, signatures, and what markup hides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from winnow.memo import BulkMemo
from winnow.page.subtrees import within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.attribute_table import AttributeTable
    from winnow.page.page import Page

_NAMING: Final = ("class", "id", "role", "itemprop", "aria-label", "itemtype", "data-testid", "rel")
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, eq=False, slots=True)
class Naming:
    """Names that attributes give to the elements of a page.

    Attributes:
        names: values of the attributes that name what an element is for, by their places in the page's table.
        signature: int64[n], equal for elements of the same tag and classes, numbers apart (``post-12``, ``post-13``).
        hidden: bool[n], inside an element that markup hides: ``hidden``, ``aria-hidden``, inline ``display: none``.
    """

    names: dict[int, str]
    signature: NDArray[np.int64]
    hidden: NDArray[np.bool_]

    @classmethod
    def of(cls, page: Page) -> Naming:
        """Gather the names of a page."""
        table = page.attributes
        classes, hiding = np.zeros((2, len(table.first)), np.int64)
        named = table.named("class")
        classes[list(named.values())] = _CLASS_SIGNATURES.of(list(named))
        hiding[_hiding(table)] = 1
        return cls(
            names={place: value for name in _NAMING for value, place in table.named(name).items()},
            signature=table.sums(classes) * 257 + page.tag,
            hidden=within(page, table.sums(hiding) > 0),
        )


def _hiding(table: AttributeTable) -> list[int]:
    """Places of the attributes that hide the element that has one of them."""
    states = (place for value, place in table.named("aria-hidden").items() if value == "true")
    styles = (
        place
        for style, place in table.named("style").items()
        if "none" in style and "display:none" in style.replace(" ", "")
    )
    return [*table.named("hidden").values(), *states, *styles]


def _class_signatures(values: list[str]) -> list[int]:
    stable = _NUMBER.sub("#", "\0".join(values)).encode("utf-8", "surrogatepass")
    return [crc32(each) + 1 for each in stable.split(b"\0")]


_CLASS_SIGNATURES: Final = BulkMemo(_class_signatures, 16_384)
