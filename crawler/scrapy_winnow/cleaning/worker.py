"""What a cleaning process runs: ``python -m scrapy_winnow.cleaning.worker SOCKET MODEL``, for the crawl alone.

It reads what is to be done from the socket that it was given, one after the other, and ends with the crawl: when the
other end of the socket is closed, however that came about.
"""

from __future__ import annotations

import logging
import signal
import socket
import sys
from contextlib import suppress
from typing import Final

from scrapy_winnow.cleaning.item_values import clean_item
from scrapy_winnow.cleaning.kept_pages import KeptPages
from scrapy_winnow.cleaning.messages import Message, MessageReader
from scrapy_winnow.cleaning.reading import is_reading, pack_hashed, pack_too_large, unpack_reading
from scrapy_winnow.cleaning.tasks import pack_cleaned, pack_failure, pack_forgotten, read_task
from scrapy_winnow.services.garbage import freeze_loaded
from scrapy_winnow.storage.evidence import HashedPage
from winnow.models import load_model
from winnow.page.page import Page, PageTooLarge

AT_A_TIME: Final = 1 << 18
"""Bytes read from the socket at a time."""

logger = logging.getLogger(__name__)


def main(arguments: list[str]) -> None:
    """Clean pages until the crawl's process has gone."""
    number, model = arguments
    for request in (signal.SIGINT, signal.SIGTERM):
        signal.signal(request, signal.SIG_IGN)  # the crawl ends in its own way, and this process with it
    load_model(model or None)
    freeze_loaded()
    reader, kept = MessageReader(), KeptPages()
    with socket.socket(fileno=int(number)) as crawl, suppress(ConnectionError):
        crawl.sendall(Message({}).packed())  # ready
        while data := crawl.recv(AT_A_TIME):
            for message in reader.feed(data):
                crawl.sendall(_answer(message, kept))


def _answer(message: Message, kept: KeptPages) -> bytes:
    try:
        return _read(message, kept) if is_reading(message) else _clean(message, kept)
    except Exception:
        # The crawl's process works on the page itself, and says what is wrong with it.
        logger.debug("A page could not be read or cleaned", exc_info=True)
        return pack_failure()


def _read(message: Message, kept: KeptPages) -> bytes:
    reading = unpack_reading(message)
    try:
        page = Page.parse(reading.html, reading.url, limits=reading.limits)
    except PageTooLarge as error:
        return pack_too_large(error)
    kept.put(reading.number, page)
    return pack_hashed(HashedPage.of(page))


def _clean(message: Message, kept: KeptPages) -> bytes:
    task = read_task(message)
    page = task.html if task.kept is None else kept.take(task.kept)
    if page is None:
        return pack_forgotten()
    model = load_model(task.model)
    return pack_cleaned(clean_item(page, task.url, task.counts, model=model, options=task.options))


if __name__ == "__main__":
    main(sys.argv[1:])
