"""Facts from JSON-LD, the structured data that search engines read."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from winnow.metadata.values import address, names, plain, words
from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from winnow.page.page import Page

_AROUND: Final = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*$")
_ARTICLES: Final = re.compile(r"Article|BlogPosting|Report|Posting$|Review$")
_THINGS: Final = frozenset(
    "Product Recipe Event Course Book Movie VideoObject JobPosting HowTo QAPage FAQPage Question Dataset".split()  # noqa: SIM905
)
_PAGES: Final = frozenset({"WebPage", "ItemPage", "AboutPage", "ContactPage", "CollectionPage", "ProfilePage"})
_SITES: Final = frozenset({"WebSite", "Organization", "NewsMediaOrganization"})
_MOST_THINGS: Final = 1_000


def json_ld_facts(page: Page) -> dict[str, Any]:
    """Facts of the article, product or other thing that the page is about, then of the page and the site."""
    things = list(_things(page))
    facts: dict[str, Any] = {}
    for thing in sorted(things, key=_rank):
        kind = _kind(thing)
        rank = _rank(thing)
        if kind == "BreadcrumbList":
            facts.setdefault("breadcrumbs", _breadcrumbs(thing))
        elif kind in _SITES:
            facts.setdefault("site_name", plain(thing.get("name")))
        elif rank < 3:
            for name, value in _facts_of(thing, kind).items():
                if value and not facts.get(name):
                    facts[name] = value
    return facts


def _facts_of(thing: dict[str, Any], kind: str) -> dict[str, Any]:
    publisher = thing.get("publisher")
    return {
        "kind": kind,
        "headline": plain(thing.get("headline")) or (plain(thing.get("name")) if kind not in _PAGES else None),
        "authors": names(thing.get("author") or thing.get("creator")),
        "published": thing.get("datePublished") or thing.get("uploadDate") or thing.get("dateCreated"),
        "modified": thing.get("dateModified"),
        "site_name": plain(publisher.get("name")) if isinstance(publisher, dict) else None,
        "language": plain(thing.get("inLanguage")) if isinstance(thing.get("inLanguage"), str) else None,
        "description": plain(thing.get("description")),
        "image": address(thing.get("image")),
        "tags": words(thing.get("keywords")),
    }


def _things(page: Page) -> Iterator[dict[str, Any]]:
    """Every object of every script that has a type, the one that holds others before them."""
    kinds = page.attribute("type")
    for index in np.flatnonzero(page.tag == TAG_ID["script"]).tolist():
        if "ld+json" not in kinds.get(index, "").lower():
            continue
        waiting = [_parsed(page.elements[index].text or "")]
        count = 0
        while waiting and count < _MOST_THINGS:
            value = waiting.pop(0)
            count += 1
            if isinstance(value, list):
                waiting = [*value, *waiting]
            elif isinstance(value, dict):
                if "@type" in value:
                    yield value
                inner = (value.get(name) for name in ("@graph", "mainEntity", "breadcrumb", "mainEntityOfPage"))
                waiting = [*(part for part in inner if isinstance(part, dict | list)), *waiting]


def _parsed(text: str) -> Any:
    bare = _AROUND.sub("", _AROUND.sub("", text)).strip()
    for attempt in (bare, unescape(bare), re.sub(r",(\s*[}\]])", r"\1", bare)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _kind(thing: dict[str, Any]) -> str:
    kind = thing["@type"]
    if isinstance(kind, list):
        kind = kind[0] if kind else ""
    return str(kind).rsplit("/", maxsplit=1)[-1]


def _rank(thing: dict[str, Any]) -> int:
    kind = _kind(thing)
    if _ARTICLES.search(kind):
        return 0
    if kind in _THINGS:
        return 1
    return 2 if kind in _PAGES else 3


def _breadcrumbs(thing: dict[str, Any]) -> list[str]:
    steps = thing.get("itemListElement")
    found = []
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, dict):
            item = step.get("item")
            found.append(plain(step.get("name")) or (plain(item.get("name")) if isinstance(item, dict) else None))
    return [name for name in found if name]
