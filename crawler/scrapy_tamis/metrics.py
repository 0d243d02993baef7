"""``TAMIS_METRICS``: the extension that serves the stats of a crawl to Prometheus."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import NotConfigured

from scrapy_tamis.extension import Component, Tamis, config_of
from scrapy_tamis.extras import missing_package
from scrapy_tamis.stats import STATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

_DOWNLOADER: Final = tuple(f"downloader/{name}" for name in ("request_count", "response_bytes", "exception_count"))
_COUNTS: Final = ("response_received_count", *_DOWNLOADER, "item_scraped_count", "item_dropped_count")
_SCRAPY_STATS: Final = (*_COUNTS, "scheduler/enqueued", "scheduler/dequeued")
_HEARTBEAT_INTERVAL_S: Final = 1.0

METRICS: Final = {
    stat: (stat if stat in STATS else f"scrapy/{stat}").replace("/", "_").removesuffix("_count")
    for stat in (*STATS, *_SCRAPY_STATS)
}
"""Name of the counter for each stat; Prometheus' own ``_total`` follows."""

HEARTBEAT: Final = "tamis_event_loop_last_beat_seconds"
"""Name of the gauge with the last heartbeat of the crawl's event loop, in seconds since 1970."""


HOST_METRICS: Final = {
    "tamis_host_pages": "Pages of the host that are counted",
    "tamis_host_labels": "Units of the host that are template by now",
    "tamis_host_labels_changed_ratio": "Fraction of the template's text with another label than when last stable",
    "tamis_host_settles_at_pages": "Pages at which the host settles if they stay so; 0 for never, or once it has",
    "tamis_host_settled": "1 for a host whose labels are frozen",
}
"""Names and meanings of the gauges for each host, in the order of :class:`scrapy_tamis.storage.counts.LabelState`."""


class CrawlMetrics(Component):
    """Serves ``/metrics`` in a thread of its own, which still answers when the event loop hangs."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        config = config_of(crawler)
        if config.metrics is None:
            raise NotConfigured
        try:
            import prometheus_client  # noqa: F401, PLC0415  (an extra)
        except ImportError as error:
            self._logger.warning("No metrics are served: %s", missing_package(error))
            raise NotConfigured from None
        self._host, self._port = config.metrics
        self._heartbeat = time.time()
        self._beating: asyncio.Task[None] | None = None
        self._server: Any = None
        crawler.signals.connect(self.open, signals.spider_opened)
        crawler.signals.connect(self.close, signals.spider_closed)

    async def open(self) -> None:
        """Begin to serve; if the port is taken, the crawl goes on without metrics."""
        from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415

        registry = CollectorRegistry()
        registry.register(self)
        try:
            # It looks the name of the host up, and its end takes half a second.
            self._server, _ = await asyncio.to_thread(start_http_server, self._port, self._host, registry)
        except OSError as error:
            self._logger.warning("No metrics are served at %s:%d: %s", self._host, self._port, error)
            return
        self._beating = asyncio.ensure_future(self._beat())

    async def close(self) -> None:
        """Stop serving."""
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.to_thread(self._server.shutdown)
            self._server.server_close()

    def collect(self) -> Iterator[Any]:
        """Yield the stats and the labels of hosts as they are now; called in the server's thread."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415

        spider = self._crawler.spidercls.name
        for stat, name in METRICS.items():
            family = CounterMetricFamily(name, f"Scrapy's stat {stat}", labels=["spider"])
            family.add_metric([spider], self._crawler.stats.get_value(stat, 0))
            yield family
        tamis = self._crawler.get_extension(Tamis)
        hosts = dict(tamis.counts.label_states) if tamis is not None and tamis.counts is not None else {}
        for place, (name, meaning) in enumerate(HOST_METRICS.items() if hosts else ()):
            gauge = GaugeMetricFamily(name, meaning, labels=["spider", "host"])
            for host, state in hosts.items():
                gauge.add_metric([spider, host], float(state[place]))
            yield gauge
        heartbeat = GaugeMetricFamily(HEARTBEAT, "Last heartbeat of the event loop", labels=["spider"])
        heartbeat.add_metric([spider], self._heartbeat)
        yield heartbeat

    async def _beat(self) -> None:
        while True:
            self._heartbeat = time.time()
            await asyncio.sleep(_HEARTBEAT_INTERVAL_S)
