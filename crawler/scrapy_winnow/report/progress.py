"""A line at the foot of the terminal that says how a crawl goes, while its log goes by above it."""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import NotConfigured

from scrapy_winnow import stats
from scrapy_winnow.config import Config

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live
    from scrapy.crawler import Crawler

_PER_SECOND: Final = 4  # how often the line is drawn, in a thread of its own
_LATELY: Final = 10.0  # seconds that the speed is an average of
_DONE: Final = (stats.ITEMS_CLEANED, stats.ITEMS_FALLBACK, stats.ITEMS_EMPTY, stats.ITEMS_TOO_LARGE)


class CrawlProgress:
    """``WINNOW_PROGRESS``: pages, speed, share of text cut, settled hosts, requests that wait, and errors.

    It is there where standard error is a terminal and ``rich`` is installed. Crawls of one process have a line each.
    """

    def __init__(self, crawler: Crawler) -> None:
        config = Config.from_settings(crawler.settings)
        if not (config.progress and config.is_watched and sys.stderr.isatty()):
            raise NotConfigured
        try:
            import rich  # noqa: F401, PLC0415
        except ImportError:
            raise NotConfigured from None
        self._crawler = crawler
        self._share_field = config.field_names["template_share"]
        self._cut = self._cut_of = 0.0
        self._begun = time.monotonic()
        self._lately = [(self._begun, 0)]
        for handler, signal in (
            (self._opened, signals.spider_opened),
            (self._item, signals.item_scraped),
            (self._closed, signals.spider_closed),
        ):
            crawler.signals.connect(handler, signal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension of a crawl."""
        return cls(crawler)

    def line(self) -> str:
        """The line as it stands now."""
        now, value = time.monotonic(), self._crawler.stats.get_value
        pages = value("response_received_count", 0)
        self._lately = [(at, seen) for at, seen in self._lately if now - at <= _LATELY] or self._lately[-1:]
        at, seen = self._lately[0]
        speed = (pages - seen) / max(now - at, 0.1)
        self._lately.append((now, pages))
        minutes, seconds = divmod(int(now - self._begun), 60)
        parts = [
            f"{self._crawler.spidercls.name}  {minutes}:{seconds:02d}",
            f"{pages:,} pages, {speed:.1f}/s",
            f"{sum(value(name, 0) for name in _DONE):,} cleaned",
            f"{self._cut / self._cut_of:.0%} cut" if self._cut_of else "",
        ]
        counted = (
            (value(stats.HOSTS_SETTLED, 0), "hosts settled"),
            (value(stats.ITEMS_DUPLICATE, 0), "near-duplicates"),
            (value("scheduler/enqueued", 0) - value("scheduler/dequeued", 0), "waiting"),
            (value("log_count/ERROR", 0), "errors"),
        )
        return " · ".join(filter(None, [*parts, *(f"{number:,} {what}" for number, what in counted if number > 0)]))

    def _opened(self) -> None:
        self._begun = time.monotonic()
        self._lately = [(self._begun, 0)]
        _screen.add(self)

    def _item(self, item: Any) -> None:
        share = ItemAdapter(item).get(self._share_field) if self._share_field and ItemAdapter.is_item(item) else None
        if isinstance(share, int | float):
            self._cut += share
            self._cut_of += 1

    def _closed(self) -> None:
        _screen.remove(self)


class _Screen:
    """The lines of all crawls of the process; the log is written above them as long as there are some."""

    def __init__(self) -> None:
        self._crawls: list[CrawlProgress] = []
        self._live: Live | None = None
        self._logs: list[tuple[logging.StreamHandler[TextIO], TextIO]] = []

    def add(self, crawl: CrawlProgress) -> None:
        self._crawls.append(crawl)
        if self._live is not None:
            return
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415

        terminal = sys.stderr
        console = Console(file=terminal)
        self._live = Live(console=console, get_renderable=self._drawn, refresh_per_second=_PER_SECOND)
        self._live.start()  # from here on sys.stderr writes above the lines
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is terminal:
                self._logs.append((handler, terminal))
                handler.setStream(sys.stderr)

    def remove(self, crawl: CrawlProgress) -> None:
        if crawl not in self._crawls:
            return
        if self._live is not None and len(self._crawls) > 1:
            self._live.console.print(crawl.line(), markup=False, highlight=False)
        elif self._live is not None:
            self._live.stop()
            self._live = None
            while self._logs:
                handler, stream = self._logs.pop()
                handler.setStream(stream)
        self._crawls.remove(crawl)

    def _drawn(self) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415

        lines = "\n".join(crawl.line() for crawl in list(self._crawls))
        return Text(lines, style="bold", no_wrap=True, overflow="ellipsis")


_screen: Final = _Screen()
