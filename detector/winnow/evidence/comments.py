"""Comments of readers below the main content: which blocks they are, and what becomes of them.

Blocks in elements that are named like comments are taken at their word; others by how they look, in runs, and only
below main content that readers can have commented on. Neither is done on a forum, whose posts are the content.
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
from winnow.features.blocks import STATIC_NAMES, features_of
from winnow.memo import Memo
from winnow.page.attributes import question
from winnow.page.tags import tag_set
from winnow.page.tree import linked_runs, nearest, outermost, prefix_sums, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.evidence.comment_model import Judgement
    from winnow.evidence.draft import Draft
    from winnow.features.blocks import BlockFeatures
    from winnow.models.scores import Scores
    from winnow.page.page import Page

    Flags = NDArray[np.bool_]

    Floats = NDArray[np.float64]

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


_LINKED: Final = STATIC_NAMES.index("link share")

WEIGHTS: Final = Path(__file__).with_name("weights") / "comments.npz"

_FORUM: Final = -2.0  # logit from which a page may be one; then the story must be longer than what is below it
_SURELY_FORUM: Final = -1.0
_LARGEST: Final = 4.0  # logit of a block, either way; that of a block named like a comment
_LENIENCE: Final = 1.0  # added to logits: the look of single blocks errs to the safe side
_SWITCH: Final = 10.0  # cost of beginning or ending a run, in logits times the square root of words
_LEAST_STORY: Final = 60.0  # words of content above comments that are known by their look only
_LEAST_NAMED_STORY: Final = 10.0  # words of content beside comments that are named so: a photo and a sentence
_LEAST_WORDS: Final = 20.0  # not linked, of a run that is known by its look only
_LEAST_SAID: Final = 0.5  # of the words of such a run, not linked
_WORDS_PER_DATE: Final = 150.0  # of such a run, at most
_TITLE: Final = 4.0  # words of a link that may be the title of another story
_LINKED_TITLE: Final = 0.2  # of its words, not linked, at most
_DATES_PER_TITLE: Final = 3.0  # in a run that is no list of stories, at least
_SAID_AROUND_TITLES: Final = 0.8  # of the words of a run, not linked: reviews, each with a link to the product


@lru_cache(maxsize=1)
def comment_head() -> CommentHead:
    """Load the head that comes with the package, once per process."""
    return CommentHead.load(WEIGHTS)


def find_comments(page: Page, templateness: Floats, head: CommentHead | None = None) -> NDArray[np.bool_]:
    """Find the blocks that readers wrote below the page's story.

    Args:
        page: the page.
        templateness: float64[m] in 0..1, scores of the blocks, for what is a story.
        head: by default the one that comes with the package.

    Returns:
        bool[m], with the names, dates and controls of the comments.
    """
    if not page.m:
        return np.zeros(0, bool)
    features = features_of(page)
    content = np.cumsum(features.words * (templateness < 0.5))
    if content[-1] < _LEAST_NAMED_STORY:
        return np.zeros(page.m, bool)  # nothing to comment on
    named, signs, texts = NamedComments.of(page).comment, signs_of(page), page.block_texts()
    if not named.any() and not dated_below(texts, signs, content):
        return named
    judgement = (head or comment_head()).judge(date_features(signs), features)
    return threads(judgement, named, texts, features.words, unlinked_words(features), templateness)


def dated_below(texts: list[str], signs: NDArray[np.uint8], content: Floats) -> bool:
    """Whether anything below a story tells when it was posted, without which nothing is known for a thread by its look.

    Args:
        texts: text of each block.
        signs: uint8[m], signs of dates.
        content: float64[m], words of content up to each block, it included.
    """
    below = signs != 0
    below[1:] &= content[:-1] >= _LEAST_STORY
    below[:1] = False
    return any(posted(texts[block]) for block in np.flatnonzero(below).tolist())


def like_a_forum(page: Page) -> bool:
    """Whether a page with text seems surely to be a forum, whose posts are the content."""
    features = features_of(page)
    return comment_head().forum(dated_features(page), features) > _SURELY_FORUM


def unlinked_words(features: BlockFeatures) -> Floats:
    """float64[m], words of each block that are in no link."""
    linked: Floats = features.static[:, _LINKED].astype(np.float64)
    return features.words * (1 - linked)


def threads(
    judgement: Judgement, named: NDArray[np.bool_], texts: list[str], words: Floats, said: Floats, templateness: Floats
) -> NDArray[np.bool_]:
    """Decide which blocks are comments, or between them.

    Args:
        judgement: what the head says.
        named: bool[m], blocks in elements that are named like comments.
        texts: text of each block.
        words: float64[m], words of each block.
        said: float64[m], those of them that are not linked: lists of stories look like comments, dates and all.
        templateness: float64[m] in 0..1.
    """
    nothing = np.zeros(len(texts), bool)
    logit = np.minimum(np.maximum(judgement.comment + _LENIENCE, -_LARGEST), _LARGEST)
    logit[named] = _LARGEST
    if not (logit > 0).any() or judgement.forum > _SURELY_FORUM:
        return nothing
    comments = best_runs((logit * np.sqrt(np.maximum(words, 1))).tolist(), _SWITCH)
    begins, ends = _bounds(comments)
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        run = slice(begin, end)
        if not named[run].any() and not _looks_whole(texts[run], words[run], said[run], judgement.comment[run]):
            comments[run] = False
    story = words * ((templateness < 0.5) & ~comments)
    least = _LEAST_NAMED_STORY if named.any() else _LEAST_STORY
    if story.sum() < max(least, words[comments].sum() if judgement.forum > _FORUM else 0.0):
        return nothing
    above = np.cumsum(story)
    return comments & (named | (above >= _LEAST_STORY))


def best_runs(gain: list[float], switch: float) -> NDArray[np.bool_]:
    """bool[m], blocks in the runs whose gains, less what it costs to begin and end each, add up to the most.

    Two states and a cost of changing between them: the Viterbi algorithm, exact in one pass.
    """
    outside, inside = 0.0, -switch
    from_inside: list[bool] = []  # by block: whether the best way to be outside at it was inside before
    from_outside: list[bool] = []
    for each in gain:
        left, entered = inside - switch > outside, outside - switch > inside
        from_inside.append(left)
        from_outside.append(entered)
        outside, inside = inside - switch if left else outside, (outside - switch if entered else inside) + each
    state = inside > outside
    states = np.zeros(len(gain), bool)
    for block in range(len(gain) - 1, -1, -1):
        states[block] = state
        state = not from_outside[block] if state else from_inside[block]
    return states


def _bounds(chosen: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the runs of chosen blocks begin and end."""
    change = np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8))
    return np.flatnonzero(change > 0), np.flatnonzero(change < 0)


def _looks_whole(texts: list[str], words: Floats, said: Floats, logit: Floats) -> bool:
    """Whether a run that nothing names says enough, is dated, looks like comments on the whole and lists no stories."""
    dated = np.fromiter(map(posted, texts), np.bool_, len(texts))
    dates, all_words, all_said = dated.sum(), words.sum(), said.sum()
    if all_said < max(_LEAST_WORDS, _LEAST_SAID * all_words) or all_words > dates * _WORDS_PER_DATE:
        return False
    titles = ((words >= _TITLE) & (said < _LINKED_TITLE * words) & ~dated).sum()
    lists_stories = titles * _DATES_PER_TITLE > dates and all_said < _SAID_AROUND_TITLES * all_words
    return bool(not lists_stories and np.clip(logit, -6, 6) @ words >= 0)


Comments = Literal["separate", "include", "drop"]

COMMENTS: Final[tuple[Comments, ...]] = get_args(Comments)
"""What may become of what readers wrote below the content."""

_BUTTONS: Final = tag_set("button", "label", "select")
_HEADINGS: Final = tag_set("h2", "h3", "h4", "h5", "h6")
_MOST_WORDS: Final = 3
_LEAST_TIMES: Final = 3


@dataclass(frozen=True, eq=False, slots=True)
class CommentPartition:
    """The comment threads of a page, and which of their blocks are part of its text.

    Attributes:
        comments: bool[m], blocks that readers wrote.
        controls: bool[m], the other blocks of threads: template, whatever is done with comments.
        excluded: bool[m], blocks of threads that are no part of the text; with ``"include"`` only controls are not.
        section: int32[n + m], root of the thread that each unit belongs to, -1 outside threads.
    """

    comments: Flags
    controls: Flags
    excluded: Flags
    section: NDArray[np.int32]

    @classmethod
    def none(cls, page: Page) -> Self:
        """Say that a page has no threads."""
        nothing = np.zeros(page.m, bool)
        return cls(nothing, nothing, nothing, np.full(page.n + page.m, -1, np.int32))

    @classmethod
    def of(cls, page: Page, scores: Scores, comments: Comments) -> Self:
        """Find the threads of a page by the scores of its units."""
        found = find_comments(page, scores.templateness[page.n :])
        thread, written = _with_headings(page, found), _without_controls(page, found)
        excluded = found & ~written if comments == "include" else thread
        return cls(written, excluded & ~written, excluded, _thread_sections(page, thread))

    def without_excluded(self, scores: Scores) -> Scores:
        """The scores with 1 for the blocks that are excluded, so that the text is judged without them."""
        templateness = scores.templateness.copy()
        templateness[len(templateness) - len(self.excluded) :][self.excluded] = 1.0
        return scores.with_templateness(templateness)


def partition_comments(draft: Draft) -> None:
    """Set the comments of readers apart from the main content, by what the page itself says."""
    draft.comments = CommentPartition.of(draft.page, draft.page_scores, draft.options.comments)


def _with_headings(page: Page, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], the blocks of comments (bool[m]), and the headings that stand right above them."""
    if not comments.any():
        return comments
    heading = nearest(page.parent, _HEADINGS[page.tag])[page.block_node] >= 0
    above: NDArray[np.bool_] = np.append(comments[1:], False)
    return comments | heading & above


def _without_controls(page: Page, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[m], blocks of comments (bool[m]) but for their controls: "Reply", "Like", "Report".

    A control is a link or a button of three words at most that says the same at least three times, and at least half as
    often as the most frequent one: someone who writes several comments is linked less often than "Reply" is.
    """
    if not comments.any():
        return comments
    clickable = linked_runs(page) | within(page, _BUTTONS[page.tag])[page.run_node]
    plain = prefix_sums(~clickable & page.inked)
    texts = page.block_texts()
    short = [
        block
        for block in np.flatnonzero(comments).tolist()
        if plain[page.block_run_end[block]] == plain[page.block_run_begin[block]]
        and len(texts[block].split(None, _MOST_WORDS)) <= _MOST_WORDS
    ]
    times = Counter(texts[block] for block in short)
    least = max(_LEAST_TIMES, max(times.values(), default=0) / 2)
    kept = comments.copy()
    kept[[block for block in short if times[texts[block]] >= least]] = False
    return kept


def _thread_sections(page: Page, thread: NDArray[np.bool_]) -> NDArray[np.int32]:
    """int32[n + m], root unit of the thread section that each unit belongs to, -1 for those outside threads.

    A block whose element holds other text as well is a section of its own.

    Args:
        page: the page.
        thread: bool[m], blocks of threads.
    """
    found = np.full(page.n + page.m, -1, np.int32)
    if not thread.any():
        return found
    sums = prefix_sums(thread)
    held = page.block_end - page.block_begin
    whole = (held > 0) & (sums[page.block_end] - sums[page.block_begin] == held)
    root = outermost(page.parent, whole)
    found[: page.n] = root
    of_block = root[page.block_node]
    own = np.arange(page.n, page.n + page.m, dtype=np.int32)
    found[page.n :] = np.where(thread, np.where(of_block >= 0, of_block, own), -1)
    return found
