"""The report of a crawl when it ends, and its progress in the terminal while it runs."""

from __future__ import annotations

import asyncio
import datetime
import logging
import platform
import shlex
import sys
import time
from contextlib import ExitStack, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse

from scrapy_tamis import stats
from scrapy_tamis.config import PREFIX, SETTINGS, Config
from scrapy_tamis.extension import Component, Tamis, config_of
from scrapy_tamis.report.records import CrawlRecord, page_record
from scrapy_tamis.storage.clients import CLIENT_ERRORS, blocking_client
from scrapy_tamis.storage.hosts import HostRecords
from scrapy_tamis.storage.keys import site_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType
    from rich.live import Live
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_PACKAGES: Final = ("tamis", "Scrapy", "lxml", "numpy", "redis")
_MAX_HOSTS: Final = 1_000
_TIMEOUT_S: Final = 10.0

_DRAWS_PER_SECOND: Final = 4  # in a thread of its own
_SPEED_WINDOW_S: Final = 10.0


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
        record, settings, log = self._record, self._crawler.settings, {"spider": self._crawler.spider}
        record.pages = [page._replace(duplicate_of=self._originals.get(page.url)) for page in record.pages]
        try:
            names = list(dict.fromkeys(page.host for page in record.pages))[:_MAX_HOSTS]
            if url is not None and names:
                record.hosts = await asyncio.to_thread(_read_host_records, url, self._config.redis_prefix, names)
        except CLIENT_ERRORS as error:
            logger.info("The report has no counts of hosts: %s", error, extra=log)
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
            await asyncio.to_thread(self._path.write_text, document, "utf-8", "replace")
        except Exception:
            logger.exception("Could not write the report", extra=log)
        else:
            logger.info("Report of the crawl: %s", self._path, extra=log)


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
        with suppress(Exception):  # whoever logs is not to fail where arguments do not fit the message
            self._record.add_error(record.getMessage() + (f" ({type(cause).__name__}: {cause})" if cause else ""))


def _read_host_records(url: str, prefix: str, names: list[str]) -> dict[str, Any]:
    with blocking_client(url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S) as client:
        return {host.host: host for host in HostRecords(client, prefix).named(names)}


def _inspect_options(config: Config, settings: BaseSettings) -> str:
    """Return the options with which ``tamis inspect`` cleans a page as the crawl did.

    The address of Redis, which may hold a password, is taken from the environment.
    """
    options = ["--redis-url", '"$TAMIS_REDIS_URL"']
    if config.redis_url is None:
        options = ["--state-dir", shlex.quote(str(config.state_dir.absolute()))]
    for name in ("redis_prefix", "model", "favor", "scope", "rules"):
        if isinstance(value := settings.get(f"{PREFIX}{name.upper()}"), str):
            path = str(Path(value).absolute()) if name == "rules" else value
            options += [f"--{name.removeprefix('redis_')}", shlex.quote(path)]
    return " ".join(options)


class CrawlProgress(Component):
    """``TAMIS_PROGRESS``: pages, speed, fraction of text cut, settled hosts, waiting requests, and errors.

    Each crawl of a process has a line, if standard error is a terminal.
    """

    def __init__(self, crawler: Crawler) -> None:
        config = config_of(crawler)
        if not (config.progress and sys.stderr.isatty()):
            raise NotConfigured
        super().__init__(crawler)
        self._cut = self._cut_of = 0.0
        self._begun = time.monotonic()
        self._recent = [(self._begun, 0)]  # times and pages by then
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    def line(self) -> str:
        """Return the current line."""
        now, value = time.monotonic(), self._crawler.stats.get_value
        pages = value("response_received_count", 0)
        self._recent = [(at, seen) for at, seen in self._recent if now - at <= _SPEED_WINDOW_S] or self._recent[-1:]
        at, seen = self._recent[0]
        speed = (pages - seen) / max(now - at, 0.1)
        self._recent.append((now, pages))
        minutes, seconds = divmod(int(now - self._begun), 60)
        parts = [
            f"{self._crawler.spidercls.name}  {minutes}:{seconds:02d}",
            f"{pages:,} pages, {speed:.1f}/s",
            f"{sum(value(name, 0) for name in stats.ITEMS_DONE):,} cleaned",
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
        _screen.add(self)
        if (tamis := self._crawler.get_extension(Tamis)) is not None:
            tamis.on_cleaned.append(self._cleaned)

    def _cleaned(self, _: str | None, values: Mapping[str, Any]) -> None:
        self._cut += values["template_share"] or 0.0
        self._cut_of += 1

    def _closed(self) -> None:
        _screen.remove(self)


class _Screen:
    """The lines of all crawls of the process, with the log above them."""

    def __init__(self) -> None:
        self._crawls: list[CrawlProgress] = []
        self._live: Live | None = None
        self._ending = ExitStack()

    def add(self, crawl: CrawlProgress) -> None:
        self._crawls.append(crawl)
        if self._live is not None:
            return
        from rich.console import Console  # noqa: PLC0415
        from rich.live import Live  # noqa: PLC0415

        terminal = sys.stderr
        console = Console(file=terminal)
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=_DRAWS_PER_SECOND)
        self._ending.enter_context(self._live)  # from here on sys.stderr writes above the lines
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is terminal:
                self._ending.callback(handler.setStream, terminal)
                handler.setStream(sys.stderr)

    def remove(self, crawl: CrawlProgress) -> None:
        if crawl not in self._crawls or self._live is None:
            return
        if len(self._crawls) > 1:
            self._live.console.print(crawl.line(), markup=False, highlight=False)
        else:
            self._ending.close()
            self._live = None
        self._crawls.remove(crawl)

    def _render(self) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415

        lines = "\n".join(crawl.line() for crawl in list(self._crawls))
        return Text(lines, style="bold", no_wrap=True, overflow="ellipsis")


_screen: Final = _Screen()
