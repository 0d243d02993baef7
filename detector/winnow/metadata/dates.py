"""Dates as pages write them, to ISO 8601."""

from __future__ import annotations

import re
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_DAY_FIRST: Final = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
_YEAR_FIRST: Final = re.compile(r"\b(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})")
_WORDS: Final = re.compile(r"\b([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")
_WORDS_DAY_FIRST: Final = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})\b")
_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS: Final = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_IN_ADDRESS: Final = re.compile(r"[/_-]((?:19|20)\d{2})[/_-]?(0[1-9]|1[0-2])[/_-]?(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)")


def iso_date(value: object) -> str | None:
    """Return a date, with its time and zone where they are given, as ISO 8601; ``None`` for what is none."""
    if not isinstance(value, str) or not (text := value.strip()):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        pass
    else:
        return moment.date().isoformat() if len(text) <= len("2024-05-17") else moment.isoformat()
    try:
        return parsedate_to_datetime(text).isoformat()
    except ValueError:
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
