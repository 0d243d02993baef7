"""Crawls of listed pages by a `scrapy` of its own, and the pages of the demo web; also the spider that they run.

The spider fetches the addresses of a file and follows no link; ``-a urls_file=FILE`` has one a line.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from scrapy import Request, Spider, signals
from scrapy.http import HtmlResponse

from scrapy_tamis.project.site import PageItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from scrapy.http import Response

    from demo.server import DemoWeb
    from demo.site import Resource

ROOT: Final = Path(__file__).resolve().parents[2]
"""Where crawls are started: the folder of the Scrapy project."""

QUICK: Final = {"AUTOTHROTTLE_ENABLED": 0, "ROBOTSTXT_OBEY": 0, "TAMIS_REPORT": "", "LOG_LEVEL": "INFO"}
"""Settings of a crawl of one's own machine."""


def crawl_command(urls: Path, items: Path, settings: Mapping[str, object], *arguments: str) -> list[str]:
    """Return the command that crawls the addresses of a file and appends JSON lines to another.

    Args:
        urls: file with an address a line.
        items: file for the items.
        settings: of Scrapy and Tamis.
        arguments: of `scrapy`; by default the spider of this module is run.
    """
    command = [sys.executable, "-m", "scrapy", *(arguments or ("runspider", __file__))]
    command += ["-a", f"urls_file={urls}", "-o", f"{items}:jsonlines"]
    return command + [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]


def demo_pages(web: DemoWeb) -> dict[str, Resource]:
    """Return the pages of the demo web by address, one of each host in turn."""
    pages = [
        (number, urljoin(web.urls[name], resource.path), resource)
        for name, site in sorted(web.sites.items())
        for number, resource in enumerate(site.resources.values())
        if resource.is_page
    ]
    return {url: resource for _, url, resource in sorted(pages, key=lambda page: page[0])}


class ListedSpider(Spider):
    """Yields a page for every address of a file; the callback itself parses nothing.

    Args:
        urls_file: the file.
        until_stdin_closes: where given, few pages are in memory at a time, and the process ends like a killed one when
            the process that has started it is gone.
    """

    name = "listed"

    def __init__(self, urls_file: str, until_stdin_closes: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._urls = Path(urls_file).read_text(encoding="utf-8").split()
        self._until_stdin_closes = bool(until_stdin_closes)

    async def start(self) -> AsyncIterator[Request]:
        """Ask for all of them."""
        if self._until_stdin_closes:
            asyncio.get_running_loop().add_reader(sys.stdin, os._exit, 1)
        engine: Any = self.crawler.engine
        for url in self._urls:
            if self._until_stdin_closes and engine.needs_backout():
                await self.crawler.signals.wait_for(signals.scheduler_empty)
            yield Request(url)

    def parse(self, response: Response) -> Iterator[PageItem]:
        """Yield the page."""
        if isinstance(response, HtmlResponse):
            yield PageItem(url=response.url, html=response.text)
