"""Finds the article in a page's JSON, for pages whose elements hold almost no text because scripts write it.

Reads JSON-LD, scripts of JSON (Next.js, Nuxt, Gatsby), data pushed by React's server components, scripts that set
``window.__INITIAL_STATE__`` and the like, and Discourse's ``data-preloaded``. No script is run.
"""

from __future__ import annotations

import re
from html import escape
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from tamis.evidence.stated import stated_lists
from tamis.metadata.json_ld import decode_json, json_ld_documents, json_ld_things
from tamis.metadata.values import TAG, word_set
from tamis.page.tree import elements_with_attributes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from tamis.page.page import Page

_TEXT_KEYS: Final = frozenset(
    """
    articlebody body bodyhtml body_html bodytext content contenthtml content_html cooked copy description excerpt html
    intro lead markup paragraph paragraphs rawhtml raw_html rendered standfirst story summary text textcontent value
    """.split()
)
_TITLES: Final = ("headline", "title", "name")
_MIN_TITLED: Final = 600  # characters of an object with the page's title: a shorter one is a teaser
_STATE: Final = re.compile(
    r"(?:window|self|globalThis)\s*\.\s*(?:__\w{1,60}__|\w{0,40}(?:STATE|DATA|Data|State)\w{0,20})\s*=\s*(?=[\[{])"
)
_PUSH: Final = re.compile(r"self\.__next_f\.push\(\[1,(?=\")")
_ROW: Final = re.compile(rb"[0-9a-f]{1,8}:(?:T([0-9a-f]{1,8}),|[A-Z]{0,2}(?=.))", re.DOTALL)
_MAX_CHARACTERS: Final = 8_000_000  # of scripts, and of what is found in all documents, some of which are in others
_LISTS: Final = {
    **dict.fromkeys(("recipeIngredient", "ingredients", "supply", "tool"), "ul"),
    **dict.fromkeys(("recipeInstructions", "step", "steps"), "ol"),
}
"""The element for each field that a page states and that consists of short texts."""


_BODY, _TITLED, _OTHER = 1.0, 0.78, 0.62
"""Word F1 of long texts by where they are found, on pages of the gold sets that are left with their scripts alone."""


def article_in_data(page: Page, visible_characters: int = 0) -> tuple[str, float]:
    """Find the article in a page's JSON.

    It is what is stated as the body of an article, else the longest object that has the page's title, else the document
    with most text.

    Returns:
        It as an HTML document, "" unless it is twice as long as what is visible; and the word F1 that is expected of a
        long one, 0..1.
    """
    article, best, min_characters = "", (0.0, 0), max(200, 2 * visible_characters)
    lists = [(name, texts) for name, texts in stated_lists(page) if name in _LISTS]
    listed = set(chain.from_iterable(texts for _, texts in lists))
    left, title_words = _MAX_CHARACTERS, word_set(page.title)
    titles_left, values_left = iter(range(500_000)), iter(range(1_000_000))  # of all documents
    for document in _documents(page):
        inside = (thing for _, thing in _walk(document, titles_left, title_words) if thing is not document)
        titled = [thing for thing in inside if _has_title(thing, title_words)]
        for thing in (document, *titled):
            title, texts = _title_and_texts(thing, values_left)
            texts = [text for text in texts if text not in listed]
            left -= sum(map(len, texts))
            if left < 0:
                break
            characters = sum(len(TAG.sub("", text)) for text in texts)
            is_body = isinstance(thing, dict) and bool(thing.get("articleBody"))
            is_titled = thing is not document and characters >= _MIN_TITLED  # a document holds more than its article
            rank = _BODY if is_body else _TITLED if is_titled else _OTHER
            if characters > min_characters and (rank, characters) > best:
                best = rank, characters
                heading = f"<h1>{escape(title)}</h1>" if title else ""
                article = heading + "".join(map(_division, texts))
    if not article:
        return "", 0.0
    head = f"<head><title>{escape(page.title)}</title></head>"
    article += "".join(_list(_LISTS[name], texts) for name, texts in lists)
    return f"<html>{head}<body><article>{article}</article></body></html>", best[0]


def _list(tag: str, texts: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<{tag}>{items}</{tag}>"


def _division(text: str) -> str:
    """A text as an element: HTML as it is, plain text as paragraphs."""
    if not TAG.search(text):
        text = "".join(f"<p>{escape(part)}</p>" for part in re.split(r"\n\s*", text.strip()))
    return f"<div>{text}</div>"


def _documents(page: Page) -> Iterator[Any]:
    """Yield the page's JSON documents, JSON-LD first."""
    yield from (thing for thing in json_ld_things(page) if thing.get("articleBody"))
    yield from json_ld_documents(page)
    left = _MAX_CHARACTERS
    scripts: list[str] = []
    for element, attributes in elements_with_attributes(page, "script"):
        text = page.raw_text(element).strip()
        kind = attributes.get("type", "javascript").strip().lower()
        left -= len(text)
        if left < 0:
            return
        if kind == "application/json":
            yield decode_json(text)
        elif "javascript" in kind:
            scripts.append(text)
    pushed = [decode_json(part) for text in scripts for part in _PUSH.split(text)[1:]]
    flight = "".join(part for part in pushed if isinstance(part, str))
    if flight:
        yield list(_flight_rows(flight.encode()))
    yield from map(decode_json, page.attribute("data-preloaded").values())
    for text in scripts:
        for found in islice(_STATE.finditer(text), 20):
            yield decode_json(text[found.end() :])


def _flight_rows(data: bytes) -> Iterator[Any]:
    """Yield the rows of React's server components: ``1a:["$", ...]``, or ``1a:T4d2,`` and that many bytes of text."""
    at = 0
    while row := _ROW.match(data, at):
        if row[1]:
            at = row.end() + int(row[1], 16)
            yield {"text": data[row.end() : at].decode(errors="replace")}
        else:
            at = data.find(b"\n", row.end()) + 1 or len(data)
            yield decode_json(data[row.end() : at].decode(errors="replace"))


def _has_title(thing: Any, title: Set[str]) -> bool:
    """Whether a thing is an object with a title that has half of its words in common with the page's, and two."""
    names = filter(None, map(thing.get, _TITLES)) if title and isinstance(thing, dict) else ()
    for words in (word_set(name) for name in names if isinstance(name, str)):
        common = len(words & title)
        if common >= 2 and 2 * common >= max(len(words), len(title)):
            return True
    return False


def _title_and_texts(document: Any, values_left: Iterator[int]) -> tuple[str, list[str]]:
    """Return the title and the distinct long texts of a JSON document, in their order."""
    title = ""
    texts: dict[str, None] = {}
    for key, value in _walk(document, values_left):
        if isinstance(value, dict):
            continue
        if key in _TITLES and not title:
            title = value.strip()
        elif (key in _TEXT_KEYS or (not key and TAG.search(value))) and _is_long(value):
            texts.setdefault(value)
    return title, list(texts)


def _walk(document: Any, values_left: Iterator[int], title: Set[str] = frozenset()) -> Iterator[tuple[str, Any]]:
    """Yield the objects and texts of a JSON document in order, each with its key; it is read as far as is left.

    What is in an object with the title is left out, unless that is the document: it would be read again for each.
    """
    waiting: list[tuple[str, Any]] = [("", document)]
    for _ in values_left:
        if not waiting:
            break
        key, value = waiting.pop()
        if isinstance(value, dict):
            yield key, value
            if value is not document and _has_title(value, title):
                continue
            waiting += reversed([(key.lower(), inner) for key, inner in value.items()])
        elif isinstance(value, list):
            waiting += reversed([(key, inner) for inner in value])
        elif isinstance(value, str):
            inner = decode_json(value) if value.startswith(("{", "[")) else None
            if inner is not None:
                waiting.append((key, inner))
            else:
                yield key, value


def _is_long(text: str) -> bool:
    """Whether a text has 13 words: names, labels and addresses have fewer."""
    return len(text.split(None, 12)) == 13
