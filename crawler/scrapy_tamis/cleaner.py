"""Where a page is worked on: in the event loop, in a thread beside it, or in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from scrapy_tamis import stats
from scrapy_tamis.fields import CleanedItem, CleaningOptions, clean_item
from scrapy_tamis.pool import CleaningPool, ReadPage
from scrapy_tamis.storage.evidence import HashedPage
from tamis.models import load_model
from tamis.page.page import DEFAULT_LIMITS, Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_tamis.config import Config
    from scrapy_tamis.storage.evidence import HashedUnits, SiteEvidence
    from tamis.models import StoredModel
    from tamis.rules import Rule

T = TypeVar("T")

_CHARACTERS_OF_A_TAG: Final = 600
"""Text that costs as much as a tag."""

_MAX_TAGS: Final = 3_000
"""Tags of a page that is cleaned in the event loop, which takes some 10 ms."""

_HAS_GLOBAL_LOCK: Final = getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether a thread takes from the event loop the time that it runs, as in all but free-threaded Python."""


def tags_of(html: str | bytes) -> int:
    """Estimate the cost of a page before it is parsed: its tags, with text and attributes counted as further tags.

    Bytes alone would not do: a quarter of a megabyte of ``<p>x`` has 64,000 nodes and as many blocks. 100,000
    attributes on 1,000 elements take as long as 25,000 tags.
    """
    if isinstance(html, str):
        tags, signs = html.count("<"), html.count("=")
    else:
        tags, signs = (int(np.count_nonzero(np.frombuffer(html, np.uint8) == ord(sign))) for sign in "<=")
    return tags + signs // 4 + len(html) // _CHARACTERS_OF_A_TAG


class Cleaner:
    """Cleans the pages of a crawl so that none of them holds the event loop for long.

    With ``TAMIS_PROCESSES`` these read and clean the pages, so that none can take the crawl with it. Without them, or
    where none can be started, the crawl's process works on a light page at once, which costs least, and on a heavy one
    in a thread, one at a time, since more of them would share one interpreter and only take memory. Free-threaded
    Python works on every page in that thread. A page is cleaned where it was read.

    Attributes:
        model: the crawl's model.
        options: what holds for all its pages.
        pool, thread: the processes and the thread; the owner of the cleaner starts and closes them.
    """

    def __init__(self, config: Config, count: Callable[[str], object]) -> None:
        switches = {name: argument for name, argument in config.clean.items() if name != "encoding"}  # of bytes
        model = switches.pop("model", None)
        self.options = CleaningOptions(
            limits=switches.pop("limits", DEFAULT_LIMITS),
            outputs=tuple(sorted(config.outputs)),
            switches=switches,
            measures_losses=config.report is not None,
        )
        self._count = count
        # Its own: that of the event loop is where look-ups of names wait that hang.
        self.thread = ThreadPoolExecutor(1, "tamis-cleaning")
        died = partial(count, stats.PROCESSES_DIED)
        self.pool = CleaningPool(config.processes, model, self.options, died)
        self.pool.start_early()  # so that they import what they need while the model is loaded here
        self.model: StoredModel = load_model(model)

    def is_light(self, html: str | bytes) -> bool:
        """Whether a page may be worked on in the event loop."""
        if not _HAS_GLOBAL_LOCK:
            return False
        # The tags of huge pages, which are heavy by their text alone, are not counted.
        return len(html) // _CHARACTERS_OF_A_TAG <= _MAX_TAGS and tags_of(html) <= _MAX_TAGS

    async def read(self, html: str | bytes, url: str | None) -> HashedUnits:
        """Parse and fingerprint HTML, before :meth:`clean`, where this holds the event loop for the shortest time.

        Raises:
            PageTooLarge: the page is above one of the limits.
            PageFailedError: processes died of the page, or hung.
        """
        if (read := await self.pool.read(html, url)) is not None:
            return read

        work = partial(self._read_here, html, url)
        return work() if self.is_light(html) else await self._in_thread(work)

    def _read_here(self, html: str | bytes, url: str | None) -> HashedPage:
        return HashedPage.of(Page.parse(html, url, limits=self.options.limits), self.model)

    async def clean(
        self,
        html: str | bytes,
        url: str | None,
        hashed: HashedUnits | None,
        evidence: SiteEvidence | None,
        model: str | None = None,
        rules: tuple[Rule, ...] = (),
    ) -> CleanedItem:
        """Clean a page for an item.

        Args:
            html: the page's HTML; as text where ``hashed`` was read from it.
            url: its address, where known.
            hashed: the result of :meth:`read`.
            evidence: the site's counts of its fingerprints.
            model: name or file of another model than the crawl's.
            rules: the user's rules for the page.

        Raises:
            OSError: there is no such model.
            ModelError: the file is none.
            PageFailedError: processes died of the page, or hung.
        """
        if not isinstance(hashed, HashedPage):
            read = hashed if isinstance(hashed, ReadPage) else None
            cleaned = await self.pool.clean(html, url, evidence, model, rules, read)
            if cleaned is not None:
                self._count(stats.ITEMS_IN_PROCESS)
                return cleaned
        page_model = self.model if model is None else load_model(model)

        def work() -> CleanedItem:
            page = hashed if isinstance(hashed, HashedPage) else html
            if evidence is not None and page is html:  # the process that has read it is lost, and there is no other
                page = self._read_here(html, url)
            return clean_item(page, url, evidence, page_model, self.options, rules)

        if self.is_light(html):
            return work()
        self._count(stats.ITEMS_IN_THREAD)
        return await self._in_thread(work)

    def without_text(self, url: str | None, status: str) -> CleanedItem:
        """Return an item without text, with a status that says why."""
        item = clean_item("", url, None, self.model, self.options)
        item.values["status"] = status
        return item

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Work on a heavy page beside the event loop, one after the other."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, work)
