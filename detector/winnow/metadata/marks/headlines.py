"""What the title adds to the page-level scores where a page holds several articles: the others are other stories.

Endless pages append the next stories behind the one that they are for, and each looks as much like content as that.
Only the title says which of them the page is about: the one whose headline has its words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.page.subtrees import prefix_sums, within
from winnow.page.tags import TAG_ID, tag_set
from winnow.page.text.scripts import WORD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from winnow.models.base import Scores
    from winnow.page.page import Page

_OTHER_STORY: Final = 12.0  # log-odds for template: no score of a paragraph stands against it
_HEADLINES: Final = tag_set("h1", "h2", "h3")
_LEAST_WORDS: Final = 3  # different ones, of a headline
_THE_TITLES: Final = 0.8  # share of its words that the title has, from which on a headline is the title's
_ANOTHERS: Final = 0.5  # the same, below which it is another story's
_LEAST_STORY: Final = 100  # words
_MOST: Final = 0.5  # of the text that the model keeps, but for the other stories


def with_titled_article(page: Page, scores: Scores) -> Scores:
    """Move the scores of a page of several ``article`` elements by which of them has the title for its headline.

    The blocks of those with another headline of the same rank become more template-like. Nothing is moved where the
    title's article is short, or has less of what the model keeps than the page beside all of them: then they are parts
    of one story.

    Args:
        page: the page.
        scores: what the page-level model says.
    """
    articles = np.flatnonzero(page.tag == TAG_ID["article"])
    if len(articles) < 2 or not page.title:
        return scores
    headlines = _headlines(page)
    titled = next((place for place, share in headlines.items() if share >= _THE_TITLES), 0)
    around = articles[(articles < titled) & (page.end[articles] > titled)]
    if not len(around):
        return scores
    own = int(around[-1])
    apart = articles[(page.end[articles] <= own) | (articles >= page.end[own])]
    of_its_rank = {place: share for place, share in headlines.items() if page.tag[place] == page.tag[titled]}
    elsewhere = _other_stories(page, apart, of_its_rank)
    if not elsewhere.any() or not _holds_the_story(page, own, scores, elsewhere[page.n :]):
        return scores
    return scores.moved(np.where(elsewhere, _OTHER_STORY, 0.0))


def _headlines(page: Page) -> Mapping[int, float]:
    """The headlines of a page in reading order, and the share of each one's different words that its title has."""
    title, texts = frozenset(WORD.findall(page.title.lower())), page.block_texts()
    shares: dict[int, float] = {}
    for place in np.flatnonzero(_HEADLINES[page.tag]).tolist():
        text = " ".join(texts[page.block_begin[place] : page.block_end[place]])
        words = frozenset(WORD.findall(text.lower()))
        if len(words) >= _LEAST_WORDS:
            shares[place] = len(words & title) / len(words)
    return shares


def _other_stories(page: Page, articles: NDArray[np.int64], headlines: Mapping[int, float]) -> NDArray[np.bool_]:
    """bool[n + m], units inside those of some articles whose first headline is not the title's."""
    places, shares = np.fromiter(headlines, np.int64), np.append(np.fromiter(headlines.values(), np.float64), 1.0)
    first = np.searchsorted(places, articles)
    inside = np.append(places, page.n)[first] < page.end[articles]
    chosen = np.zeros(page.n, bool)
    chosen[articles[inside & (shares[first] < _ANOTHERS)]] = True
    elements = within(page, chosen)
    return np.concatenate([elements, elements[page.block_node]])


def _holds_the_story(page: Page, own: int, scores: Scores, elsewhere: NDArray[np.bool_]) -> bool:
    """Whether an article is long enough, and holds most of what the model keeps but for the other stories."""
    begin, end = int(page.block_begin[own]), int(page.block_end[own])
    texts = page.block_texts()
    if sum(len(WORD.findall(text)) for text in texts[begin:end]) < _LEAST_STORY:
        return False
    kept = (scores.templateness[page.n :] < scores.threshold) & ~elsewhere
    length = prefix_sums(np.fromiter(map(len, texts), np.int64, page.m) * kept)
    return bool(length[end] - length[begin] > _MOST * length[-1])
