"""A document as the index of near-duplicates knows it: its id, its keys, its record, and the verdict on it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from w3lib.url import canonicalize_url

from winnow.duplicates.shingles import COMMON, KEEP, resemblance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

KEY_SHIFT: Final = np.uint64(16)
"""The index goes by the upper 48 bits of a shingle: two documents agree by chance in one of 10^12 comparisons."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the index says of a document.

    Attributes:
        duplicate_of: address of the original that the document nearly duplicates; ``None`` where there is none.
        resemblance: estimate of the share of windows that both have, 0 to 1; ``None`` without an original.
        cluster: 16 hexadecimal digits, the same for an original and all its near-duplicates: the id of the original;
            ``None`` for a document without words.
        hot: shingles of the document that too many originals have for them to be looked up.
    """

    duplicate_of: str | None = None
    resemblance: float | None = None
    cluster: str | None = None
    hot: int = 0


@dataclass(slots=True, eq=False)
class Record:
    """A document that is remembered: an original has a sketch, a near-duplicate the id of its original."""

    queued: int
    met: bool
    url: str = ""
    number: int = 0
    sketch: Hashes | None = None
    complete: bool = False
    digest: bytes = b""
    original: bytes = b""

    @property
    def compared(self) -> Hashes:
        """The shingles that verdicts go by."""
        assert self.sketch is not None  # noqa: S101 - asked of originals only
        return self.sketch[:KEEP]


def document_id(url: str) -> bytes:
    """Return the 8 bytes that stand for a document: a hash of its canonical address; a broken one is taken as it is."""
    try:
        address = canonicalize_url(url)
    except (UnicodeError, ValueError):
        address = url
    return hashlib.blake2b(address.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def packed_keys(shingles: Hashes) -> bytes:
    """Return the upper 48 bits of each shingle, 6 bytes each, big-endian."""
    return shingles.astype(">u8").view(np.uint8).reshape(-1, 8)[:, :6].tobytes()


def digest_of(compared: Hashes) -> bytes:
    """Return 6 bytes that stand for all the 48-bit keys that a document is compared by."""
    packed = packed_keys(compared << KEY_SHIFT)
    return hashlib.sha1(packed, usedforsecurity=False).digest()[:6]


def estimated_resemblance(one: Record, other: Record) -> float:
    """The estimate of :func:`winnow.duplicates.resemblance`, to four digits; exact when both sketches are complete."""
    a, b = (record.sketch for record in (one, other))
    assert a is not None  # noqa: S101 - originals have one, and so has what is decided
    assert b is not None  # noqa: S101
    sizes = [len(sketch) for sketch, complete in ((a, one.complete), (b, other.complete)) if not complete]
    return float(f"{resemblance(a, b, min(sizes, default=len(a) + len(b) + 1)):.4f}")


def looked_up(compared: Hashes) -> list[int]:
    """The shingles under which a document is entered; too few of them are found by their digest alone."""
    return compared.tolist() if len(compared) >= COMMON else []
