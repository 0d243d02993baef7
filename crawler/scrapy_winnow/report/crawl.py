"""The extension that gathers a crawl's report and writes it when the crawl ends."""

from __future__ import annotations

import asyncio
import logging
import platform
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from itemadapter import ItemAdapter
from redis.exceptions import RedisError
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.utils.asyncio import run_in_thread

from scrapy_winnow.components.extension import Winnow
from scrapy_winnow.config import DEFAULTS, Config
from scrapy_winnow.report.records import CrawlRecord, page_record
from scrapy_winnow.report.samples import Samples
from scrapy_winnow.storage.clients import blocking_client
from scrapy_winnow.storage.hosts import HostRecords
from scrapy_winnow.storage.keys import site_of
from winnow.fingerprints import FINGERPRINT_VERSION

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

_SECRET: Final = frozenset({"WINNOW_REDIS_URL"})
_PACKAGES: Final = ("scrapy-winnow", "Scrapy", "lxml", "numpy", "redis")
_HOSTS_ASKED_FOR: Final = 1_000
_WAIT: Final = 10.0  # seconds


class CrawlReport:
    """Writes ``WINNOW_REPORT``. It only looks on: whatever goes wrong here, the crawl and its items are unharmed."""

    def __init__(self, crawler: Crawler) -> None:
        config = Config.from_settings(crawler.settings)
        if config.report is None or not config.is_watched:
            raise NotConfigured
        try:
            import jinja2  # noqa: F401, PLC0415
        except ImportError:
            logger.warning("No report is written: that takes pip install 'scrapy-winnow[inspect]'")
            raise NotConfigured from None
        self._crawler = crawler
        self._path = Path(config.report)
        self._config = config
        self._record = CrawlRecord(title=crawler.spidercls.name)
        self._record.samples = self._samples = Samples()
        self._names = {**config.field_names, "url": config.url_field}
        self._begin = time.monotonic()
        self._asked = asyncio.Event()
        self._asked.set()
        self._handler = _Errors(self._record)
        for handler, signal in (
            (self._opened, signals.spider_opened),
            (self._response, signals.response_received),
            (self._item, signals.item_scraped),
            (self._closed, signals.spider_closed),
        ):
            crawler.signals.connect(handler, signal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension of a crawl."""
        return cls(crawler)

    def _opened(self) -> None:
        logging.getLogger().addHandler(self._handler)
        self._begin = time.monotonic()
        if (winnow := self._crawler.get_extension(Winnow)) is not None:
            self._asked.clear()
            winnow.before_close.append(self._ask_for_hosts)

    def _response(self, response: Response) -> None:
        host = site_of(response.url)
        if host is not None and isinstance(response, HtmlResponse) and response.status == 200:
            self._samples.offer(host, response.url, response.body)

    def _item(self, item: Any) -> None:
        adapter = ItemAdapter(item)
        if adapter.get("correction"):
            return
        page = page_record(adapter, time.monotonic() - self._begin, self._names)
        if page is not None:
            self._record.add(page)

    async def _ask_for_hosts(self, url: str | None) -> None:
        """Ask what Redis knows of the hosts, while it is still there."""
        try:
            names = list(dict.fromkeys(page.host for page in self._record.pages))[:_HOSTS_ASKED_FOR]
            if url is not None and names:
                self._record.hosts = await run_in_thread(_hosts, url, self._config.redis_prefix, names)
        except RedisError as error:
            logger.info("The report says nothing of what Redis knows: %s", error)
        finally:
            self._asked.set()

    async def _closed(self, reason: str) -> None:
        logging.getLogger().removeHandler(self._handler)
        record, settings = self._record, self._crawler.settings
        with suppress(TimeoutError):
            await asyncio.wait_for(self._asked.wait(), 2 * _WAIT)
        record.stats = {**self._crawler.stats.get_stats(), "finish_reason": reason}
        record.settings = {
            name: "(set)" if name in _SECRET else str(settings.get(name))
            for name, default in DEFAULTS.items()
            if settings.get(name, default) not in (default, "")
        }
        record.versions = _versions()
        winnow = self._crawler.get_extension(Winnow)
        try:
            from scrapy_winnow.report.document import report  # noqa: PLC0415  (of the extra [inspect])

            document = await run_in_thread(report, record, None if winnow is None else winnow.cleaner.model)
            self._path.write_text(document, encoding="utf-8", errors="replace")
        except Exception:
            logger.exception("Could not write the report", extra={"spider": self._crawler.spider})
        else:
            logger.info("Report of the crawl: %s", self._path, extra={"spider": self._crawler.spider})


class _Errors(logging.Handler):
    """Notes what is logged as an error."""

    def __init__(self, record: CrawlRecord) -> None:
        super().__init__(logging.ERROR)
        self._record = record

    def emit(self, record: logging.LogRecord) -> None:
        """Note one."""
        cause = record.exc_info[1] if record.exc_info else None
        self._record.failed(record.getMessage() + (f" ({type(cause).__name__}: {cause})" if cause else ""))


def _hosts(url: str, prefix: str, names: list[str]) -> dict[str, Any]:
    with blocking_client(url, socket_timeout=_WAIT, socket_connect_timeout=_WAIT) as client:
        return {host.host: host for host in HostRecords(client, prefix, FINGERPRINT_VERSION).named(names)}


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
