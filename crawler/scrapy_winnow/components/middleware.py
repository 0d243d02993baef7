"""The spider middleware that counts the nodes of each page for its site, once, on the page's way in."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.asyncio import run_in_thread

from scrapy_winnow import stats
from scrapy_winnow.components.extension import Winnow, winnow_of
from scrapy_winnow.components.origins import Origin
from scrapy_winnow.hosts.evidence import HashedPage
from scrapy_winnow.hosts.names import site_of
from winnow.page.page import Limits, Page, PageTooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


class CountNodes:
    """Fingerprints a page before its callback runs, counts it, and keeps what came out for the pipeline.

    The tree is the one of ``response.selector``, which the callback uses next: a page is parsed once. A request with
    ``meta={"winnow": False}`` is left alone, and so are its items.
    """

    def __init__(self, crawler: Crawler, winnow: Winnow) -> None:
        self._crawler = crawler
        self._winnow = winnow

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware of a crawl."""
        return cls(crawler, winnow_of(crawler))

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Count the page, then pass the callback's output on as it is."""
        origins = self._winnow.origins
        origins.put(response, await self._origin(response))
        async for output in result:
            if output is not None and not isinstance(output, Request):
                origins.note(output, response)
            yield output

    async def _origin(self, response: Response) -> Origin:
        if response.request is not None and response.meta.get("winnow", True) is False:
            self._winnow.count(stats.PAGES_SKIPPED)
            return Origin(response.url, opted_out=True)
        site = site_of(response.url)
        if site is None or not isinstance(response, HtmlResponse) or not 200 <= response.status < 300:
            self._winnow.count(stats.PAGES_SKIPPED)
            return Origin(response.url)
        try:
            return await self._count(response, site)
        except PageTooLarge:
            self._winnow.count(stats.PAGES_TOO_LARGE)
        except Exception:
            # Whatever is wrong with a page, its items must not be lost.
            self._winnow.count(stats.PAGES_FAILED)
            logger.exception("Could not count %s", response.url, extra={"spider": self._crawler.spider})
        return Origin(response.url)

    async def _count(self, response: HtmlResponse, site: str) -> Origin:
        winnow = self._winnow
        if len(response.body) > winnow.config.thread_bytes:
            hashed = await run_in_thread(_read, response, winnow.limits)
        else:
            hashed = _read(response, winnow.limits)
        evidence = None
        if winnow.counts is None:
            winnow.count(stats.PAGES_UNCOUNTED)
        elif winnow.config.read_only:
            evidence = await winnow.counts.read(site, hashed.fingerprints)
            winnow.count(stats.PAGES_UNCOUNTED if evidence is None else stats.PAGES_READ)
        else:
            evidence = await winnow.counts.count(
                site, self._page_id(response), hashed.fingerprints, hashed.contents_id, hashed.masses
            )
            if evidence is None:
                winnow.count(stats.PAGES_UNCOUNTED)
            elif evidence.settled:
                winnow.count(stats.PAGES_SETTLED)
            else:
                winnow.count(stats.PAGES_COUNTED if evidence.counted else stats.PAGES_REPEATED)
        if evidence is not None and winnow.learning is not None:
            winnow.learning.offer(site, hashed, evidence)
        return Origin(response.url, html=(response.text, response.body), hashed=hashed, evidence=evidence)

    def _page_id(self, response: Response) -> bytes:
        """8 bytes of the request's fingerprint: method, canonical address and body, after redirects."""
        request = response.request or Request(response.url)
        return self._crawler.request_fingerprinter.fingerprint(request)[:8]


def _read(response: HtmlResponse, limits: Limits) -> HashedPage:
    if len(response.body) > limits.max_bytes:
        raise PageTooLarge("bytes", len(response.body), limits.max_bytes)
    return HashedPage.of(Page.from_tree(response.selector.root, response.url, limits=limits))
