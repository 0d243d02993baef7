"""Addresses that were met, as 8 bytes each."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from typing import Final

_PACKED: Final = 4096
"""Most hashes that are kept sorted in an array; more are in a set, which takes ten times as much and is fast."""


class UrlHashes:
    """A set of addresses, of which only their hashes are kept: two of 10,000 agree by chance in one of 10^11 crawls."""

    def __init__(self) -> None:
        self._packed = array("Q")
        self._many: set[int] = set()

    def add(self, url: str) -> bool:
        """Add an address; return whether it was not there."""
        value = _hash(url)
        if self._many:
            before = len(self._many)
            self._many.add(value)
            return len(self._many) > before
        place = bisect_left(self._packed, value)
        if place < len(self._packed) and self._packed[place] == value:
            return False
        self._packed.insert(place, value)
        if len(self._packed) > _PACKED:
            self._many, self._packed = set(self._packed), array("Q")
        return True

    def __contains__(self, url: str) -> bool:
        value = _hash(url)
        place = bisect_left(self._packed, value)
        return value in self._many or (place < len(self._packed) and self._packed[place] == value)

    def __len__(self) -> int:
        return len(self._packed) or len(self._many)


def _hash(url: str) -> int:
    digest = hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
