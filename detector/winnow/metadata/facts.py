"""The facts about a page, from the sources in their order of trust: JSON-LD, OpenGraph, microdata, ``meta``, markup."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

import numpy as np

from winnow.metadata.json_ld import json_ld_facts
from winnow.metadata.values import MAX_VALUES, date_in_address, iso_date, plain, split_names, words
from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
    from collections.abc import Callable

    from winnow.page.page import Page

    Facts = dict[str, Any]

_OPENGRAPH: Final = {
    "headline": ("og:title",),
    "published": ("article:published_time", "og:published_time", "article:published"),
    "modified": ("article:modified_time", "og:updated_time", "article:modified"),
    "site_name": ("og:site_name",),
    "description": ("og:description",),
    "canonical": ("og:url",),
    "image": ("og:image:secure_url", "og:image", "og:image:url"),
    "kind": ("og:type",),
}
_META: Final = {
    "headline": ("citation_title", "dc.title", "dcterms.title", "parsely-title", "sailthru.title", "twitter:title"),
    "published": (
        *("citation_publication_date", "parsely-pub-date", "sailthru.date", "dc.date", "dc.date.issued", "date"),
        *("dcterms.created", "dcterms.date", "pubdate", "publishdate", "publish-date", "publication_date"),
        *("article.published", "date.created", "created", "cxenseparse:recs:publishtime", "publish_date"),
    ),
    "modified": ("last-modified", "dcterms.modified", "dc.date.modified", "revised", "article.updated"),
    "site_name": ("application-name", "citation_journal_title", "dc.publisher", "apple-mobile-web-app-title"),
    "description": ("description", "dc.description", "twitter:description"),
    "image": ("twitter:image", "twitter:image:src", "thumbnail"),
    "language": ("content-language", "dc.language", "language"),
}
_AUTHORS: Final = (
    *("author", "byl", "citation_author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author"),
    "article:author_name",
)
_MAX_FACT_CHARACTERS: Final = 4_000  # white space included
_MAX_BYLINE_CHARACTERS: Final = 80
_MAX_NAME_WORDS: Final = 5
_BYLINE: Final = re.compile(
    r"(?:^|[\s_-])(?:byline|author)(?:[\s_-]?(?:name|link|names|text))?(?:$|[\s_])", re.IGNORECASE
)
# Linear: each step of a path is read by the one before it alone.
_OF_AUTHOR: Final = re.compile(
    r"/(?:authors?|by|contributors?|profiles?|people|staff|writers?|journalists?)/[^/?#]+/?$"
)
_DATED: Final = re.compile(
    r"(?:^|[\s_-])(?:date|datetime|published|posted|timestamp|pubdate)(?:$|[\s_-])", re.IGNORECASE
)
# Linear: titles have single spaces, and what follows the dash is bounded.
_SITE_AT_END: Final = re.compile(r"\s+(?:[|–—•·]|-)\s+[^|–—•·]{2,40}$")

_MIN_LANGUAGE_CHARACTERS: Final = 40
_MAX_LANGUAGE_CHARACTERS: Final = 4_000
_DATES: Final = frozenset({"published", "modified"})


@dataclass(frozen=True, slots=True)
class Metadata:
    """Facts about a page; ``None`` or an empty list for what it does not say.

    Attributes:
        title: title of the document.
        headline: title of what it is about, without the name of the site.
        authors: names.
        published, modified: dates, ISO 8601, with the time and zone where they are given.
        site_name: name of the site.
        language: language code, as ``en`` or ``pt-BR``.
        description: description of the page.
        canonical: address that the page gives for itself, in full.
        image: address of the lead image, in full.
        kind: what the page says it is, as in schema.org: ``NewsArticle``, ``Product``; or by OpenGraph: ``article``.
        breadcrumbs: names of the steps from the home page to this one.
        tags: keywords.
        sources: where each fact was found, by its name: a key of :data:`SOURCES`, ``address`` or ``text``.
    """

    title: str | None = None
    headline: str | None = None
    authors: list[str] = field(default_factory=list)
    published: str | None = None
    modified: str | None = None
    site_name: str | None = None
    language: str | None = None
    description: str | None = None
    canonical: str | None = None
    image: str | None = None
    kind: str | None = None
    breadcrumbs: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as a dictionary that JSON can hold."""
        return asdict(self)


def metadata_of(page: Page, text: str = "") -> Metadata:
    """Find out what a page says of itself.

    Args:
        page: the page.
        text: its content, by which the language is told where the page does not say it.
    """
    found: Facts = {"title": page.title} if page.title else {}
    sources = dict.fromkeys(found, "markup")
    for source, look in SOURCES.items():
        for name, value in look(page).items():
            kept = iso_date(value) if name in _DATES else value
            if kept and name not in found:
                found[name], sources[name] = kept, source
    if sources.get("headline") in {"opengraph", "meta"} and (stated := heading(page, found["headline"])):
        found["headline"], sources["headline"] = stated, "markup"  # what readers see goes before what is for sharing
    if "published" not in found and (date := date_in_address(page.url or found.get("canonical", ""))):
        found["published"], sources["published"] = date, "address"
    if "language" not in found and len(text) >= _MIN_LANGUAGE_CHARACTERS and (language := _identified(text)):
        found["language"], sources["language"] = language, "text"
    return Metadata(**found, sources=sources)


def _identified(text: str) -> str | None:
    """Language of a text, where the package that tells it is installed (``scrapy-winnow[language]``)."""
    try:
        import py3langid  # noqa: PLC0415  (its model takes a moment to load, and most pages say their language)
    except ImportError:
        return None
    return str(py3langid.classify(text[:_MAX_LANGUAGE_CHARACTERS])[0])


def _metas(page: Page) -> dict[str, list[str]]:
    """Contents of the ``meta`` elements by their names in lower case."""
    found: dict[str, list[str]] = {}
    for index in np.flatnonzero(page.tag == TAG_ID["meta"]).tolist():
        pairs = dict(page.attributes[index])
        name = pairs.get("property") or pairs.get("name") or pairs.get("http-equiv") or ""
        if name and (content := plain(pairs.get("content"))):
            found.setdefault(name.lower(), []).append(content)
    return found


def opengraph_facts(page: Page) -> Facts:
    """Facts of OpenGraph."""
    metas = _metas(page)
    facts: Facts = {name: _first(metas, keys) for name, keys in _OPENGRAPH.items()}
    facts["authors"] = [name for value in metas.get("article:author", []) for name in split_names(value)]
    facts["tags"] = metas.get("article:tag", [])[:MAX_VALUES]
    for name in ("canonical", "image"):
        facts[name] = _in_full(page, facts[name])
    return facts


def meta_facts(page: Page) -> Facts:
    """Facts of other ``meta`` elements, and of the links of the head."""
    metas = _metas(page)
    facts: Facts = {name: _first(metas, keys) for name, keys in _META.items()}
    facts["authors"] = next(
        ([name for value in metas[key] for name in split_names(value)] for key in _AUTHORS if metas.get(key)), []
    )
    facts["tags"] = words(", ".join(metas.get("keywords", metas.get("news_keywords", []))))
    facts["image"] = _in_full(page, facts["image"])
    for index in np.flatnonzero(page.tag == TAG_ID["link"]).tolist():
        pairs = dict(page.attributes[index])
        name = {"canonical": "canonical", "image_src": "image"}.get(pairs.get("rel", "").lower())
        if name and not facts.get(name):
            facts[name] = _in_full(page, pairs.get("href"))
    return facts


def microdata_facts(page: Page) -> Facts:
    """Facts of microdata: the first of each property."""
    facts: Facts = {}
    wanted = {"headline": "headline", "datePublished": "published", "dateModified": "modified", "author": "authors"}
    for index, value in page.attribute("itemprop").items():
        for prop in dict.fromkeys(value.split()):
            name = wanted.get(prop)
            if name is None or facts.get(name):
                continue
            stated = _stated(page, index)
            facts[name] = split_names(stated) if name == "authors" else stated
    return facts


def markup_facts(page: Page) -> Facts:
    """Facts of the markup: the language, ``time`` and other dates, links to authors, bylines, and the heading."""
    return {
        "language": _language(page),
        "published": _date(page),
        "headline": heading(page, page.title) or _only_heading(page) or _SITE_AT_END.sub("", page.title) or None,
        "authors": _bylines(page),
    }


def heading(page: Page, title: str) -> str | None:
    """Return the ``h1`` with most words in common with a title, half of its own at least; ``None`` for none."""
    words = set(title.lower().split())
    best, shared = None, 0
    for text in _headings(page):
        own = set(text.lower().split())
        common = len(own & words)
        if common > shared and 2 * common >= len(own):
            best, shared = text, common
    return best


def _only_heading(page: Page) -> str | None:
    headings = _headings(page)
    return headings[0] or None if len(headings) == 1 else None


def _headings(page: Page) -> list[str]:
    """Text of each ``h1`` that is in no other one."""
    found: list[str] = []
    last_end = 0
    for index in np.flatnonzero(page.tag == TAG_ID["h1"]).tolist():
        if index >= last_end:
            found.append(_text(page, index))
            last_end = int(page.end[index])
    return found


def _date(page: Page) -> str | None:
    """The first ``time`` with a date, or the first short text that is marked as a date and holds one."""
    for index in np.flatnonzero(page.tag == TAG_ID["time"]).tolist():
        stated = dict(page.attributes[index]).get("datetime") or _text(page, index)
        if date := iso_date(stated):
            return date
    for index, value in page.attribute("class").items():
        if (
            _DATED.search(value)
            and 0 < len(text := _text(page, index)) <= _MAX_BYLINE_CHARACTERS
            and (date := iso_date(text))
        ):
            return date
    return None


def _bylines(page: Page) -> list[str]:
    """Names by ``rel=author``, then by the class names of bylines, then by links to pages of authors."""
    marked = [index for index, value in page.attribute("rel").items() if "author" in value.lower().split()]
    marked += [index for index, value in page.attribute("class").items() if _BYLINE.search(value)]
    marked += [index for index, value in page.attribute("href").items() if _OF_AUTHOR.search(value)]
    for index in marked:
        if 0 < len(text := _text(page, index)) <= _MAX_BYLINE_CHARACTERS:
            names = [name for name in split_names(text) if _is_name(name)]
            if names:
                return names
    return []


def _is_name(text: str) -> bool:
    return 1 < len(text.split()) <= _MAX_NAME_WORDS and not any(map(str.isdigit, text))


def _language(page: Page) -> str | None:
    for index in np.flatnonzero((page.tag == TAG_ID["html"]) | (page.tag == TAG_ID["body"]))[:2].tolist():
        language = str(dict(page.attributes[index]).get("lang", "")).strip()
        if language:
            return language.replace("_", "-")
    return None


def _first(metas: dict[str, list[str]], keys: tuple[str, ...]) -> str | None:
    return next((metas[key][0] for key in keys if metas.get(key)), None)


def _in_full(page: Page, address: str | None) -> str | None:
    if not address:
        return None
    try:
        return urljoin(page.url or "", address.strip())
    except ValueError:
        return None


def _stated(page: Page, index: int) -> str:
    pairs = dict(page.attributes[index])
    return plain(pairs.get("content") or pairs.get("datetime")) or _text(page, index)


def _text(page: Page, index: int) -> str:
    """Text of an element; "" for one with too much to be a fact, of which thousands may lie within each other."""
    begin, end = int(page.run_begin[index]), int(page.run_end[index])
    if page.run_offset[end] - page.run_offset[begin] > _MAX_FACT_CHARACTERS:
        return ""
    return " ".join(page.text[page.run_offset[begin] : page.run_offset[end]].split())


SOURCES: Final[dict[str, Callable[[Page], Facts]]] = {
    "json-ld": json_ld_facts,
    "opengraph": opengraph_facts,
    "microdata": microdata_facts,
    "meta": meta_facts,
    "markup": markup_facts,
}
"""Where facts are looked for, the most trusted first."""
