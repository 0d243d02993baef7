"""What styles say of text that stays: how elements are displayed, white space that counts, struck-out text.

Styles are the page's own, as :mod:`tamis.page.cascade` reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.page.cascade import find_values
from tamis.page.css_values import BLOCK, FLEX
from tamis.page.tree import IS_BLOCK_LEVEL, cached_on_page, sums_over_runs, tag_set

if TYPE_CHECKING:
    from tamis.arrays import Flags, Floats
    from tamis.page.page import Page


_WANTED: Final = """white-space 0 p b\ntext-decoration 0 l\ntext-decoration-line 0 l
list-style 0 l u d\nlist-style-type 0 l u n d"""
"""Declarations of text that matter, as the cascade takes them."""
_OF_TEXT: Final = frozenset({"white-space", "text-decoration-line", "list-style-type", "font-family"})
_CELLS: Final = tag_set("td", "th")


@cached_on_page
def _of_text(page: Page) -> dict[str, Floats]:
    return find_values(page, _OF_TEXT, _WANTED, lambda page: sums_over_runs(page, page.is_nonblank) > 0)


def styles_of_text(page: Page, name: str) -> Floats:
    """float64[n], value of a property of text on the elements that say something of text; 0 on others."""
    found = _of_text(page)
    return found[name] if found else np.zeros(page.n)


@cached_on_page
def alignments(page: Page) -> Floats:
    """float64[n], how the text of each cell is aligned; 0 for cells that do not say so."""
    found = find_values(page, frozenset({"text-align"}), "text-align 0 l c r", lambda page: _CELLS.take(page.tag))
    return found["text-align"] if found else np.zeros(page.n)


@cached_on_page
def displays(page: Page) -> Floats:
    """float64[n], how a style displays the elements whose text touches that of others, and those around them.

    Of other elements only their own style is read. The values are those of :mod:`tamis.page.css_values`, 0 for what
    stays inline and for all other elements.
    """
    found = find_values(page, frozenset({"display"}), "display 0 b f g inline_f inline_g l t -", _touching)
    return found["display"] if found else np.zeros(page.n)


def _touching(page: Page) -> Flags:
    """bool[n], inline elements whose text touches that of others, and the elements around them."""
    continues_word = np.zeros(page.r + 1, bool)
    continues_word[:-1] = page.continues_word
    touches: Flags = continues_word.take(page.run_begin) | continues_word.take(page.run_end)
    touches &= ~IS_BLOCK_LEVEL.take(page.tag) & (page.run_begin < page.run_end)
    touches[page.parent[touches]] = True
    return touches


@cached_on_page
def displayed_as_blocks(page: Page) -> list[int]:
    """Inline elements that a style shows as blocks, each on a line of its own; in flex boxes and grids they are not."""
    display = displays(page)
    if not np.count_nonzero(display):
        return []
    is_block = (display <= BLOCK) & (display >= FLEX) & ~IS_BLOCK_LEVEL.take(page.tag)
    found: list[int] = (is_block & (display[page.parent] > FLEX)).nonzero()[0].tolist()
    return found
