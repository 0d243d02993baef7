"""The spider that crawls sites as a whole: ``scrapy crawl site -a url=https://host/ -O items.jsonl``."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor

from scrapy_winnow.hosts.names import site_of
from scrapy_winnow.project.items import PageItem
from scrapy_winnow.project.spiders.arguments import page_budget, shard_of, start_urls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

_WAITING_PER_PAGE: Final = 10
"""Links beyond the budget that are kept, per page of it, for pages that turn out not to be HTML."""


class SiteQueue:
    """The links of one site: which to ask for now, and which only if others fail.

    Args:
        budget: pages to store.
    """

    def __init__(self, budget: int) -> None:
        self.stored = 0
        self._budget = budget
        self._known: set[str] = set()
        self._asked = 0
        self._waiting: deque[str] = deque()

    def offer(self, url: str) -> bool:
        """Return whether to ask for a link now."""
        if url in self._known or len(self._known) >= self._budget * (1 + _WAITING_PER_PAGE):
            return False
        self._known.add(url)
        if self._asked < self._budget:
            self._asked += 1
            return True
        self._waiting.append(url)
        return False

    def more(self) -> list[str]:
        """Return links in place of those that did not end in a stored page; called when all answers are in."""
        missing = min(self._budget - self.stored, len(self._waiting))
        return [self._waiting.popleft() for _ in range(missing)]


class SiteSpider(Spider):
    """Follows the links inside each site it is given and yields its HTML pages, up to a number of pages per host.

    Arguments of ``scrapy crawl site``:
        url: address to start from; the site is the host it leads to, redirects included.
        urls_file: file with one address per line, to crawl many sites at once.
        pages: most pages to store per host, 200 by default.
        shard: ``K/N``, to take every N-th host only, so that N crawls share a file.
    """

    name = "site"

    def __init__(
        self,
        url: str | None = None,
        urls_file: str | None = None,
        pages: str | int = 200,
        shard: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._budget = page_budget(pages)
        self._starts = shard_of(start_urls(url, urls_file), shard)
        self._queues: dict[str, SiteQueue] = {}
        self._links = LinkExtractor()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider, and let it be asked for more links when it is idle."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.ask_for_more, signals.spider_idle)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the addresses given, also those that an earlier run of the same job has fetched."""
        for url in self._starts:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, site: str | None = None) -> Iterator[PageItem | Request]:
        """Yield the page and the links that stay on its site.

        Args:
            response: a page of the site, or whatever a link led to.
            site: the site that the link was found on; ``None`` for a start address, which may lead to any.
        """
        here = site_of(response.url)
        if here is None or (site is not None and here != site) or not isinstance(response, HtmlResponse):
            return
        queue = self._queues.setdefault(here, SiteQueue(self._budget))
        if queue.stored >= self._budget:
            return
        if site is None:
            queue.offer(response.url)
        queue.stored += 1
        yield PageItem(url=response.url, html=response.text)
        for link in self._links.extract_links(response):
            url = link.url.partition("#")[0]
            if site_of(url) == here and queue.offer(url):
                yield Request(url, cb_kwargs={"site": here})

    def ask_for_more(self) -> None:
        """Replace links that did not end in a stored page by others, before the crawl ends."""
        more = [(site, url) for site, queue in self._queues.items() for url in queue.more()]
        for site, url in more:
            self.crawler.engine.crawl(Request(url, callback=self.parse, cb_kwargs={"site": site}))
        if more:
            raise DontCloseSpider
