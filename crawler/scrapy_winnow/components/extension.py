"""The extension that owns what middleware and pipeline share: settings, model, and the way to Redis."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import DontCloseSpider, NotConfigured
from scrapy.utils.asyncio import run_in_thread

from scrapy_winnow import stats
from scrapy_winnow.cleaning.cleaner import Cleaner
from scrapy_winnow.components.originals import Originals
from scrapy_winnow.components.origins import Origins
from scrapy_winnow.components.starting import checked_config, has_said, is_enabled, refuse
from scrapy_winnow.corrections.corrections import Corrections
from scrapy_winnow.learning.crawling import CrawlLearning
from scrapy_winnow.services.garbage import freeze_loaded
from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import NodeCounts
from scrapy_winnow.storage.embedded import EmbeddedServer, EmbeddedServerError
from scrapy_winnow.storage.index import DuplicateIndex
from scrapy_winnow.storage.keys import describe_other_layouts, sample_keys
from winnow.fingerprints import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Winnow:
    """What one crawl needs for cleaning, opened and closed with its spider.

    Attributes:
        config: the settings.
        cleaner: reads and cleans pages, in the event loop or beside it.
        origins: which page each item came from.
        counts: the node counts; ``None`` without Redis or when site evidence is off.
        duplicates: the near-duplicate index; ``None`` without Redis or when it is off.
        originals: stands before the index where near-duplicates are dropped; ``None`` where they are not.
        learning: gives examples and takes models over; ``None`` without Redis or when both are off.
        corrections: cleans early pages again; ``None`` without Redis or when it is off.
        before_close: called, and awaited, with the address of Redis before the way to it is closed; ``None`` without.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.config = checked_config(crawler)
        self.cleaner = Cleaner(self.config, self.count)
        self.origins = Origins()
        self.counts: NodeCounts | None = None
        self.duplicates: DuplicateIndex | None = None
        self.originals: Originals | None = None
        self.learning: CrawlLearning | None = None
        self.corrections: Corrections | None = None
        self.before_close: list[Callable[[str | None], Awaitable[object]]] = []
        self._crawler = crawler
        self._redis_url: str | None = None
        self._connection: Connection | None = None
        self._server: EmbeddedServer | None = None
        self._finishing: asyncio.Task[None] | None = None
        crawler.signals.connect(self.open, signals.spider_opened)
        crawler.signals.connect(self.idle, signals.spider_idle)
        crawler.signals.connect(self.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension of a crawl."""
        return cls(crawler)

    def count(self, stat: str) -> None:
        """Add one to a stat of :mod:`scrapy_winnow.stats`."""
        self._crawler.stats.inc_value(stat)

    async def open(self) -> None:
        """Connect; without a server the crawl goes on without site evidence and near-duplicates."""
        if not self.config.read_only:  # for a look at a single page they would be too late, and take memory
            self.cleaner.start()
        try:
            await self._open()
        except Exception:
            # Whatever it is, items are cleaned by the page alone then.
            self.counts = self.duplicates = self.originals = None
            self.count(stats.REDIS_FAILURES)
            logger.exception("The crawl goes on without site evidence", extra=self._extra)
        if self.config.gc_freeze:
            freeze_loaded()

    async def _open(self) -> None:
        config = self.config
        wanted = (config.site_evidence, config.duplicates, config.follows)
        if not any(wanted) or (connection := await self._connect()) is None:
            return
        self._connection = connection
        if config.site_evidence:
            self.counts = NodeCounts(
                connection,
                prefix=config.redis_prefix,
                version=FINGERPRINT_VERSION,
                budget=config.host_budget,
                max_pages=config.host_pages,
                ttl=config.host_ttl,
                settle_after=config.settle_pages,
                count_stat=self.count,
            )
        if config.duplicates:
            self.duplicates = DuplicateIndex(
                connection.for_purpose("near-duplicates"),
                config.redis_prefix,
                ttl=config.duplicates_ttl,
                keep=config.duplicates_sketch,
                min_resemblance=config.duplicates_resemblance,
            )
            if config.drop_duplicates and not config.read_only:
                self.originals = Originals(self.duplicates)
                self._crawler.signals.connect(self.originals.stored, signals.item_scraped)
                self._crawler.signals.connect(self.originals.lost, signals.item_dropped)
                self._crawler.signals.connect(self.originals.lost, signals.item_error)
        if config.teaches or config.follows:
            own, cleaner = connection.for_purpose("learning"), self.cleaner
            self.learning = CrawlLearning(own, config, cleaner.model, use=cleaner.use, count=self.count)
            await self.learning.start()
        if config.corrects and self.counts is not None:
            self.corrections = self._corrections(self.counts)
        if await connection.ping():
            await self._say_what_is_left_behind(connection)

    async def _say_what_is_left_behind(self, connection: Connection) -> None:
        prefix = self.config.redis_prefix
        names = await connection.call(lambda client: sample_keys(client, prefix)) or []
        if kinds := describe_other_layouts(names, prefix, fingerprints=FINGERPRINT_VERSION):
            logger.warning(
                "Redis holds what another version of Winnow has written, and this one begins anew: %s. It is left "
                "alone",
                "; ".join(kinds),
                extra=self._extra,
            )

    def _corrections(self, counts: NodeCounts) -> Corrections | None:
        async def send(item: Any) -> None:
            if self._crawler.engine is not None:
                await self._crawler.engine.scraper.start_itemproc_async(item, response=None)

        try:
            return Corrections(self.config, counts, send=send, count=self.count)
        except (OSError, sqlite3.Error) as error:
            logger.warning("The crawl goes on without corrections: %s", error, extra=self._extra)
            return None

    def idle(self) -> None:
        """Correct what is left before the spider is closed, each time that there is something new.

        Raises:
            DontCloseSpider: there is something left.
        """
        if self.corrections is None:
            return
        if self._finishing is not None and self._finishing.done():
            self._finishing = None
        if self._finishing is None and self.corrections.has_news:
            self._finishing = asyncio.create_task(self.corrections.finish())
        if self._finishing is not None:
            raise DontCloseSpider

    def _say_if_nothing_was_cleaned(self) -> None:
        def sum_of(*names: str) -> int:
            return sum(self._crawler.stats.get_value(name, 0) for name in names)

        raw = sum_of(stats.ITEMS_WITHOUT_HTML, stats.ITEMS_NOT_HTML, stats.ITEMS_FAILED)
        if raw and not sum_of(stats.ITEMS_CLEANED, stats.ITEMS_FALLBACK, stats.ITEMS_EMPTY, stats.ITEMS_TOO_LARGE):
            logger.error("None of the %d items of this crawl was cleaned", raw, extra=self._extra)

    async def close(self) -> None:
        """Disconnect, and stop the embedded server if no other crawl uses it."""
        self._say_if_nothing_was_cleaned()
        learning, corrections, connection, server = self.learning, self.corrections, self._connection, self._server
        for work in self.before_close:
            await self._closed(work(self._redis_url))
        self.counts = self.duplicates = self.originals = self.learning = self.corrections = None
        if learning is not None:
            await self._closed(learning.stop())
        if corrections is not None:
            await self._closed(corrections.close())
        await self._closed(self.cleaner.close())
        if connection is not None:
            await self._closed(connection.close())
        if server is not None:
            await self._closed(run_in_thread(server.stop))

    async def _closed(self, closing: Awaitable[object]) -> None:
        """Close one thing; whatever goes wrong, the others are closed too."""
        try:
            await closing
        except Exception:
            logger.exception("Could not close everything", extra=self._extra)

    async def _connect(self) -> Connection | None:
        config = self.config
        url, revive = config.redis_url, None
        if url is None:
            server = EmbeddedServer(config.state_dir, max_bytes=None if config.read_only else config.state_bytes)
            if config.read_only and not server.has_data:
                return None
            try:
                await run_in_thread(server.start)
            except EmbeddedServerError as error:
                logger.warning("The crawl goes on without site evidence: %s", error, extra=self._extra)
                self._redis_failed(begins=True)
                return None
            self._server = server
            url, revive = server.url, partial(run_in_thread, server.start)
        self._redis_url = url
        return Connection(
            url,
            timeout=config.redis_timeout,
            retry_interval=config.redis_retry_interval,
            on_failure=self._redis_failed,
            revive=revive,
        )

    def _redis_failed(self, begins: bool) -> None:
        self.count(stats.REDIS_FAILURES)
        if begins:
            self.count(stats.REDIS_OUTAGES)

    @property
    def _extra(self) -> dict[str, object]:
        return {"spider": self._crawler.spider}


def winnow_of(crawler: Crawler) -> Winnow:
    """Return the crawl's extension, for the components that need it.

    Raises:
        CannotStart: the extension is not enabled, although Winnow is.
        NotConfigured: Winnow is not enabled, or may be missing.
    """
    winnow = crawler.get_extension(Winnow)
    if winnow is None:
        if is_enabled(crawler) and not has_said(crawler):
            refuse(crawler, ["the extension scrapy_winnow.components.extension.Winnow is not enabled"])
        raise NotConfigured
    return winnow
