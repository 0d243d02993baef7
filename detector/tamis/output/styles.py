"""What styles say of text that stays: how elements are displayed, white space that counts, struck-out text.

Styles are the page's own, as :mod:`tamis.page.cascade` reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.page.cascade import find_values, own_css
from tamis.page.css_values import BLOCK, FLEX
from tamis.page.tree import (
    IS_BLOCK_LEVEL,
    as_mask,
    cached_on_page,
    prefix_sums,
    sums_over_runs,
    tag_set,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.page.page import Page

_WANTED: Final = {
    "white-space": "white-space 0pb",
    "text-decoration-line": "text-decoration 0l\ntext-decoration-line 0l",
    "list-style-type": "list-style 0lud\nlist-style-type 0lund",
}
"""Declarations that matter, as the cascade takes them."""
_CELLS: Final = tag_set("td", "th")


@cached_on_page
def _of_text(page: Page) -> dict[str, NDArray[np.float64]]:
    has_text = sums_over_runs(page, page.is_nonblank) > 0
    return find_values(page, {*_WANTED, "font-family"}, has_text, "\n".join(_WANTED.values()))


def styles_of_text(page: Page, name: str) -> NDArray[np.float64]:
    """float64[n], value of a property of text on the elements that say something of text; 0 on others."""
    found = _of_text(page)
    return found[name] if found else np.zeros(page.n)


@cached_on_page
def alignments(page: Page) -> NDArray[np.float64]:
    """float64[n], how the text of each cell is aligned; 0 for cells that do not say so."""
    found = find_values(page, {"text-align"}, _CELLS.take(page.tag))
    return found["text-align"] if found else np.zeros(page.n)


@cached_on_page
def displays(page: Page) -> NDArray[np.float64]:
    """float64[n], how a style displays the elements whose text touches that of others, and those around them.

    Of other inline elements only their own style is read. The values are those of :mod:`tamis.page.css_values`, 0 for
    what stays inline and for all other elements.
    """
    ink, continues_word = prefix_sums(page.is_nonblank), np.append(page.continues_word, False)
    touches = ~IS_BLOCK_LEVEL.take(page.tag) & (continues_word[page.run_begin] | continues_word[page.run_end])
    touches &= ink[page.run_begin] < ink[page.run_end]
    subjects = touches | as_mask(page, page.parent[touches])
    own = page.attributes.containing(("display",), "style")
    if not (own or own_css(page)):
        return np.zeros(page.n)
    subjects[page.attributes.elements_with([index for index, _ in own])] = True
    found = find_values(page, {"display"}, subjects)
    return found["display"] if found else np.zeros(page.n)


@cached_on_page
def displayed_as_blocks(page: Page) -> list[int]:
    """Inline elements that a style shows as blocks, each on a line of its own; in flex boxes and grids they are not."""
    display = displays(page)
    is_block = (display <= BLOCK) & (display >= FLEX) & ~IS_BLOCK_LEVEL.take(page.tag)
    found: list[int] = (is_block & (display[page.parent] > FLEX)).nonzero()[0].tolist()
    return found
