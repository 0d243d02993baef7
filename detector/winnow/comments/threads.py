"""Which blocks of a page are comments: runs of blocks, not single ones, and only below a story.

A block named like a comment is taken at its word; others by how they look. Neither is done on a forum, where posts are
the content, nor where there is no story for readers to comment on.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.comments.dates import date_features, posted
from winnow.comments.head import CommentHead, dated_features, signs_of
from winnow.comments.names import NamedComments
from winnow.models.blocks.block_features import STATIC_NAMES, features_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from winnow.comments.head import Judgement
    from winnow.models.blocks.block_features import BlockFeatures
    from winnow.page.page import Page

    Floats = NDArray[np.float64]

_LINKED: Final = STATIC_NAMES.index("link share")

WEIGHTS: Final = Path(__file__).with_name("weights") / "comments.npz"

_FORUM: Final = -2.0  # logit from which a page may be one; then the story must be longer than what is below it
_SURELY_FORUM: Final = -1.0
_LARGEST: Final = 4.0  # logit of a block, either way; that of a block named like a comment
_LENIENCE: Final = 1.0  # added to logits: the look of single blocks errs to the safe side
_SWITCH: Final = 10.0  # cost of beginning or ending a run, in logits times the square root of words
_LEAST_STORY: Final = 60.0  # words of content above comments that are known by their look only
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


def comment_blocks(page: Page, templateness: Floats, head: CommentHead | None = None) -> NDArray[np.bool_]:
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
    if content[-1] < _LEAST_STORY:
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
    least = max(_LEAST_STORY, words[comments].sum() if judgement.forum > _FORUM else 0.0)
    if story.sum() < least:
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
        from_inside.append(inside - switch > outside)
        from_outside.append(outside - switch > inside)
        outside, inside = max(outside, inside - switch), max(inside, outside - switch) + each
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
