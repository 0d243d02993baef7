"""Blocks that look like the date or the age of a post, in no language in particular."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.memo import Memo
from winnow.page.subtrees import prefix_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAMES: Final = ("dates: time of day", "dates: year", "dates: age", "dates: share of the blocks around")

LONGEST: Final = 120
"""Characters of a block that may be a date; of an age, a third."""

_SIGNS_IN_FEATURES: Final = 3  # time of day, year, age
_BITS: Final = np.arange(_SIGNS_IN_FEATURES)[:, None]
_NOT_TOLD: Final = 255  # dates.c leaves a text to Python
_AROUND: Final = 8  # blocks on each side
_TIME: Final = re.compile(r"\b\d{1,2}[:.h]\d{2}\b|\b\d{1,2}\s?[ap]\.?m\b", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?<!\d)(?:19[89]\d|20[0-4]\d)(?!\d)")
_AGE: Final = re.compile(
    r"(?<!\S)\d{1,3}\+?\s?[^\W\d_]{1,7}\b(?:\s[^\W\d_]{2,6})?\s*$"  # 2 days ago, 3mo, vor 5 Tagen
    r"|^\s*\d{1,2}\s?[^\W\d_]{1,3}\b"
)
_CLOCK: Final = re.compile(r"(?<![\d:.,])\d{1,2}[:h]\d{2}(?!\d)|\b\d{1,2}\s?[ap]\.?m\b", re.IGNORECASE)
_COPYRIGHT: Final = re.compile(r"©|\bcopyright\b", re.IGNORECASE)
_CLOCK_PERHAPS: Final = re.compile(r"\d[:h]\d\d", re.IGNORECASE)
_MEASURE: Final = re.compile(
    r"\d\s?(?:[mcknµ]?m|[mk]?g|[mc]?l|[kmgt]?b|[kmg]?hz|k?wh?|m?ah|v|meters?|metres?|px|oz|lbs?|in|ft|atm|x)\b",
    re.IGNORECASE,
)


def posted(text: str) -> bool:
    """Whether a block tells when something was posted.

    Stricter than the features, from which the head learns how much each sign is worth: the price ``$4.99``, the hours
    ``10:00 am - 6:00 pm``, the length ``4 mm`` and the year of a copyright are no dates.

    Args:
        text: with single spaces between words.
    """
    if len(text) > LONGEST or _COPYRIGHT.search(text):
        return False
    if _YEAR.search(text):
        return True
    times = len(_CLOCK.findall(text))
    return times == 1 or (
        not times and len(text) * 3 <= LONGEST and _AGE.search(text) is not None and _MEASURE.search(text) is None
    )


def date_signs(texts: list[str], digits: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """uint8[m], bits of each block for a time of day, a year, an age, and for what may be a time in other surroundings.

    A block without any is not :func:`posted`.

    Args:
        texts: text of each block, with single spaces between words.
        digits: bool[m], the blocks that have digits.
    """
    signs = np.zeros(len(texts), np.uint8)
    core = compiled()
    if core is None:
        unknown = [block for block in np.flatnonzero(digits).tolist() if len(texts[block]) <= LONGEST]
    else:
        core.date_signs(texts, LONGEST, signs)
        unknown = np.flatnonzero(signs == _NOT_TOLD).tolist()
    signs[unknown] = [_SIGNS[texts[block]] for block in unknown]
    return signs


def date_features(signs: NDArray[np.uint8]) -> Floats:
    """float64[m, len(NAMES)], from uint8[m] :func:`date_signs`."""
    features = np.zeros((len(NAMES), len(signs)))
    told = signs & ((1 << _SIGNS_IN_FEATURES) - 1)
    dated = np.flatnonzero(told)
    if len(dated):
        features[:_SIGNS_IN_FEATURES, dated] = told[dated] >> _BITS & 1
        before, block = prefix_sums(told != 0), np.arange(len(signs))
        around = before[np.minimum(block + _AROUND + 1, len(signs))] - before[np.maximum(block - _AROUND, 0)]
        np.divide(around, 2 * _AROUND + 1, out=features[_SIGNS_IN_FEATURES])
    return features.T


def _signs(text: str) -> int:
    age = len(text) * 3 <= LONGEST and _AGE.search(text) is not None
    found = _TIME.search(text) is not None, _YEAR.search(text) is not None, age, _CLOCK_PERHAPS.search(text) is not None
    return sum(sign << bit for bit, sign in enumerate(found))


_SIGNS: Final = Memo[str, int](_signs, 8_192)
