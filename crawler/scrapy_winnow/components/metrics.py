"""The extension that gives the stats of a crawl to Prometheus: ``WINNOW_METRICS``."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from scrapy_winnow import stats
from scrapy_winnow.config import Config
from scrapy_winnow.services.prometheus import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_OF_SCRAPY: Final = (
    "response_received_count",
    "downloader/request_count",
    "downloader/response_bytes",
    "downloader/exception_count",
    "item_scraped_count",
    "item_dropped_count",
    "scheduler/enqueued",
    "scheduler/dequeued",
)
_OF_WINNOW: Final = tuple(sorted(value for name, value in vars(stats).items() if name.isupper()))
_BEAT: Final = 1.0  # seconds

METRICS: Final = {
    stat: (stat if stat.startswith("winnow/") else f"scrapy/{stat}").replace("/", "_").removesuffix("_count")
    for stat in _OF_WINNOW + _OF_SCRAPY
}
"""Name of the counter for each stat; Prometheus' own ``_total`` follows."""

LAST_BEAT: Final = "winnow_event_loop_last_beat_seconds"
"""Name of the gauge with the time, in seconds since 1970, when the crawl's event loop last had a moment to spare."""


class CrawlMetrics:
    """Serves ``/metrics`` in a thread of its own, so that a crawl that stands still is seen to do so."""

    def __init__(self, crawler: Crawler) -> None:
        config = Config.from_settings(crawler.settings)
        if config.metrics is None or not config.is_watched:
            raise NotConfigured
        try:
            import prometheus_client  # noqa: F401, PLC0415
        except ImportError:
            logger.warning("No metrics are served: that takes pip install 'scrapy-winnow[metrics]'")
            raise NotConfigured from None
        self._crawler = crawler
        self._address = config.metrics
        self._beat = time.time()
        self._beating = create_looping_call(self._beats)
        self._stop_serving: Callable[[], None] | None = None
        crawler.signals.connect(self.open, signals.spider_opened)
        crawler.signals.connect(self.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension of a crawl."""
        return cls(crawler)

    def open(self) -> None:
        """Begin to serve; a port that is taken is said, and the crawl goes on."""
        try:
            self._stop_serving = serve(self._address, self)
        except OSError as error:
            logger.warning("No metrics are served at %s:%d: %s", *self._address, error)
            return
        self._beating.start(_BEAT)

    def close(self) -> None:
        """Stop serving."""
        if self._stop_serving is not None:
            self._beating.stop()
            self._stop_serving()

    def collect(self) -> Iterator[Any]:
        """The stats as they are now, for the registry; called in the server's thread."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415

        spider = self._crawler.spidercls.name
        for stat, name in METRICS.items():
            family = CounterMetricFamily(name, f"Scrapy's stat {stat}", labels=["spider"])
            family.add_metric([spider], self._crawler.stats.get_value(stat, 0))
            yield family
        beat = GaugeMetricFamily(LAST_BEAT, "When the event loop last had a moment to spare", labels=["spider"])
        beat.add_metric([spider], self._beat)
        yield beat

    def _beats(self) -> None:
        self._beat = time.time()
