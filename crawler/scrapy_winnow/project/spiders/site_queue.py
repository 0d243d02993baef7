"""The links of one site: which to ask for now, which only if others fail, and what has become of them."""

from __future__ import annotations

from typing import Final

from scrapy_winnow.project.spiders.journal import Journal, Link, LinkState
from scrapy_winnow.project.spiders.url_hashes import UrlHashes

_WAITING_PER_PAGE: Final = 10
"""Links beyond the budget that are kept, per page of it, for pages that turn out not to be HTML."""

UNDER_WAY: Final = 16
"""Links of a site that are asked for at a time; the others wait on disk, and not as requests in memory."""


class SiteQueue:
    """The links of one site, of which memory holds 8 bytes each, and those under way as they are.

    Args:
        budget: pages to store.
        site: name of the site, for the journal.
        journal: where links wait, and where to note what becomes of them.

    Attributes:
        stored: pages stored, or on their way to be.
    """

    def __init__(self, budget: int, site: str = "", journal: Journal | None = None) -> None:
        self.stored = 0
        self._budget = budget
        self._site = site
        self._journal = journal or Journal()
        self._known = UrlHashes()
        self._taken = UrlHashes()
        self._waiting = 0
        self._under_way = 0
        self._unended: dict[str, None] = {}  # asked for by an earlier run, and nothing is known to have come of it

    def restore(self, url: str, state: LinkState) -> None:
        """Take a link over from an earlier run."""
        self._known.add(url)
        if state == LinkState.WAITING:
            self._waiting += 1
        if state == LinkState.STORED:
            self.take(url)
        if state == LinkState.ASKED:
            self._unended[url] = None

    def begin(self, url: str) -> None:
        """Note an address that was asked for without having been offered."""
        if self._known.add(url):
            self._ask(Link(url))

    def offer(self, url: str, depth: int = 0) -> bool:
        """Return whether to ask for a link now; one that an earlier run has asked for in vain is asked for again.

        Args:
            url: its address.
            depth: links from the start address to it.
        """
        if url in self._unended:
            return True
        if len(self._known) >= self._budget * (1 + _WAITING_PER_PAGE) or not self._known.add(url):
            return False
        if not self._waiting and self._has_room():
            self._ask(Link(url, depth))
            return True
        self._waiting += 1
        self._journal.note(self._site, url, LinkState.WAITING, depth)
        return False

    def take(self, url: str, page: str | None = None) -> bool:
        """Return whether the page of a link is to be stored: not if it is, and a page has come twice.

        Args:
            url: the link.
            page: the address that it has led to, where that may be another one.
        """
        if not self._taken.add(page or url) or (page not in {None, url} and not self._taken.add(url)):
            return False
        self.stored += 1
        return True

    def end(self, url: str, *, stored: bool) -> None:
        """Note that a link has led to a page that is stored, or to none."""
        self._unended.pop(url, None)
        self._under_way = max(self._under_way - 1, 0)
        self._journal.note(self._site, url, LinkState.STORED if stored else LinkState.ENDED)

    def is_left_behind(self, url: str) -> bool:
        """Whether an earlier run has asked for a link, and nothing is known to have come of it."""
        return url in self._unended

    def left_behind(self) -> list[str]:
        """Return, once, the links that were under way when an earlier run was killed; called when none are."""
        links = list(self._unended)
        self._unended = {}
        return links

    def next(self) -> list[Link]:
        """Return links that have waited and for which there is room now."""
        if not self._waiting or not self._has_room():
            return []
        room = min(UNDER_WAY - self._under_way, self._budget - self.stored - self._under_way)
        links = self._journal.waiting(self._site, room)
        self._waiting = self._waiting - len(links) if links else 0
        for link in links:
            self._ask(link)
        return links

    def more(self) -> list[Link]:
        """Return links in place of those that did not end in a stored page; called when all answers are in."""
        self._under_way = 0
        return self.next()

    def _has_room(self) -> bool:
        return self._under_way < UNDER_WAY and self.stored + self._under_way < self._budget

    def _ask(self, link: Link) -> None:
        self._under_way += 1
        self._journal.note(self._site, link.url, LinkState.ASKED, link.depth)
