"""Finds reader comments beside the main content by the names of their elements, and separates them from it.

Nothing is separated on a forum, whose posts are the content.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from tamis.memo import Memo
from tamis.page.attributes import attribute_predicate
from tamis.page.text import block_words
from tamis.page.tree import clickable_blocks, elements_of_blocks, nearest, outermost, subtree_sums, tag_set, within

if TYPE_CHECKING:
    from tamis.arrays import Flags, Indices
    from tamis.evidence.draft import Draft
    from tamis.models import Scores
    from tamis.page.page import Page


NOTHING, COMMENT, THREAD, FORM = range(4)
"""Kind of an element, according to its name."""

_WORDS: Final = re.compile(
    r"commentaires?|comentarios?|comentários?|kommentare?n?|kommentarer|komentarz[ey]?|komentar[ei]?|komentáře"
    r"|komment(?:it|ti|ek)|comment[io]|yorumlar|yorum|reacties?|pinglun|comments?"
)
"""Words for comments in class and id names, in several languages."""

_PLURAL: Final = re.compile(r"(?:s|[^c]e|[eo]n|er|it|ek|ti|lar|i)$")
_PART: Final = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")

_THREAD_PARTS: Final = frozenset({"list", "lists", "section", "area", "thread", "listing", "pane"})
_COMMENT_PARTS: Final = frozenset(
    """
    a admin ajax alt approved article author avatar block blog body box by byuser bypostauthor card child class cm
    container content copy d data date depth details div dsq el entry even field first foot footer guest head header
    hentry holder info inner ips item items js last left level li links main media message meta metadata name new node
    odd page parent permalink post public published reply right root row single t template text threaded time top type
    user view vote votes wp wpd wrap wrapper
    """.split()  # noqa: SIM905  (ninety quoted names would be no easier to read)
)
"""Other parts that the name of a comment may have; with any other part it is not one, such as ``comment-policy``."""
_PARTS: Final = _COMMENT_PARTS | _THREAD_PARTS
_KIND_BY_FULL_NAME: Final = {
    "disqus_thread": THREAD, "dsq-content": THREAD, "dsq-comments": THREAD, "responses": THREAD,
    "commentsection": THREAD, "respond": FORM, "replyform": FORM, "commentform": FORM, "wpd-field-comment": FORM,
    "block-comment": NOTHING, "block-comment-0": NOTHING,  # Drupal's list of the site's latest comments
}  # fmt: skip

_SCHEMA_POSSIBLE: Final = attribute_predicate("itemtype", "itemprop", parts=["comment"])
_TYPEOF_POSSIBLE: Final = attribute_predicate("typeof", parts=["comment"])
_POSSIBLE: Final = attribute_predicate("class", "id", parts=(
    "oment", "omment", "yorum", "reactie", "pinglun", "dsq-", "disqus_thread", "respond", "responses", "replyform",
))  # fmt: skip
"""Cheap filter: every name that the tables above recognise contains one of these substrings."""

_SCHEMA: Final = re.compile(r"schema\.org/(?:User)?Comments?\s*$|(?:^|\s)comment(?:\s|$)")
_TYPEOF: Final = re.compile(r"(?i)(?:^|[\s:])(?:User)?Comment(?:\s|$)")

_CONTAINERS: Final = tag_set(
    "div", "section", "article", "aside", "ul", "ol", "li", "dl", "dt", "dd", "table", "tbody", "tr", "td", "form",
    "blockquote", "p", "details",
)  # fmt: skip


def named_comments(page: Page) -> Flags | None:
    """bool[m], blocks in elements named like single comments, without code and the forms within; ``None`` for none."""
    table = page.attributes
    if table.matches.keys().isdisjoint((_SCHEMA_POSSIBLE, _TYPEOF_POSSIBLE, _POSSIBLE)):
        return None
    known = {place: _KIND_OF[re.sub(r"\d+", "0", value)] for place, value in table.matching(_POSSIBLE)}
    for possible, pattern in ((_SCHEMA_POSSIBLE, _SCHEMA), (_TYPEOF_POSSIBLE, _TYPEOF)):
        known |= {place: COMMENT for place, value in table.matching(possible) if pattern.search(value)}
    if COMMENT not in known.values():  # as on most pages
        return None
    kind = np.zeros(page.n, np.int8)
    for each in (COMMENT, THREAD, FORM):  # the last of several counts
        kind[table.elements_with([place for place, found in known.items() if found == each])] = each
    kind[~_CONTAINERS.take(page.tag)] = NOTHING
    # an element named like one comment that contains a thread or a form is the whole thread
    kind[(kind == COMMENT) & (subtree_sums(page, kind >= THREAD) > 0)] = THREAD
    other = (kind == FORM) | tag_set("pre", "code").take(page.tag)
    comments: Flags = _blocks(page, kind == COMMENT) & ~_blocks(page, other)
    return comments if comments.any() else None


def _blocks(page: Page, elements: Flags) -> Flags:
    """bool[m], blocks that begin inside one of these elements."""
    if not elements.any():
        return np.zeros(page.m, bool)
    inside = within(page, elements)
    return inside[page.run_node[page.block_run_begin]] | inside[page.block_node]


def _kind_of_value(value: str) -> int:
    return max(map(_kind_of, value.split()), default=NOTHING)


def _kind_of(name: str) -> int:
    """Kind according to one class or id name."""
    if len(name) > 80:
        return NOTHING
    lowered = name.lower()
    if lowered in _KIND_BY_FULL_NAME:
        return _KIND_BY_FULL_NAME[lowered]
    found = _WORDS.search(lowered)
    if found is None:
        return NOTHING
    rest = set(map(str.lower, _PART.findall(f"{name[: found.start()]} {name[found.end() :]}")))
    if rest & {"form", "respond"}:
        return FORM
    if not rest <= _PARTS:
        return NOTHING
    is_plural = _PLURAL.search(found[0]) is not None
    return THREAD if is_plural or rest & _THREAD_PARTS else COMMENT


_KIND_OF: Final = Memo[str, int](_kind_of_value, 16_384)
"""Kind by the value of an attribute, all numbers in it 0: the comments of a page are numbered."""

MAX_FORUM: Final = 0.3
"""Probability that a page is a forum above which nothing on it is a comment, since its posts are the content."""


def find_comments(page: Page, scores: Scores) -> Flags | None:
    """Find the reader comments beside the main content: bool[m], with their author names, dates and controls.

    ``None`` if there are none, as on most pages. The scores say what is main content, and whether the page is a forum.
    """
    comments = named_comments(page)
    if comments is None:
        return None
    words = block_words(page)
    is_main = (scores.templateness[page.n :] < 0.5) & ~comments
    forum = scores.decision.forum
    # A page of an unknown kind may be a forum, whose first post is seldom longer than the others.
    least = words[comments].sum() if forum is None else 0.0
    has_main = words[is_main].sum() >= max(least, 10.0)  # such as a photo and a sentence
    return comments if has_main and (forum or 0.0) <= MAX_FORUM else None


Comments = Literal["separate", "include", "drop"]

COMMENTS: Final[tuple[Comments, ...]] = get_args(Comments)
"""What to do with reader comments."""

_MAX_CONTROL_WORDS: Final = 3


@dataclass(frozen=True, eq=False, slots=True)
class CommentPartition:
    """The comment threads of a page, and which of their blocks are part of its text.

    Attributes:
        comments: bool[m], blocks of comments.
        excluded: bool[m], blocks of threads that are not part of the text; those of no comment, which are controls and
            headings, are template.
        section: int32[n + m], root of the thread that each unit belongs to, -1 outside threads.
    """

    comments: Flags
    excluded: Flags
    section: Indices


def partition_comments(draft: Draft) -> None:
    """Separate reader comments from the main content, by the scores without the site's counts."""
    page = draft.page
    found = find_comments(page, draft.page_scores)
    if found is None:
        return
    thread, written = _with_headings(page, found), _without_controls(page, found)
    excluded = found & ~written if draft.options.comments == "include" else thread
    draft.comments = CommentPartition(written, excluded, _thread_sections(page, thread))


def _with_headings(page: Page, comments: Flags) -> Flags:
    """bool[m], the blocks of comments (bool[m]) and the headings right above them."""
    heading = nearest(page.parent, tag_set("h2", "h3", "h4", "h5", "h6").take(page.tag))[page.block_node] >= 0
    above: Flags = np.append(comments[1:], False)
    return comments | heading & above


def _without_controls(page: Page, comments: Flags) -> Flags:
    """bool[m], blocks of comments (bool[m]) without their controls: "Reply", "Like", "Report".

    A control is a link or button of at most three words whose text occurs at least three times, and at least half as
    often as the most frequent one, so that an author of several comments is not taken for a control.
    """
    texts = page.block_texts()
    short = [
        block
        for block in np.flatnonzero(comments & clickable_blocks(page)).tolist()
        if len(texts[block].split(None, _MAX_CONTROL_WORDS)) <= _MAX_CONTROL_WORDS
    ]
    times = Counter(texts[block] for block in short)
    least = max(3, max(times.values(), default=0) / 2)
    kept = comments.copy()
    kept[[block for block in short if times[texts[block]] >= least]] = False
    return kept


def _thread_sections(page: Page, thread: Flags) -> Indices:
    """int32[n + m], root unit of the section that each unit belongs to, by the blocks of threads (bool[m]), -1 outside.

    A block whose element holds other text, too, is a section of its own.
    """
    root = outermost(page.parent, elements_of_blocks(page, thread))
    of_block = root[page.block_node]
    own = np.arange(page.n, page.n + page.m, dtype=np.int32)
    return np.concatenate([root, np.where(thread, np.where(of_block >= 0, of_block, own), np.int32(-1))])
