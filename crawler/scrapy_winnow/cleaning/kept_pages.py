"""Pages that a cleaning process has read and that are to be cleaned a moment later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from winnow.page.page import Page

MOST_UNITS: Final = 1 << 14
"""Units of all pages that are kept: ten large ones, with which a process takes 60 MB more, or some dozens of others."""


class KeptPages:
    """The pages that were read last, by number. Not every page has an item, so those that were read first go first."""

    def __init__(self) -> None:
        self._pages: dict[int, Page] = {}
        self._units = 0

    def put(self, number: int, page: Page) -> None:
        """Keep a page; one that is too large for it is not kept."""
        if _size(page) > MOST_UNITS:
            return
        self._pages[number] = page
        self._units += _size(page)
        while self._units > MOST_UNITS:
            self.take(next(iter(self._pages)))

    def take(self, number: int) -> Page | None:
        """Return a page, once; ``None`` for one that is not there any more."""
        page = self._pages.pop(number, None)
        self._units -= _size(page) if page is not None else 0
        return page


def _size(page: Page) -> int:
    return page.n + page.m
