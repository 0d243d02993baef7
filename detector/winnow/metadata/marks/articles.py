"""Which blocks of a page its author has marked as the article.

Four kinds of marks give an element: microdata and RDFa (``articleBody``, Drupal's ``content:encoded``), microformats
(``e-content``) and their elder hAtom (``entry-content``). JSON-LD gives a text, which is looked for among the blocks.

Where a page has such a mark and gold text, their word F1 is 0.92 (``articles``, 241 pages) and 0.93 (WCXB, 210 pages):
the rules below leave out teasers, pages of several entries, live blogs and forums, of which a mark shows a part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.metadata.marks.structured_data import article_bodies
from winnow.page.subtrees import within
from winnow.page.tags import TAG_ID
from winnow.page.text.scripts import WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

LEAST_WORDS: Final = 100
"""Words of a marked text, or characters of an unspaced script; less is a teaser."""

_LEAST_FOUND: Final = 0.85  # share of a JSON-LD body that the page must show
_LEAST_BLOCK: Final = 4  # words of a block that cannot be in the body by chance

_MARKS: Final = {
    "microdata": ("itemprop", re.compile(r"(?:^|\s)articleBody(?:\s|$)")),
    "rdfa": ("property", re.compile(r"(?:^|\s)(?:\w+:articleBody|articleBody|content:encoded)(?:\s|$)")),
    "microformats": ("class", re.compile(r"(?:^|\s)e-content(?:\s|$)")),
    "hatom": ("class", re.compile(r"(?:^|\s)entry-content(?:\s|$)")),
}
"""By kind of mark, the attribute that bears it and how it is written."""
JSON_LD: Final = "json-ld"

_FORUM: Final = re.compile(r"schema\.org/(?:DiscussionForumPosting|QAPage|Question|Answer)\b")

_OF_READERS: Final = re.compile(r"(?i)(?:^|[\s_-])(?:comments?|h-cite|repl(?:y|ies)|responses?)(?:$|[\s_-])")
"""Names around the words of readers, which are marked in the same way."""


@dataclass(frozen=True, eq=False, slots=True)
class ArticleMark:
    """A mark that will do as a label.

    Attributes:
        kind: ``"microdata"``, ``"rdfa"``, ``"microformats"``, ``"hatom"`` or ``"json-ld"``.
        content: float32[m], 1 for the blocks of the article, 0 for others; NaN for those of which the mark says
            nothing: the page's main heading, and with JSON-LD blocks of so few words that they may be anywhere.
    """

    kind: str
    content: NDArray[np.float32]


def article_mark(page: Page) -> ArticleMark | None:
    """Find the mark of the one article of a page; ``None`` without one, or where it does not seem to be whole."""
    if any(_FORUM.search(kind) for kind in page.attributes.named("itemtype")):
        return None  # a mark for each post, or for the first one
    for kind, (attribute, mark) in _MARKS.items():
        found = _outermost(
            page, [element for element, value in page.attribute(attribute).items() if mark.search(value)]
        )
        if len(found) > 1:
            return None  # a page of several articles, each perhaps a teaser
        if found:
            words = np.fromiter((len(WORD.findall(text)) for text in page.block_texts()), np.int64, page.m)
            content = np.zeros(page.m, np.float32)
            content[page.block_begin[found[0]] : page.block_end[found[0]]] = 1
            if words @ content >= LEAST_WORDS:
                return ArticleMark(kind, _without_heading(page, content))
    bodies = article_bodies(page)
    body = _in_body(page, bodies[0]) if len(bodies) == 1 else None
    return None if body is None else ArticleMark(JSON_LD, _without_heading(page, body))


def _outermost(page: Page, elements: list[int]) -> list[int]:
    """Those of some elements in document order that hold text and are in no other one, nor among readers' words."""
    names = [
        element
        for attribute in ("class", "id")
        for element, value in page.attribute(attribute).items()
        if _OF_READERS.search(value) and page.depth[element] > _BODY_DEPTH
    ]
    chosen = np.zeros(page.n, bool)
    chosen[names] = True
    of_readers = within(page, chosen)
    found: list[int] = []
    for element in elements:
        held = page.block_end[element] > page.block_begin[element]
        if held and not of_readers[element] and not (found and element < page.end[found[-1]]):
            found.append(element)
    return found


_BODY_DEPTH: Final = 1  # classes of html and body tell what a page has, not what it is


def _in_body(page: Page, body: str) -> NDArray[np.float32] | None:
    """Look for the blocks in a text: float32[m] as in :class:`ArticleMark`, ``None`` if too little of it is there."""
    whole = WORD.findall(body.lower())
    if len(whole) < LEAST_WORDS:
        return None
    text = f" {' '.join(whole)} "
    content = np.zeros(page.m, np.float32)
    covered = 0
    for block, words in enumerate(WORD.findall(text.lower()) for text in page.block_texts()):
        if words and f" {' '.join(words)} " in text:
            long = len(words) >= _LEAST_BLOCK
            content[block] = 1 if long else np.nan
            covered += len(words) if long else 0
    return content if covered >= _LEAST_FOUND * len(whole) else None


def _without_heading(page: Page, content: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same, with no label for main headings outside the mark: some authors mark them, others do not."""
    heading = within(page, page.tag == TAG_ID["h1"])[page.block_node]
    return np.where(heading & (content == 0), np.float32(np.nan), content)
