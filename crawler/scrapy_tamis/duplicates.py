"""The item pipeline that marks near-duplicates, or drops them: for any item with a text, after it was cleaned."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import DropItem, NotConfigured

from scrapy_tamis import stats
from scrapy_tamis.content import Content
from scrapy_tamis.extension import Component, tamis_of
from scrapy_tamis.item_sources import ItemSource, page_address
from scrapy_tamis.messages import loggable
from scrapy_tamis.pipeline import fields_of, fill_field, unwrap_list
from scrapy_tamis.storage.index import DuplicateIndex
from tamis.duplicates import Verdict, Windows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler

STORE_TIMEOUT_S: Final = 10.0
"""Time that a copy waits for its original to be stored; after it, both may be stored."""


@dataclass(eq=False, slots=True)
class _InHand:
    """An item that is to be stored, on its way through the pipelines after this one."""

    keys: list[bytes]
    take_back: Callable[[], Awaitable[None]] | None = None
    left: asyncio.Event = field(default_factory=asyncio.Event)


class MarkDuplicates(Component):
    """Writes which earlier document an item nearly duplicates; with ``TAMIS_DUPLICATES = "drop"`` drops the item.

    An item is dropped only if another one with its text was stored since the crawl began. Copies of an item on its way
    wait until it is stored or lost, since a later pipeline may drop it.
    """

    # A signal's item is recognized by the task that takes it through the pipelines, since these may replace the object.

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._tamis = tamis_of(crawler)
        self._config = self._tamis.config
        if self._config.duplicates == "off":
            raise NotConfigured('TAMIS_DUPLICATES is "off"')
        self._began = int(time.time())
        self._waiting: dict[bytes, _InHand] = {}
        self._current: ContextVar[_InHand | None] = ContextVar("tamis_in_hand", default=None)
        self._is_listening = False

    def original_name(self, url: str) -> str:
        """Return what ``duplicate_of`` and Redis call the document at an address; by default the address itself.

        A subclass that returns a hash keeps addresses out of Redis. The same address must have the same name.
        """
        return url

    async def process_item(self, item: Any) -> Any:
        """Look an item with text up; one without, and any while Redis is unreachable, goes on as it is.

        Raises:
            DropItem: the item is a near-duplicate, and is to be dropped.
        """
        self._current.set(None)
        source = self._tamis.sources.current() or ItemSource()
        mode = source.options.duplicates or self._config.duplicates
        if mode == "off" or not source.options.clean or not ItemAdapter.is_item(item):
            return item
        adapter, names = ItemAdapter(item), self._config.field_names
        if isinstance(item, Content):
            names = {name: name for name in names}
        text = unwrap_list(adapter.get(names["text"] or ""))
        given = unwrap_list(adapter.get(names["url"] or ""))
        url = page_address(given) if isinstance(given, str) else source.url
        if not isinstance(text, str) or url is None:
            return item
        verdict = Verdict()
        with self._tamis.step("look for near-duplicates of the item", stats.ITEMS_INCOMPLETE, url):
            verdict = await self._find(url, Windows(text), is_dropping=mode == "drop" and not self._config.read_only)
        fields = fields_of(adapter)
        for name, value in verdict._asdict().items():
            if field_name := names[name]:
                fill_field(fields, field_name, value)
        return adapter.item

    async def _find(self, url: str, windows: Windows, *, is_dropping: bool) -> Verdict:
        """Look a document up; drop its item if it is a copy of one that was stored in this crawl."""
        tamis, config, in_hand = self._tamis, self._config, _InHand(windows.keys[:2])
        found = None
        if tamis.connection is not None:
            least = config.duplicates_resemblance
            index = DuplicateIndex(tamis.connection, config.redis_prefix, min_resemblance=least, ttl=config.ttl)
            if is_dropping:
                self._listen()
                await self._wait_for_copies(windows.keys)
                self._waiting.update(dict.fromkeys(in_hand.keys, in_hand))
                self._current.set(in_hand)
            found = await index.find(self.original_name(url), windows, enter=not config.read_only)
        if found is None:
            tamis.count(stats.ITEMS_UNCOMPARED)
            return Verdict()
        verdict, record = found
        if (original := verdict.duplicate_of) is not None:
            tamis.count(stats.ITEMS_DUPLICATE)
            for listener in tamis.on_duplicate:
                listener(url, original)
        if is_dropping and record is not None:
            if original is not None and not windows.is_short:
                if record.kept >= self._began:
                    tamis.count(stats.ITEMS_DROPPED)
                    raise DropItem(f"the text is that of {loggable(original)}", log_level="DEBUG")
                await index.set_kept(record, int(time.time()))
            in_hand.take_back = partial(index.set_kept, record, 0)
        return verdict

    def _listen(self) -> None:
        """Learn what becomes of items, from the first on that may be dropped: each receiver of a signal is a task."""
        if not self._is_listening:
            self._is_listening = True
            if self._crawler.settings["JOBDIR"]:  # a crawl that goes on has begun with its first run
                state: dict[str, int] = getattr(self._crawler.spider, "state", {})
                self._began = state.setdefault("tamis_began", self._began)
            connect = self._crawler.signals.connect
            connect(self._stored, signals.item_scraped)
            connect(self._lost, signals.item_dropped)
            connect(self._lost, signals.item_error)

    async def _wait_for_copies(self, keys: list[bytes]) -> None:
        """Wait until no item with nearly the same text is on its way."""
        with suppress(TimeoutError):
            async with asyncio.timeout(STORE_TIMEOUT_S):
                while others := [self._waiting[key] for key in keys if key in self._waiting]:
                    await others[0].left.wait()

    def _stored(self) -> None:
        """Let the copies of the item of this task go on."""
        if (in_hand := self._current.get()) is not None:
            for key in in_hand.keys:
                if self._waiting.get(key) is in_hand:
                    del self._waiting[key]
            in_hand.left.set()

    async def _lost(self) -> None:
        """Have a copy take the place of the item of this task: a later pipeline has dropped it, or failed."""
        in_hand = self._current.get()
        try:
            if in_hand is not None and in_hand.take_back is not None:
                await in_hand.take_back()
        finally:
            self._stored()
