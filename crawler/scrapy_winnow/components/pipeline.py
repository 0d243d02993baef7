"""The item pipeline that cleans the HTML of an item and writes what came out into the item's own fields."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, Self

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from scrapy_winnow import stats
from scrapy_winnow.components.extension import Winnow, winnow_of
from scrapy_winnow.components.guard import Guard
from scrapy_winnow.components.item_writer import ItemWriter
from scrapy_winnow.content import Content
from scrapy_winnow.corrections.corrections import Correction, text_hash
from scrapy_winnow.storage.keys import site_of
from winnow.page.parsing import decode

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_winnow.cleaning.item_values import CleanedItem
    from scrapy_winnow.components.origins import Origin
    from scrapy_winnow.storage.evidence import HashedUnits, SiteEvidence

logger = logging.getLogger(__name__)

_STATUS_STATS: Final = {
    "cleaned": stats.ITEMS_CLEANED,
    "fallback": stats.ITEMS_FALLBACK,
    "empty": stats.ITEMS_EMPTY,
    "too_large": stats.ITEMS_TOO_LARGE,
    "binary": stats.ITEMS_NOT_HTML,
}


class CleanItems:
    """Cleans items of any kind that ``itemadapter`` knows, whether the spider middleware has seen their page or not.

    For an item with the whole page of its response the middleware's work is taken over. Any other HTML is parsed here,
    and what the site's counts say of it is looked up, without counting it.
    """

    def __init__(self, crawler: Crawler, winnow: Winnow) -> None:
        self._crawler = crawler
        self._winnow = winnow
        self._guard = Guard(winnow.count, lambda: {"spider": crawler.spider})
        self._writer = ItemWriter(winnow.config, winnow.count, lambda: {"spider": crawler.spider})

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline of a crawl."""
        return cls(crawler, winnow_of(crawler))

    async def process_item(self, item: Any) -> Any:
        """Clean an item; one without HTML, or that cannot be cleaned, goes on as it is.

        Every step may fail on its own: what it would have written is missing then, and all else is there.

        Raises:
            DropItem: the item is a near-duplicate and ``WINNOW_DROP_DUPLICATES`` is on, or a correction that corrects
                nothing or could not be made.
        """
        winnow, step = self._winnow, self._guard.step
        origin = winnow.origins.take(item)
        found = cleaned = evidence = original = None
        with step("read the item", stats.ITEMS_FAILED, origin.url if origin is not None else None):
            found = self._html_of(item, origin)
        if found is None:
            return item
        adapter, html, url = found
        site = _site_of(item, origin, url)
        with step("clean the item", stats.ITEMS_FAILED, url):
            cleaned, evidence = await self._clean(html, url, site, origin)
        if isinstance(item, Correction):
            self._let_through(item, cleaned, evidence)
        if cleaned is None:
            return item
        winnow.count(_STATUS_STATS[cleaned.status])
        if cleaned.values["comments"]:
            winnow.count(stats.ITEMS_WITH_COMMENTS)
        if cleaned.with_evidence:
            winnow.count(stats.ITEMS_WITH_EVIDENCE)
        if url is not None:
            with step("look for near-duplicates of the item", stats.ITEMS_INCOMPLETE, url):
                original = await self._original(url, cleaned)
        if original is not None:
            cleaned.values["duplicate_of"] = original
            self._drop_duplicate(original, origin)
        corrections = winnow.corrections if not isinstance(item, Correction) else None
        if corrections is not None and evidence is not None and site is not None and url is not None:
            with step("keep for a correction the page", stats.ITEMS_INCOMPLETE, url):
                await corrections.note(site, adapter, html, url, str(cleaned.values["text"]), evidence)
        with step("fill the fields of the item", stats.ITEMS_INCOMPLETE, url):
            self._writer.write(adapter, cleaned.values)
        return item

    def _html_of(self, item: Any, origin: Origin | None) -> tuple[ItemAdapter, str | bytes, str | None] | None:
        """The item, its HTML and its address; ``None`` for one that goes on as it is, which is counted."""
        winnow = self._winnow
        if origin is not None and not origin.options.clean:
            winnow.count(stats.ITEMS_OPTED_OUT)
            return None
        if isinstance(item, Content) and item.html is None and item.status is not None:
            return None  # it was cleaned for its callback
        adapter = ItemAdapter(item) if ItemAdapter.is_item(item) else None
        html = adapter.get(winnow.config.html_field) if adapter is not None else None
        if adapter is None or html is None:
            winnow.count(stats.ITEMS_WITHOUT_HTML)
            self._writer.has_no_html(item, adapter)
            return None
        if not isinstance(html, str | bytes):
            winnow.count(stats.ITEMS_NOT_HTML)
            return None
        if winnow.config.encoding is not None and isinstance(html, bytes):
            html = decode(html, winnow.config.encoding)
        url = adapter.get(winnow.config.url_field)
        if not isinstance(url, str):
            url = origin.url if origin is not None else None
        return adapter, html, url

    def _let_through(self, correction: Correction, cleaned: CleanedItem | None, evidence: SiteEvidence | None) -> None:
        """Let a correction go on if the labels of its site give it another text.

        Raises:
            DropItem: they do not, or are not to be had, or it could not be cleaned.
        """
        if cleaned is None:
            raise DropItem("it could not be cleaned again", log_level="DEBUG")
        settled = evidence is not None and evidence.settled
        if not settled or text_hash(str(cleaned.values["text"])) == correction.text_hash:
            self._winnow.count(stats.CORRECTIONS_UNCHANGED)
            raise DropItem("its text stays as it was", log_level="DEBUG")
        self._winnow.count(stats.CORRECTIONS_SENT)

    async def _clean(
        self, html: str | bytes, url: str | None, site: str | None, origin: Origin | None
    ) -> tuple[CleanedItem, SiteEvidence | None]:
        winnow, cleaner = self._winnow, self._winnow.cleaner
        hashed: HashedUnits | None = None
        evidence: SiteEvidence | None = None
        if origin is not None and origin.html is not None and origin.hashed is not None and origin.is_of(html):
            hashed, evidence = origin.hashed, origin.evidence
            html, url = origin.html[0], origin.url
        elif winnow.counts is not None and url is not None and site is not None:
            hashed = await cleaner.read(html, url)
            if hashed is not None:
                with self._guard.step("look up the counts for the item", stats.ITEMS_INCOMPLETE, url):
                    evidence = await winnow.counts.read(site, hashed.fingerprints)
        counts = hashed.counts(evidence) if hashed is not None and evidence is not None else None
        model = origin.options.model if origin is not None else None
        return await cleaner.clean(html, url, hashed, counts, model), evidence

    async def _original(self, url: str, cleaned: CleanedItem) -> str | None:
        winnow = self._winnow
        if winnow.duplicates is None:
            return None
        if winnow.originals is not None:
            verdict = await winnow.originals.find(url, cleaned.shingles)
        else:
            writes = not winnow.config.read_only  # a look counts no page that the call could go along with
            verdict = await winnow.duplicates.find(url, cleaned.shingles, enter=writes, can_wait=writes)
        if verdict is None:
            return None
        if verdict.duplicate_of is not None:
            winnow.count(stats.ITEMS_DUPLICATE)
        return verdict.duplicate_of

    def _drop_duplicate(self, original: str, origin: Origin | None) -> None:
        asked = origin.options.drop_duplicates if origin is not None else None
        if self._winnow.config.drop_duplicates if asked is None else asked:
            self._winnow.count(stats.ITEMS_DROPPED)
            raise DropItem(f"near-duplicate of {original}", log_level="INFO")


def _site_of(item: object, origin: Origin | None, url: str | None) -> str | None:
    """The site that an item's page was counted for: that of its response, whatever address the item itself gives."""
    if isinstance(item, Correction):
        return item.site
    site = origin.site or site_of(origin.url) if origin is not None else None
    return site if site is not None or url is None else site_of(url)
