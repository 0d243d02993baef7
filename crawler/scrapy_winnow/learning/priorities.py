"""Which hosts and pages are kept: those with the smallest keyed hashes, so that workers agree without a word.

The smallest k hashes of a stream are a uniform sample of it, in whatever order and however often its members come
("bottom-k"). The key is drawn once for each Redis: nobody can make up names that come first.
"""

from __future__ import annotations

import hashlib
from typing import Final

BITS: Final = 52
"""Bits of a priority; the scores of a sorted set are exact up to 53."""

DIGITS: Final = BITS // 4
SALT_BYTES: Final = 16


def host_priority(host: str, salt: bytes) -> int:
    """Priority of a host, 52 bits; the smallest are kept."""
    return _priority(b"host " + host.encode("utf-8", "surrogatepass"), salt)


def page_priority(host: str, contents_id: bytes, salt: bytes) -> str:
    """Priority of a page of a host, 13 hexadecimal digits, which sort as numbers do; the smallest are kept.

    A page is its contents: at however many addresses it is found, it has one place.
    """
    name = b"page " + host.encode("utf-8", "surrogatepass") + b" " + contents_id
    return f"{_priority(name, salt):0{DIGITS}x}"


def _priority(name: bytes, salt: bytes) -> int:
    digest = hashlib.blake2b(name, digest_size=8, key=salt).digest()
    return int.from_bytes(digest, "big") >> (64 - BITS)
