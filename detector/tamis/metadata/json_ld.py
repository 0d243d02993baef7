"""Facts from JSON-LD, the structured data that search engines read."""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tamis.metadata.values import as_list, clean_text, image_address, keywords, person_names, unescape_text
from tamis.page.attributes import attribute_predicate
from tamis.page.tree import TAG_ID, once_per_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tamis.page.page import Page

_DECODER: Final = json.JSONDecoder(strict=False)
_CONTROL_ESCAPE: Final = re.compile(r"\\(?:[bfr]|u(?:00[0189]|007f|d[89a-f]|fff[ef]))", re.IGNORECASE)
_ESCAPE: Final = re.compile(  # tabs, line ends and whole pairs stay
    r"\\u(?:d[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|000[9ad])"
    r"|(?P<dropped>\\u(?:00[0189][\da-f]|007f|d[89a-f][\da-f]{2}|fff[ef]))|\\.",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_OPENINGS: Final = re.compile(r"(?:\s|<!--|(?://\s*)?<!\[CDATA\[)+")
# Linear: each comma looks through the white space behind it alone.
_TRAILING_COMMA: Final = re.compile(r",(?=\s*[}\]])")
_ARTICLES: Final = re.compile(r"Article|BlogPosting|Report|Posting$|Review$")
_THINGS: Final = frozenset(
    "Product Recipe Event Course Book Movie VideoObject JobPosting HowTo ProductGroup QAPage Question Dataset".split()
)
_PAGES: Final = frozenset("WebPage ItemPage AboutPage ContactPage CollectionPage ProfilePage FAQPage".split())
_GTINS: Final = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn")
_AVAILABILITIES: Final = {
    name.lower(): name for name in ("InStock", "OutOfStock", "PreOrder", "BackOrder", "SoldOut", "Discontinued")
} | {"oos": "OutOfStock"}
_MAX_OFFERS: Final = 100
_MAX_NUMBER_CHARACTERS: Final = 40
_SITES: Final = frozenset({"WebSite", "Organization", "NewsMediaOrganization"})
_MAX_THINGS: Final = 1_000  # in each script
JSON_LD_SCRIPTS: Final = attribute_predicate("type", parts=("ld+json",))


def json_ld_facts(page: Page) -> dict[str, Any]:
    """Facts about the article, product or other thing that the page is about, then about the page and the site."""
    facts: dict[str, Any] = {}
    things = sorted(json_ld_things(page), key=lambda thing: _rank(_kind(thing)))
    images = {str(thing.get("@id")): image_address(thing) for thing in things if _kind(thing) == "ImageObject"}
    for thing in things:
        kind = _kind(thing)
        if kind == "BreadcrumbList":
            facts.setdefault("breadcrumbs", _breadcrumbs(thing))
        elif kind in _SITES:
            facts.setdefault("site_name", clean_text(thing.get("name")))
        elif _rank(kind) < 3:
            for name, value in _facts_of(thing, kind, images).items():
                if value and not facts.get(name):
                    facts[name] = value
    return facts


def json_ld_kind(page: Page) -> str | None:
    """Kind of the article, product or other thing that the page is about, or of the page."""
    kind = min(map(_kind, json_ld_things(page)), key=_rank, default="")
    return kind if _rank(kind) < 3 else None


def _facts_of(thing: dict[str, Any], kind: str, images: dict[str, Any]) -> dict[str, Any]:
    publisher = thing.get("publisher")
    return {
        "kind": kind,
        "headline": clean_text(thing.get("headline"))
        or (clean_text(thing.get("name")) if kind not in _PAGES else None),
        "authors": person_names(thing.get("author") or thing.get("creator")),
        "published": thing.get("datePublished") or thing.get("uploadDate") or thing.get("dateCreated"),
        "modified": thing.get("dateModified"),
        "site_name": clean_text(publisher.get("name")) if isinstance(publisher, dict) else None,
        "language": clean_text(thing.get("inLanguage")) if isinstance(thing.get("inLanguage"), str) else None,
        "description": clean_text(thing.get("description")),
        "image": image_address(
            thing.get("image") or thing.get("primaryImageOfPage") or thing.get("thumbnailUrl"), images
        ),
        "tags": keywords(thing.get("keywords")),
        "offers": read_offers(thing) if "offers" in thing or "hasVariant" in thing else [],
    }


def read_offers(thing: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the offers of a product and its variants, each with the facts about the product."""
    rating = _first_of(thing.get("aggregateRating"))
    product = {
        **_codes(thing),
        "brand": _name_of(thing.get("brand")) or _name_of(thing.get("manufacturer")),
        "rating": _number(rating.get("ratingValue")),
        "ratings": _number(rating.get("reviewCount") or rating.get("ratingCount")),
    }
    found = []
    for variant in _objects([thing, *as_list(thing.get("hasVariant"))][:_MAX_OFFERS]):
        for offer in _objects(as_list(variant.get("offers"))[:_MAX_OFFERS]):
            inner = offer.get("offers")
            terms = _first_of(inner) if inner and "lowPrice" not in offer else offer
            specified = _first_of(terms.get("priceSpecification"))
            facts = {
                "price": _number(terms.get("price") or terms.get("lowPrice") or specified.get("price")),
                "currency": clean_text(terms.get("priceCurrency") or specified.get("priceCurrency")),
                "availability": _availability(clean_text(terms.get("availability")) or ""),
            }
            codes = _without_empty(_codes(variant)) | _without_empty(_codes(terms))
            found.append(_without_empty(product | codes | facts))
    return [offer for offer in found if "price" in offer][:_MAX_OFFERS]


def _availability(stated: str) -> str | None:
    """Name of an availability in schema.org, also for ``in stock`` and ``oos``."""
    name = stated.rsplit("/", maxsplit=1)[-1]
    return _AVAILABILITIES.get(name.replace(" ", "").replace("_", "").lower(), name) or None


def _codes(thing: dict[str, Any]) -> dict[str, Any]:
    sku = thing.get("sku")
    gtin = next((str(thing[name]).strip() for name in _GTINS if re.search(r"\d{5}", str(thing.get(name)))), None)
    return {"sku": str(sku).strip() if isinstance(sku, str | int) else None, "gtin": gtin}


def _objects(values: list[Any]) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)]


def _without_empty(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in {None, ""}}


def _first_of(value: Any) -> dict[str, Any]:
    first = next(iter(as_list(value)), None)
    return first if isinstance(first, dict) else {}


def _name_of(value: Any) -> str | None:
    return clean_text(_first_of(value).get("name")) or clean_text(value)


def _number(value: Any) -> float | None:
    """Number of a price or a rating, with a decimal point or comma, with or without a currency sign."""
    if not isinstance(value, str | int | float):
        return None
    digits = re.sub(r"[^\d.,]", "", str(value)[:_MAX_NUMBER_CHARACTERS]).strip(".,")
    if re.search(r",\d{1,2}$", digits):
        digits = digits.replace(".", "").replace(",", ".")
    try:
        return float(digits.replace(",", ""))
    except ValueError:
        return None


def json_ld_things(page: Page) -> Iterator[dict[str, Any]]:
    """Yield every typed object of every JSON-LD script, each before the objects in it."""
    for document in json_ld_documents(page):
        waiting = [document]
        for _ in range(_MAX_THINGS):
            if not waiting:
                break
            value = waiting.pop()
            if isinstance(value, list):
                waiting += reversed(value)
            elif isinstance(value, dict):
                if "@type" in value:
                    yield value
                parts = ["mainEntityOfPage", "breadcrumb", "@graph"]
                if "@type" not in value or _kind(value) != "FAQPage":  # its questions are not what the page is about
                    parts.append("mainEntity")
                waiting += (part for part in map(value.get, parts) if isinstance(part, dict | list))


@once_per_page
def json_ld_documents(page: Page) -> list[Any]:
    """The JSON documents of a page's JSON-LD scripts, ``None`` for invalid ones."""
    return list(map(_parse, json_ld_scripts(page)))


@once_per_page
def json_ld_scripts(page: Page) -> list[str]:
    """Text of each JSON-LD script of a page."""
    elements = page.attributes.elements_matching(JSON_LD_SCRIPTS)
    return [page.raw_text(index) for index in elements if page.tag[index] == TAG_ID["script"]]


def _parse(text: str) -> Any:
    """Parse JSON that may be in a comment, escaped or with trailing commas; ``None`` if it is invalid all the same."""
    opening = _OPENINGS.match(text)
    bare = text[opening.end() :] if opening else text
    found = (decode_json(repair(bare)) for repair in (str, unescape_text, partial(_TRAILING_COMMA.sub, "")))
    return next((value for value in found if value is not None), None)


def decode_json(text: str) -> Any:
    """Decode the JSON at the beginning of a text, whatever follows; ``None`` if it is invalid.

    Texts in it have no control characters and no halves of surrogate pairs, as those of the page's elements.
    """
    if _CONTROL_ESCAPE.search(text):
        text = _ESCAPE.sub(_plain_escape, text)
    try:
        return _DECODER.raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _plain_escape(escape: re.Match[str]) -> str:
    """Write an escape of a JSON text: a line feed for a carriage return, windows-1252 for what HTML takes for it."""
    text = escape[0].lower()
    if text in {r"\r", r"\u000d"}:
        return r"\n"
    if text.startswith((r"\u008", r"\u009")):
        return bytes.fromhex(text[4:]).decode("cp1252", "ignore")
    return "" if escape["dropped"] or text in {r"\b", r"\f"} else escape[0]


def _kind(thing: dict[str, Any]) -> str:
    kind = next(iter(as_list(thing["@type"])), "")
    return kind.rsplit("/", maxsplit=1)[-1] if isinstance(kind, str) else ""


def _rank(kind: str) -> int:
    """0 for articles, 1 for products and the like, 2 for pages, 3 for everything else."""
    return 0 if _ARTICLES.search(kind) else 1 if kind in _THINGS else 2 if kind in _PAGES else 3


def _breadcrumbs(thing: dict[str, Any]) -> list[str]:
    steps = _objects(as_list(thing.get("itemListElement")))
    names = (clean_text(step.get("name")) or clean_text(_first_of(step.get("item")).get("name")) for step in steps)
    return list(filter(None, names))
