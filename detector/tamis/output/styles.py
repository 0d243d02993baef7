"""What styles say of text that stays: inline elements shown as blocks, white space that counts, struck-out text.

Read are inline styles, and of the page's own sheets the rules for a single class or tag: the last one wins, whatever
its weight is.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from tamis.page.tree import IS_BLOCK_LEVEL, TAG_NAMES, elements_named, once_per_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tamis.page.page import Page

_INLINE_PARTS: Final = ("display", "white-space", "line-through", "list-style", "text-align")
_SHEET_PARTS: Final = ("white-space:", "line-through", "list-style-type:")
"""What the declarations contain that are read; sheets set ``display`` for too many elements to follow it here."""
_MAX_SELECTORS: Final = 100  # of a page
_MAX_RULE: Final = 1_000  # characters
_SELECTOR: Final = re.compile(r"([a-z0-9]*)(?:\.([\w-]+))?")

DISPLAY_BLOCK: Final = re.compile(r"display\s*:\s*(?:block|flex|grid|table|list-item)\b")
DISPLAY_FLEX: Final = re.compile(r"display\s*:\s*(?:inline-)?(?:flex|grid)\b")
KEEPS_LINES: Final = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)")
KEEPS_SPACES: Final = re.compile(r"white-space\s*:\s*(?:pre(?!-line)|break-spaces)")
MONOSPACED: Final = re.compile(r"font[^:;]{0,20}:[^;]{0,100}(?:mono|courier|consolas|menlo)")
ALIGNED: Final = re.compile(r"text-align\s*:\s*(left|center|right)\b")
STRUCK_OUT: Final = re.compile(r"line-through")
LIST_STYLE: Final = re.compile(
    r"list-style(?:-type)?\s*:[^;]{0,100}?\b(none|decimal|(?:lower|upper)-(?:alpha|latin|roman))\b"
)


@once_per_page
def _declarations(page: Page) -> list[tuple[str, list[int]]]:
    """Declarations in lower case, and the elements that they apply to; those of inline styles are last."""
    sheets = (page.raw_texts.get(sheet, b"") for sheet in elements_named(page, "style"))
    rules = ((selector, css) for sheet in sheets for selector, css in _rules(sheet))
    found = [(css, _select(page, selector)) for selector, css in islice(rules, _MAX_SELECTORS)]
    inline = page.attributes.containing(_INLINE_PARTS, "style")
    return found + [(style.lower(), page.attributes.elements_with([place])) for place, style in inline]


def _rules(sheet: bytes) -> Iterator[tuple[str, str]]:
    """Selectors of one class or tag, each with the declarations of its rule that may say something of text."""
    for part in map(str.encode, _SHEET_PARTS):
        at = sheet.find(part)
        while at >= 0:
            begin, end = sheet.rfind(b"{", max(at - _MAX_RULE, 0), at), sheet.find(b"}", at, at + _MAX_RULE)
            above = max(sheet.rfind(sign, max(begin - _MAX_RULE, 0), begin) for sign in (b"}", b"{", b"/", b">"))
            for selector in sheet[above + 1 : begin].decode(errors="replace").split(",") if 0 <= begin < end else ():
                if selector and not selector.isspace():
                    yield selector.strip(), sheet[begin + 1 : end].decode(errors="replace").lower()
            at = sheet.find(part, at + 1)


def _select(page: Page, selector: str) -> list[int]:
    if (parts := _SELECTOR.fullmatch(selector)) is None:
        return []
    name, wanted = parts.groups()
    if not wanted:
        return elements_named(page, name) if name in TAG_NAMES else []
    found = page.attributes.containing((wanted.lower(),), "class")
    elements = page.attributes.elements_with([place for place, value in found if wanted in value.split()])
    return [element for element in elements if name in {"", TAG_NAMES[page.tag[element]]}]


def styled(page: Page, pattern: re.Pattern[str]) -> dict[int, str]:
    """Elements with declarations that a pattern matches, each with the last of these."""
    return {element: css for css, elements in _declarations(page) if pattern.search(css) for element in elements}


@once_per_page
def displayed_as_blocks(page: Page) -> list[int]:
    """Inline elements that a style shows as blocks, each on a line of its own."""
    return [element for element in styled(page, DISPLAY_BLOCK) if not IS_BLOCK_LEVEL[page.tag[element]]]
