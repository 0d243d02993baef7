"""Whether Winnow can start: one message with all that is wrong, and then no crawl whose items nobody has cleaned."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn
from weakref import WeakSet

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available

from scrapy_winnow.config import DEFAULTS, Config
from scrapy_winnow.settings_reader import ConfigError, SettingsReader

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_NO_ASYNCIO: Final = "TWISTED_REACTOR must be the asyncio reactor, which is Scrapy's default"
_said: WeakSet[Crawler] = WeakSet()


class CannotStart(RuntimeError):  # noqa: N818  what has happened; a crawl ends with it
    """Winnow is enabled and cannot start, so the crawl does not either; see ``WINNOW_REQUIRED``."""


def is_enabled(crawler: Crawler) -> bool:
    """Whether the crawl wants Winnow; a value that is neither true nor false is taken for true, and refused later."""
    with suppress(TypeError, ValueError):
        return crawler.settings.getbool("WINNOW_ENABLED", default=True)
    return True


def has_said(crawler: Crawler) -> bool:
    """Whether it was said already that Winnow cannot start."""
    return crawler in _said


def checked_config(crawler: Crawler) -> Config:
    """Read the settings of a crawl; unknown ones are one warning each.

    Raises:
        NotConfigured: Winnow is not enabled, or cannot start and may be missing.
        CannotStart: it cannot start.
    """
    if not is_enabled(crawler):
        raise NotConfigured
    for unknown in SettingsReader(crawler.settings, DEFAULTS).unknown():
        logger.warning("Winnow: %s", unknown)
    problems: list[str] = []
    config = None
    try:
        config = Config.from_settings(crawler.settings)
    except ConfigError as error:
        problems += error.problems
    if not is_asyncio_available():
        problems.append(_NO_ASYNCIO)
    if problems or config is None:
        refuse(crawler, problems)
    return config


def refuse(crawler: Crawler, problems: list[str]) -> NoReturn:
    """Say what is wrong and end the crawl, or with ``WINNOW_REQUIRED`` off say it once more at the end.

    Raises:
        CannotStart: Winnow is required, as it is by default.
        NotConfigured: it is not, and the crawl goes on without.
    """
    _said.add(crawler)
    logger.error("Winnow cannot start:%s", "".join(f"\n  * {problem}" for problem in problems))
    required = True
    with suppress(TypeError, ValueError):
        required = crawler.settings.getbool("WINNOW_REQUIRED", default=True)
    if not required:

        def say_again() -> None:
            logger.error("No item of this crawl was cleaned, since Winnow could not start: %s", "; ".join(problems))

        crawler.signals.connect(say_again, signals.spider_closed, weak=False)
        raise NotConfigured
    # Scrapy lets nobody see this exception but its own exit code, and asyncio would log it with its traceback.
    with suppress(RuntimeError):
        if (task := asyncio.current_task()) is not None:
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
    raise CannotStart("; ".join(problems))
