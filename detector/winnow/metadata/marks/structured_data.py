"""Texts of articles in a page's JSON-LD: what publishers write for search engines, in a script that no reader sees."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any, Final

from winnow.page.attributes.questions import question
from winnow.page.page import Page, PageTooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator

_ARTICLES: Final = frozenset(
    """
    Article AdvertiserContentArticle AnalysisNewsArticle AskPublicNewsArticle BackgroundNewsArticle BlogPosting
    NewsArticle OpinionNewsArticle Report ReportageNewsArticle ReviewNewsArticle SatiricalArticle ScholarlyArticle
    TechArticle
    """.split()  # noqa: SIM905  (fourteen quoted names would be no easier to read)
)
"""Types of schema.org whose ``articleBody`` is a whole article: of a live blog or a forum it is the latest post."""

_JSON_LD: Final = "application/ld+json"
_POSSIBLE: Final = question("type", parts=(_JSON_LD,))
_MARKUP: Final = re.compile(r"</?[A-Za-z][^<>]*>")
_MOST_CHARACTERS: Final = 2_000_000
_MANY: Final = 8  # scripts; for so many, all elements are made


def article_bodies(page: Page) -> list[str]:
    """Different texts that the JSON-LD of a page gives as the body of an article, markup and character references out.

    Scripts that are no JSON are passed over, as search engines do.
    """
    named = [place for place, kind in page.attributes.having(_POSSIBLE) if kind.strip().lower() == _JSON_LD]
    scripts = page.attributes.bearers(named) if named else []
    many = len(scripts) > _MANY
    bodies = []
    for index in scripts:
        text = (page.elements[index] if many else page.element(index)).text or ""
        if "articleBody" not in text or len(text) > _MOST_CHARACTERS:
            continue
        try:
            data = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
        bodies += [body for thing in _things(data) if (body := _body(thing))]
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
    if not _ARTICLES.intersection(map(str, kinds if isinstance(kinds, list) else [kinds])):
        return ""
    body = thing.get("articleBody")
    parts = body if isinstance(body, list) else [body]
    text = "\n".join(part for part in parts if isinstance(part, str))
    if not _MARKUP.search(text):
        text = unescape(text)  # markup that was escaped twice
    if _MARKUP.search(text):
        try:
            text = "\n".join(Page.parse(text).block_texts())
        except PageTooLarge:
            return ""
    return " ".join(text.split())
