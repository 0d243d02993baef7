"""The spider that extracts a site's template from a few pages: ``scrapy crawl template -a url=https://host/``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse

from scrapy_winnow.project.site import parse_int, start_urls
from scrapy_winnow.storage.keys import site_of
from winnow.page.page import Page, PageTooLarge
from winnow.papers.menu_mapping import THRESHOLD
from winnow.papers.menus import AGREEING, MAX_PAGES, SIZE, Menus, MenuSearch, template_page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response
    from twisted.python.failure import Failure


class TemplateSpider(Spider):
    """Writes what a page has in common with the pages of its menu, as a page, and yields an item that sums it up.

    It loads the pages that the first one links to, one after the other, until enough of them link to each other and
    agree on the template, and no more; ``robots.txt`` and the limits of the settings hold. The method is that of
    :class:`winnow.papers.menus.Menus`.

    Arguments of ``scrapy crawl template``:
        url: address of the page whose template is wanted.
        out: file to write it to, ``HOST.template.html`` by default.
        variant: ``agreeing`` (the default), or ``paper`` for the paper's algorithm to the letter.
        size: pages that are to link to each other, 4 by default; as many as there are where there are fewer, and no
            more than agree on the template.
        threshold: least likeness of equal nodes, 0.5 of 1 by default.
        pages: most pages to load, 100 by default.
    """

    name = "template"
    # Nothing is cleaned here, so neither a model nor Redis is needed.
    custom_settings: dict[Any, Any] | None = {"ADDONS": {}}  # noqa: RUF012  as Scrapy declares it

    def __init__(
        self,
        url: str | None = None,
        out: str | None = None,
        variant: str = AGREEING,
        size: str | int = SIZE,
        threshold: str | float = THRESHOLD,
        pages: str | int = MAX_PAGES,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        (self._url,) = start_urls(url, None)
        size, pages = parse_int("size", size), parse_int("pages", pages, 2)
        self._menus = Menus(variant, size, float(threshold), pages)
        self._out = Path(out or f"{str(site_of(self._url)).replace(':', '-')}.template.html")
        if not self._out.parent.is_dir():
            raise ValueError(f"-a out: there is no folder {self._out.parent} to write to")

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the key page."""
        yield Request(self._url, errback=self.without_key_page, dont_filter=True)

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[dict[str, Any]]:
        """Load the pages of the key page's menu, one after the other, and write the template."""
        page = self._page_of(response)
        if page is None:
            raise CloseSpider("no_key_page")
        search, loaded = MenuSearch(page, self._menus), 1
        while (address := search.wanted()) is not None:
            try:
                found = await self.crawler.engine.download_async(Request(address))
            except Exception as error:
                self.logger.info("Goes on without %s: %s", address, error)
                search.add(None)
            else:
                loaded += 1
                await asyncio.to_thread(search.add, self._page_of(found))
        if not search.found:
            self.logger.error(
                "%s has no links to pages of its site that could be loaded, so that its template cannot be told from "
                "its content; give the address of a page with a menu",
                page.url,
            )
            raise CloseSpider("no_menu")
        template = await asyncio.to_thread(search.template)
        self._out.write_text(template_page(page, template), encoding="utf-8")
        nodes, template_nodes = len(template), int(template.sum())
        self.logger.info(
            "Template of %s: %d of %d nodes, from %d pages loaded, written to %s",
            *(page.url, template_nodes, nodes, loaded, self._out),
        )
        yield {
            "url": page.url,
            "pages_loaded": loaded,
            "menu_pages": [search.addresses[key] for key in search.found],
            "nodes": nodes,
            "template_nodes": template_nodes,
            "template_file": str(self._out),
        }

    def without_key_page(self, failure: Failure) -> None:
        """End a crawl that has nothing to start from."""
        self.logger.error("Could not load the key page %s: %s", self._url, failure.value)
        raise CloseSpider("no_key_page")

    def _page_of(self, response: Response) -> Page | None:
        if not isinstance(response, HtmlResponse) or not 200 <= response.status < 300:
            self.logger.info("%s is no HTML page (status %d)", response.url, response.status)
            return None
        try:
            return Page.from_tree(response.selector.root, response.url)
        except PageTooLarge as error:
            self.logger.info("%s: %s", response.url, error)
            return None
