"""Bottom-k shingles of clean text, and near-duplicates by them.

Section 6.2 of Chakrabarti, Kumar and Punera (WWW 2007): text in lower case, alphanumerics only, moving windows of 6
words, the 8 smallest hashes of a page; pages are near-duplicates from 4 equal hashes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from winnow.core import compiled
from winnow.hashing import BASE, INVERSE, inverse_powers, mix, powers
from winnow.page.text.characters import CODES, LOW_SURROGATE, SEPARATOR, UNSPACED, character_tokens, utf16, word_kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

SIZE: Final = 6
KEEP: Final = 8
COMMON: Final = 4


def shingles(text: str, size: int = SIZE, keep: int = KEEP) -> Hashes:
    """Return the smallest hashes of all windows of consecutive words.

    Words are runs of letters, digits and the marks on them, case folded. In scripts that do not part words by spaces
    (Han, Kana, Thai, Lao, Khmer, Burmese, Tibetan...) each character is a word, so a window is ``size`` characters
    there; Korean has spaces. A text of fewer than ``size`` words gives one shingle of all its words, a text without
    words none.

    Args:
        text: clean text of a page.
        size: words to a window.
        keep: hashes to keep at most.

    Returns:
        uint64[up to keep], distinct and ascending; the same in every process and on every machine.

    Raises:
        ValueError: ``size`` or ``keep`` is below 1.

    >>> story = "Winds of up to 130 km/h are expected tonight, and the ferries stay in the harbour"
    >>> copy = shingles("WINDS of up to 130 km/h are expected tonight and the ferries stay in the harbour!")
    >>> common_shingles(shingles(story), copy)
    8
    """
    if size < 1 or keep < 1:
        raise ValueError(f"size and keep must be at least 1, got {size} and {keep}")
    core = compiled()
    if core is not None:
        smallest = np.empty(min(keep, len(text) + 1), np.uint64)
        tables = word_kinds(), character_tokens(), BASE, INVERSE
        number = core.shingles(text.encode("utf-8", "surrogatepass"), *tables, min(size, len(text) + 1), smallest)
        return smallest[:number]
    rows = _word_characters(text)
    begins = np.append(np.flatnonzero(rows >= CODES), len(rows))
    words = len(begins) - 1
    if words == 0:
        return np.empty(0, np.uint64)
    size = min(size, words)
    sums = np.zeros(len(rows) + 1, np.uint64)
    np.cumsum(character_tokens()[rows] * powers(0, len(rows)), out=sums[1:])
    begin = begins[:-size]
    hashes = mix((sums[begins[size:]] - sums[begin]) * inverse_powers(begin))
    few = 4 * keep  # room for windows that recur
    if len(hashes) > few:
        smallest = np.unique(np.partition(hashes, few)[:few])
        if len(smallest) >= keep:
            return smallest[:keep]
    return np.unique(hashes)[:keep]


def common_shingles(a: Hashes, b: Hashes) -> int:
    """Number of hashes that two pages have in common."""
    return len(np.intersect1d(a, b, assume_unique=True))


def near_duplicates(a: Hashes, b: Hashes, common: int = COMMON) -> bool:
    """Tell whether two pages are near-duplicates: at least ``common`` hashes in common.

    A page of fewer than ``common`` hashes (9 different words give 4) is only a near-duplicate of a page with exactly
    the same ones; a page without words is nobody's.
    """
    if min(len(a), len(b)) < common:
        return len(a) > 0 and np.array_equal(a, b)
    return common_shingles(a, b) >= common


def resemblance(a: Hashes, b: Hashes, keep: int = KEEP) -> float:
    """Estimate the Jaccard similarity of the window sets of two pages from their ``keep`` smallest hashes.

    It is the share of common hashes among the ``keep`` smallest of both pages together; exact when neither page has
    ``keep`` windows or more.

    Returns:
        0 to 1; 0 when both are empty.
    """
    both = np.union1d(a, b)
    if len(a) >= keep or len(b) >= keep:
        both = both[:keep]
    return float(np.mean(np.isin(both, a) & np.isin(both, b))) if len(both) else 0.0


def _word_characters(text: str) -> NDArray[np.int32]:
    """int32: codes of the characters that words are made of, CODES more for the first of each word."""
    codes = utf16(text)
    kinds = word_kinds()[codes]
    halves = np.flatnonzero(kinds == LOW_SURROGATE)
    if len(halves):
        kinds[halves] = np.where((halves > 0) & (kinds[halves - 1] == UNSPACED), LOW_SURROGATE, SEPARATOR)
    first = kinds == UNSPACED
    first[:1] |= kinds[:1] != SEPARATOR
    first[1:] |= (kinds[1:] != SEPARATOR) & (kinds[1:] != LOW_SURROGATE) & (kinds[:-1] != kinds[1:])
    inked = np.flatnonzero(kinds)
    rows = codes[inked].astype(np.int32)
    rows += first[inked] * np.int32(CODES)
    return rows
