"""Facts from OpenGraph, ``meta`` elements, microdata and the markup itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

import numpy as np

from winnow.metadata.values import plain, split_names, words
from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
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
_LONGEST_BYLINE: Final = 80  # characters
_BYLINE: Final = frozenset(
    {"byline", "byline-name", "author-name", "author", "post-author", "article-author", "entry-author"}
)


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
    facts["tags"] = metas.get("article:tag", [])[:20]
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
        for prop in value.split():
            name = wanted.get(prop)
            if name is None or facts.get(name):
                continue
            stated = _stated(page, index)
            facts[name] = split_names(stated) if name == "authors" else stated
    return facts


def markup_facts(page: Page) -> Facts:
    """Facts of the markup: the language of the document, ``time``, links to authors, bylines and the only heading."""
    facts: Facts = {"language": _language(page)}
    for index in np.flatnonzero(page.tag == TAG_ID["time"]).tolist():
        if moment := dict(page.attributes[index]).get("datetime"):
            facts["published"] = moment
            break
    headings = np.flatnonzero(page.tag == TAG_ID["h1"]).tolist()
    if len(headings) == 1:
        facts["headline"] = _text(page, headings[0]) or None
    if not facts.get("headline") and page.title:
        facts["headline"] = page.title.split(" | ")[0].split(" - ")[0].split(" – ")[0].strip() or None
    facts["authors"] = _bylines(page)
    return facts


def _bylines(page: Page) -> list[str]:
    """Names by ``rel=author``, then by the class names of bylines."""
    for index, value in page.attribute("rel").items():
        if "author" in value.lower().split() and 0 < len(text := _text(page, index)) <= _LONGEST_BYLINE:
            return split_names(text)
    for index, value in page.attribute("class").items():
        if not _BYLINE.isdisjoint(value.lower().split()) and 0 < len(text := _text(page, index)) <= _LONGEST_BYLINE:
            return split_names(text)
    return []


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
    return " ".join("".join(page.runs[int(page.run_begin[index]) : int(page.run_end[index])]).split())
