"""Near-duplicates: shingles of clean text, and indexes that find the earlier document with nearly the same text.

There are two measures. The paper's (Chakrabarti, Kumar and Punera, WWW 2007, section 6.2) is for experiments: text in
lower case, alphanumerics only, sliding windows of 6 words, the 8 smallest hashes of a page; 4 in common make
near-duplicates. That is too coarse for a crawl: texts that share a third of their windows often have 4 of 8 hashes in
common. So an index asks for a resemblance, the fraction of the windows of both texts that both have (Broder 1997). It
estimates the resemblance by odd sketches (Mitzenmacher, Pagh and Pham, WWW 2014), which at .8 are four times as exact
as the same number of bytes of smallest hashes. ``scrapy_tamis.storage.index`` keeps the same index in Redis.
"""

from __future__ import annotations

import hashlib
from functools import cached_property, lru_cache
from itertools import chain
from math import log
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

import tamis.page.text  # noqa: F401  (which sets the tables of characters)
from tamis.core import core
from tamis.hashing import BASE, INVERSE, mix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tamis.arrays import Hashes


KEEP: Final = 8
"""Hashes of a page that the paper compares."""

MIN_RESEMBLANCE: Final = 0.8
"""Least resemblance of near-duplicates, by default."""

MIN_WINDOWS: Final = 25
"""Different windows, in 30 words, below which texts have to be the same: there one changed word is a fifth of them."""

SKETCH_BYTES: Final = 32
_MAX_SAMPLE: Final = 512  # windows that a sketch is made of

MAX_PER_KEY: Final = 8
"""Originals that share a key of an index, such as reports of one series; the latest ones stay."""

_KEY_BYTES: Final = 6
_PAIRS: Final = np.array(((0, 1), (2, 3), (0, 2), (1, 2), (0, 3), (1, 3), (0, 4), (1, 4), (2, 4), (3, 4)))
"""The pairs of a text's five smallest hashes, each a key of the text."""


def shingles(text: str, size: int = 6, keep: int = KEEP) -> Hashes:
    """Return the smallest hashes of all windows of consecutive words.

    Words are runs of letters, digits and their marks, case folded. In scripts without spaces between words (Han, Kana,
    Thai, Lao, Khmer, Burmese, Tibetan...) each character is a word. A text of fewer than ``size`` words has one shingle
    of all its words, a text without words none.

    Args:
        text: clean text of a page.
        size: words per window.
        keep: maximum number of hashes.

    Returns:
        uint64[up to keep], distinct and ascending; the same in every process and on every machine.

    Raises:
        ValueError: ``size`` or ``keep`` is below 1.

    >>> text = "Winds of up to 130 km/h are expected tonight, and the ferries stay in the harbour"
    >>> copy = shingles("WINDS of up to 130 km/h are expected tonight and the ferries stay in the harbour!")
    >>> near_duplicates(shingles(text), copy)
    True
    """
    if size < 1 or keep < 1:
        raise ValueError(f"size and keep must be at least 1, got {size} and {keep}")
    smallest = np.empty(min(keep, len(text) + 1), np.uint64)
    number = core.shingles(text.encode("utf-8", "surrogatepass"), BASE, INVERSE, min(size, len(text) + 1), smallest)
    return smallest[:number]


def near_duplicates(a: Hashes, b: Hashes) -> bool:
    """Tell whether two pages are near-duplicates by the paper's rule: at least 4 hashes in common.

    A page of fewer hashes (9 different words give 4) is only a near-duplicate of a page with exactly the same hashes; a
    page without words has no near-duplicates.
    """
    common = len(np.intersect1d(a, b, assume_unique=True))
    return common >= 4 or (common > 0 and np.array_equal(a, b))


class Sketch(NamedTuple):
    """What an index keeps of a text to estimate how much another one resembles it.

    Attributes:
        level: 1 in ``2**level`` of its windows were sampled: those whose hashes begin with ``level`` zero bits.
        size: number of these windows, at most 512.
        parities: of each of 256 classes of hashes whether it has an odd number of them, 32 bytes.
    """

    level: int
    size: int
    parities: bytes


class Windows:
    """The windows of a text: what an index looks it up by, keeps of it, and compares with other sketches.

    Attributes:
        keys: 6 bytes each. An original is kept by the first two, its home and an alias, and looked up by all: they
            stand for pairs of its five smallest hashes, the first two for two pairs with no hash in common. Texts with
            a resemblance of .9 miss each other in 1 of 100 cases. A short text has a single key; one without words
            none.
    """

    def __init__(self, text: str) -> None:
        self._hashes = shingles(text, keep=2 * _MAX_SAMPLE)
        if not len(self._hashes):
            self.keys = []
        elif self.is_short:
            self.keys = [hashlib.blake2b(self._hashes.tobytes(), digest_size=_KEY_BYTES).digest()]
        else:
            first, second = self._hashes[_PAIRS.T]
            codes = mix(first * np.uint64(BASE) + second).astype(">u8").tobytes()
            self.keys = [codes[at : at + _KEY_BYTES] for at in range(0, len(codes), 8)]

    @property
    def is_short(self) -> bool:
        """Whether the text has fewer than 25 different windows, and so only resembles the same text."""
        return len(self._hashes) < MIN_WINDOWS

    @cached_property
    def sketch(self) -> Sketch:
        """What an index keeps of the text."""
        level = 0
        while self._sample_size(level) > _MAX_SAMPLE:
            level += 1
        return self._sketch_at(level)

    def resemblance(self, other: Sketch) -> float:
        """Estimate the fraction of the windows of two texts that both have, 0 to 1.

        The standard error at .8 is .015 for texts of up to 500 words and .03 for longer ones, at .5 three times as
        much; the same windows give 1. Short texts resemble each other by 1 or 0.
        """
        own = self._sketch_at(other.level)
        if own.size >= 2 * _MAX_SAMPLE:  # and maybe more, which were not kept
            return 0.0
        if self.is_short or (other.level == 0 and other.size < MIN_WINDOWS):
            return float(own == other)
        odd = (int.from_bytes(own.parities) ^ int.from_bytes(other.parities)).bit_count()
        bits = 8 * SKETCH_BYTES
        if 2 * odd >= bits:
            return 0.0
        different = max(-bits / 2 * log(1 - 2 * odd / bits), abs(own.size - other.size))
        total = own.size + other.size
        return max(total - different, 0.0) / (total + different)

    def _sample_size(self, level: int) -> int:
        return int(np.searchsorted(self._hashes, np.uint64(2 ** (64 - level) - 1), side="right"))

    def _sketch_at(self, level: int) -> Sketch:
        size, bits = self._sample_size(level), 8 * SKETCH_BYTES
        counts = np.bincount((self._hashes[:size] % bits).astype(np.int64), minlength=bits)
        return Sketch(level, size, np.packbits(counts & 1).tobytes())


class Verdict(NamedTuple):
    """Result of looking up a document in an index.

    Attributes:
        duplicate_of: address of the original that the document nearly duplicates; ``None`` without one.
        resemblance: estimated fraction of windows in common, 0 to 1; ``None`` without an original.
    """

    duplicate_of: str | None = None
    resemblance: float | None = None


class Original(NamedTuple):
    """The first document with a text: its address, and the sketch of its text."""

    url: str
    sketch: Sketch


def find_original(url: str, windows: Windows, known: Iterable[Original], min_resemblance: float) -> Verdict:
    """Return the verdict on a document, by the originals that share keys with it: the most similar one counts.

    A document whose own address is among those it duplicates is an original itself.
    """
    # by a tenth of the distance to 1, .02 at .8, since estimates of pairs that resemble by .8 scatter by .016
    required = min_resemblance + 0.1 * (1 - min_resemblance)
    most, best = 0.0, ""
    for original in known:
        resemblance = windows.resemblance(original.sketch)
        if resemblance < required:
            continue
        if is_same_page(original.url, url):
            return Verdict()
        most, best = max((most, best), (resemblance, original.url))
    return Verdict(best, round(most, 4)) if most else Verdict()


def is_same_page(a: str, b: str) -> bool:
    """Whether two addresses are one, but for the order of query arguments and a fragment."""
    return a == b or _canonical(a) == _canonical(b)


@lru_cache(maxsize=1_024)
def _canonical(url: str) -> str:
    from w3lib.url import canonicalize_url  # noqa: PLC0415  (it loads HTTP and e-mail, and cleaning processes need it not)

    try:
        return canonicalize_url(url)
    except (UnicodeError, ValueError):
        return url


class MemoryIndex:
    """Index of original documents in memory.

    The first document with a text is the *original*; its near-duplicates are not entered. A document that comes again
    with the same text is never its own duplicate; with another text it is decided again. One without words has no
    near-duplicates and is not remembered.

    Args:
        max_documents: maximum number of originals, about; those not met for longest are forgotten first.
        min_resemblance: least resemblance of near-duplicates, .5 to 1.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(self, *, max_documents: int = 1_000_000, min_resemblance: float = MIN_RESEMBLANCE) -> None:
        if max_documents < 1 or not 0.5 <= min_resemblance <= 1:
            got = f"got {max_documents} and {min_resemblance}"
            raise ValueError(f"max_documents must be at least 1 and min_resemblance from 0.5 to 1, {got}")
        self._max_documents = max_documents
        self._min_resemblance = min_resemblance
        self._originals: dict[bytes, list[Original]] = {}  # by their homes
        self._aliases: dict[bytes, list[bytes]] = {}  # homes of the originals that have each

    def find(self, url: str, text: str | Windows) -> Verdict:
        """Return the verdict on a document, and remember it.

        Args:
            url: its address; addresses that :func:`w3lib.url.canonicalize_url` makes equal are one document.
            text: its clean text, or the windows of it.
        """
        windows = Windows(text) if isinstance(text, str) else text
        keys = windows.keys
        if not keys:
            return Verdict()
        homes = dict.fromkeys(chain(keys, *(self._aliases.get(key, ()) for key in keys)))
        known = [original for home in homes for original in self._originals.get(home, ())]
        verdict = find_original(url, windows, known, self._min_resemblance)
        if verdict.duplicate_of is None:
            self._add(url, windows)
            return verdict
        for home in homes:  # the original was met
            if any(each.url == verdict.duplicate_of for each in self._originals.get(home, ())):
                self._originals[home] = self._originals.pop(home)
        return verdict

    def _add(self, url: str, windows: Windows) -> None:
        home = windows.keys[0]
        others = [each for each in self._originals.pop(home, ()) if not is_same_page(each.url, url)]
        self._originals[home] = [*others, Original(url, windows.sketch)][-MAX_PER_KEY:]
        for alias in windows.keys[1:2]:
            homes = [each for each in self._aliases.pop(alias, ()) if each != home]
            self._aliases[alias] = [*homes, home][-MAX_PER_KEY:]
        for table in (self._originals, self._aliases):
            if len(table) > self._max_documents:
                del table[next(iter(table))]
