"""What features need of attributes: names of elements, signatures, and what markup hides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from winnow.models.blocks.features.names import NameParts, class_signatures
from winnow.page.subtrees import within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.attribute_table import AttributeTable
    from winnow.page.page import Page


@dataclass(frozen=True, eq=False, slots=True)
class Naming:
    """Names that attributes give to the elements of a page.

    Attributes:
        parts: of the values of the attributes that name what an element is for.
        signature: int64[n], equal for elements of the same tag and classes, numbers apart (``post-12``, ``post-13``).
        hidden: bool[n], inside an element that markup hides: ``hidden``, ``aria-hidden``, inline ``display: none``.
    """

    parts: NameParts
    signature: NDArray[np.int64]
    hidden: NDArray[np.bool_]

    @classmethod
    def of(cls, page: Page) -> Self:
        """Gather the names of a page."""
        table = page.attributes
        hiding = np.zeros(len(table.first), np.int64)
        hiding[hiding_places(table)] = 1
        return cls(
            parts=NameParts.of(table),
            signature=table.sums(class_signatures(table)) * 257 + page.tag,
            hidden=within(page, table.sums(hiding) > 0),
        )


def hiding_places(table: AttributeTable) -> list[int]:
    """Places of the attributes that hide the element that has one of them."""
    states = (place for value, place in table.named("aria-hidden").items() if value == "true")
    styles = (place for place, style in table.having(("style",), "none") if "display:none" in style.replace(" ", ""))
    return [*table.named("hidden").values(), *states, *styles]
