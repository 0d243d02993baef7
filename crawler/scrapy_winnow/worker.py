"""The program of a cleaning process: ``python -m scrapy_winnow.worker SOCKET MODEL``, which only a crawl starts.

It reads messages from the socket and answers one after the other. It ends when the other end of the socket is closed,
which the system does even if the crawl is killed.
"""

from __future__ import annotations

import gc
import logging
import signal
import socket
import sys
from contextlib import suppress
from functools import cache
from typing import Final

from scrapy_winnow.fields import clean_item
from scrapy_winnow.messages import (
    FAILED,
    FORGOTTEN,
    Message,
    MessageReader,
    pack_cleaned,
    pack_hashed,
    unpack_reading,
    unpack_task,
)
from scrapy_winnow.storage.evidence import HashedPage
from winnow.models import load_model
from winnow.page.page import Page, PageTooLarge

READ_BYTES: Final = 1 << 18
"""Bytes read from the socket at a time."""

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


def main(arguments: list[str]) -> None:
    """Clean pages until the crawl's process has gone."""
    number, model = arguments
    for request in (signal.SIGINT, signal.SIGTERM):
        signal.signal(request, signal.SIG_IGN)  # this process ends with the crawl, which may have pages to finish
    load_model(model or None)
    freeze_loaded()
    reader, kept = MessageReader(), KeptPages()
    with socket.socket(fileno=int(number)) as crawl, suppress(ConnectionError):
        crawl.sendall(Message({}).packed())  # ready
        while data := crawl.recv(READ_BYTES):
            for message in reader.feed(data):
                crawl.sendall(_answer(message, kept))


def _answer(message: Message, kept: KeptPages) -> bytes:
    try:
        return _read(message, kept) if "read" in message.head else _clean(message, kept)
    except Exception:
        # The crawl's process then works on the page itself, and logs the error.
        logger.debug("A page could not be read or cleaned", exc_info=True)
        return FAILED.packed()


def _read(message: Message, kept: KeptPages) -> bytes:
    number, html, url, limits, model = unpack_reading(message)
    try:
        page = Page.parse(html, url, limits=limits)
    except PageTooLarge as error:
        return pack_hashed(error)
    kept.put(number, page)
    return pack_hashed(HashedPage.of(page, load_model(model)))


def _clean(message: Message, kept: KeptPages) -> bytes:
    task = unpack_task(message)
    page = task.html if task.kept is None else kept.take(task.kept)
    if page is None:
        return FORGOTTEN.packed()
    model = load_model(task.model)
    return pack_cleaned(clean_item(page, task.url, task.counts, model=model, options=task.options, rules=task.rules))


if __name__ == "__main__":
    main(sys.argv[1:])
