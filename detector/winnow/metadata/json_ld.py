"""Facts from JSON-LD, the structured data that search engines read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from winnow.metadata.values import address, names, plain, unescape_text, words
from winnow.page.attributes import attribute_predicate
from winnow.page.tags import TAG_ID
from winnow.page.tree import once_per_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from winnow.page.page import Page

_OPENING: Final = re.compile(r"\A\s*(?:<!--|(?://\s*)?<!\[CDATA\[)")
# Linear: each comma looks through the white space behind it alone.
_TRAILING_COMMA: Final = re.compile(r",(?=\s*[}\]])")
_ARTICLES: Final = re.compile(r"Article|BlogPosting|Report|Posting$|Review$")
_THINGS: Final = frozenset(
    "Product Recipe Event Course Book Movie VideoObject JobPosting HowTo ProductGroup QAPage Question Dataset".split()  # noqa: SIM905
)
_PAGES: Final = frozenset(
    {"WebPage", "ItemPage", "AboutPage", "ContactPage", "CollectionPage", "ProfilePage", "FAQPage"}
)
_GTINS: Final = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn")
_AVAILABILITIES: Final = {
    name.lower(): name for name in ("InStock", "OutOfStock", "PreOrder", "BackOrder", "SoldOut", "Discontinued")
} | {"oos": "OutOfStock"}
_MAX_OFFERS: Final = 100
_MAX_NUMBER_CHARACTERS: Final = 40
_SITES: Final = frozenset({"WebSite", "Organization", "NewsMediaOrganization"})
_MAX_THINGS: Final = 1_000  # of each script
_JSON_LD: Final = attribute_predicate("type", parts=("ld+json",))


def json_ld_facts(page: Page) -> dict[str, Any]:
    """Facts of the article, product or other thing that the page is about, then of the page and the site."""
    facts: dict[str, Any] = {}
    things = sorted(_things(page), key=_rank)
    images = {str(thing.get("@id")): address(thing) for thing in things if _kind(thing) == "ImageObject"}
    for thing in things:
        kind = _kind(thing)
        rank = _rank(thing)
        if kind == "BreadcrumbList":
            facts.setdefault("breadcrumbs", _breadcrumbs(thing))
        elif kind in _SITES:
            facts.setdefault("site_name", plain(thing.get("name")))
        elif rank < 3:
            for name, value in _facts_of(thing, kind, images).items():
                if value and not facts.get(name):
                    facts[name] = value
    return facts


def _facts_of(thing: dict[str, Any], kind: str, images: dict[str, Any]) -> dict[str, Any]:
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
        "image": address(thing.get("image") or thing.get("primaryImageOfPage") or thing.get("thumbnailUrl"), images),
        "tags": words(thing.get("keywords")),
        "offers": offers_of(thing),
    }


def offers_of(thing: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the offers of a product and of its variants, each with what is known of the product."""
    rating = _first_of(thing.get("aggregateRating"))
    product = {
        **_codes(thing),
        "brand": _named(thing.get("brand")) or _named(thing.get("manufacturer")),
        "rating": _number(rating.get("ratingValue")),
        "ratings": _number(rating.get("reviewCount") or rating.get("ratingCount")),
    }
    variants = thing.get("hasVariant")
    found = []
    for variant in [thing, *(variants if isinstance(variants, list) else [])][:_MAX_OFFERS]:
        offers = variant.get("offers") if isinstance(variant, dict) else None
        for one in (offers if isinstance(offers, list) else [offers])[:_MAX_OFFERS]:
            if not isinstance(one, dict):
                continue
            inner = one.get("offers")
            terms = _first_of(inner) if inner and "lowPrice" not in one else one
            stated = _first_of(terms.get("priceSpecification"))
            offer = {
                "price": _number(terms.get("price") or terms.get("lowPrice") or stated.get("price")),
                "currency": plain(terms.get("priceCurrency") or stated.get("priceCurrency")),
                "availability": _availability(plain(terms.get("availability")) or ""),
            }
            found.append(_known(product | _known(_codes(variant)) | _known(_codes(terms)) | offer))
    return [offer for offer in found if "price" in offer][:_MAX_OFFERS]


def _availability(stated: str) -> str | None:
    """Availability by its name in schema.org, also of ``in stock`` and ``oos``."""
    name = stated.rsplit("/", maxsplit=1)[-1]
    return _AVAILABILITIES.get(name.replace(" ", "").replace("_", "").lower(), name) or None


def _codes(thing: dict[str, Any]) -> dict[str, Any]:
    sku = thing.get("sku")
    gtin = next((str(thing[name]).strip() for name in _GTINS if re.search(r"\d{5}", str(thing.get(name)))), None)
    return {"sku": str(sku).strip() if isinstance(sku, str | int) else None, "gtin": gtin}


def _known(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in {None, ""}}


def _first_of(value: Any) -> dict[str, Any]:
    value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, dict) else {}


def _named(value: Any) -> str | None:
    return plain(_first_of(value).get("name")) or plain(value)


def _number(value: Any) -> float | None:
    """Number of a price or a rating, written with a point or a comma, with or without a sign of a currency."""
    if not isinstance(value, str | int | float):
        return None
    digits = re.sub(r"[^\d.,]", "", str(value)[:_MAX_NUMBER_CHARACTERS]).strip(".,")
    if re.search(r",\d{1,2}$", digits):
        digits = digits.replace(".", "").replace(",", ".")
    try:
        return float(digits.replace(",", ""))
    except ValueError:
        return None


def _things(page: Page) -> Iterator[dict[str, Any]]:
    """Every object of every script that has a type, the one that holds others before them."""
    for script in json_ld_scripts(page):
        waiting = [script.document]
        count = 0
        while waiting and count < _MAX_THINGS:
            value = waiting.pop()
            count += 1
            if isinstance(value, list):
                waiting += reversed(value)
            elif isinstance(value, dict):
                if "@type" in value:
                    yield value
                parts = ["mainEntityOfPage", "breadcrumb", "@graph"]
                if "@type" not in value or _kind(value) != "FAQPage":  # its questions are not what the page is about
                    parts.append("mainEntity")
                inner = map(value.get, parts)
                waiting += (part for part in inner if isinstance(part, dict | list))


@dataclass(eq=False)
class JsonLdScript:
    """A script of JSON-LD, parsed when it is first asked for."""

    text: str

    @cached_property
    def document(self) -> Any:
        """The JSON document; ``None`` where it is none."""
        return _parse(self.text)


@once_per_page
def json_ld_scripts(page: Page) -> list[JsonLdScript]:
    """Return the scripts of JSON-LD of a page, so that each is parsed once."""
    named = [place for place, kind in page.attributes.matching(_JSON_LD) if "ld+json" in kind.lower()]
    places = page.attributes.elements_with(named) if named else []
    return [JsonLdScript(page.raw_text(index)) for index in places if page.tag[index] == TAG_ID["script"]]


def _parse(text: str) -> Any:
    """Parse JSON that may stand in a comment, be escaped or have commas too many; ``None`` for what is none."""
    bare = _without_wrapper(_without_wrapper(text)).strip()
    for mend in (str, unescape_text, partial(_TRAILING_COMMA.sub, "")):
        try:
            return json.loads(mend(bare), strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _without_wrapper(text: str) -> str:
    """Remove the comment or CDATA section around a script."""
    text = _OPENING.sub("", text, count=1)
    bare = text.rstrip().removesuffix(";").rstrip()
    if bare.endswith("]]>"):
        return bare.removesuffix("]]>").rstrip().removesuffix("//")
    return bare.removesuffix("-->") if bare.endswith("-->") else text


def _kind(thing: dict[str, Any]) -> str:
    kind = thing["@type"]
    if isinstance(kind, list):
        kind = kind[0] if kind else ""
    return kind.rsplit("/", maxsplit=1)[-1] if isinstance(kind, str) else ""


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
