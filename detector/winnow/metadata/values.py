"""Values of structured data, which says one thing in many forms."""

from __future__ import annotations

import re
from html import unescape
from typing import Any, Final

_TAG: Final = re.compile(r"<[^>]{1,200}>")
_BEFORE_NAMES: Final = re.compile(
    r"^\s*(?:written by|posted by|by|von|par|por|di|da|od|af|av|door|author:?)[\s:]+", re.IGNORECASE
)
_BETWEEN_NAMES: Final = re.compile(r"\s*(?:,|;|\||&|\band\b|\bund\b|\bet\b|\by\b)\s+", re.IGNORECASE)
_MOST: Final = 20  # authors or tags
_LONGEST_NAME: Final = 80


def plain(value: object) -> str | None:
    """Text without markup, white space normalised; ``None`` for none."""
    if not isinstance(value, str):
        return None
    return " ".join(_TAG.sub(" ", unescape(value)).split()) or None


def names(value: Any) -> list[str]:
    """Names of people or organisations: a text, an object with a name, or a list of such."""
    found: list[str] = []
    for one in value if isinstance(value, list) else [value]:
        name = one.get("name") if isinstance(one, dict) else one
        for text in name if isinstance(name, list) else [name]:
            found += split_names(plain(text) or "")
    return list(dict.fromkeys(found))[:_MOST]


def split_names(text: str) -> list[str]:
    """Names that stand in one text; none for an address or what is too long to be a name."""
    parts = _BETWEEN_NAMES.split(_BEFORE_NAMES.sub("", text))
    return [part for part in parts if part and "://" not in part and len(part) <= _LONGEST_NAME and "@" not in part]


def words(value: Any) -> list[str]:
    """Keywords: a text with commas, or a list."""
    parts = value if isinstance(value, list) else str(value).split(",") if isinstance(value, str) else []
    found = (plain(part) for part in parts)
    return list(dict.fromkeys(word for word in found if word))[:_MOST]


def address(value: Any) -> str | None:
    """Address of an image: a text, an object with a ``url``, or the first of a list."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("url") or value.get("@id")
    return value.strip() or None if isinstance(value, str) else None
