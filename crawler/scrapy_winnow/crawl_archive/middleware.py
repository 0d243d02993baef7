"""The middleware that keeps what a crawl fetches: ``WINNOW_WARC``, with ``pip install 'scrapy-winnow[archives]'``."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import WeakKeyDictionary

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import run_in_thread

from scrapy_winnow import stats
from scrapy_winnow.config import Config
from scrapy_winnow.crawl_archive.files import RotatingFiles
from scrapy_winnow.crawl_archive.records import Fetched, conversion, exchange, now, record_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

_MOST_WAITING: Final = 64_000_000
"""Bytes that wait to be written; beyond that requests wait for the disk, and the event loop does not."""

_LOOK: Final = 0.05  # seconds until a request that waits looks again


class CrawlArchive:
    """Writes requests, responses and the clean text of items into WARC files, in a thread of its own.

    A record is compressed by itself and written at once: after ``kill -9`` all but the last one are whole. It is a
    downloader middleware, so that requests can wait; what it keeps it is told by signals.
    """

    def __init__(self, crawler: Crawler) -> None:
        config = Config.from_settings(crawler.settings)
        if config.warc is None or not config.enabled or config.read_only:
            raise NotConfigured
        try:
            import warcio  # noqa: F401, PLC0415
        except ImportError:
            logger.warning("No WARC is written: that takes pip install 'scrapy-winnow[archives]'")
            raise NotConfigured from None
        self._crawler = crawler
        self._text_field = config.field_names.get("text")
        self._files = RotatingFiles(config.warc, config.warc_bytes)
        self._thread = ThreadPoolExecutor(1, "winnow-warc")
        self._submitted = self._written = 0  # bytes; each is changed by one thread alone
        self._names: WeakKeyDictionary[Response, str] = WeakKeyDictionary()
        self._fetched = Fetched()
        self._has_failed = False
        crawler.signals.connect(self.received, signals.response_received)
        crawler.signals.connect(self.scraped, signals.item_scraped)
        crawler.signals.connect(self.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware of a crawl."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:  # noqa: ARG002
        """Hold a request back while too much waits to be written."""
        while self._submitted - self._written > _MOST_WAITING:  # noqa: ASYNC110  (a thread sets no event of the loop)
            await asyncio.sleep(_LOOK)

    def received(self, response: Response, request: Request) -> None:
        """Keep a response with its request."""
        if response.url.startswith(("http://", "https://")):
            name, date = record_name(), now()
            self._names[response] = name
            earlier = self._fetched.earlier(response, date)
            self._later(len(response.body), lambda: exchange(name, date, request, response, earlier))

    def scraped(self, item: Any, response: Response | None) -> None:
        """Keep the clean text of an item, as a conversion of the response that it is from."""
        text = ItemAdapter(item).get(self._text_field) if self._text_field else None
        name = self._names.get(response) if response is not None else None
        if isinstance(text, str) and name is not None and response is not None:
            url, date = response.url, now()
            self._later(len(text), lambda: conversion(name, date, url, text))

    async def close(self) -> None:
        """Write what waits, and close the file."""
        await run_in_thread(self._thread.shutdown)
        self._files.close()

    def _later(self, size: int, make: Callable[[], bytes]) -> None:
        self._submitted += size
        self._thread.submit(self._write, make, size)

    def _write(self, make: Callable[[], bytes], size: int) -> None:
        try:
            self._files.write(make())
            self._count(stats.WARC_WRITTEN)
        except Exception:
            self._count(stats.WARC_FAILED)
            if not self._has_failed:
                self._has_failed = True
                logger.exception("Could not write to the WARC; %s counts how often this happens", stats.WARC_FAILED)
        finally:
            self._written += size

    def _count(self, stat: str) -> None:
        self._crawler.stats.inc_value(stat)
