"""Text runs of a page: which ones blocks and links hold, and sums over those of each subtree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from winnow.page.page import once_per_page
from winnow.page.subtrees import prefix_sums, within
from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page


def runs_of_blocks(page: Page, blocks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[r], runs of the given blocks (bool[m])."""
    change = np.zeros(len(page.runs) + 1, np.int8)
    change[page.block_run_begin[blocks]] += 1
    change[page.block_run_end[blocks]] -= 1
    return np.cumsum(change[:-1]) > 0


def sums_over_runs(page: Page, values: NDArray[np.generic]) -> NDArray[np.int64]:
    """int64[n], total of one integer or boolean per run over each subtree."""
    sums = prefix_sums(values)
    return sums[page.run_end] - sums[page.run_begin]


@once_per_page
def linked_runs(page: Page) -> NDArray[np.bool_]:
    """bool[r], runs inside links."""
    return within(page, page.tag == TAG_ID["a"])[page.run_node]
