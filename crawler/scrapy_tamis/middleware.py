"""The spider middleware: counts the nodes of each page for its site, once, before the callback's output goes on."""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from scrapy import Request
from scrapy.http import HtmlResponse, JsonResponse, TextResponse

from scrapy_tamis import stats
from scrapy_tamis.extension import Component, tamis_of
from scrapy_tamis.messages import loggable
from scrapy_tamis.pool import PageFailedError
from scrapy_tamis.storage.evidence import page_id_of
from tamis.page.page import PageTooLarge
from tamis.page.parsing import begins_as_html, kind_of_data

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_tamis.item_sources import ItemSource


class CountNodes(Component):
    """Fingerprints a page, counts it, and keeps the result for the pipeline.

    A heavy page is read in a thread, with ``TAMIS_PROCESSES`` every page in a process. Requests with
    ``meta={"tamis": False}`` are left alone, and where nothing is counted only the pages of items are read, by the
    pipeline.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._tamis = tamis_of(crawler)
        self._limits = self._tamis.cleaner.options.limits

    def process_spider_input(self, response: Response) -> None:
        """Note where items come from."""
        with suppress(Exception):  # what fails here fails again when the page is counted, and is logged there
            self._tamis.sources.enter(response)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Count the page, then pass the callback's output on as it is."""
        with self._tamis.step("count the page", stats.PAGES_FAILED, response.url):
            await self._read(response, self._tamis.sources.of(response))
        async for output in result:
            yield output

    async def _read(self, response: Response, source: ItemSource) -> None:
        """Read and count a page, and keep the result."""
        tamis, counts = self._tamis, self._tamis.counts
        if not self._is_page(response, source):
            tamis.count(stats.PAGES_SKIPPED)
            return
        try:
            self._limits.check("bytes", len(response.body))
            source.html = response.text, response.body
            if counts is not None:
                source.hashed = await tamis.cleaner.read(response.text, source.url)
        except PageTooLarge:
            tamis.count(stats.PAGES_TOO_LARGE)
            return
        except PageFailedError as error:
            tamis.log_failure(source.url, error)
            source.failure = error
            tamis.count(stats.PAGES_FAILED)
            return
        if counts is None or source.hashed is None:
            tamis.count(stats.PAGES_UNCOUNTED)
            return
        hashed, site = source.hashed, str(source.site)
        if tamis.config.read_only or not source.options.count:
            source.evidence = await counts.read(site, hashed.fingerprints)
            tamis.count(stats.PAGES_UNCOUNTED if source.evidence is None else stats.PAGES_READ)
        else:
            units = (hashed.fingerprints, hashed.contents_id, hashed.masses, hashed.main_text_id)
            source.evidence = await counts.count(site, partial(self._id_of, response), *units)
            tamis.count(stats.PAGES_UNCOUNTED if source.evidence is None else source.evidence.stat)

    def _id_of(self, response: Response) -> bytes:
        """Return what stands for a page: by default method, canonical address and body, after redirects."""
        request = response.request or Request(response.url)
        return page_id_of(self._crawler.request_fingerprinter.fingerprint(request))

    def _is_page(self, response: Response, source: ItemSource) -> TypeGuard[TextResponse]:
        """Whether a response is a page of a site that is to be counted or cleaned.

        Servers call many a PDF HTML, and many a page text or XML.
        """
        if not isinstance(response, TextResponse) or not 200 <= response.status < 300:
            return False
        is_wanted = source.site is not None and (source.options.count or source.options.clean)
        if not is_wanted or isinstance(response, JsonResponse) or kind_of_data(response.body) is not None:
            return False
        if isinstance(response, HtmlResponse) or begins_as_html(response.body):
            return True
        kind, content_type = type(response).__name__, (response.headers.get("Content-Type") or b"").decode("latin-1")
        self._tamis.warn_once(
            (kind, "counted"),
            "A %s counts for its site if it begins as HTML does (<!doctype html>). %s, of type %r, does not",
            *(kind, loggable(response.url), content_type),
            level=logging.INFO,
        )
        return False
