"""The extension that says that a crawl is alive: ``WINNOW_HEALTH_FILE``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from scrapy_winnow.config import Config
from scrapy_winnow.services.health import EVERY, HealthFile

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_FIGURES: Final = ("response_received_count", "item_scraped_count")


class CrawlHealth:
    """Writes the file from the event loop, so that a crawl that stands still stops to."""

    def __init__(self, crawler: Crawler) -> None:
        config = Config.from_settings(crawler.settings)
        if config.health_file is None or not config.is_watched:
            raise NotConfigured
        self._crawler = crawler
        try:
            self._file = HealthFile(config.health_file)
        except OSError as error:
            logger.warning("The health file cannot be written: %s", error)
            raise NotConfigured from None
        self._beating = create_looping_call(self._beat)
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension of a crawl."""
        return cls(crawler)

    def _open(self) -> None:
        self._beating.start(EVERY)

    def _close(self) -> None:
        self._beating.stop()
        self._file.remove()

    def _beat(self) -> None:
        value = self._crawler.stats.get_value
        self._file.beat("crawling", {name: value(name, 0) for name in _FIGURES})
