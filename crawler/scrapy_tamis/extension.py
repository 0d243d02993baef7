"""The extension: owns what middleware and pipeline share, which is settings, model, and the connection to Redis."""

from __future__ import annotations

import asyncio
import logging
import weakref
from contextlib import AsyncExitStack, contextmanager, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self, TypeVar

from scrapy import signals
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.extensions.feedexport import FeedExporter
from scrapy.utils.asyncio import is_asyncio_available

from scrapy_tamis import stats
from scrapy_tamis.cleaner import Cleaner
from scrapy_tamis.config import Config, ConfigError, unknown_settings
from scrapy_tamis.item_sources import ItemSources
from scrapy_tamis.messages import loggable
from scrapy_tamis.pool import PageFailedError, ReadPage
from scrapy_tamis.repeats import RepeatedTexts
from scrapy_tamis.storage.clients import memory_advice, without_secrets
from scrapy_tamis.storage.connection import Connection, problem_at_start
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.embedded import EmbeddedServer, EmbeddedServerError
from scrapy_tamis.storage.evidence import HashedPage
from scrapy_tamis.worker import freeze_loaded
from tamis.page.addresses import links_of
from tamis.page.page import PageTooLarge
from tamis.page.parsing import kind_of_data

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_tamis.fields import CleanedItem
    from scrapy_tamis.item_sources import ItemSource

logger = logging.getLogger(__name__)
T = TypeVar("T")

_NO_ASYNCIO: Final = "TWISTED_REACTOR must be the asyncio reactor, which is Scrapy's default"
_START_TIMEOUT_S: Final = 1.0
"""Limit on each answer of the server when a crawl starts; the check as a whole may take twice as long."""

_WITH_TEXT: Final = frozenset({"cleaned", "from_data", "fallback"})

_configs: weakref.WeakKeyDictionary[Crawler, Config | None] = weakref.WeakKeyDictionary()
"""The settings of each crawl; ``None`` where Tamis cannot start."""


class Component:
    """A component of a crawl, as Scrapy makes one. Its messages name its spider: a process may have other crawls."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._logger = logging.LoggerAdapter(logging.getLogger(type(self).__module__), {"spider": crawler.spider})

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the component of a crawl."""
        return cls(crawler)


class Tamis(Component):
    """What one crawl needs for cleaning; it is opened and closed with the spider.

    Attributes:
        count: adds one to a stat of :mod:`scrapy_tamis.stats`.
        connection: to Redis; ``None`` without one, or when nothing needs it.
        counts: ``None`` without Redis or when they are off.
        on_cleaned: functions that are called with the address and the values of each item that was cleaned.
        on_duplicate: functions that are called with the address of each near-duplicate, and that of its original.
        before_close: functions that are awaited before the connection is closed, with the address of Redis or ``None``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.config = config_of(crawler)
        self.count: Callable[[str], object] = crawler.stats.inc_value  # to look it up takes longer than to count
        self.cleaner = Cleaner(self.config, self.count)
        self.sources = ItemSources(self.warn_once)
        self.counts: NodeCounts | None = None
        self.connection: Connection | None = None
        self.on_cleaned: list[Callable[[str | None, Mapping[str, Any]], object]] = []
        self.on_duplicate: list[Callable[[str, str], object]] = []
        self.before_close: list[Callable[[str | None], Awaitable[object]]] = []
        self._repeated_texts = RepeatedTexts()
        self._redis_url: str | None = None
        self._closing = AsyncExitStack()  # ends in the reverse order what was opened
        self._warned: set[Hashable] = set()
        self._server = self.cleaner.thread.submit(self._start_server)
        crawler.signals.connect(self.sources.leave, signals.request_scheduled)
        crawler.signals.connect(self.open, signals.spider_opened)
        crawler.signals.connect(self.close, signals.spider_closed)

    def warn_once(self, about: Hashable, message: str, *args: object, level: int = logging.WARNING) -> None:
        """Log a message, the first time that there is one about this."""
        if about not in self._warned:
            self._warned.add(about)
            self._logger.log(level, message, *args)

    @contextmanager
    def step(self, doing: str, stat: str, url: str | None) -> Iterator[None]:
        """Run a step that may fail alone: its errors are counted, and the first of each step is logged."""
        try:
            yield
        except DropItem:
            raise
        except Exception as error:
            self.count(stat)
            self._logger.log(
                logging.DEBUG if doing in self._warned else logging.ERROR,
                "Could not %s of %s; %s counts how often this happens",
                *(doing, loggable(url), stat),
                exc_info=error,
            )
            self._warned.add(doing)

    def log_failure(self, url: str | None, error: PageFailedError) -> None:
        """Name a page that processes die of, or hang on; it may have no item."""
        self._logger.error("%s has no text: %s", loggable(url), error)

    def links_of(self, response: Response) -> list[str] | None:
        """Return where the links of a page lead, as they are written, if it was read to be counted."""
        hashed = self.sources.of(response).hashed
        if isinstance(hashed, HashedPage):
            return links_of(hashed.page)
        self.cleaner.pool.with_links = True  # from now on
        return hashed.links if isinstance(hashed, ReadPage) else None

    async def clean(self, html: str | bytes, source: ItemSource) -> CleanedItem:
        """Clean a page as it was read and counted; one that was not is looked up in the counts of its site.

        From the third address of a host with one text on, its ``status`` is ``repeated``.
        """
        url, hashed, evidence = source.url, source.hashed, source.evidence
        is_new = not source.html  # else the middleware has read it, or found it too large
        if source.failure is not None:
            return self.cleaner.without_text(url, source.failure.status)
        try:
            if is_new and self.counts is not None and url is not None and source.site and not kind_of_data(html):
                with suppress(PageTooLarge):
                    hashed = await self.cleaner.read(html, url)
                if hashed is not None:
                    with self.step("look up the counts", stats.ITEMS_INCOMPLETE, url):
                        evidence = await self.counts.read(source.site, hashed.fingerprints)
            rules = source.options.rules_of(self.config.rules, url)
            cleaned = await self.cleaner.clean(html, url, hashed, evidence, source.options.model, rules)
        except PageFailedError as error:
            self.log_failure(url, error)
            return self.cleaner.without_text(url, error.status)
        if url is not None and cleaned.status in _WITH_TEXT and self._repeated_texts.is_repeated(url, cleaned.text):
            cleaned.values["status"] = "repeated"
            message = "%s has the text of two other addresses of its host; such items have the status 'repeated'"
            self.warn_once("repeated", message, loggable(url))
        return cleaned

    async def open(self) -> None:
        """Connect; without a server the crawl goes on without site evidence and near-duplicates."""
        if (problem := await self._problem_with_server()) is not None:
            self._stop(f"{problem}; TAMIS_REQUIRED = False goes on without site evidence")
            return
        self.cleaner.pool.start()
        self._closing.callback(self.cleaner.thread.shutdown, wait=False)
        self._closing.push_async_callback(self.cleaner.pool.close)
        try:
            await self._open()
        except EmbeddedServerError as error:
            self._logger.warning("The crawl goes on without site evidence: %s", error)
            self._redis_failed(begins=True)
        except Exception:
            self.counts = self.connection = None
            self.count(stats.REDIS_FAILURES)
            self._logger.exception("The crawl goes on without site evidence")
        freeze_loaded()

    async def _problem_with_server(self) -> str | None:
        """Return why the crawl's Redis will never work; the event loop goes on meanwhile."""
        config = self.config
        if config.redis_url is None or not config.needs_redis or not config.required:
            return None
        timeout = max(config.redis_timeout, _START_TIMEOUT_S)
        work = partial(problem_at_start, config.redis_url, config.redis_prefix, timeout)
        return await _in_daemon_thread(work, 2 * timeout)

    def _stop(self, problem: str) -> None:
        """End the crawl before its first request, with exit code 1."""
        crawler = self._crawler
        _log_problems(crawler, [problem])
        self.before_close.clear()

        async def close() -> None:
            for slot in getattr(crawler.get_extension(FeedExporter), "slots", ()):
                slot.store_empty = False  # the feed of an earlier crawl stays
            await crawler.engine.close_spider_async(reason="tamis_cannot_start")
            await crawler.engine.stop_async()
            crawler.spider = None  # by which Scrapy knows that its exit code is 1

        crawler.signals.connect(close, signals.engine_started, weak=False)

    async def _open(self) -> None:
        config = self.config
        if not config.needs_redis or (connection := await self._connect()) is None:
            return
        self._closing.push_async_callback(connection.close)
        self.connection = connection
        if config.site_evidence:
            self.counts = NodeCounts(
                connection,
                prefix=config.redis_prefix,
                budget=config.host_budget,
                ttl=config.ttl,
                settle_after=config.settle_pages,
                max_hosts=config.domain_hosts,
                count_stat=self.count,
            )
        if (
            await connection.ping()
            and config.redis_url is not None
            and (advice := await connection.call(memory_advice))
        ):
            self._logger.warning("%s", advice)

    def _warn_if_nothing_was_cleaned(self) -> None:
        number_of, field = partial(self._crawler.stats.get_value, default=0), self.config.html_field
        reasons = {
            stats.ITEMS_WITHOUT_HTML: f"have nothing in {field!r}: name their field in TAMIS_FIELD_NAMES",
            stats.ITEMS_NOT_HTML: f"have no HTML in {field!r}: give response.text of a page",
            stats.ITEMS_WITHOUT_FIELD: "have no room for the text: declare a field, or name one in TAMIS_FIELD_NAMES",
            stats.ITEMS_FAILED: "could not be cleaned: their first error is above",
        }
        raw = {name: number for name in reasons if (number := number_of(name))}
        if raw and not any(map(number_of, (*stats.ITEMS_DONE, stats.CONTENT_PROVIDED))):
            self._logger.log(
                logging.WARNING if raw.keys() == {stats.ITEMS_WITHOUT_HTML} else logging.ERROR,
                "None of the %d items of this crawl was cleaned; %s. TAMIS_ENABLED = False switches Tamis off",
                sum(raw.values()),
                "; ".join(f"{number} {reasons[name]}" for name, number in raw.items()),
            )

    async def close(self) -> None:
        """Disconnect, and stop the embedded server if no other crawl uses it."""
        self._warn_if_nothing_was_cleaned()
        self.counts = self.connection = None
        for work in self.before_close:
            self._closing.push_async_callback(work, self._redis_url)
        try:
            await self._closing.aclose()
        except Exception:
            self._logger.exception("Could not close everything")

    def _start_server(self) -> EmbeddedServer | None:
        """Start the private server, if the crawl has one, while the rest is set up; most of this is waiting."""
        config = self.config
        if config.redis_url is not None or not config.needs_redis:
            return None
        server = EmbeddedServer(config.state_dir, max_bytes=None if config.read_only else config.state_bytes)
        if config.read_only and not server.has_data:
            return None
        weakref.finalize(self, server.stop)  # of a crawl that does not open its spider
        server.start()
        return server

    async def _connect(self) -> Connection | None:
        config = self.config
        url, revive = config.redis_url, None
        if url is None:
            if (server := await asyncio.wrap_future(self._server)) is None:
                return None
            self._closing.push_async_callback(asyncio.to_thread, server.stop)
            url, revive = server.url, partial(asyncio.to_thread, server.start)
        self._redis_url = url
        where = f"the private server of {config.state_dir}" if revive else f"Redis at {without_secrets(url)}"
        self._logger.info("Tamis uses %s", where)
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


async def _in_daemon_thread(work: Callable[[], T], seconds: float) -> T | None:
    """Return the result of work that no end of a crawl waits for; ``None`` if it takes longer than ``seconds``."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            settle = partial(result.set_result, work())
        except Exception as error:
            settle = partial(result.set_exception, error)
        with suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(lambda: result.done() or settle())

    Thread(target=run, daemon=True).start()
    with suppress(TimeoutError):
        return await asyncio.wait_for(result, seconds)
    return None


def tamis_of(crawler: Crawler) -> Tamis:
    """Return the crawl's extension, for the components that need it; without one it raises as :func:`config_of`."""
    tamis = crawler.get_extension(Tamis)
    if tamis is None:
        config_of(crawler)
        _refuse(crawler, ["the extension scrapy_tamis.extension.Tamis is not enabled"])
    return tamis


class CannotStartError(RuntimeError):
    """Tamis is enabled and cannot start, so the crawl does not either; see ``TAMIS_REQUIRED``."""


def _is_on(crawler: Crawler, setting: str) -> bool:
    """Whether a setting is true; a value that is neither true nor false counts as true, and is refused later."""
    with suppress(TypeError, ValueError):
        return crawler.settings.getbool(setting, default=True)
    return True


def config_of(crawler: Crawler) -> Config:
    """Return the settings of a crawl, which are read and checked once; each unknown one is a warning.

    Raises:
        NotConfigured: Tamis is not enabled, or cannot start and the crawl may go on without it.
        CannotStartError: it cannot start.
    """
    if not _is_on(crawler, "TAMIS_ENABLED"):
        raise NotConfigured
    if crawler not in _configs:
        _configs[crawler] = _checked_config(crawler)
    if (config := _configs[crawler]) is None:
        raise NotConfigured
    return config


def _checked_config(crawler: Crawler) -> Config:
    for unknown in unknown_settings(crawler.settings, crawler.spider or crawler.spidercls):
        logger.warning("Tamis: %s", unknown)
    problems = [] if is_asyncio_available() else [_NO_ASYNCIO]
    try:
        config = Config.from_settings(crawler.settings)
    except ConfigError as error:
        _refuse(crawler, error.problems + problems)
    if problems:
        _refuse(crawler, problems)
    return config


def _log_problems(crawler: Crawler, problems: list[str]) -> None:
    reasons = "".join(f"\n  * {problem}" for problem in problems)
    logger.error("Tamis cannot start:%s", reasons, extra={"spider": crawler.spider})


def _refuse(crawler: Crawler, problems: list[str]) -> NoReturn:
    """Log what is wrong and end the crawl, or with ``TAMIS_REQUIRED`` off log it once more at the end."""
    _configs[crawler] = None
    _log_problems(crawler, problems)
    if not _is_on(crawler, "TAMIS_REQUIRED"):

        def log_again() -> None:
            message = "No item of this crawl was cleaned, since Tamis could not start: %s"
            logger.error(message, "; ".join(problems), extra={"spider": crawler.spider})

        crawler.signals.connect(log_again, signals.spider_closed, weak=False)
        raise NotConfigured
    crawler.spider = None  # else Scrapy before 2.16 takes it for a crawl that has run, and exits with 0
    # Scrapy turns this exception into its exit code. Retrieve it, or asyncio logs its traceback as well.
    with suppress(RuntimeError):
        if (task := asyncio.current_task()) is not None:
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
    raise CannotStartError("; ".join(problems))
