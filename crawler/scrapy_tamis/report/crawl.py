"""The report of a crawl when it ends, and a line of the log now and then while it runs."""

from __future__ import annotations

import asyncio
import datetime
import logging
import platform
import shlex
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.utils.asyncio import create_looping_call

from scrapy_tamis import stats
from scrapy_tamis.config import PREFIX, SETTINGS, Config
from scrapy_tamis.extension import Component, Tamis, config_of
from scrapy_tamis.messages import counted
from scrapy_tamis.report.records import CrawlRecord, page_record
from scrapy_tamis.storage.clients import CLIENT_ERRORS, blocking_client, message_of
from scrapy_tamis.storage.hosts import HostRecords
from scrapy_tamis.storage.keys import site_of
from tamis.files import write_output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

_PACKAGES: Final = ("tamis", "Scrapy", "lxml", "numpy", "redis")
_MAX_HOSTS: Final = 1_000
_TIMEOUT_S: Final = 10.0


class CrawlReport(Component):
    """Writes ``TAMIS_REPORT``; if that fails, an error is logged and the crawl goes on."""

    def __init__(self, crawler: Crawler) -> None:
        config = config_of(crawler)
        if config.report is None:
            raise NotConfigured
        super().__init__(crawler)
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H-%M-%S")
        self._path = Path(config.report.replace("%(name)s", crawler.spidercls.name).replace("%(time)s", now))
        self._config = config
        self._record = CrawlRecord(title=crawler.spidercls.name)
        self._originals: dict[str, str] = {}  # of near-duplicates, by their addresses
        self._begin = time.monotonic()
        self._handler = _Errors(self._record, crawler)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._response, signals.response_received)

    def _opened(self) -> None:
        logging.getLogger().addHandler(self._handler)
        self._begin = time.monotonic()
        if (tamis := self._crawler.get_extension(Tamis)) is not None:
            tamis.on_cleaned.append(self._cleaned)
            tamis.on_duplicate.append(self._originals.__setitem__)
            tamis.before_close.append(self._write)

    def _response(self, response: Response) -> None:
        host = site_of(response.url)
        if host is not None and isinstance(response, HtmlResponse) and response.status == 200:
            self._record.samples.offer(host, response.url, response.body, response.encoding)

    def _cleaned(self, url: str | None, values: Mapping[str, Any]) -> None:
        page = page_record({**values, "url": url}, time.monotonic() - self._begin)
        if page is not None:
            self._record.add(page)

    async def _write(self, url: str | None) -> None:
        """Write the report, with the hosts from Redis at this address."""
        logging.getLogger().removeHandler(self._handler)
        record, settings = self._record, self._crawler.settings
        record.pages = [page._replace(duplicate_of=self._originals.get(page.url)) for page in record.pages]
        try:
            names = list(dict.fromkeys(page.host for page in record.pages))[:_MAX_HOSTS]
            if url is not None and names:
                record.hosts = await asyncio.to_thread(_read_host_records, url, self._config.redis_prefix, names)
        except CLIENT_ERRORS as error:
            self._logger.info("The report has no counts of hosts: %s", message_of(error, str(url)))
        record.stats = self._crawler.stats.get_stats()
        record.settings = {
            name: "(set)" if name == "TAMIS_REDIS_URL" else str(settings.get(name))  # it may hold a password
            for name, setting in SETTINGS.items()
            if settings.get(name, setting.default) not in (setting.default, "")
        }
        record.versions = {"Python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}
        record.inspect_options = _inspect_options(self._config, settings)
        try:
            from scrapy_tamis.report.document import render_report  # noqa: PLC0415  (slow to import)

            document = await asyncio.to_thread(render_report, record)
            await asyncio.to_thread(write_output, self._path, document)
        except Exception:
            self._logger.exception("Could not write the report")
        else:
            self._logger.info("Report of the crawl: %s", self._path)


class _Errors(logging.Handler):
    """Counts the errors that are logged, except those of other crawls of the process."""

    def __init__(self, record: CrawlRecord, crawler: Crawler) -> None:
        super().__init__(logging.ERROR)
        self._record = record
        self._crawler = crawler

    def emit(self, record: logging.LogRecord) -> None:
        """Count an error by its message, with its exception if there is one."""
        if getattr(record, "spider", None) not in {None, self._crawler.spider}:
            return
        cause = record.exc_info[1] if record.exc_info else None
        with suppress(Exception):  # a log call with arguments that do not fit its message must not fail here
            self._record.add_error(record.getMessage() + (f" ({type(cause).__name__}: {cause})" if cause else ""))


def _read_host_records(url: str, prefix: str, names: list[str]) -> dict[str, Any]:
    with blocking_client(url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S) as client:
        return {host.host: host for host in HostRecords(client, prefix).named(names)}


def _inspect_options(config: Config, settings: BaseSettings) -> str:
    """Return the options with which ``tamis inspect`` cleans a page as the crawl did.

    It finds the address of Redis, which may hold a password, in the environment, or in the project that it runs in.
    """
    options = []
    if config.redis_url is None:
        options = ["--state-dir", shlex.quote(str(config.state_dir.absolute()))]
    said = {"prefix": settings.get(f"{PREFIX}REDIS_PREFIX")}
    said |= {name: config.clean.get(name) for name in ("model", "favor", "scope")}
    if config.rules.by_site and isinstance(rules := settings.get(f"{PREFIX}RULES"), str):
        said["rules"] = str(Path(rules).absolute())
    for name, value in said.items():
        if value is not None:
            options += [f"--{name}", shlex.quote(str(value))]
    return " ".join(options)


class CrawlProgress(Component):
    """Logs how far the cleaning is, as often as Scrapy logs how far the crawl is (``LOGSTATS_INTERVAL``)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        config_of(crawler)
        if not self._interval:
            raise NotConfigured
        self._cut = self._cut_of = 0.0
        self._task = create_looping_call(self._log)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    def line(self) -> str:
        """Return what there is to log now."""
        value = self._crawler.stats.get_value
        cleaned = sum(value(name, 0) for name in stats.ITEMS_DONE)
        said = (
            (value(stats.HOSTS_SETTLED, 0), "settled host"),
            (value(stats.ITEMS_DUPLICATE, 0), "near-duplicate"),
            (value("scheduler/enqueued", 0) - value("scheduler/dequeued", 0), "waiting request"),
            (value("log_count/ERROR", 0), "error"),
        )
        cut = f", {self._cut / self._cut_of:.0%} of their text cut" if self._cut_of else ""
        return ", ".join([f"Cleaned {counted(cleaned, 'item')}{cut}", *(counted(n, what) for n, what in said if n > 0)])

    def _log(self) -> None:
        self._logger.info("%s", self.line())

    def _opened(self) -> None:
        if (tamis := self._crawler.get_extension(Tamis)) is not None:
            tamis.on_cleaned.append(self._cleaned)
        self._task.start(self._interval, now=False)

    def _cleaned(self, _: str | None, values: Mapping[str, Any]) -> None:
        self._cut += values["template_share"] or 0.0
        self._cut_of += 1

    def _closed(self) -> None:
        if self._task.running:
            self._task.stop()
