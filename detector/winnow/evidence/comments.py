"""Finds reader comments below the main content, and separates them from it.

Blocks in elements named like comments are comments. Other blocks are judged by their look, in runs, and only below main
content that can have comments. Nothing is separated on a forum, whose posts are the content.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self, get_args

import numpy as np

from winnow.evidence.comment_model import CommentHead, date_features, dated_features, posted, signs_of
from winnow.features.blocks import features_of
from winnow.memo import Memo
from winnow.page.attributes import attribute_predicate
from winnow.page.tags import tag_set
from winnow.page.tree import clickable_blocks, elements_of_blocks, nearest, outermost, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.evidence.comment_model import CommentPrediction
    from winnow.evidence.draft import Draft
    from winnow.features.blocks import BlockFeatures
    from winnow.models.scores import Scores
    from winnow.page.page import Page

    Flags = NDArray[np.bool_]

    Floats = NDArray[np.float64]

NOTHING, COMMENT, THREAD, FORM = range(4)
"""Kind of an element, according to its name."""

_WORDS: Final = re.compile(
    r"commentaires?|comentarios?|comentários?|kommentare?n?|kommentarer|komentarz[ey]?|komentar[ei]?|komentáře"
    r"|komment(?:it|ti|ek)|comment[io]|yorumlar|yorum|reacties?|pinglun|comments?",
    re.IGNORECASE,
)
"""Words for comments in class and id names, in several languages."""

_PLURAL: Final = re.compile(r"(?:s|[^c]e|[eo]n|er|it|ek|ti|lar|i)$", re.IGNORECASE)
_PART: Final = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_MAX_NAME_LENGTH: Final = 80

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
_FORM_PARTS: Final = frozenset({"form", "respond"})
_KIND_BY_FULL_NAME: Final = {
    "disqus_thread": THREAD, "dsq-content": THREAD, "dsq-comments": THREAD, "responses": THREAD,
    "commentsection": THREAD, "respond": FORM, "replyform": FORM, "commentform": FORM,
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
_CODE: Final = tag_set("pre", "code")


@dataclass(frozen=True, eq=False, slots=True)
class NamedComments:
    """Blocks of a page in elements named like parts of a comment thread.

    Attributes:
        comment: bool[m], in a single comment, and not in a form within it.
        thread: bool[m], in a comment or elsewhere in the thread, such as its heading and controls.
        form: bool[m], in a form for writing a comment.
    """

    comment: NDArray[np.bool_]
    thread: NDArray[np.bool_]
    form: NDArray[np.bool_]

    @classmethod
    def of(cls, page: Page) -> NamedComments:
        """Classify a page's blocks by the names of their elements."""
        kind = _kinds(page)
        if not kind.any():  # as on most pages
            return cls(*np.zeros((3, page.m), bool))
        thread, form = (_blocks(page, kind == which) for which in (THREAD, FORM))
        comment = _blocks(page, kind == COMMENT) & ~form & ~_blocks(page, _CODE[page.tag])
        return cls(comment, thread | comment, form)


def _kinds(page: Page) -> NDArray[np.int8]:
    """int8[n], kind of each element according to its names."""
    table = page.attributes
    known = {place: _KIND_OF[value] for place, value in table.matching(_POSSIBLE)}
    for possible, pattern in ((_SCHEMA_POSSIBLE, _SCHEMA), (_TYPEOF_POSSIBLE, _TYPEOF)):
        known |= {place: COMMENT for place, value in table.matching(possible) if pattern.search(value)}
    kind = np.zeros(page.n, np.int8)
    if not any(known.values()):  # as on most pages
        return kind
    kind_by_first = np.zeros(len(table.first), np.int8)
    kind_by_first[list(known)] = list(known.values())
    named = np.flatnonzero(kind_by_first[table.first])
    np.maximum.at(kind, table.element[named], kind_by_first[table.first[named]])
    kind[~_CONTAINERS[page.tag]] = NOTHING
    # an element named like one comment that contains a thread or a form is the whole thread
    inner = np.append(0, np.cumsum(kind >= THREAD))
    holds = inner[page.end] > inner[1:]
    kind[(kind == COMMENT) & holds] = THREAD
    return kind


def _blocks(page: Page, elements: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks that begin inside one of these elements."""
    if not elements.any():
        return np.zeros(page.m, bool)
    inside = within(page, elements)
    return inside[page.run_node[page.block_run_begin]] | inside[page.block_node]


def _kind_of_value(value: str) -> int:
    return max(map(_kind_of, value.split()), default=NOTHING)


def _kind_of(name: str) -> int:
    """Kind according to one class or id name."""
    if len(name) > _MAX_NAME_LENGTH:
        return NOTHING
    if name.lower() in _KIND_BY_FULL_NAME:
        return _KIND_BY_FULL_NAME[name.lower()]
    found = _WORDS.search(name)
    if found is None:
        return NOTHING
    rest = {
        part.lower()
        for side in (name[: found.start()], name[found.end() :])
        for part in _PART.findall(side)
        if not part.isdigit()
    }
    if rest & _FORM_PARTS:
        return FORM
    if not rest <= _COMMENT_PARTS | _THREAD_PARTS:
        return NOTHING
    is_plural = _PLURAL.search(found[0]) is not None
    return THREAD if is_plural or rest & _THREAD_PARTS else COMMENT


_KIND_OF: Final = Memo[str, int](_kind_of_value, 16_384)


WEIGHTS: Final = Path(__file__).with_name("weights") / "comments.npz"

_FORUM: Final = -2.0  # logit from which a page may be one; then the main content must be longer than its comments
_SURELY_FORUM: Final = -1.0
_MAX_LOGIT: Final = 4.0  # of a block, either way; also the logit of a block named like a comment
_LENIENCE: Final = 1.0  # added to logits, which are too low for single blocks
_SWITCH: Final = 10.0  # cost of beginning or ending a run, in logits times the square root of words
_MIN_MAIN_WORDS: Final = 60.0  # of main content above comments that are known by their look only
_MIN_MAIN_WORDS_NAMED: Final = 10.0  # of main content beside comments that are named so: a photo and a sentence
_MIN_RUN_WORDS: Final = 20.0  # unlinked, in a run that is known by its look only
_MIN_UNLINKED: Final = 0.5  # fraction of the words of such a run
_MAX_WORDS_PER_DATE: Final = 150.0  # in such a run
_MIN_TITLE_WORDS: Final = 4.0  # of a link that may be the title of another article
_MAX_UNLINKED_IN_TITLE: Final = 0.2  # fraction of its words
_MIN_DATES_PER_TITLE: Final = 3.0  # in a run that is not a list of articles
_MIN_UNLINKED_OF_REVIEWS: Final = 0.8  # fraction of the words of a run: reviews, each with a link to the product


@lru_cache(maxsize=1)
def comment_head() -> CommentHead:
    """Load the shipped comment head, once per process."""
    return CommentHead.load(WEIGHTS)


def find_comments(page: Page, templateness: Floats, head: CommentHead | None = None) -> NDArray[np.bool_]:
    """Find the reader comments below the main content.

    Args:
        page: the page.
        templateness: float64[m] in 0..1, scores of the blocks, which say what is main content.
        head: comment head; by default the shipped one.

    Returns:
        bool[m], blocks of comments, including their author names, dates and controls.
    """
    if not page.m:
        return np.zeros(0, bool)
    features = features_of(page)
    content = np.cumsum(features.words * (templateness < 0.5))
    if content[-1] < _MIN_MAIN_WORDS_NAMED:
        return np.zeros(page.m, bool)  # nothing to comment on
    named, signs, texts = NamedComments.of(page).comment, signs_of(page), page.block_texts()
    if not named.any() and not dated_below(texts, signs, content):
        return named
    prediction = (head or comment_head()).predict(date_features(signs), features)
    return threads(prediction, named, texts, features.words, unlinked_words(features), templateness)


def dated_below(texts: list[str], signs: NDArray[np.uint8], content: Floats) -> bool:
    """Whether a block below the main content has a posting date, without which no thread is found by its look.

    Args:
        texts: text of each block.
        signs: uint8[m], signs of dates.
        content: float64[m], words of content up to and including each block.
    """
    below = signs != 0
    below[1:] &= content[:-1] >= _MIN_MAIN_WORDS
    below[:1] = False
    return any(posted(texts[block]) for block in np.flatnonzero(below).tolist())


def is_surely_forum(page: Page) -> bool:
    """Whether a page with text is almost certainly a forum, whose posts are the content."""
    return comment_head().predict_forum(dated_features(page), features_of(page)) > _SURELY_FORUM


def unlinked_words(features: BlockFeatures) -> Floats:
    """float64[m], number of words of each block outside links."""
    linked: Floats = features.column("link share").astype(np.float64)
    return features.words * (1 - linked)


def threads(
    prediction: CommentPrediction, named: Flags, texts: list[str], words: Floats, unlinked: Floats, templateness: Floats
) -> NDArray[np.bool_]:
    """Decide which blocks are comments or lie between comments.

    Args:
        prediction: prediction of the comment head.
        named: bool[m], blocks in elements named like comments.
        texts: text of each block.
        words: float64[m], number of words of each block.
        unlinked: float64[m], number of those outside links: lists of articles, too, look like dated comments.
        templateness: float64[m] in 0..1.
    """
    logit = np.minimum(np.maximum(prediction.comment + _LENIENCE, -_MAX_LOGIT), _MAX_LOGIT)
    logit[named] = _MAX_LOGIT
    nothing = np.zeros(len(texts), bool)
    if not (logit > 0).any():
        return nothing
    comments = best_runs((logit * np.sqrt(np.maximum(words, 1))).tolist(), _SWITCH)
    begins, ends = _bounds(comments)
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        run = slice(begin, end)
        if not named[run].any() and not _looks_whole(texts[run], words[run], unlinked[run], prediction.comment[run]):
            comments[run] = False
    if not comments.any() or prediction.forum > _SURELY_FORUM:
        return nothing
    main = words * ((templateness < 0.5) & ~comments)
    least = _MIN_MAIN_WORDS_NAMED if named.any() else _MIN_MAIN_WORDS
    if main.sum() < max(least, words[comments].sum() if prediction.forum > _FORUM else 0.0):
        return nothing
    above = np.cumsum(main)
    return comments & (named | (above >= _MIN_MAIN_WORDS))


def best_runs(gain: list[float], switch: float) -> NDArray[np.bool_]:
    """bool[m], blocks in the runs with the largest total gain, less the cost of beginning and ending each run.

    This is the Viterbi algorithm with two states and a cost of switching, exact in one pass.
    """
    outside, inside = 0.0, -switch
    from_inside: list[bool] = []  # by block: whether the best path that is outside here came from inside
    from_outside: list[bool] = []
    for value in gain:
        left, entered = inside - switch > outside, outside - switch > inside
        from_inside.append(left)
        from_outside.append(entered)
        outside, inside = inside - switch if left else outside, (outside - switch if entered else inside) + value
    state = inside > outside
    states = np.zeros(len(gain), bool)
    for block in range(len(gain) - 1, -1, -1):
        states[block] = state
        state = not from_outside[block] if state else from_inside[block]
    return states


def _bounds(chosen: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First block of each run of chosen blocks, and one past its last."""
    change = np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8))
    return np.flatnonzero(change > 0), np.flatnonzero(change < 0)


def _looks_whole(texts: list[str], words: Floats, unlinked: Floats, logit: Floats) -> bool:
    """Whether an unnamed run is long enough, dated, comment-like on average, and not a list of articles."""
    dated = np.fromiter(map(posted, texts), np.bool_, len(texts))
    dates, all_words, all_unlinked = dated.sum(), words.sum(), unlinked.sum()
    if all_unlinked < max(_MIN_RUN_WORDS, _MIN_UNLINKED * all_words) or all_words > dates * _MAX_WORDS_PER_DATE:
        return False
    titles = ((words >= _MIN_TITLE_WORDS) & (unlinked < _MAX_UNLINKED_IN_TITLE * words) & ~dated).sum()
    lists_articles = titles * _MIN_DATES_PER_TITLE > dates and all_unlinked < _MIN_UNLINKED_OF_REVIEWS * all_words
    return bool(not lists_articles and np.clip(logit, -6, 6) @ words >= 0)


Comments = Literal["separate", "include", "drop"]

COMMENTS: Final[tuple[Comments, ...]] = get_args(Comments)
"""What to do with reader comments."""

_HEADINGS: Final = tag_set("h2", "h3", "h4", "h5", "h6")
_MAX_CONTROL_WORDS: Final = 3
_MIN_REPEATS: Final = 3


@dataclass(frozen=True, eq=False, slots=True)
class CommentPartition:
    """The comment threads of a page, and which of their blocks are part of its text.

    Attributes:
        comments: bool[m], blocks of comments.
        controls: bool[m], the other blocks of threads, which are always template.
        excluded: bool[m], blocks of threads that are not part of the text; with ``"include"`` only the controls.
        section: int32[n + m], root of the thread that each unit belongs to, -1 outside threads.
    """

    comments: Flags
    controls: Flags
    excluded: Flags
    section: NDArray[np.int32]

    @classmethod
    def none(cls, page: Page) -> Self:
        """Return the partition of a page without threads."""
        nothing = np.zeros(page.m, bool)
        return cls(nothing, nothing, nothing, np.full(page.n + page.m, -1, np.int32))

    @classmethod
    def of(cls, page: Page, scores: Scores, comments: Comments) -> Self:
        """Find the threads of a page by the scores of its units."""
        found = find_comments(page, scores.templateness[page.n :])
        if not found.any():  # as on most pages
            return cls.none(page)
        thread, written = _with_headings(page, found), _without_controls(page, found)
        excluded = found & ~written if comments == "include" else thread
        return cls(written, excluded & ~written, excluded, _thread_sections(page, thread))

    def without_excluded(self, scores: Scores) -> Scores:
        """Return the scores with 1 for the excluded blocks, so that the threshold is chosen without them."""
        if not self.excluded.any():
            return scores
        templateness = scores.templateness.copy()
        templateness[len(templateness) - len(self.excluded) :][self.excluded] = 1.0
        return scores.with_templateness(templateness)


def partition_comments(draft: Draft) -> None:
    """Separate reader comments from the main content, by the scores without the site's counts."""
    draft.comments = CommentPartition.of(draft.page, draft.page_scores, draft.options.comments)


def _with_headings(page: Page, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], the blocks of comments (bool[m]) and the headings right above them."""
    heading = nearest(page.parent, _HEADINGS[page.tag])[page.block_node] >= 0
    above: NDArray[np.bool_] = np.append(comments[1:], False)
    return comments | heading & above


def _without_controls(page: Page, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
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
    least = max(_MIN_REPEATS, max(times.values(), default=0) / 2)
    kept = comments.copy()
    kept[[block for block in short if times[texts[block]] >= least]] = False
    return kept


def _thread_sections(page: Page, thread: NDArray[np.bool_]) -> NDArray[np.int32]:
    """int32[n + m], root unit of the thread section that each unit belongs to, -1 outside threads.

    A block whose element holds other text, too, is a section of its own.

    Args:
        page: the page.
        thread: bool[m], blocks of threads.
    """
    root = outermost(page.parent, elements_of_blocks(page, thread))
    of_block = root[page.block_node]
    own = np.arange(page.n, page.n + page.m, dtype=np.int32)
    return np.concatenate([root, np.where(thread, np.where(of_block >= 0, of_block, own), np.int32(-1))])
