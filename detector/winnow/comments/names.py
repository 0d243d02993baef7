"""Names that authors give to the elements of a comment thread: schema.org types and class and id names.

They are what the head learns from (:mod:`winnow.training.comments`), with itself hidden, and what it is helped by
where a page has them. A name counts by its parts: ``comment-body``, ``li-comment-17`` and ``wpd_comment`` are of a
comment, ``comment-count``, ``recent-comments`` and ``no-comments`` are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.memo import Memo
from winnow.page.attributes import question
from winnow.page.subtrees import within
from winnow.page.tags import tag_set

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.page.page import Page

NOTHING, COMMENT, THREAD, FORM = range(4)
"""What a name says that an element is."""

_WORDS: Final = re.compile(
    r"commentaires?|comentarios?|comentários?|kommentare?n?|kommentarer|komentarz[ey]?|komentar[ei]?|komentáře"
    r"|komment(?:it|ti|ek)|comment[io]|yorumlar|yorum|reacties?|pinglun|comments?",
    re.IGNORECASE,
)
"""What comments are called in names, also in other languages than English."""

_SEVERAL: Final = re.compile(r"(?:s|[^c]e|[eo]n|er|it|ek|ti|lar|i)$", re.IGNORECASE)
_PART: Final = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_LONGEST: Final = 80

_OF_A_THREAD: Final = frozenset({"list", "lists", "section", "area", "thread", "listing", "pane"})
_OF_A_COMMENT: Final = frozenset(
    """
    a admin ajax alt approved article author avatar block blog body box by byuser bypostauthor card child class cm
    container content copy d data date depth details div dsq el entry even field first foot footer guest head header
    hentry holder info inner ips item items js last left level li links main media message meta metadata name new node
    odd page parent permalink post public published reply right root row single t template text threaded time top type
    user view vote votes wp wpd wrap wrapper
    """.split()  # noqa: SIM905  (ninety quoted names would be no easier to read)
)
"""Other parts that the name of a comment may have; with any other it may be anything, such as ``comment-policy``."""
_OF_A_FORM: Final = frozenset({"form", "respond"})
_WHOLE: Final = {
    "disqus_thread": THREAD, "dsq-content": THREAD, "dsq-comments": THREAD, "responses": THREAD,
    "commentsection": THREAD, "respond": FORM, "replyform": FORM, "commentform": FORM,
}  # fmt: skip

_SCHEMA_POSSIBLE: Final = question("itemtype", "itemprop", parts=["comment"])
_TYPEOF_POSSIBLE: Final = question("typeof", parts=["comment"])
_POSSIBLE: Final = question("class", "id", parts=(
    "oment", "omment", "yorum", "reactie", "pinglun", "dsq-", "disqus_thread", "respond", "responses", "replyform",
))  # fmt: skip
"""Everything that the two tables above know has one of these parts: they tell that a page has nothing of it."""

_SCHEMA: Final = re.compile(r"schema\.org/(?:User)?Comments?\s*$|(?:^|\s)comment(?:\s|$)")
_TYPEOF: Final = re.compile(r"(?i)(?:^|[\s:])(?:User)?Comment(?:\s|$)")

_CONTAINERS: Final = tag_set(
    "div", "section", "article", "aside", "ul", "ol", "li", "dl", "dt", "dd", "table", "tbody", "tr", "td", "form",
    "blockquote", "p", "details",
)  # fmt: skip
_CODE: Final = tag_set("pre", "code")


@dataclass(frozen=True, eq=False, slots=True)
class NamedComments:
    """Blocks of a page in elements that are named like parts of a comment thread.

    Attributes:
        comment: bool[m], in a single comment, and not in a form within it.
        thread: bool[m], in a comment or elsewhere in the thread: its heading, its controls.
        form: bool[m], in a form for writing one.
    """

    comment: NDArray[np.bool_]
    thread: NDArray[np.bool_]
    form: NDArray[np.bool_]

    @classmethod
    def of(cls, page: Page) -> NamedComments:
        """Look at the names of a page's elements."""
        kind = _kinds(page)
        if not kind.any():  # as on most pages
            return cls(*np.zeros((3, page.m), bool))
        thread, form = (_blocks(page, kind == which) for which in (THREAD, FORM))
        comment = _blocks(page, kind == COMMENT) & ~form & ~_blocks(page, _CODE[page.tag])
        return cls(comment, thread | comment, form)


def _kinds(page: Page) -> NDArray[np.int8]:
    """int8[n], what each element's names say that it is."""
    table = page.attributes
    known = {place: _KIND_OF[value] for place, value in table.having(_POSSIBLE)}
    for asked, pattern in ((_SCHEMA_POSSIBLE, _SCHEMA), (_TYPEOF_POSSIBLE, _TYPEOF)):
        known |= {place: COMMENT for place, value in table.having(asked) if pattern.search(value)}
    kind = np.zeros(page.n, np.int8)
    if not any(known.values()):  # as on most pages
        return kind
    of_value = np.zeros(len(table.first), np.int8)
    of_value[list(known)] = list(known.values())
    speaking = np.flatnonzero(of_value[table.first])
    np.maximum.at(kind, table.element[speaking], of_value[table.first[speaking]])
    kind[~_CONTAINERS[page.tag]] = NOTHING
    # what holds a thread or a form is the whole, whatever it is called
    inner = np.append(0, np.cumsum(kind >= THREAD))
    holds = inner[page.end] > inner[1:]
    kind[(kind == COMMENT) & holds] = THREAD
    return kind


def _blocks(page: Page, elements: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks that begin inside some elements."""
    if not elements.any():
        return np.zeros(page.m, bool)
    inside = within(page, elements)
    return inside[page.run_node[page.block_run_begin]] | inside[page.block_node]


def _kind_of_value(value: str) -> int:
    return max(map(_kind_of, value.split()), default=NOTHING)


def _kind_of(name: str) -> int:
    """What one class or id name says."""
    if len(name) > _LONGEST:
        return NOTHING
    if name.lower() in _WHOLE:
        return _WHOLE[name.lower()]
    found = _WORDS.search(name)
    if found is None:
        return NOTHING
    rest = {
        part.lower()
        for side in (name[: found.start()], name[found.end() :])
        for part in _PART.findall(side)
        if not part.isdigit()
    }
    if rest & _OF_A_FORM:
        return FORM
    if not rest <= _OF_A_COMMENT | _OF_A_THREAD:
        return NOTHING
    several = _SEVERAL.search(found[0]) is not None
    return THREAD if several or rest & _OF_A_THREAD else COMMENT


_KIND_OF: Final = Memo[str, int](_kind_of_value, 16_384)
