"""Which blocks of a page its author has marked as the article.

Four kinds of marks give an element: microdata and RDFa (``articleBody``, Drupal's ``content:encoded``), microformats
(``e-content``) and their elder hAtom (``entry-content``). JSON-LD gives a text, which is looked for among the blocks.

Where a page has such a mark and gold text, their word F1 is 0.92 (``articles``, 241 pages) and 0.93 (WCXB, 210 pages):
the rules below leave out teasers, pages of several entries, live blogs and forums, of which a mark shows a part.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.metadata.marks.structured_data import article_bodies
from winnow.page.attributes.questions import question
from winnow.page.subtrees import prefix_sums, within
from winnow.page.tags import TAG_ID
from winnow.page.text.scripts import WORD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from winnow.page.page import Page

LEAST_WORDS: Final = 100
"""Words of a marked text, or characters of an unspaced script; less is a teaser."""

_LEAST_FOUND: Final = 0.85  # share of a JSON-LD body that the page must show
_LEAST_BLOCK: Final = 4  # words of a block that cannot be in the body by chance
_WORD_OR_BORDER: Final = re.compile(rf"\n|{WORD.pattern}")
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no word is lost in the product

_MARKS: Final = {
    "microdata": ("itemprop", re.compile(r"(?:^|\s)articleBody(?:\s|$)")),
    "rdfa": ("property", re.compile(r"(?:^|\s)(?:\w+:articleBody|articleBody|content:encoded)(?:\s|$)")),
    "microformats": ("class", re.compile(r"(?:^|\s)e-content(?:\s|$)")),
    "hatom": ("class", re.compile(r"(?:^|\s)entry-content(?:\s|$)")),
}
"""By kind of mark, the attribute that bears it and how it is written."""
_POSSIBLE: Final = question(
    *dict(_MARKS.values()), parts=("articlebody", "content:encoded", "e-content", "entry-content")
)
JSON_LD: Final = "json-ld"

_FORUM: Final = re.compile(r"schema\.org/(?:DiscussionForumPosting|QAPage|Question|Answer)\b")
_FORUM_POSSIBLE: Final = question("itemtype", parts=("discussionforumposting", "qapage", "question", "answer"))

_OF_READERS: Final = re.compile(r"(?i)(?:^|[\s_-])(?:comments?|h-cite|repl(?:y|ies)|responses?)(?:$|[\s_-])")
"""Names around the words of readers, which are marked in the same way."""
_READERS_POSSIBLE: Final = question("class", "id", parts=("comment", "h-cite", "repl", "response"))


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
    if any(_FORUM.search(kind) for _, kind in page.attributes.having(_FORUM_POSSIBLE)):
        return None  # a mark for each post, or for the first one
    for kind, elements in _marked_elements(page):
        found = _outermost(page, elements)
        if len(found) > 1:
            return None  # a page of several articles, each perhaps a teaser
        if found and _is_whole(page, found[0]):
            content = np.zeros(page.m, np.float32)
            content[page.block_begin[found[0]] : page.block_end[found[0]]] = 1
            return ArticleMark(kind, _without_heading(page, content))
    bodies = article_bodies(page)
    body = _in_body(page, bodies[0]) if len(bodies) == 1 else None
    return None if body is None else ArticleMark(JSON_LD, _without_heading(page, body))


def _marked_elements(page: Page) -> Iterator[tuple[str, list[int]]]:
    """Elements that bear each kind of mark, in document order, for the kinds that some do."""
    possible = page.attributes.having(_POSSIBLE)
    for kind, (attribute, mark) in _MARKS.items():
        named = page.attributes.named(attribute) if any(mark.search(value) for _, value in possible) else {}
        places = [named[value] for _, value in possible if value in named and mark.search(value)]
        if places:
            yield kind, page.attributes.bearers(places)


def _is_whole(page: Page, element: int) -> bool:
    """Whether an element holds as many words as an article has at least."""
    words = 0
    for text in page.block_texts()[page.block_begin[element] : page.block_end[element]]:
        words += len(WORD.findall(text))
        if words >= LEAST_WORDS:
            return True
    return False


def _outermost(page: Page, elements: list[int]) -> list[int]:
    """Those of some elements in document order that hold text and are in no other one, nor among readers' words."""
    table = page.attributes
    named = table.having(_READERS_POSSIBLE)
    chosen = np.zeros(page.n, bool)
    chosen[table.bearers([place for place, value in named if _OF_READERS.search(value)])] = True
    of_readers = within(page, chosen & (page.depth > _BODY_DEPTH))
    found: list[int] = []
    for element in elements:
        held = page.block_end[element] > page.block_begin[element]
        if held and not of_readers[element] and not (found and element < page.end[found[-1]]):
            found.append(element)
    return found


_BODY_DEPTH: Final = 1  # classes of html and body tell what a page has, not what it is


def _in_body(page: Page, body: str) -> NDArray[np.float32] | None:
    """Look for the blocks in a text: float32[m] as in :class:`ArticleMark`, ``None`` if too little of it is there.

    A block is there if every stretch of :data:`_LEAST_BLOCK` of its words is, wherever that be: so it takes no longer
    the longer both are.
    """
    number: defaultdict[str, int] = defaultdict(lambda: len(number) + 1)
    whole = _numbers(body, number)
    words = _numbers(page.block_lines, number)
    if len(whole) < LEAST_WORDS or len(words) < _LEAST_FOUND * len(whole):
        return None
    border = np.flatnonzero(words == 0)
    begin, end = np.append(0, border + 1), np.append(border, len(words))
    length = end - begin
    content = np.zeros(page.m, np.float32)
    for least in range(1, _LEAST_BLOCK + 1):
        there = prefix_sums(np.isin(_stretches(words, least), _stretches(whole, least)))
        own = np.flatnonzero(length >= least if least == _LEAST_BLOCK else length == least)
        stretches = length[own] - least + 1
        found = there[begin[own] + stretches] - there[begin[own]] == stretches
        content[own[found]] = 1 if least == _LEAST_BLOCK else np.nan
    return content if length[content == 1].sum() >= _LEAST_FOUND * len(whole) else None


def _numbers(text: str, number: defaultdict[str, int]) -> NDArray[np.uint64]:
    """Numbers of the words of a text, small letters or not; 0 for the end of a line."""
    number["\n"] = 0
    return np.fromiter(map(number.__getitem__, _WORD_OR_BORDER.findall(text.lower())), np.uint64)


def _stretches(words: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """Hashes of all stretches of so many successive words."""
    last = len(words) - length + 1
    hashed = np.zeros(max(last, 0), np.uint64)
    for place in range(length if last > 0 else 0):
        hashed = hashed * _FACTOR + words[place : place + last]
    return hashed


def _without_heading(page: Page, content: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same, with no label for main headings outside the mark: some authors mark them, others do not."""
    heading = within(page, page.tag == TAG_ID["h1"])[page.block_node]
    return np.where(heading & (content == 0), np.float32(np.nan), content)
