"""What geometry and features need of the attributes of a page, gathered in one pass over them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from detector.page import Page

_SIDE: Final = re.compile(
    r"side-?_?bar|\baside\b|(left|right)-?_?(col|rail|side|pane)|(col|rail)(umn)?-?_?(left|right)\b"
)
_COLUMN: Final = re.compile(r"\bcol-(?:lg|md)-(\d{1,2})\b")
_COLUMNS_OF_A_ROW: Final = 12  # the grid that class names such as col-md-4 count in
_NO_DISPLAY: Final = re.compile(r"\bdisplay\s*:\s*none\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\s*(\d{1,5})(?:\.\d*)?\s*(?:px)?\s*$")


@dataclass(frozen=True, eq=False, slots=True)
class Attributes:
    """Attributes that matter to geometry and features.

    Attributes:
        markup_length: int64[n], characters of each element's attributes as HTML source.
        side: bool[n], class or id names a side column.
        column_share: float64[n], share of its row's width that a grid class gives an element; NaN where none does.
        width, height: pixels by element index, where an attribute declares a plain number of them.
        hidden: bool[n], has the attribute ``hidden`` or an inline style without display.
        href: address by element index.
        input_type: type of form controls by element index.
    """

    markup_length: NDArray[np.int64]
    side: NDArray[np.bool_]
    column_share: NDArray[np.float64]
    width: dict[int, int]
    height: dict[int, int]
    hidden: NDArray[np.bool_]
    href: dict[int, str]
    input_type: dict[int, str]

    @classmethod
    def of(cls, page: Page) -> Attributes:
        """Gather the attributes of a page."""
        classes: list[tuple[int, str]] = []
        href: dict[int, str] = {}
        found: dict[str, dict[int, str]] = {name: {} for name in ("width", "height", "type", "hidden", "style")}
        found["href"] = href
        lengths = [0] * page.n
        for index, pairs in enumerate(page.attributes):
            length = 0
            for name, value in pairs:
                length += len(name) + len(value) + 4  # a space, an equals sign and two quotes
                if name == "class" or name == "id":  # noqa: PLR1714  faster than a set in the hottest loop
                    classes.append((index, value))
                elif name in found:
                    found[name][index] = value
            lengths[index] = length

        side = np.zeros(page.n, bool)
        column_share = np.full(page.n, np.nan)
        for index, value in classes:
            is_side, share = _column_hint(value)
            if is_side:
                side[index] = True
            if share:
                column_share[index] = share
        hidden = np.zeros(page.n, bool)
        hidden[list(found["hidden"])] = True
        hidden[[index for index, style in found["style"].items() if _NO_DISPLAY.search(style)]] = True
        return cls(
            markup_length=np.array(lengths, np.int64),
            side=side,
            column_share=column_share,
            width=_pixels(found["width"]),
            height=_pixels(found["height"]),
            hidden=hidden,
            href=href,
            input_type=found["type"],
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
