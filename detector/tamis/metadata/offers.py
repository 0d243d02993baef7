"""Offers of a product: prices, availability and codes, as JSON-LD, OpenGraph and microdata state them."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from tamis.metadata.values import as_list, as_objects, clean_text, first_object

_AVAILABILITIES: Final = {
    name.lower(): name for name in ("InStock", "OutOfStock", "PreOrder", "BackOrder", "SoldOut", "Discontinued")
} | {"oos": "OutOfStock"}
_STRUCK_OUT: Final = re.compile(r"(?:List|Strikethrough|Regular|MSRP|SRP|RetailPrice)", re.IGNORECASE)
"""Types of prices that nobody pays."""
_MAX_OFFERS: Final = 100
# Linear: it sees few characters. "1,299.00", "1.299,00", "1 299" and "1'299"; else one point or comma before decimals.
_NUMBER: Final = re.compile(
    r"(?P<sign>(?<![\w.])[-−])?[^\d\w.,]{0,3}"
    r"(?:(?P<whole>[1-9]\d{0,2}(?P<group>[.,\s'’])\d{3}(?:(?P=group)\d{3})*)(?!\d)(?:[.,](?P<part>\d+))?"
    r"|(?P<plain>\d*[.,]?\d+(?:[eE][+-]?\d{1,3})?))"
)
_AMOUNT: Final = re.compile(r"\d(?:[\d.,'’ \u00a0\u202f]{0,20}\d)?")


def read_offers(thing: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the offers of a product and its variants, each with the facts about the product."""
    rating = first_object(thing.get("aggregateRating"))
    product = {
        **_codes(thing),
        "brand": _name_of(thing.get("brand")) or _name_of(thing.get("manufacturer")),
        "rating": _number(rating.get("ratingValue")),
        "ratings": _number(rating.get("reviewCount") or rating.get("ratingCount")),
    }
    found = []
    for variant in as_objects([thing, *as_list(thing.get("hasVariant"))][:_MAX_OFFERS]):
        for offer in as_objects(as_list(variant.get("offers"))[:_MAX_OFFERS]):
            inner = offer.get("offers")
            terms = first_object(inner) if inner and "lowPrice" not in offer else offer
            codes = _without_empty(_codes(variant)) | _without_empty(_codes(terms))
            found.append(_without_empty(product | codes | _prices(terms)))
    return [offer for offer in found if "price" in offer][:_MAX_OFFERS]


def _prices(terms: dict[str, Any]) -> dict[str, Any]:
    """The price that counts, the one that is struck out for it, the currency and the availability of an offer."""
    specified = as_objects(as_list(terms.get("priceSpecification")))
    struck_out = [each for each in specified if _STRUCK_OUT.search(str(each.get("priceType")))]
    current = [each for each in specified if each not in struck_out]
    stated = [terms.get("price"), terms.get("lowPrice"), *(each.get("price") for each in current[:1])]
    price = next((number for number in map(_number, stated) if number is not None), None)
    before = _number(struck_out[0].get("price") if struck_out else terms.get("listPrice"))
    if price is None:
        price, before = before, None
    is_reduced = price is not None and before is not None and before > price
    currencies = [_text_of(each.get("priceCurrency")) for each in (terms, *specified)]
    return {
        "price": price,
        "list_price": before if is_reduced else None,
        "currency": next(filter(None, currencies), None),
        "availability": _availability(_text_of(terms.get("availability")) or ""),
    }


def _availability(stated: str) -> str | None:
    """Name of an availability in schema.org, also for ``in stock`` and ``oos``."""
    name = stated.rsplit("/", maxsplit=1)[-1]
    return _AVAILABILITIES.get(name.replace(" ", "").replace("_", "").lower(), name) or None


def _codes(thing: dict[str, Any]) -> dict[str, Any]:
    sku = thing.get("sku")
    stated = [str(thing.get(name)).strip() for name in ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn")]
    gtin = next((code for code in stated if re.search(r"\d{5}", code)), None)
    return {"sku": str(sku).strip() if isinstance(sku, str | int) else None, "gtin": gtin}


def _without_empty(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in {None, ""}}


def _text_of(value: Any) -> str | None:
    return next(filter(None, map(clean_text, as_list(value))), None)


def _name_of(value: Any) -> str | None:
    return clean_text(first_object(value).get("name")) or clean_text(value)


def _number(value: Any) -> float | None:
    """Number of a price or a rating, with a decimal point or comma, with or without a currency sign."""
    value = next(iter(as_list(value)), None)
    try:
        number = _parse_number(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and not isinstance(value, bool) else None


def _parse_number(text: str) -> float:
    found = _NUMBER.search(text[:40])
    if not found:
        raise ValueError(text)
    whole = found["whole"]
    if not whole:
        number = float(found["plain"].replace(",", "."))
    elif found["group"] == "." and whole.count(".") == 1 and not found["part"]:  # 1.299 has three decimals
        number = float(whole)
    else:
        number = float(f"{_digits(whole)}.{found['part'] or 0}")
    return -number if found["sign"] else number


def amounts_in(text: str) -> set[float]:
    """Numbers in a text that may be prices: ``1,299.00``, ``1.299,00``, ``1 299`` or ``1299.0``."""
    found = set()
    for written in _AMOUNT.findall(text):
        decimals = re.search(r"[.,](\d\d?)$", written)
        if decimals:
            found.add(float(f"{_digits(written[: decimals.start()])}.{decimals[1]}"))
        else:
            found.add(float(_digits(written)))
    return found


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))
