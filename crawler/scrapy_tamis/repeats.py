"""Repeated pages: one text at many addresses of a host, such as soft 404s, login walls and session loops."""

from __future__ import annotations

from typing import Final

from scrapy_tamis.storage.keys import site_of
from tamis.hashing import hash_text

MAX_TEXTS: Final = 50_000
"""Texts that a crawl remembers, 250 bytes each; those not met for longest are forgotten first."""

MIN_ADDRESSES: Final = 3
"""Addresses of a host from which on a text is repeated: two are a print view, or with and without a slash."""


class RepeatedTexts:
    """Counts the addresses at which each host gives one text, in the memory of one crawl.

    A crawl's own memory is enough: a host is crawled by one process, and a text that is repeated is met often.
    """

    def __init__(self) -> None:
        self._addresses: dict[int, tuple[int, ...]] = {}  # hashes, by those of the host and the text

    def is_repeated(self, url: str, text: str) -> bool:
        """Add a page, and return whether two other addresses of its host have had its text."""
        host = site_of(url)
        if host is None or not text:
            return False
        key, address = hash_text(f"{host} {text}"), hash_text(url)
        others = tuple(each for each in self._addresses.pop(key, ()) if each != address)
        self._addresses[key] = (*others, address)[-MIN_ADDRESSES:]
        if len(self._addresses) > MAX_TEXTS:
            del self._addresses[next(iter(self._addresses))]
        return len(others) >= MIN_ADDRESSES - 1
