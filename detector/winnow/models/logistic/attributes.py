"""What geometry and features need of the attributes of a page, gathered in one pass over them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

_SIDE: Final = re.compile(
    r"side-?_?bar|\baside\b|(left|right)-?_?(col|rail|side|pane)|(col|rail)(umn)?-?_?(left|right)\b"
)
_COLUMN: Final = re.compile(r"\bcol-(?:lg|md)-(\d{1,2})\b")
_COLUMNS_OF_A_ROW: Final = 12  # the grid that class names such as col-md-4 count in
_NUMBER: Final = re.compile(r"\s*(\d{1,5})(?:\.\d*)?\s*(?:px)?\s*$")


@dataclass(frozen=True, eq=False, slots=True)
class Attributes:
    """Attributes that matter to geometry and features.

    Attributes:
        markup_length: int64[n], characters of each element's attributes as HTML source.
        side: bool[n], class or id names a side column.
        column_share: float64[n], share of its row's width that a grid class gives an element; NaN where none does.
        width, height: pixels by element index, where an attribute declares a plain number of them.
        href: address by element index.
        input_type: type of form controls by element index.
    """

    markup_length: NDArray[np.int64]
    side: NDArray[np.bool_]
    column_share: NDArray[np.float64]
    width: dict[int, int]
    height: dict[int, int]
    href: dict[int, str]
    input_type: dict[int, str]

    @classmethod
    def of(cls, page: Page) -> Attributes:
        """Gather the attributes of a page."""
        table = page.attributes
        hints = {place: _column_hint(value) for name in ("class", "id") for value, place in table.named(name).items()}
        side = np.zeros(len(table.first), np.int64)
        share = np.zeros(len(table.first))
        side[list(hints)] = [is_side for is_side, _ in hints.values()]
        share[list(hints)] = [of_row for _, of_row in hints.values()]
        sharing = np.flatnonzero(share[table.first])
        column_share = np.full(page.n, np.nan)
        column_share[table.element[sharing]] = share[table.first[sharing]]
        return cls(
            markup_length=table.markup_length(),
            side=table.sums(side) > 0,
            column_share=column_share,
            width=_pixels(page.attribute("width")),
            height=_pixels(page.attribute("height")),
            href=page.attribute("href"),
            input_type=page.attribute("type"),
        )


@lru_cache(maxsize=8_192)
def _column_hint(names: str) -> tuple[bool, float]:
    """Whether a class or id names a side column, and its share of a row (0 for none)."""
    names = names.lower()
    if "side" not in names and "col" not in names and "rail" not in names:
        return False, 0.0
    column = _COLUMN.search(names)
    share = min(int(column[1]) / _COLUMNS_OF_A_ROW, 1.0) if column else 0.0
    return bool(_SIDE.search(names)), share


def _pixels(declared: dict[int, str]) -> dict[int, int]:
    return {index: int(number[1]) for index, value in declared.items() if (number := _NUMBER.match(value))}
