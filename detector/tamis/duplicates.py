"""Near-duplicates: shingles of clean text, and an index that finds the earlier document with the same text.

Section 6.2 of Chakrabarti, Kumar and Punera (WWW 2007): text in lower case, alphanumerics only, sliding windows of 6
words, the 8 smallest hashes of a page; pages with at least 4 equal hashes are near-duplicates.
``scrapy_tamis.storage.index`` keeps the index in Redis and decides with the code of this module.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tamis.core import core
from tamis.hashing import BASE, INVERSE
from tamis.page.text import character_tokens, word_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tamis.arrays import Hashes


WINDOW_WORDS: Final = 6
KEEP: Final = 8
"""Hashes kept of a page, by default."""

_MIN_COMMON: Final = 4  # hashes of two near-duplicates

MAX_DOCUMENTS: Final = 1_000_000
"""Documents that an index in memory holds, by default."""

SAME_TEXT_RESEMBLANCE: Final = 0.9
SAME_TEXT_SKETCH: Final = 64
_SAME_TEXT_MIN_SHINGLES: Final = 25
"""A document may be dropped if another one has nine tenths of its windows, which 64 hashes estimate within 0.04, and it
has 30 words: pages with a few words, such as those of photographs, may differ in everything but their text."""

_KEY_BYTES: Final = 6
"""The index uses the upper 48 bits of a shingle: one of 10^12 comparisons agrees by chance."""


def shingles(text: str, size: int = WINDOW_WORDS, keep: int = KEEP) -> Hashes:
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
    tables = word_kinds(), character_tokens(), BASE, INVERSE
    number = core.shingles(text.encode("utf-8", "surrogatepass"), *tables, min(size, len(text) + 1), smallest)
    return smallest[:number]


def near_duplicates(a: Hashes, b: Hashes) -> bool:
    """Tell whether two pages are near-duplicates: at least 4 hashes in common.

    A page of fewer hashes (9 different words give 4) is only a near-duplicate of a page with exactly the same hashes; a
    page without words has no near-duplicates.
    """
    return _count_common(a.tolist(), b.tolist()) > 0


def _count_common(a: Sequence[object], b: Sequence[object]) -> int:
    """Number of hashes in common; 0 if too few for near-duplicates."""
    common = len(set(a).intersection(b))
    return common if common >= _MIN_COMMON or a == b else 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of looking up a document in an index.

    Attributes:
        duplicate_of: address of the original that the document nearly duplicates; ``None`` without one.
        resemblance: estimated fraction of windows in common, 0 to 1; ``None`` without an original.
        cluster: 16 hexadecimal digits, the same for an original and all its near-duplicates: the id of the original;
            ``None`` for a document without words.
    """

    duplicate_of: str | None = None
    resemblance: float | None = None
    cluster: str | None = None

    def is_same_text(self, hashes: Hashes, keep: int, min_resemblance: float | None = None) -> bool:
        """Whether the document may be dropped because the original has nearly all its text.

        Args:
            hashes: uint64, its shingles, of which up to ``keep`` were kept.
            keep: with fewer than 25 of them, all must be there.
            min_resemblance: :data:`SAME_TEXT_RESEMBLANCE` by default.
        """
        required = min_resemblance or SAME_TEXT_RESEMBLANCE
        return (self.resemblance or 0.0) >= required and len(hashes) >= min(_SAME_TEXT_MIN_SHINGLES, keep)


@dataclass(frozen=True, slots=True)
class Document:
    """A document in the index.

    Attributes:
        url: its address.
        sketch: its shingles, 6 bytes each, ascending and joined.
        is_complete: whether the sketch has all windows of the text.
    """

    url: str
    sketch: bytes
    is_complete: bool

    @property
    def compared(self) -> list[bytes]:
        """The 8 smallest shingles, which are compared."""
        return _split(self.sketch[: KEEP * _KEY_BYTES])

    @property
    def keys(self) -> list[bytes]:
        """Index keys: a digest of the compared shingles, and each of these shingles if there are at least four."""
        compared = self.compared
        digest = hashlib.blake2b(b"".join(compared), digest_size=8).digest()
        return [digest, *compared] if len(compared) >= _MIN_COMMON else [digest] if compared else []


def _split(sketch: bytes) -> list[bytes]:
    return [sketch[at : at + _KEY_BYTES] for at in range(0, len(sketch), _KEY_BYTES)]


def make_document(url: str, hashes: Hashes, keep: int = KEEP) -> Document:
    """Return the document with an address and shingles, of which up to ``keep`` were kept."""
    sketch = hashes.astype(">u8").view(np.uint8).reshape(-1, 8)[:, :_KEY_BYTES].tobytes()
    return Document(url, sketch, len(hashes) < keep)


def document_id(url: str) -> bytes:
    """Return the 8-byte id of a document: a hash of its canonical address; an invalid one is hashed as it is."""
    from w3lib.url import canonicalize_url  # noqa: PLC0415  (it loads HTTP and e-mail, and cleaning processes need it not)

    try:
        address = canonicalize_url(url)
    except (UnicodeError, ValueError):
        address = url
    return hashlib.blake2b(address.encode("utf-8", "surrogatepass"), digest_size=8).digest()


class MemoryIndex:
    """Index of original documents by their shingles.

    The first document with a text is the *original*; its near-duplicates are not entered. If a document has several
    originals, the one with the most in common counts. An original is found by each of its 8 smallest shingles and by a
    digest of all of them. A key belongs to the first original that has it, until that is forgotten or changes its text.

    A document that comes again is never its own duplicate; with another text it replaces its earlier version. A
    document of fewer than 4 shingles only duplicates one with exactly the same shingles. A document without words has
    no near-duplicates and is not remembered.

    Args:
        max_documents: maximum number of originals; those not met for longest are forgotten first.
        keep: number of shingles kept of each document, at least 8; more estimate the resemblance better.
        min_resemblance: minimum resemblance of near-duplicates, above 0 and at most 1, for documents that share one of
            their 8 smallest shingles; ``None`` for the paper's rule of 4 in common.

    Attributes:
        documents: the originals by their ids.
        holders: id of the original that holds each key.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, *, max_documents: int = MAX_DOCUMENTS, keep: int = KEEP, min_resemblance: float | None = None
    ) -> None:
        if max_documents < 1 or keep < KEEP:
            raise ValueError(f"max_documents must be at least 1 and keep at least {KEEP}, got {max_documents}, {keep}")
        if min_resemblance is not None and not 0 < min_resemblance <= 1:
            raise ValueError(f"min_resemblance must be above 0 and at most 1, got {min_resemblance}")
        self._max_documents = max_documents
        self._keep = keep
        self._min_resemblance = min_resemblance
        self.documents: dict[bytes, Document] = {}
        self.holders: dict[bytes, bytes] = {}

    def find(self, url: str, hashes: Hashes, *, enter: bool = True) -> Verdict:
        """Return the verdict on a document, and remember it.

        Args:
            url: its address; addresses that :func:`w3lib.url.canonicalize_url` makes equal are one document.
            hashes: uint64[up to ``keep``], distinct and ascending, see :func:`shingles`.
            enter: ``False`` remembers nothing.
        """
        return self.decide(document_id(url), make_document(url, hashes, self._keep), enter=enter)

    def decide(self, name: bytes, document: Document, *, enter: bool = True) -> Verdict:
        """Return the verdict on the document with an id; see :meth:`find`."""
        original = self._find_original(name, document)
        if enter and (original is not None or not document.sketch):
            self._remove(name)
        elif enter:
            self._enter(name, document)
        if original is None:
            return Verdict(cluster=name.hex() if document.sketch else None)
        found = self.documents[original]
        if enter:
            self.documents[original] = self.documents.pop(original)
        return Verdict(found.url, round(_estimate_resemblance(document, found), 4), original.hex())

    def _find_original(self, name: bytes, document: Document) -> bytes | None:
        keys = document.keys
        holders = [self.holders.get(key) for key in keys]
        best, most = None, 0.0
        for other in dict.fromkeys(holders):
            if other is None or other == name or (record := self.documents.get(other)) is None:
                continue
            closeness = self._closeness(document, record)
            if closeness <= most:
                continue
            # If two near-duplicates were entered at the same moment, both processes must choose the same one: the
            # holder of the first key that either of them holds.
            theirs = record.keys
            shared = (holder for key, holder in zip(keys, holders, strict=True) if key in theirs)
            if next((holder for holder in shared if holder in {name, other}), None) == other:
                best, most = other, closeness
        return best

    def _closeness(self, document: Document, other: Document) -> float:
        """How much a document has in common with an original; 0 unless it is a near-duplicate."""
        common = _count_common(document.compared, other.compared)
        if self._min_resemblance is None or document.compared == other.compared:
            return common
        if min(len(document.compared), len(other.compared)) < _MIN_COMMON:
            return 0
        resemblance = _estimate_resemblance(document, other)
        return resemblance if resemblance >= self._min_resemblance else 0

    def _enter(self, name: bytes, document: Document) -> None:
        known = self.documents.pop(name, None)
        if known is not None and known.sketch != document.sketch:
            self._release(name, set(known.keys).difference(document.keys))
        self.documents[name] = document
        for key in document.keys:
            holder = self.documents.get(self.holders.get(key, b""))
            if holder is None or key not in holder.keys:
                self.holders[key] = name
        while len(self.documents) > self._max_documents:
            self._remove(next(iter(self.documents)))

    def _remove(self, name: bytes) -> None:
        document = self.documents.pop(name, None)
        if document is not None:
            self._release(name, document.keys)

    def _release(self, name: bytes, keys: Iterable[bytes]) -> None:
        for key in keys:
            if self.holders.get(key) == name:
                del self.holders[key]


def _estimate_resemblance(one: Document, other: Document) -> float:
    """Estimate the Jaccard similarity of the window sets of two documents; exact if both sketches are complete.

    It is the fraction of common shingles among the smallest of both together (Broder 1997).
    """
    a, b = _split(one.sketch), _split(other.sketch)
    keep = min((len(own) for own, each in ((a, one), (b, other)) if not each.is_complete), default=None)
    smallest = sorted({*a, *b})[:keep]
    return len(set(smallest).intersection(a).intersection(b)) / len(smallest) if smallest else 0.0
