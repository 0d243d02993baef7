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
from winnow.papers.menu_mapping import THRESHOLD, WEIGHTED
from winnow.papers.menus import AGREEING, MAX_PAGES, SIZE, Menus, template_page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import numpy as np
    from numpy.typing import NDArray
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from winnow.papers.menus import MenuSearch


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
        equality: what makes two nodes equal, ``tag``, ``attributes`` or ``weighted`` (the default).
        threshold: least likeness of equal nodes, when weighted, 0.5 of 1 by default.
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
        equality: str = WEIGHTED,
        threshold: str | float = THRESHOLD,
        pages: str | int = MAX_PAGES,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        (self._url,) = start_urls(url, None)
        size, pages = parse_int("size", size), parse_int("pages", pages, 2)
        self._menus = Menus(variant, size, equality, float(threshold), pages)
        self._out = Path(out or f"{str(site_of(self._url)).replace(':', '-')}.template.html")
        if not self._out.parent.is_dir():
            raise ValueError(f"-a out: there is no folder {self._out.parent} to write to")
        self._loaded = 0
        self._key_page: Page | None = None
        self._search: MenuSearch | None = None

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the key page."""
        yield Request(self._url, callback=self.parse, errback=self.without_key_page, dont_filter=True)

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        """Take the key page, and go on to its menu."""
        self._loaded += 1
        page = self._page_of(response)
        if page is None:
            raise CloseSpider("no_key_page")
        self._key_page = page
        self._search = self._menus.search_from(page)
        async for each in self._go_on():
            yield each

    async def parse_menu(self, response: Response) -> AsyncIterator[Any]:
        """Take a page that the key page links to."""
        self._loaded += 1
        if self._search is not None:
            await asyncio.to_thread(self._search.add, self._page_of(response))
        async for each in self._go_on():
            yield each

    async def without_menu_page(self, failure: Failure) -> AsyncIterator[Any]:
        """Do without a page that could not be loaded or may not be."""
        self._loaded += hasattr(failure.value, "response")
        self.logger.info("Goes on without %s: %s", getattr(failure, "request", None), failure.value)
        if self._search is not None:
            self._search.add(None)
        async for each in self._go_on():
            yield each

    def without_key_page(self, failure: Failure) -> None:
        """End a crawl that has nothing to start from."""
        self.logger.error("Could not load the key page %s: %s", self._url, failure.value)
        raise CloseSpider("no_key_page")

    async def _go_on(self) -> AsyncIterator[Any]:
        """Ask for the next page that is needed, or write the template."""
        if self._search is None or self._key_page is None:
            return
        if (address := self._search.wanted()) is not None:
            yield Request(address, callback=self.parse_menu, errback=self.without_menu_page, dont_filter=True)
        else:
            yield await self._written(self._key_page, self._search)

    async def _written(self, key_page: Page, search: MenuSearch) -> dict[str, Any]:
        found = search.found
        if not found:
            self.logger.error(
                "%s has no links to pages of its site that could be loaded, so that its template cannot be told from "
                "its content; give the address of a page with a menu",
                key_page.url,
            )
            raise CloseSpider("no_menu")

        def work() -> NDArray[np.bool_]:
            template = search.template()
            self._out.write_text(template_page(key_page, template), encoding="utf-8")
            return template

        template = await asyncio.to_thread(work)
        item: dict[str, Any] = {"url": key_page.url, "pages_loaded": self._loaded}
        item |= {"menu_pages": [search.addresses[key] for key in found], "nodes": len(template)}
        item |= {"template_nodes": int(template.sum()), "template_file": str(self._out)}
        self.logger.info(
            "Template of %s: %d of %d nodes, from %d pages loaded, written to %s",
            *(item["url"], item["template_nodes"], item["nodes"], self._loaded, self._out),
        )
        return item

    def _page_of(self, response: Response) -> Page | None:
        if not isinstance(response, HtmlResponse):
            self.logger.info("%s is no HTML page", response.url)
            return None
        try:
            return Page.from_tree(response.selector.root, response.url)
        except PageTooLarge as error:
            self.logger.info("%s: %s", response.url, error)
            return None
