"""What becomes of the comments of a page: kept apart from its text, included in it, or dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Self, get_args

from winnow.comments.sections import comment_sections
from winnow.comments.text import with_headings, without_controls
from winnow.comments.threads import comment_blocks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from winnow.models.base import Scores
    from winnow.page.page import Page

Comments = Literal["separate", "include", "drop"]

COMMENTS: Final[tuple[Comments, ...]] = get_args(Comments)
"""What may become of what readers wrote below the content."""


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
        thread, readers = with_headings(page, found), without_controls(page, found)
        included = comments == "include"
        return cls(readers, found & ~readers if included else thread, comment_sections(page, thread), included)

    @property
    def controls(self) -> NDArray[np.bool_]:
        """bool[m], blocks of threads that nobody wants: template."""
        return self.apart & ~self.readers

    def decided(self, scores: Scores) -> Scores:
        """The scores with those of the blocks that are kept apart at 1, so that the text is judged without them."""
        templateness = scores.templateness.copy()
        templateness[len(templateness) - len(self.apart) :][self.apart] = 1.0
        return scores.with_templateness(templateness)
