"""Text that a page carries more than once: copies for other screen sizes, quotes of the lead, print versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.hashing import mix
from winnow.page.ancestors import nearest
from winnow.page.subtrees import path_sums
from winnow.page.tags import tag_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from winnow.page.page import Page

LEAST_CHARACTERS: Final = 40
"""Shorter blocks may well stand on a page twice: names, prices, answers of one word."""


_TABLES: Final = tag_set("table")
_LISTS: Final = tag_set("ul", "ol", "dl", "menu", "dir")
_CODE: Final = tag_set("pre")


def later_copies(page: Page, texts: Sequence[str], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the blocks that repeat, word for word, a longer block kept before them, as copies for another screen do.

    Copies stand in another kind of place than what they repeat. What stands in the same kind is meant to be there: what
    several functions of a manual, or shows of a programme, have in common. So is what repeats within one whole: a value
    in the cells of a table, an item of a list, a line of code, and the refrain of a song, whose lines are parted by
    ``br`` and whose stanzas stand below each other.

    Args:
        page: the page.
        texts: text of each block, in reading order.
        kept: bool[m], blocks that are content.

    Returns:
        bool[m], kept blocks of 40 characters and more whose text an earlier kept block has too.
    """
    copies = np.zeros(len(texts), bool)
    first: dict[str, int] = {}
    repeated: list[tuple[int, int]] = []
    for index in np.flatnonzero(kept).tolist():
        text = texts[index]
        if len(text) >= LEAST_CHARACTERS and (known := first.setdefault(text, index)) != index:
            repeated.append((index, known))
    if repeated:
        again, known = np.array(repeated).T
        kinds = _kinds_of_places(page)[page.block_node]
        copies[again] = kinds[again] != kinds[known]
        for whole in _wholes(page):
            copies[again] &= (whole[again] < 0) | (whole[again] != whole[known])
    return copies


def _wholes(page: Page) -> list[NDArray[np.int32]]:
    """What each block is part of, int32[m] each: its table, its list, its ``pre``, and what its stanza stands in."""
    node = page.block_node
    parts = [nearest(page.parent, group[page.tag])[node] for group in (_TABLES, _LISTS, _CODE)]
    verse = np.bincount(node, minlength=page.n)[node] > 1
    return [*parts, np.where(verse, page.parent[node], np.int32(-1))]


def _kinds_of_places(page: Page) -> NDArray[np.uint64]:
    """uint64[n], the same for elements that have the same tags and classes all the way up."""
    table, places = page.attributes, np.array(list(page.attributes.named("class").values()), np.int64)
    by_first = np.zeros(len(table.first), np.uint64)
    by_first[places] = places + 1
    tag, depth = page.tag.astype(np.uint64), page.depth.astype(np.uint64)
    return path_sums(page, mix(depth << np.uint64(48) | tag << np.uint64(32) | table.sums(by_first)))
