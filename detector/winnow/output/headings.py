"""The heading of a story that is kept stays with it: gold text that models learn from often begins below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.subtrees import prefix_sums, within
from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

_MOST: Final = 0.9


def story_headings(page: Page, texts: list[str], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the headings of the first rank that stand where the story stands.

    Args:
        page: the page.
        texts: text of each of its m blocks.
        kept: bool[m], blocks that are content.

    Returns:
        bool[m], blocks in an ``h1`` that lie in the innermost element around nine tenths of the text kept, and before
        the last of it.
    """
    headings = within(page, page.tag == TAG_ID["h1"])[page.block_node]
    if not headings.any() or not kept.any():
        return np.zeros(page.m, bool)
    text = prefix_sums(np.fromiter(map(len, texts), np.int64, page.m) * kept)
    around = np.flatnonzero(text[page.block_end] - text[page.block_begin] >= _MOST * text[-1])[-1]
    block = np.arange(page.m)
    inside = (block >= page.block_begin[around]) & (block < page.block_end[around])
    found: NDArray[np.bool_] = headings & inside & (block < np.flatnonzero(kept)[-1])
    return found
