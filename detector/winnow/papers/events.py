"""A page as one sequence of events: an element opens, a run of text, an element closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from winnow.page.tree import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

    Positions = NDArray[np.int64]


class Events(NamedTuple):
    """Places in the sequence of the ``2 * n + r`` events of a page.

    Attributes:
        opens, closes: int64[n], where each element opens and closes.
        runs: int64[r], where each run of text stands.
    """

    opens: Positions
    closes: Positions
    runs: Positions

    @classmethod
    def of(cls, page: Page) -> Events:
        """Lay a page out."""
        n, r = page.n, len(page.runs)
        opened_before = np.searchsorted(page.run_begin, np.arange(r), side="right")
        return cls(
            opens=2 * np.arange(n) + page.run_begin - page.depth,
            closes=2 * page.end.astype(np.int64) + page.run_end - page.depth - 1,
            runs=np.arange(r) + 2 * opened_before - page.depth[page.run_node] - 1,
        )

    def __len__(self) -> int:
        return 2 * len(self.opens) + len(self.runs)


def covered(begin: Positions, end: Positions, length: int) -> NDArray[np.bool_]:
    """bool[length], which places some of the slices ``[begin, end)`` cover."""
    change = np.bincount(begin, minlength=length + 1) - np.bincount(end, minlength=length + 1)
    inside: NDArray[np.bool_] = np.cumsum(change[:length]) > 0
    return inside


def mostly(page: Page, runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks more than half of whose characters, white space aside, lie in the chosen runs (bool[r])."""
    return mostly_characters(page, np.fromiter((len("".join(run.split())) for run in page.runs), np.int64), runs)


def of_blocks(page: Page, blocks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[n], elements that hold text, and none but that of the chosen blocks (bool[m])."""
    chosen = prefix_sums(blocks)
    held = page.block_end - page.block_begin
    elements: NDArray[np.bool_] = (held > 0) & (chosen[page.block_end] - chosen[page.block_begin] == held)
    return elements


def mostly_characters(page: Page, length: Positions, share: NDArray[np.float64 | np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks more than half of whose characters are chosen.

    Args:
        page: the page.
        length: int64[r], characters of each run.
        share: float64[r] or bool[r], the share of them that is chosen.
    """
    whole = prefix_sums(length)
    chosen = np.concatenate([[0.0], np.cumsum(length * share)])
    begin, end = page.block_run_begin, page.block_run_end
    most: NDArray[np.bool_] = 2 * (chosen[end] - chosen[begin]) > whole[end] - whole[begin]
    return most
