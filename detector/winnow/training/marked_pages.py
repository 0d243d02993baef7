"""A page with what its author has marked as the article, and without the marks: an example that no one had to label.

The marks that a label was taken from are hidden, so that a model learns how an article looks and not how it is marked.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from winnow.evidence.marked_articles import article_mark
from winnow.page.page import Page

if TYPE_CHECKING:
    import numpy as np
    from lxml import etree
    from numpy.typing import NDArray

_STRUCTURED: Final = ("itemprop", "itemtype", "itemscope", "property", "typeof", "vocab")
_MICROFORMAT: Final = re.compile(
    r"(?:h|p|u|dt|e)-[a-z]+(?:-[a-z]+)*|hentry|hfeed|hatom|vcard|entry(?:-(?:content|title|summary|header|footer|meta))?"
)


@dataclass(frozen=True, eq=False, slots=True)
class MarkedPage:
    """A page whose article is marked.

    Attributes:
        content: float32[m], as in :class:`~winnow.evidence.marked_articles.ArticleMark`.
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


def without_marks(root: etree._Element) -> etree._Element:
    """Copy a tree without microdata, RDFa and the class names of microformats; the tree itself is not changed."""
    copy = deepcopy(root)
    for element in copy.iter("*"):
        attributes = element.attrib
        for name in _STRUCTURED:
            if name in attributes:
                del attributes[name]
        names = attributes.get("class")
        if names is not None:
            attributes["class"] = " ".join(part for part in names.split() if not _MICROFORMAT.fullmatch(part))
    return copy
