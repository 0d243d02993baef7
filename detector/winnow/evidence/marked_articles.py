"""What authors say of their article: marks for machines, and a title that fits only one of several articles.

Four kinds of marks give an element: microdata and RDFa (``articleBody``, Drupal's ``content:encoded``), microformats
(``e-content``) and their elder hAtom (``entry-content``). JSON-LD gives a text, which is looked for among the blocks.
Where a page has such a mark and gold text, their word F1 is 0.92 (241 pages of ``articles``) and 0.93 (210 of WCXB):
teasers, pages of several entries, live blogs and forums, of which a mark shows a part, are left out.

What lies outside the mark becomes likelier template. Nothing becomes surer content for being marked: marked elements
hold share bars and lists of other stories, too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from winnow.evidence.comments import like_a_forum
from winnow.evidence.draft import Reason
from winnow.metadata.json_ld import json_ld_scripts
from winnow.metadata.values import unescape_text
from winnow.page.attributes import question
from winnow.page.page import Page, PageTooLarge
from winnow.page.tags import TAG_ID, tag_set
from winnow.page.text import WORD, TextStatistics
from winnow.page.tree import innermost_holding, linked_runs, prefix_sums, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from winnow.evidence.draft import Draft
    from winnow.models.scores import Scores

_ARTICLES: Final = frozenset(
    """
    Article AdvertiserContentArticle AnalysisNewsArticle AskPublicNewsArticle BackgroundNewsArticle BlogPosting
    NewsArticle OpinionNewsArticle Report ReportageNewsArticle ReviewNewsArticle SatiricalArticle ScholarlyArticle
    TechArticle
    """.split()  # noqa: SIM905  (fourteen quoted names would be no easier to read)
)
"""Types of schema.org whose ``articleBody`` is a whole article: of a live blog or a forum it is the latest post."""

# Linear: a tag is read as far as the next angle bracket.
_MARKUP: Final = re.compile(r"</?[A-Za-z][^<>]*>")
_MOST_CHARACTERS: Final = 2_000_000


def article_bodies(page: Page) -> list[str]:
    """Different texts that the JSON-LD of a page gives as the body of an article, markup and character references out.

    Scripts that are no JSON are passed over, as search engines do.
    """
    bodies = []
    for script in json_ld_scripts(page):
        if "articleBody" in script.text and len(script.text) <= _MOST_CHARACTERS:
            bodies += [body for thing in _things(script.document) if (body := _body(thing))]
    return list(dict.fromkeys(bodies))


def _things(data: object) -> Iterator[dict[str, Any]]:
    """Every object of a JSON document, however deep."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _body(thing: dict[str, Any]) -> str:
    kinds = thing.get("@type")
    if not any(isinstance(kind, str) and kind in _ARTICLES for kind in (kinds if isinstance(kinds, list) else [kinds])):
        return ""
    body = thing.get("articleBody")
    parts = body if isinstance(body, list) else [body]
    text = "\n".join(part for part in parts if isinstance(part, str))
    if not _MARKUP.search(text):
        text = unescape_text(text)  # markup that was escaped twice
    if _MARKUP.search(text):
        try:
            text = "\n".join(Page.parse(text).block_texts())
        except PageTooLarge:
            return ""
    return " ".join(text.split())


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
    for least in range(1, _LEAST_BLOCK):
        own = np.flatnonzero(length == least)
        content[own[np.isin(_stretches(words, least)[begin[own]], _stretches(whole, least))]] = np.nan
    there = prefix_sums(np.isin(_stretches(words, _LEAST_BLOCK), _stretches(whole, _LEAST_BLOCK)))
    own = np.flatnonzero(length >= _LEAST_BLOCK)
    stretches = length[own] - _LEAST_BLOCK + 1
    content[own[there[begin[own] + stretches] - there[begin[own]] == stretches]] = 1
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


# Log-odds for template: by scores of networks that had seen none of the pages, the best whole numbers for the mean of
# the collections; elsewhere, 4 to 8 do as well. See docs/figures/accuracy.md.
_ELSEWHERE: Final = 6.0
_BESIDE: Final = 1.0  # in the innermost element that holds most of the article

_MOST: Final = 0.9
_NEARLY_ALL: Final = 0.9  # of the text that the model keeps
_NO_TEXT: Final = tag_set("h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "blockquote", "pre")
"""What is in the text of JSON-LD or not, as it happens; beside the article it is left to the model, if not linked."""


def cut_outside_marked_article(draft: Draft) -> None:
    """Move the scores by what the author has marked as the article: what lies outside it is likelier template."""
    draft.move(with_authors_mark(draft.page, draft.scores), Reason.AUTHOR)


def cut_other_articles(draft: Draft) -> None:
    """Move the scores by the title, where a page holds several articles: the others are other stories."""
    draft.move(with_titled_article(draft.page, draft.scores), Reason.AUTHOR)


def with_authors_mark(page: Page, scores: Scores) -> Scores:
    """Move the scores of a page by what its author has marked as the article.

    Blocks outside the mark become more template-like. Nothing is moved without a mark, on a forum, where it is that of
    the first post, and where a marked element holds next to nothing of what the model keeps: it is that of a teaser.

    Args:
        page: the page.
        scores: what the page-level model says.
    """
    mark = article_mark(page)
    if mark is None or like_a_forum(page):
        return scores
    moved = scores.adjusted(_log_odds(page, mark))
    return scores if mark.kind != JSON_LD and _cuts_nearly_all(scores, moved) else moved


def _cuts_nearly_all(before: Scores, after: Scores) -> bool:
    """Whether moved scores cut nearly all that the scores before kept: the mark is not that of the main content."""
    mass = np.where(before.in_tree & (before.templateness < before.threshold), before.weight, 0)
    return bool(mass[after.templateness >= before.threshold].sum() > _NEARLY_ALL * mass.sum())


def _log_odds(page: Page, mark: ArticleMark) -> NDArray[np.float64]:
    """float64[n + m]; elements that are wholly elsewhere are moved, too, for models that judge them."""
    length = np.fromiter(map(len, page.block_texts()), np.int64, page.m)
    around = innermost_holding(page.block_begin, page.block_end, length * (mark.content == 1), _MOST)
    begin, end = page.block_begin[around], page.block_end[around]
    elsewhere = (page.block_end <= begin) | (page.block_begin >= end)
    of_block = np.full(page.m, _ELSEWHERE)
    of_block[begin:end] = np.where(_left_out(page)[begin:end], 0.0, _BESIDE)
    of_block[mark.content != 0] = 0.0
    return np.concatenate([np.where(elsewhere, _ELSEWHERE, 0.0), of_block])


def _left_out(page: Page) -> NDArray[np.bool_]:
    """bool[m], blocks of what a text for machines may leave out, most of whose text is no link."""
    linked, length = TextStatistics.only(page.run_offset, linked_runs(page)), page.run_offset
    begin, end = page.block_run_begin, page.block_run_end
    own: NDArray[np.bool_] = (linked[end] - linked[begin]) * 2 <= length[end] - length[begin]
    return own & within(page, _NO_TEXT[page.tag])[page.block_node]


_OTHER_STORY: Final = 12.0  # log-odds for template: no score of a paragraph stands against it
_HEADLINES: Final = tag_set("h1", "h2", "h3")
_LEAST_WORDS: Final = 3  # different ones, of a headline
_THE_TITLES: Final = 0.8  # share of its words that the title has, from which on a headline is the title's
_ANOTHERS: Final = 0.5  # the same, below which it is another story's
_LEAST_STORY: Final = 100  # words
_MAIN_SHARE: Final = 0.5  # of the text that the model keeps, but for the other stories


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
    return scores.adjusted(np.where(elsewhere, _OTHER_STORY, 0.0))


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
    return bool(length[end] - length[begin] > _MAIN_SHARE * length[-1])
