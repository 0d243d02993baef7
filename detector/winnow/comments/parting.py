"""What becomes of the comments of a page: kept apart from its text, included in it, or dropped.

Of a thread the comments are worth reading, and not the links and buttons of each; on the page it is a section apart.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Self, get_args

import numpy as np

from winnow.comments.threads import comment_blocks
from winnow.page.ancestors import nearest, outermost
from winnow.page.runs import linked_runs
from winnow.page.subtrees import prefix_sums, within
from winnow.page.tags import tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.models.base import Scores
    from winnow.page.page import Page

Comments = Literal["separate", "include", "drop"]

COMMENTS: Final[tuple[Comments, ...]] = get_args(Comments)
"""What may become of what readers wrote below the content."""

_BUTTONS: Final = tag_set("button", "label", "select")
_HEADINGS: Final = tag_set("h2", "h3", "h4", "h5", "h6")
_MOST_WORDS: Final = 3
_LEAST_TIMES: Final = 3


@dataclass(frozen=True, eq=False, slots=True)
class Parting:
    """The threads of a page, and what becomes of them.

    Attributes:
        readers: bool[m], blocks that readers wrote.
        apart: bool[m], blocks of threads that are no part of the text; with ``"include"`` only controls are not.
        section: int32[n + m], root of the thread section that each unit belongs to, -1 outside threads.
        included: whether what readers wrote is part of the text.
    """

    readers: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    section: NDArray[np.int32]
    included: bool

    @classmethod
    def of(cls, page: Page, scores: Scores, site: NDArray[np.bool_], comments: Comments) -> Self:
        """Find the threads of a page.

        Args:
            page: the page.
            scores: of its units.
            site: bool[n + m], units that are template according to the site.
            comments: what becomes of them, one of :data:`COMMENTS`.
        """
        found = comment_blocks(page, scores.templateness[page.n :]) & ~site[page.n :]
        thread, readers = _with_headings(page, found), _without_controls(page, found)
        included = comments == "include"
        return cls(readers, found & ~readers if included else thread, _sections(page, thread), included)

    @property
    def controls(self) -> NDArray[np.bool_]:
        """bool[m], blocks of threads that nobody wants: template."""
        return self.apart & ~self.readers

    def decided(self, scores: Scores) -> Scores:
        """The scores with those of the blocks that are kept apart at 1, so that the text is judged without them."""
        templateness = scores.templateness.copy()
        templateness[len(templateness) - len(self.apart) :][self.apart] = 1.0
        return scores.with_templateness(templateness)


def _with_headings(page: Page, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], the blocks of comments (bool[m]), and the headings that stand right above them."""
    if not comments.any():
        return comments
    heading = nearest(page.parent, _HEADINGS[page.tag])[page.block_node] >= 0
    above: NDArray[np.bool_] = np.append(comments[1:], False)
    return comments | heading & above


def _without_controls(page: Page, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
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


def _sections(page: Page, thread: NDArray[np.bool_]) -> NDArray[np.int32]:
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
