"""Labels of list items, as browsers show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.output.styles import styles_of_text
from tamis.page.css_values import LIST_STYLES
from tamis.page.tree import TAG_ID, cached_on_page, elements_with_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tamis.page.page import Page

_TYPES: Final = {"a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")),
    *((9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MAX_ROMAN: Final = 3_999
_MAX_DIGITS: Final = 9  # of a number in Markdown


def lettered_labels(page: Page) -> dict[int, str]:
    """The labels of list items that are no numbers."""
    types = page.attributes.first_index_by_value("type") if "ol" in page.tag_names else ()
    are_lettered = styles_of_text(page, "list-style-type") > LIST_STYLES.index("decimal")
    if _TYPES.keys().isdisjoint(map(str.strip, types)) and not np.count_nonzero(are_lettered):
        return {}
    return {item: label for item, label in list_labels(page).items() if label.strip("0123456789.")}


@cached_on_page
def list_labels(page: Page) -> dict[int, str]:
    """Label by item of the lists that number them: ``7.``, ``a.`` or ``iv.``, "" where a style shows none."""
    styles = styles_of_text(page, "list-style-type")
    own = page.attributes.containing(("list-style",), "style") if "ol" in page.tag_names else []
    bare = page.attributes.elements_with([index for index, style in own if "none" in style])  # sheets reset all lists
    styled = (styles > 0).nonzero()[0]
    lists = {*elements_with_names(page, "ol"), *styled.tolist(), *page.parent[styled].tolist()}
    starts, values, types = (page.attribute(name) if lists else {} for name in ("start", "value", "type"))
    reversed_lists = page.attribute("reversed") if lists else {}
    labels = {}
    for numbered in lists:
        items = [child for child in _children(page, numbered) if page.tag[child] == TAG_ID["li"]]
        step = -1 if numbered in reversed_lists else 1
        number = _parse_number(starts.get(numbered), len(items) if step < 0 else 1)
        is_ordered = page.tag[numbered] == TAG_ID["ol"]
        default = "decimal" if is_ordered and numbered not in bare else "none"
        for item in items:
            number = _parse_number(values.get(item), number)
            stated = next((types[each].strip() for each in (item, numbered) if each in types), "")
            style = _TYPES.get(stated, default)
            for each in (numbered, item):
                style = LIST_STYLES[int(styles[each])] or style
            if style != "none" or is_ordered:
                labels[item] = _label(number, style)
            number += step
    return labels


def _children(page: Page, element: int) -> Iterator[int]:
    child = element + 1
    while child < page.end[element]:
        yield child
        child = int(page.end[child])


def _label(number: int, style: str) -> str:
    """Write a number as in CSS Counter Styles 3, section 6; what a style cannot say is decimal."""
    letters = ""
    if style.endswith("roman") and 0 < number <= _MAX_ROMAN:
        for value, sign in _ROMAN:
            letters += sign * (number // value)
            number %= value
    elif style.endswith("alpha") and number > 0:
        while number:
            number, digit = divmod(number - 1, 26)
            letters = chr(ord("a") + digit) + letters
    elif style == "none":
        return ""
    if not letters:
        return f"{number}."
    return f"{letters.upper() if style.startswith('upper') else letters}."


def _parse_number(value: str | None, otherwise: int) -> int:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else otherwise
