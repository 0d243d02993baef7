"""Corrections: items of a host's early pages, cleaned again once the labels of the host are known."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from scrapy_winnow import stats
from scrapy_winnow.corrections.plain_values import packed, unpacked
from scrapy_winnow.corrections.spool import Spool, SpooledPage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from itemadapter import ItemAdapter

    from scrapy_winnow.config import Config
    from scrapy_winnow.storage.counts import NodeCounts
    from scrapy_winnow.storage.evidence import SiteEvidence

logger = logging.getLogger(__name__)


class Correction(dict[str, Any]):
    """The item of a page that was cleaned again: its own fields, ``"correction": True``, and what the pipeline writes.

    Attributes:
        site: the site whose labels it is for, that of the response, which the item's own address need not name.
        text_hash: hash of the text of the item that it corrects.
    """

    __slots__ = ("site", "text_hash")

    def __init__(self, site: str, page: SpooledPage, config: Config) -> None:
        super().__init__(
            {
                config.url_field: page.url,
                **unpacked(page.fields),
                config.html_field: page.html,
                "correction": True,
            }
        )
        self.site = site
        self.text_hash = page.text_hash


def text_hash(text: str) -> bytes:
    """8 bytes that stand for a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Corrections:
    """Keeps the pages of hosts that are still counting, and sends them through the pipelines again when they settle.

    The work on disk is done in one thread of its own, a host's pages one after the other.

    Args:
        config: the settings.
        counts: the node counts.
        send: sends an item through the crawl's item pipelines.
        count: adds one to a stat.

    Raises:
        OSError: the state folder cannot be used.
        sqlite3.Error: nor can a file in it.

    Attributes:
        has_news: whether items have come in since the last time that :meth:`finish` began.
    """

    def __init__(
        self,
        config: Config,
        counts: NodeCounts,
        *,
        send: Callable[[Correction], Awaitable[None]],
        count: Callable[[str], None],
    ) -> None:
        self._config = config
        self._counts = counts
        self._send = send
        self._count = count
        self._spool = Spool(config.state_dir, config.spool_bytes)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="winnow-spool")
        self.has_news = False
        self._said_left_out = False
        self._waiting: set[str] = set()
        self._running: dict[str, asyncio.Task[None]] = {}

    async def note(
        self, site: str, item: ItemAdapter, html: str | bytes, url: str, text: str, evidence: SiteEvidence
    ) -> None:
        """Take notice of an item that was cleaned: keep its page, or begin to correct those of its host before it.

        Args:
            site: the site that its page was counted for.
            item: the item before anything is written on it.
            html: its HTML.
            url: its address.
            text: its clean text.
            evidence: what the counts of the site said.
        """
        self.has_news = True
        if evidence.settled:
            self._begin(site)
            return
        html_field = self._config.html_field
        fields, left_out = packed({name: value for name, value in item.asdict().items() if name != html_field})
        if left_out and not self._said_left_out:
            self._said_left_out = True
            logger.warning("Corrections will be without %s: values of such types are not kept", ", ".join(left_out))
        if await self._on_disk(self._spool.put, site, SpooledPage(url, html, text_hash(text), fields)):
            self._waiting.add(site)
        else:
            self._count(stats.CORRECTIONS_NO_ROOM)

    async def finish(self) -> None:
        """When the crawl has no requests: correct the items of the hosts that have settled, and wait for it."""
        self.has_news = False
        for site in sorted(self._waiting):
            evidence = await self._counts.read(site, np.zeros(0, np.uint64))
            if evidence is not None and evidence.settled:
                self._begin(site)
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def close(self) -> None:
        """Give up what is left, and remove the pages."""
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await self._on_disk(self._spool.close)
        self._thread.shutdown(wait=False)

    def _begin(self, site: str) -> None:
        if site in self._waiting and site not in self._running:
            self._waiting.discard(site)
            self._running[site] = asyncio.create_task(self._correct(site))

    async def _correct(self, site: str) -> None:
        try:
            while (page := await self._on_disk(self._spool.take, site)) is not None:
                await self._send(Correction(site, page, self._config))
        except Exception:
            logger.exception("Could not correct the items of %s", site)
        finally:
            del self._running[site]

    async def _on_disk(self, work: Callable[..., Any], *arguments: object) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
