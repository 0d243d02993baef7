"""What a worker of the soak runs: the pages of a list, no more than a few of them in memory at a time."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals

from benchmarks.shared.listed import ListedSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler


class SoakSpider(ListedSpider):
    """Fetches listed addresses; it ends at once when the process that has started it is gone."""

    name = "soak"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider, and watch whether the soak is there."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, signals.spider_opened)
        return spider

    def opened(self) -> None:
        """End like a killed worker when the other end of standard input is closed."""
        asyncio.get_running_loop().add_reader(sys.stdin, os._exit, 1)

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the next addresses when those before them have gone out."""
        engine: Any = self.crawler.engine
        for url in self._urls:
            if engine.needs_backout():
                await self.crawler.signals.wait_for(signals.scheduler_empty)
            yield Request(url)
