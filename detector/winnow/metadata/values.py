"""Values of what pages say of themselves: texts, names, keywords, addresses and dates, each written in many forms."""

from __future__ import annotations

import re
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Final

_TAG: Final = re.compile(r"<[^>]{1,200}>")
_BEFORE_NAMES: Final = re.compile(
    r"^\s*(?:written by|posted by|by|von|par|por|di|da|od|af|av|door|author:?)[\s:]+", re.IGNORECASE
)
# Linear: white space in the texts that this sees is single spaces.
_BETWEEN_NAMES: Final = re.compile(r"\s*(?:,|;|\||&|\band\b|\bund\b|\bet\b|\by\b)\s+", re.IGNORECASE)
MAX_VALUES: Final = 20  # authors or tags
_MAX_NAME_CHARACTERS: Final = 80

_DAY_FIRST: Final = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
_YEAR_FIRST: Final = re.compile(r"\b(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})")
# Linear, as those above: what repeats, white space, ends in another kind of character, and is passed once a word.
_WORDS: Final = re.compile(r"\b([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_WORDS_DAY_FIRST: Final = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})\b")
_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS: Final = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_IN_ADDRESS: Final = re.compile(r"[/_-]((?:19|20)\d{2})[/_-]?(0[1-9]|1[0-2])[/_-]?(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)")
_MAX_DATE_CHARACTERS: Final = 200


def unescape_text(text: str) -> str:
    """Replace character references; a text with one of thousands of digits, which Python does not read, stays."""
    try:
        return unescape(text)
    except ValueError:
        return text


def plain(value: object) -> str | None:
    """Text without markup, white space normalised; ``None`` for none."""
    if not isinstance(value, str):
        return None
    return " ".join(_TAG.sub(" ", unescape_text(value)).split()) or None


def names(value: Any) -> list[str]:
    """Names of people or organisations: a text, an object with a name, or a list of such."""
    found: list[str] = []
    for one in value if isinstance(value, list) else [value]:
        name = one.get("name") if isinstance(one, dict) else one
        for text in name if isinstance(name, list) else [name]:
            found += split_names(plain(text) or "")
    return list(dict.fromkeys(found))[:MAX_VALUES]


def split_names(text: str) -> list[str]:
    """Names that stand in one text; none for an address or what is too long to be a name."""
    parts = _BETWEEN_NAMES.split(_BEFORE_NAMES.sub("", text))
    return [
        part for part in parts if part and "://" not in part and len(part) <= _MAX_NAME_CHARACTERS and "@" not in part
    ]


def words(value: Any) -> list[str]:
    """Keywords: a text with commas, or a list."""
    parts = value if isinstance(value, list) else str(value).split(",") if isinstance(value, str) else []
    found = (plain(part) for part in parts)
    return list(dict.fromkeys(word for word in found if word))[:MAX_VALUES]


def address(value: Any) -> str | None:
    """Address of an image: a text, an object with a ``url``, or the first of a list."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("url") or value.get("@id")
    return value.strip() or None if isinstance(value, str) else None


def iso_date(value: object) -> str | None:
    """Return a date, with its time and zone where they are given, as ISO 8601; ``None`` for what is none."""
    if not isinstance(value, str) or not (text := value.strip()[:_MAX_DATE_CHARACTERS]):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        pass
    else:
        return moment.date().isoformat() if len(text) <= len("2024-05-17") else moment.isoformat()
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, OverflowError):
        return _written_out(text)


def _written_out(text: str) -> str | None:
    """The first date in a short text."""
    if found := _YEAR_FIRST.search(text):
        return _day(found[1], found[2], found[3])
    if found := _DAY_FIRST.search(text):
        return _day(found[3], found[2], found[1])
    for found in _WORDS.finditer(text):
        if found[1][:3].lower() in _MONTHS:
            return _day(found[3], _MONTHS[found[1][:3].lower()], found[2])
    for found in _WORDS_DAY_FIRST.finditer(text):
        if found[2][:3].lower() in _MONTHS:
            return _day(found[3], _MONTHS[found[2][:3].lower()], found[1])
    return None


def date_in_address(url: str) -> str | None:
    """Return the date in an address, as in ``/2024/05/17/story``; ``None`` without one."""
    found = _IN_ADDRESS.search(url)
    return _day(*found.groups()) if found else None


def _day(year: str, month: str | int, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
