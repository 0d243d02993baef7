"""A page with what its author has marked as the article, and without the marks: an example that no one had to label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from winnow.metadata.marks.articles import article_mark
from winnow.metadata.marks.hiding import without_marks
from winnow.page.page import Page

if TYPE_CHECKING:
    import numpy as np
    from lxml import etree
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class MarkedPage:
    """A page whose article is marked.

    Attributes:
        content: float32[m], as in :class:`~winnow.metadata.marks.ArticleMark`.
        tree: a copy of the page's tree without the marks.
        url: address of the page.
    """

    content: NDArray[np.float32]
    tree: etree._Element
    url: str | None

    @classmethod
    def of(cls, page: Page) -> Self | None:
        """Look for the mark of a page's article, and copy its tree; ``None`` where none is marked."""
        mark = article_mark(page)
        return None if mark is None else cls(mark.content, without_marks(page.elements[0]), page.url)

    def hidden(self) -> Page | None:
        """The page without the marks; ``None`` where it comes apart into other blocks then."""
        page = Page.from_tree(self.tree, self.url)
        return page if page.m == len(self.content) else None
