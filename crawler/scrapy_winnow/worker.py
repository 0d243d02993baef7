"""The program of a cleaning process, which only a crawl starts.

Its standard input is a socket. It reads tasks from there and sends back the result of each. It ends when the other end
of the socket is closed, which the system does even if the crawl is killed.
"""

from __future__ import annotations

import gc
import logging
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from scrapy_winnow.fields import clean_item
from scrapy_winnow.messages import FORGOTTEN, LENGTH, CleaningTask, ReadingTask, pack, unpack
from scrapy_winnow.storage.evidence import HashedPage, HashedUnits
from winnow.models import load_model
from winnow.page.page import Page, PageTooLarge
from winnow.rules import Rule

if TYPE_CHECKING:
    from scrapy_winnow.fields import CleanedItem

MAX_KEPT_UNITS: Final = 1 << 14
"""Units of all pages that are kept: ten large ones, with which a process takes 60 MB more, or some dozens of others."""

logger = logging.getLogger(__name__)


@cache
def freeze_loaded() -> None:
    """Exclude all that is loaded from garbage collection; once in a process, before its first page.

    With Scrapy, numpy and a model a process has 150,000 objects that are never garbage. A full collection that visits
    them holds a crawl's event loop for 60 ms and more, several times in its first thousand pages. Garbage is collected
    before; an excluded object is still freed when nothing refers to it, unless it is part of a cycle then.
    """
    gc.collect()
    gc.freeze()


class KeptPages:
    """Pages that were read and may be cleaned soon; the oldest are dropped first, since not every page has an item."""

    def __init__(self) -> None:
        self._pages: dict[int, Page] = {}
        self._units = 0

    def put(self, number: int, page: Page) -> None:
        """Keep a page, unless it is too large."""
        if page.n + page.m > MAX_KEPT_UNITS:
            return
        self._pages[number] = page
        self._units += page.n + page.m
        while self._units > MAX_KEPT_UNITS:
            self.take(next(iter(self._pages)))

    def take(self, number: int) -> Page | None:
        """Remove a page and return it; ``None`` if it is not kept any more."""
        page = self._pages.pop(number, None)
        self._units -= page.n + page.m if page is not None else 0
        return page


def main() -> None:
    """Clean pages until the crawl's process has gone; the argument is the model."""
    _, model = sys.argv
    for request in (signal.SIGINT, signal.SIGTERM):
        signal.signal(request, signal.SIG_IGN)  # this process ends with the crawl, which may have pages to finish
    load_model(model or None)
    freeze_loaded()
    kept = KeptPages()
    with socket.socket(fileno=0) as crawl, crawl.makefile("rb") as tasks, suppress(ConnectionError):
        crawl.sendall(pack("ready"))
        while length := tasks.read(LENGTH.size):
            task = unpack(tasks.read(*LENGTH.unpack(length)))
            crawl.sendall(pack(_work(task, kept)))


def _work(task: ReadingTask | CleaningTask, kept: KeptPages) -> object:
    try:
        return _read(task, kept) if isinstance(task, ReadingTask) else _clean(task, kept)
    except Exception:
        # The crawl's process then works on the page itself, and logs the error.
        logger.debug("A page could not be read or cleaned", exc_info=True)
        return None


def _read(task: ReadingTask, kept: KeptPages) -> dict[str, Any] | tuple[str, int, int]:
    """Return the values of :class:`HashedUnits`, or the arguments of :class:`PageTooLarge`."""
    try:
        page = Page.parse(task.html, task.url, limits=task.limits)
    except PageTooLarge as error:
        return error.reason, error.size, error.limit
    kept.put(task.number, page)
    hashed = HashedPage.of(page, load_model(task.model))
    return {field.name: getattr(hashed, field.name) for field in fields(HashedUnits)}


def _clean(task: CleaningTask, kept: KeptPages) -> CleanedItem | str:
    page = task.html if task.kept is None else kept.take(task.kept)
    if page is None:
        return FORGOTTEN
    model, rules = load_model(task.model), tuple(Rule(*rule) for rule in task.rules)
    return clean_item(page, task.url, task.counts, model=model, options=task.options, rules=rules)
