"""Where a page is worked on: in the event loop, in a thread beside it, or in a process of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from scrapy_winnow import stats
from scrapy_winnow.fields import SWITCHES, CleanedItem, CleaningOptions, clean_item
from scrapy_winnow.messages import CleaningTask
from scrapy_winnow.pool import CleaningPool, ProcessDiedError, ReadPage
from scrapy_winnow.storage.evidence import HashedPage
from winnow.models import load_model
from winnow.page.page import Limits, Page, PageTooLarge
from winnow.page.parsing import kind_of_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_winnow.config import Config
    from scrapy_winnow.storage.evidence import HashedUnits, UnitCounts
    from winnow.models.scores import StoredModel
    from winnow.rules import Rule

T = TypeVar("T")

CHARACTERS_PER_TAG: Final = 600
"""Characters that take as long as one tag."""

EQUALS_SIGNS_PER_TAG: Final = 4
"""Attributes for one tag; all in one element, 20,000 take the parser and what reads them a third of a second."""


def tags_of(html: str | bytes) -> int:
    """What a page costs, known before it is parsed: about its tags, with its text and attributes as so many more.

    Opening and closing tags count alike, and whatever else begins with "<". By bytes alone a quarter of a megabyte of
    ``<p>x`` would pass for a light page, which has 64,000 nodes and as many blocks.
    """
    tags, signs = (html.count("<"), html.count("=")) if isinstance(html, str) else (html.count(b"<"), html.count(b"="))
    return tags + signs // EQUALS_SIGNS_PER_TAG + len(html) // CHARACTERS_PER_TAG


MAX_WAITING: Final = 16
"""Pages that wait for a process, each with its tree, before the crawl's own process lends a hand with light ones."""


class Cleaner:
    """Cleans the pages of a crawl so that none of them holds the event loop for long.

    With ``WINNOW_PROCESSES`` pages are read and cleaned there; in the crawl's process only while the others start or
    have too much to do, and pages that some of them have died of. There a light page is worked on at once, which costs
    least, and a heavy one in a thread, one at a time: more of them would share one interpreter and only take memory.
    """

    def __init__(self, config: Config, count: Callable[[str], object]) -> None:
        self.model: StoredModel = load_model(config.model)
        self.options = CleaningOptions(
            limits=Limits(max_bytes=config.max_bytes, max_nodes=config.max_nodes),
            outputs=tuple(sorted(config.outputs)),
            sketch=config.duplicates_sketch,
            **{name: getattr(config, name) for name in SWITCHES},
        )
        self._model_name = config.model
        self._max_tags = config.thread_tags
        self._count = count
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="winnow-clean")
        self._deadly: set[bytes] = set()  # contents of pages that processes have died of while they read them
        self._pool: CleaningPool | None = None
        if config.processes:
            self._pool = CleaningPool(config.processes, self._model_name, died=lambda: count(stats.PROCESSES_DIED))

    @property
    def is_ready(self) -> bool:
        """Whether pages are cleaned in processes by now."""
        return self._pool is not None and self._pool.is_ready

    def start(self) -> None:
        """Start the processes, where there are to be some and they are not started yet."""
        if self._pool is not None:
            self._pool.start()

    def is_light(self, html: str | bytes) -> bool:
        """Whether a page may be worked on in the event loop."""
        return tags_of(html) <= self._max_tags

    def reads_elsewhere(self, html: str | bytes) -> bool:
        """Whether :meth:`read_page` would have a process read the page."""
        return self._pool is not None and self._takes(self._pool, html)

    async def read(self, html: str | bytes, url: str) -> HashedUnits | None:
        """Parse and fingerprint a page; ``None`` for one that is too large, or no HTML."""
        if kind_of_data(html):
            return None
        with suppress(PageTooLarge):
            return await self.read_page(html, url)
        return None

    async def read_page(self, html: str | bytes, url: str) -> HashedUnits:
        """Parse and fingerprint HTML where that holds the event loop for least, for :meth:`clean` to go on with.

        Raises:
            PageTooLarge: it is.
        """
        limits, has_killed = self.options.limits, False
        if self._pool is not None and self.reads_elsewhere(html):
            try:
                if (read := await self._pool.read(html, url, limits)) is not None:
                    return read
            except ProcessDiedError:
                has_killed = True

        def work() -> HashedPage:
            return HashedPage.of(Page.parse(html, url, limits=limits), self.model)

        hashed = work() if self.is_light(html) else await self.in_thread(work)
        if has_killed:
            self._deadly.add(hashed.contents_id)
        return hashed

    async def clean(
        self,
        html: str | bytes,
        url: str | None,
        hashed: HashedUnits | None,
        counts: UnitCounts | None,
        model: str | None = None,
        rules: tuple[Rule, ...] = (),
    ) -> CleanedItem:
        """Clean a page for an item.

        Args:
            html: the page's HTML; as text where ``hashed`` was read from it.
            url: its address, where known.
            hashed: what :meth:`read` has found, or the page where it was read otherwise.
            counts: what the site's counts say of it.
            model: name or file of another model than the crawl's.
            rules: the user's own for the page.

        Raises:
            OSError: there is no such model.
            ModelError: the file is none.
        """
        if self._pool is not None:
            self._pool.start()
            read = hashed if isinstance(hashed, ReadPage) else None
            is_deadly = hashed is not None and hashed.contents_id in self._deadly
            if not is_deadly and (read is not None or self._takes(self._pool, html)):
                task = CleaningTask(html, url, counts, self.options, model or self._model_name, rules)
                cleaned = await self._pool.clean(task, read)
                if cleaned is not None:
                    self._count(stats.ITEMS_IN_PROCESS)
                    return cleaned
        # Selectors are looked for in the tree, which the callback may have changed: the page is parsed anew for them.
        page = hashed.page if isinstance(hashed, HashedPage) and not rules else html
        page_model = self.model if model is None else load_model(model)
        work = partial(clean_item, page, url, counts, model=page_model, options=self.options, rules=rules)
        if self.is_light(html):
            return work()
        self._count(stats.ITEMS_IN_THREAD)
        return await self.in_thread(work)

    def _takes(self, pool: CleaningPool, html: str | bytes) -> bool:
        """Whether a page is one for the processes: they are ready, and not too busy for a light one."""
        return pool.is_ready and (pool.waiting < MAX_WAITING or not self.is_light(html))

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Do some work on a heavy page beside the event loop, after what came before it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def close(self) -> None:
        """End the processes and the thread."""
        if self._pool is not None:
            await self._pool.close()
        self._thread.shutdown(wait=False, cancel_futures=True)
