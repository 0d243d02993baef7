"""Finds reader comments beside the main content by the names of their elements, and separates them from it.

Nothing is separated on a forum, whose posts are the content.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from tamis.evidence.main_content import enclosed_blocks
from tamis.memo import Memo
from tamis.page.attributes import NAME_WORD, attribute_predicate
from tamis.page.text import block_words
from tamis.page.tree import elements_of_blocks, nearest, outermost, subtree_sums, tag_set, within

if TYPE_CHECKING:
    from tamis.arrays import Flags, Indices
    from tamis.evidence.draft import Draft
    from tamis.models import Scores
    from tamis.page.page import Page


class _Kind(IntEnum):
    """Kind of an element, according to its name."""

    NOTHING = 0
    COMMENT = 1
    THREAD = 2
    FORM = 3


_WORDS: Final = re.compile(
    r"commentaires?|comentarios?|comentários?|kommentare?n?|kommentarer|komentarz[ey]?|komentar[ei]?|komentáře"
    r"|komment(?:it|ti|ek)|comment[io]|yorumlar|yorum|reacties?|pinglun|comments?"
)
"""Words for comments in class and id names, in several languages."""

_NUMBER: Final = re.compile(r"\d+")
_PLURAL: Final = re.compile(r"(?:s|[^c]e|[eo]n|er|it|ek|ti|lar|i)$")

_THREAD_PARTS: Final = frozenset({"list", "lists", "section", "area", "thread", "listing", "pane"})
_COMMENT_PARTS: Final = frozenset(
    """
    a admin ajax alt approved article author avatar block blog body box by byuser bypostauthor card child class cm
    container content copy d data date depth details div dsq el entry even field first foot footer guest head header
    hentry holder info inner ips item items js last left level li links main media message meta metadata name new node
    odd page parent permalink post public published reply right root row single t template text threaded time top type
    user view vote votes wp wpd wrap wrapper
    """.split()
)
"""Other parts that the name of a comment may have; with any other part it is not one, such as ``comment-policy``."""
_KIND_BY_FULL_NAME: Final = {
    **dict.fromkeys(("disqus_thread", "dsq-content", "dsq-comments", "responses", "commentsection"), _Kind.THREAD),
    **dict.fromkeys(("respond", "replyform", "commentform", "wpd-field-comment"), _Kind.FORM),
    # Drupal's list of the site's latest comments
    **dict.fromkeys(("block-comment", "block-comment-0"), _Kind.NOTHING),
}

_NAMED: Final = attribute_predicate("class", "id", parts=(
    "oment", "omment", "yorum", "reactie", "pinglun", "dsq-", "disqus_thread", "respond", "response", "replyform",
))  # fmt: skip
"""Cheap filter: every name that the tables above recognise contains one of these substrings."""

_DECLARED: Final = {
    attribute_predicate("itemtype", "itemprop", parts=["comment"]): re.compile(
        r"schema\.org/(?:User)?Comments?\s*$|(?:^|\s)comment(?:\s|$)"
    ),
    attribute_predicate("typeof", parts=["comment"]): re.compile(r"(?i)(?:^|[\s:])(?:User)?Comment(?:\s|$)"),
}
"""Attributes of structured data that declare a comment: a predicate, and a pattern for those that match it."""


def named_comments(page: Page) -> Flags | None:
    """bool[m], blocks in elements named like single comments, without code and the forms within; ``None`` for none."""
    table = page.attributes
    known = {index: _KIND_OF[_NUMBER.sub("0", value)] for index, value in table.matching(_NAMED)}
    for predicate, pattern in _DECLARED.items():
        known |= {index: _Kind.COMMENT for index, value in table.matching(predicate) if pattern.search(value)}
    if _Kind.COMMENT not in known.values():  # as on most pages
        return None
    kind = np.zeros(page.n, np.int8)
    for each in (_Kind.COMMENT, _Kind.THREAD, _Kind.FORM):  # the last of several counts
        kind[table.elements_with([index for index, found in known.items() if found == each])] = each
    containers = tag_set(
        *("div", "section", "article", "aside", "ul", "ol", "li", "dl", "dt", "dd", "table", "tbody", "tr", "td"),
        *("form", "blockquote", "p", "details"),
    )
    kind[~containers.take(page.tag)] = _Kind.NOTHING
    # an element named like one comment that contains a thread or a form is the whole thread
    kind[(kind == _Kind.COMMENT) & (subtree_sums(page, kind >= _Kind.THREAD) > 0)] = _Kind.THREAD
    other = (kind == _Kind.FORM) | tag_set("pre", "code").take(page.tag)
    comments: Flags = _blocks_in(page, kind == _Kind.COMMENT) & ~_blocks_in(page, other)
    return comments if comments.any() else None


def _blocks_in(page: Page, elements: Flags) -> Flags:
    """bool[m], blocks that begin inside one of these elements."""
    if not elements.any():
        return np.zeros(page.m, bool)
    inside = within(page, elements)
    return inside[page.run_node[page.block_run_begin]] | inside[page.block_node]


def _kind_of_value(value: str) -> _Kind:
    return max(map(_kind_of_name, value.split()), default=_Kind.NOTHING)


def _kind_of_name(name: str) -> _Kind:
    """Kind according to one class or id name."""
    if len(name) > 80:
        return _Kind.NOTHING
    lowered = name.lower()
    if lowered in _KIND_BY_FULL_NAME:
        return _KIND_BY_FULL_NAME[lowered]
    found = _WORDS.search(lowered)
    if found is None:
        return _Kind.NOTHING
    rest = set(map(str.lower, NAME_WORD.findall(f"{name[: found.start()]} {name[found.end() :]}")))
    if rest & {"form", "respond"}:
        return _Kind.FORM
    if rest - _THREAD_PARTS - _COMMENT_PARTS:
        return _Kind.NOTHING
    is_plural = _PLURAL.search(found[0]) is not None
    return _Kind.THREAD if is_plural or rest & _THREAD_PARTS else _Kind.COMMENT


_KIND_OF: Final = Memo[str, _Kind](_kind_of_value, 16_384)
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
    main_words = words[(scores.templateness[page.n :] < 0.5) & ~comments].sum()
    forum = scores.decision.forum
    if main_words < 10 or (forum is not None and forum > MAX_FORUM):  # 10: a photo and a sentence
        return None
    if forum is None and main_words < words[comments].sum():
        return None  # it may be a forum, whose first post is seldom longer than the others
    return comments


Comments: TypeAlias = Literal["separate", "include", "drop"]

COMMENTS: Final[tuple[Comments, ...]] = get_args(Comments)
"""What to do with reader comments."""


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
    in_controls = enclosed_blocks(page, tag_set("a", "button", "label", "select").take(page.tag))
    clickable = (comments & in_controls).nonzero()[0].tolist()
    short = [block for block in clickable if len(texts[block].split(None, 3)) <= 3]
    times = Counter(map(texts.__getitem__, short))
    least = max(3, max(times.values(), default=0) / 2)
    kept = comments.copy()
    kept[[block for block in short if times[texts[block]] >= least]] = False
    return kept


def _thread_sections(page: Page, thread: Flags) -> Indices:
    """int32[n + m], root unit of the section that each unit belongs to, by the blocks of threads (bool[m]), -1 outside.

    A block whose element holds other text, too, is a section of its own.
    """
    root = outermost(page.parent, elements_of_blocks(page, thread))
    by_block = root[page.block_node]
    blocks = np.arange(page.n, page.n + page.m, dtype=np.int32)
    by_block = np.where(by_block >= 0, by_block, blocks)
    return np.concatenate([root, np.where(thread, by_block, np.int32(-1))])
