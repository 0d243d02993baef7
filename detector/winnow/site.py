"""A site in memory: counts the units of its pages, so that each page is cleaned with what the others repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from winnow.page.page import Page


@dataclass(frozen=True, eq=False, slots=True)
class PageCounts:
    """On how many pages of its site the units of one page occur.

    Attributes:
        df: int64[n + m], pages of the site that contain each unit, the page itself among them; 0 for units that are not
            counted.
        pages: pages of the site that were counted.
    """

    df: NDArray[np.int64]
    pages: int

    def frequencies(self, page: Page) -> tuple[NDArray[np.int64], int]:  # noqa: ARG002
        """Return the counts, which are of this very page."""
        return self.df, self.pages
