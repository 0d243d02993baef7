"""Evidence from the page's author: machine-readable article marks, and a title that fits one of several articles.

Four kinds of marks point to an element: microdata and RDFa (``articleBody``, Drupal's ``content:encoded``),
microformats (``e-content``) and its predecessor hAtom (``entry-content``). JSON-LD gives a text, which is searched for
among the blocks. The word F1 of marks against gold text is 0.92 (241 pages of ``articles``) and 0.93 (210 of WCXB);
teasers, pages of several entries, live blogs and forums are excluded, since their marks cover only a part.

Units outside the mark become likelier template. Being marked is no evidence of content: marked elements hold share bars
and lists of other articles, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tamis.evidence.comments import MAX_FORUM
from tamis.evidence.draft import Reason
from tamis.metadata.json_ld import json_ld_scripts, json_ld_things, json_ld_types
from tamis.metadata.values import TAG, as_list, unescape_text
from tamis.output.text import blocks_inside
from tamis.page.attributes import attribute_predicate, token_pattern
from tamis.page.page import Page, PageTooLarge
from tamis.page.text import WORD, word_windows
from tamis.page.tree import (
    LISTS,
    TAG_NAMES,
    as_mask,
    block_lengths,
    elements_with_names,
    linked_runs,
    run_lengths,
    sums_over_blocks,
    sums_over_runs,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tamis.arrays import Flags, Floats, Integers, Singles
    from tamis.evidence.draft import Draft
    from tamis.models import Scores

_ARTICLES: Final = frozenset(
    """
    Article AdvertiserContentArticle AnalysisNewsArticle AskPublicNewsArticle BackgroundNewsArticle BlogPosting
    NewsArticle OpinionNewsArticle Report ReportageNewsArticle ReviewNewsArticle SatiricalArticle ScholarlyArticle
    TechArticle
    """.split()
)
"""Types of schema.org whose ``articleBody`` is the whole article; for live blogs and forums it is the latest post."""


def article_bodies(page: Page) -> list[str]:
    """Distinct article bodies in the JSON-LD of a page, without markup and character references."""
    if not any("articleBody" in script for script in json_ld_scripts(page)):  # as on most pages
        return []
    return list(dict.fromkeys(filter(None, map(_body, json_ld_things(page)))))


def _body(thing: dict[str, Any]) -> str:
    if _ARTICLES.isdisjoint(json_ld_types(thing)):
        return ""
    text = "\n".join(part for part in as_list(thing.get("articleBody")) if isinstance(part, str))
    if not TAG.search(text):
        text = unescape_text(text)  # markup that was escaped twice
    if TAG.search(text):
        try:
            text = "\n".join(Page.parse(text).block_texts())
        except PageTooLarge:
            return ""
    return " ".join(text.split())


MIN_MARKED_WORDS: Final = 100
"""Fewest words of a marked text (characters in an unspaced script); a shorter one is a teaser."""

_MARKS: Final = {
    # microdata
    attribute_predicate("itemprop", parts=["articlebody"]): token_pattern("articleBody"),
    # RDFa
    attribute_predicate("property", parts=["articlebody", "content:encoded"]): token_pattern(
        r"(?:\w+:)?(?:articleBody|content:encoded)"
    ),
    # microformats
    attribute_predicate("class", parts=["e-content"]): token_pattern("e-content"),
    # hAtom
    attribute_predicate("class", parts=["entry-content"]): token_pattern("entry-content"),
}
"""The attributes that mark an article: a predicate, and a pattern for those that match it."""

_FORUM: Final = (
    attribute_predicate("itemtype", parts=("discussionforumposting", "qapage", "question", "answer")),
    re.compile(r"schema\.org/(?:DiscussionForumPosting|QAPage|Question|Answer)\b"),
)
_READERS: Final = (
    attribute_predicate("class", "id", parts=("comment", "h-cite", "repl", "response")),
    re.compile(r"(?i)(?:^|[\s_-])(?:comments?|h-cite|repl(?:y|ies)|responses?)(?:$|[\s_-])"),
)
"""Elements around reader comments, which use the same marks."""


def article_mark(page: Page) -> tuple[Singles, bool] | None:
    """Find the mark of a page's only article; ``None`` without one, or if it seems incomplete.

    Returns:
        float32[m], 1 for blocks of the article, 0 for others, NaN for undecided ones: the page's main heading and, with
        JSON-LD, blocks of too few words to be located. And whether JSON-LD has the text, rather than an element a mark.
    """
    attributes = page.attributes
    if attributes.elements_matching(*_FORUM):
        return None  # marks are on each post, or on the first one only
    for mark in _MARKS.items():
        marked = attributes.elements_matching(*mark)
        if not marked:
            continue
        found = _outermost(page, marked)
        if len(found) > 1:
            return None  # several articles, possibly teasers
        if found and _has_words(page, found[0], MIN_MARKED_WORDS):
            content = np.zeros(page.m, np.float32)
            content[page.block_begin[found[0]] : page.block_end[found[0]]] = 1
            return _without_heading(page, content), False
    bodies = article_bodies(page)
    body = _in_body(page, bodies[0]) if len(bodies) == 1 else None
    return None if body is None else (_without_heading(page, body), True)


def _has_words(page: Page, element: int, least: int) -> bool:
    words = 0
    for text in page.block_texts()[page.block_begin[element] : page.block_end[element]]:
        words += len(WORD.findall(text))
        if words >= least:
            return True
    return False


def _outermost(page: Page, elements: list[int]) -> list[int]:
    """Filter elements with text that are not inside another of them or inside comments; in document order."""
    readers = page.attributes.elements_matching(*_READERS)
    if readers:
        in_comments = within(page, as_mask(page, readers) & (page.depth > 1))  # classes of body describe the page
        elements = [element for element in elements if not in_comments[element]]
    found: list[int] = []
    for element in elements:
        has_text = page.block_end[element] > page.block_begin[element]
        is_inside = bool(found) and element < page.end[found[-1]]
        if has_text and not is_inside:
            found.append(element)
    return found


def _in_body(page: Page, body: str) -> Singles | None:
    """Find the blocks of a text: float32[m] as in :func:`article_mark`, ``None`` if the page has too little of it.

    A block is part of the text if all its windows of four words are, in any order: four are not there by chance. This
    takes linear time.
    """
    whole = WORD.findall(body.lower())
    if len(whole) < MIN_MARKED_WORDS:
        return None
    words_of_blocks = [WORD.findall(text.lower()) for text in page.block_texts()]
    least = 0.85 * len(whole)
    if sum(map(len, words_of_blocks)) < least:
        return None
    # Their hashes take less memory than the windows.
    known = set().union(*(map(hash, word_windows(whole, size)) for size in (1, 2, 3, 4)))
    content, words_found = np.zeros(page.m, np.float32), 0
    for block, words in enumerate(words_of_blocks):
        size = min(len(words), 4)
        if hash(tuple(words[:size])) in known and known.issuperset(map(hash, word_windows(words, size))):
            content[block] = 1 if size == 4 else np.nan
            words_found += len(words) if size == 4 else 0
    return content if words_found >= least else None


def _without_heading(page: Page, content: Singles) -> Singles:
    """Unlabel main headings outside the mark, since only some authors include them."""
    return np.where(blocks_inside(page, "h1") & (content == 0), np.float32(np.nan), content)


def cut_outside_marked_article(draft: Draft) -> None:
    """Raise the template scores of units outside the article that the author marked."""
    draft.adjust_scores(with_authors_mark(draft.page, draft.scores), Reason.AUTHOR)


def cut_other_articles(draft: Draft) -> None:
    """Raise the template scores of articles with another headline than the page's title."""
    draft.adjust_scores(with_titled_article(draft.page, draft.scores), Reason.AUTHOR)


def with_authors_mark(page: Page, scores: Scores) -> Scores:
    """Raise the template scores of units outside the marked article.

    The scores stay unchanged without a mark, on a forum, where only the first post is marked, and if the marked element
    holds almost nothing of what the model keeps, since it is then a teaser.
    """
    mark = article_mark(page)
    if mark is None or (scores.decision.forum or 0.0) > MAX_FORUM:
        return scores
    content, is_text = mark
    adjusted = scores.adjusted(_log_odds(page, content))
    return scores if not is_text and _cuts_nearly_all(scores, adjusted) else adjusted


def _cuts_nearly_all(before: Scores, after: Scores) -> bool:
    """Whether the adjusted scores cut nearly all kept text, so that the mark is not on the main content."""
    mass = np.where(before.in_tree & (before.templateness < before.threshold), before.weight, 0)
    return bool(mass[after.templateness >= before.threshold].sum() > 0.9 * mass.sum())


def _log_odds(page: Page, content: Singles) -> Floats:
    """float64[n + m], log-odds to add; elements entirely elsewhere included, for models that score elements.

    They are the best whole numbers for the mean of the collections, by models that had seen none of the pages; 4 to 8
    do as well as 6. See docs/figures/accuracy.md.
    """
    elsewhere, beside = 6.0, 1.0
    inside = sums_over_blocks(page, block_lengths(page) * (content == 1))
    holds_most = (inside >= 0.9 * inside[0]) & (page.block_end - page.block_begin > 1)
    innermost = holds_most.nonzero()[0][-1] if holds_most.any() else 0
    begin, end = page.block_begin[innermost], page.block_end[innermost]
    is_elsewhere = (page.block_end <= begin) | (page.block_begin >= end)
    by_block = np.full(page.m, elsewhere)
    by_block[begin:end] = beside
    first = int((content == 1).argmax())
    headings = blocks_inside(page, "h1")[:first].nonzero()[0]
    if len(headings):
        by_block[headings[-1] : first] = beside
    by_block[_in_cards(page, content)] = beside
    by_block[content != 0] = 0.0
    return np.concatenate([np.where(is_elsewhere, elsewhere, 0.0), by_block])


def _in_cards(page: Page, content: Singles) -> Flags:
    """bool[m], blocks of cards beside the article in the same landmark: of a recipe, of the facts of a thing."""
    marked = sums_over_blocks(page, content == 1)
    landmark = tag_set("main", "article").take(page.tag) & (marked == marked[0])
    structures = within(page, tag_set("table", *LISTS).take(page.tag))
    is_listed = structures.take(page.run_node) & ~linked_runs(page)
    lengths = run_lengths(page)
    cards = (marked == 0) & within(page, landmark)
    cards &= sums_over_runs(page, lengths * is_listed) > 0.5 * sums_over_runs(page, lengths)
    inside: Flags = within(page, cards)[page.block_node]
    return inside


def with_titled_article(page: Page, scores: Scores) -> Scores:
    """Raise the template scores of ``article`` elements with another headline than the one that matches the title.

    The scores stay unchanged if the titled article is short, or does not hold most of the text kept outside the others:
    then all of them are parts of one article.
    """
    named = elements_with_names(page, "article")
    if len(named) < 2 or not page.title:
        return scores
    articles = np.array(named, np.int64)
    titled = next((element for element, fraction in _headlines(page, "h1", "h2", "h3") if fraction >= 0.8), 0)
    holding = articles[(articles < titled) & (page.end[articles] > titled)]
    if not len(holding):
        return scores
    main = int(holding[-1])
    others = articles[(page.end[articles] <= main) | (articles >= page.end[main])]
    elsewhere = _other_articles(page, others, dict(_headlines(page, TAG_NAMES[page.tag[titled]])))
    if not elsewhere.any() or not _holds_main_content(page, main, scores, elsewhere[page.n :]):
        return scores
    return scores.adjusted(np.where(elsewhere, 12.0, 0.0))  # more than any paragraph's score


def _headlines(page: Page, *names: str) -> Iterator[tuple[int, float]]:
    """Yield headlines of some names, each with the fraction of its distinct words that the title has, in reading order.

    Of a headline, which may hold others, 20 blocks of 200 characters are read; it needs 3 different words.
    """
    title, texts = frozenset(WORD.findall(page.title.lower())), page.block_texts()
    for element in elements_with_names(page, *names):
        begin, end = page.block_begin[element], page.block_end[element]
        text = " ".join([text[:200] for text in texts[begin : min(end, begin + 20)]])
        words = frozenset(WORD.findall(text.lower()))
        if len(words) >= 3:
            yield element, len(words & title) / len(words)


def _other_articles(page: Page, articles: Integers, headlines: Mapping[int, float]) -> Flags:
    """bool[n + m], units inside the given articles whose first headline shares under half of its words."""
    headline = np.append(np.fromiter(headlines, np.int64), page.n)
    fraction = np.append(np.fromiter(headlines.values(), np.float64), 1.0)
    first = np.searchsorted(headline[:-1], articles)
    is_other = (headline[first] < page.end[articles]) & (fraction[first] < 0.5)
    elements = within(page, as_mask(page, articles[is_other]))
    return np.concatenate([elements, elements[page.block_node]])


def _holds_main_content(page: Page, article: int, scores: Scores, elsewhere: Flags) -> bool:
    """Whether an article has 100 words, and most of the text that the model keeps outside the other articles."""
    if not _has_words(page, article, 100):
        return False
    kept = (scores.templateness[page.n :] < scores.threshold) & ~elsewhere
    length = sums_over_blocks(page, block_lengths(page) * kept)
    return bool(2 * length[article] > length[0])
