"""A spider that fetches listed addresses and follows no link; ``-a urls_file=FILE`` has one a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http import HtmlResponse

from scrapy_winnow.project.site import PageItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class ListedSpider(Spider):
    """Yields a page for every address of a file; the callback itself parses nothing."""

    name = "listed"

    def __init__(self, urls_file: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._urls = Path(urls_file).read_text(encoding="utf-8").split()

    async def start(self) -> AsyncIterator[Request]:
        """Ask for all of them."""
        for url in self._urls:
            yield Request(url)

    def parse(self, response: Response) -> Iterator[PageItem]:
        """Yield the page."""
        if isinstance(response, HtmlResponse):
            yield PageItem(url=response.url, html=response.text)
