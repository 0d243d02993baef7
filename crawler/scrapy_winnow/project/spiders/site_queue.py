"""The links of one site: which to ask for now, which only if others fail, and what has become of them."""

from __future__ import annotations

from collections import deque
from typing import Final

from scrapy_winnow.project.spiders.journal import Journal, LinkState

_WAITING_PER_PAGE: Final = 10
"""Links beyond the budget that are kept, per page of it, for pages that turn out not to be HTML."""


class SiteQueue:
    """The links of one site.

    Args:
        budget: pages to store.
        site: name of the site, for the journal.
        journal: where to note what becomes of the links.

    Attributes:
        stored: pages stored, or on their way to be.
    """

    def __init__(self, budget: int, site: str = "", journal: Journal | None = None) -> None:
        self.stored = 0
        self._budget = budget
        self._site = site
        self._journal = journal or Journal()
        self._known: set[str] = set()
        self._asked = 0
        self._waiting: deque[str] = deque()
        self._taken: set[str] = set()
        self._unended: dict[str, None] = {}  # asked for by an earlier run, and nothing is known to have come of it

    def restore(self, url: str, state: LinkState) -> None:
        """Take a link over from an earlier run."""
        self._known.add(url)
        if state == LinkState.WAITING:
            self._waiting.append(url)
            return
        self._asked += 1
        if state == LinkState.STORED:
            self.take(url)
        if state == LinkState.ASKED:
            self._unended[url] = None

    def offer(self, url: str) -> bool:
        """Return whether to ask for a link now; one that an earlier run has asked for in vain is asked for again."""
        if url in self._unended:
            return True
        if url in self._known or len(self._known) >= self._budget * (1 + _WAITING_PER_PAGE):
            return False
        self._known.add(url)
        if self._asked < self._budget:
            self._ask(url)
            return True
        self._waiting.append(url)
        self._journal.note(self._site, url, LinkState.WAITING)
        return False

    def take(self, url: str) -> bool:
        """Return whether the page of a link is to be stored: not if it is, and a page has come twice."""
        if url in self._taken:
            return False
        self._taken.add(url)
        self.stored += 1
        return True

    def end(self, url: str, *, stored: bool) -> None:
        """Note that a link has led to a page that is stored, or to none."""
        self._unended.pop(url, None)
        self._journal.note(self._site, url, LinkState.STORED if stored else LinkState.ENDED)

    def left_behind(self) -> list[str]:
        """Return, once, the links that were under way when an earlier run was killed; called when none are."""
        links = list(self._unended)
        self._unended = {}
        return links

    def more(self) -> list[str]:
        """Return links in place of those that did not end in a stored page; called when all answers are in."""
        missing = max(min(self._budget - self.stored, len(self._waiting)), 0)
        links = [self._waiting.popleft() for _ in range(missing)]
        for url in links:
            self._ask(url)
        return links

    def _ask(self, url: str) -> None:
        self._asked += 1
        self._journal.note(self._site, url, LinkState.ASKED)
