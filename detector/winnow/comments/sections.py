"""Comments as sections of a page: the largest elements that hold nothing but a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.page.ancestors import outermost
from winnow.page.subtrees import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page


def comment_sections(page: Page, thread: NDArray[np.bool_]) -> NDArray[np.int32]:
    """int32[n + m], root unit of the thread section that each unit belongs to, -1 for those outside threads.

    A block whose element holds other text as well is a section of its own.

    Args:
        page: the page.
        thread: bool[m], blocks of threads.
    """
    found = np.full(page.n + page.m, -1, np.int32)
    if not thread.any():
        return found
    sums = prefix_sums(thread)
    held = page.block_end - page.block_begin
    whole = (held > 0) & (sums[page.block_end] - sums[page.block_begin] == held)
    root = outermost(page.parent, whole)
    found[: page.n] = root
    of_block = root[page.block_node]
    own = np.arange(page.n, page.n + page.m, dtype=np.int32)
    found[page.n :] = np.where(thread, np.where(of_block >= 0, of_block, own), -1)
    return found
