"""What of a thread is worth reading: the comments, without its heading and the links and buttons of each comment."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.ancestors import nearest
from winnow.page.runs import linked_runs
from winnow.page.subtrees import prefix_sums, within
from winnow.page.tags import tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

_BUTTONS: Final = tag_set("button", "label", "select")
_HEADINGS: Final = tag_set("h2", "h3", "h4", "h5", "h6")
_MOST_WORDS: Final = 3
_LEAST_TIMES: Final = 3


def with_headings(page: Page, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], the blocks of comments (bool[m]), and the headings that stand right above them."""
    if not comments.any():
        return comments
    heading = nearest(page.parent, _HEADINGS[page.tag])[page.block_node] >= 0
    above: NDArray[np.bool_] = np.append(comments[1:], False)
    return comments | heading & above


def without_controls(page: Page, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks of comments (bool[m]) but for their controls: "Reply", "Like", "Report".

    A control is a link or a button of three words at most that says the same at least three times, and at least half as
    often as the most frequent one: someone who writes several comments is linked less often than "Reply" is.
    """
    if not comments.any():
        return comments
    clickable = linked_runs(page) | within(page, _BUTTONS[page.tag])[page.run_node]
    plain = prefix_sums(~clickable & page.inked)
    texts = page.block_texts()
    short = [
        block
        for block in np.flatnonzero(comments).tolist()
        if plain[page.block_run_end[block]] == plain[page.block_run_begin[block]]
        and len(texts[block].split(None, _MOST_WORDS)) <= _MOST_WORDS
    ]
    times = Counter(texts[block] for block in short)
    least = max(_LEAST_TIMES, max(times.values(), default=0) / 2)
    kept = comments.copy()
    kept[[block for block in short if times[texts[block]] >= least]] = False
    return kept
