"""In which kinds of elements the blocks of a page stand, found out once for all who ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.page.page import once_per_page
from winnow.page.subtrees import within
from winnow.page.tags import tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

_KINDS: Final = (
    tag_set("h1"), tag_set("h2", "h3", "h4", "h5", "h6"), tag_set("blockquote"), tag_set("pre"),
    tag_set("ul", "ol", "dl", "menu", "dir"), tag_set("td", "th"), tag_set("table"),
)  # fmt: skip
HEADING, SUBHEADING, QUOTATION, CODE, LIST, CELL, TABLE = (1 << bit for bit in range(len(_KINDS)))
"""Kinds of elements, bits of :func:`places`."""

_OF_TAG: Final = np.packbits(np.stack(_KINDS), axis=0, bitorder="little")[0]


@once_per_page
def places(page: Page) -> NDArray[np.uint8]:
    """uint8[m], bits of the kinds of elements that each block has around it."""
    core, found = compiled(), np.zeros(page.m, np.uint8)
    if core is not None:
        core.places(page.parent, page.tag, _OF_TAG, page.block_node, found)
        return found
    of_element = _OF_TAG[page.tag]
    for bit in range(len(_KINDS)):
        chosen = (of_element >> bit & 1).astype(bool)
        if chosen.any():
            found |= within(page, chosen)[page.block_node].astype(np.uint8) << np.uint8(bit)
    return found


def stands_in(page: Page, kinds: int) -> NDArray[np.bool_]:
    """bool[m], the blocks that stand in elements of one of some kinds."""
    inside: NDArray[np.bool_] = (places(page) & kinds) != 0
    return inside
