"""The spider that crawls sites as a whole: ``scrapy crawl site -a url=https://host/ -O items.jsonl``."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.job import job_dir

from scrapy_winnow.project.items import PageItem
from scrapy_winnow.project.spiders.arguments import page_budget, shard_of, start_urls
from scrapy_winnow.project.spiders.journal import Journal, Link
from scrapy_winnow.project.spiders.site_queue import SiteQueue
from scrapy_winnow.storage.keys import site_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure


class SiteSpider(Spider):
    """Follows the links inside each site it is given and yields its HTML pages, up to a number of pages per host.

    With ``JOBDIR`` a crawl that was stopped goes on where it was. One that was killed with 9 does too: links whose
    pages are not known to be stored are asked for again, so that a page may come twice and none is missing.

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
        self._journal = Journal()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider, go on where an earlier run of the job has ended, and let it be asked for more when idle."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        if folder := job_dir(crawler.settings):
            spider.resume(Path(folder))
        crawler.signals.connect(spider.ask_for_more, signals.spider_idle)
        crawler.signals.connect(spider.stored, signals.item_scraped)
        crawler.signals.connect(spider.dropped, signals.item_dropped)
        crawler.signals.connect(spider.request_dropped, signals.request_dropped)
        return spider

    def resume(self, folder: Path) -> None:
        """Keep a journal of the links in a folder, and take over what is in it."""
        try:
            self._journal = Journal(folder / "links.sqlite")
            for site, url, state in self._journal.read():
                self._queue(site).restore(url, state)
        except (OSError, ValueError, sqlite3.Error) as error:
            self.logger.warning("The crawl goes on without its journal of links: %s", error)
            self._journal = Journal()

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the addresses given, also those that an earlier run of the same job has fetched."""
        for url in self._starts:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, site: str | None = None, link: str | None = None) -> Iterator[Any]:
        """Yield the page and the links that stay on its site.

        Args:
            response: a page of the site, or whatever a link led to.
            site: the site that the link was found on; ``None`` for a start address, which may lead to any.
            link: the link.
        """
        here = site_of(response.url)
        if here is None or (site is not None and here != site) or not isinstance(response, HtmlResponse):
            self._end(site, link, stored=False)
            return
        queue = self._queue(here)
        if queue.stored >= self._budget:
            return
        if site is None:
            queue.begin(response.url)
            link = response.url
        if queue.take(str(link), response.url):
            response.cb_kwargs.update(site=here, link=link)
            yield PageItem(url=response.url, html=response.text)
        elif link != response.url:  # it leads to a page that is stored
            self._end(site, link, stored=False)
        for found in self._links.extract_links(response):
            url = found.url.partition("#")[0]
            if site_of(url) == here and queue.offer(url, response.meta.get("depth", 0) + 1):
                yield self._request(here, url)

    def failed(self, failure: Failure) -> Failure:
        """Note that a link has led to no page; Scrapy says why."""
        request: Request = failure.request  # type: ignore[attr-defined]
        self._end(request.cb_kwargs.get("site"), request.cb_kwargs.get("link"), stored=False)
        return failure

    def stored(self, item: Any, response: Response | None) -> None:  # noqa: ARG002  names of the signal
        """Note that a page is stored, once everybody else has heard of it who may be the one to store it."""
        if response is not None:
            asyncio.get_running_loop().call_soon(self._stored, response)

    def dropped(self, item: Any, response: Response | None) -> None:  # noqa: ARG002
        """Note that a page was dropped on purpose: it need not come again."""
        if response is not None:
            self._stored(response)

    def ask_for_more(self) -> None:
        """Ask for what an earlier run has left behind, and replace links that did not end in a stored page."""
        again = [(site, url) for site, queue in self._queues.items() for url in queue.left_behind()]
        for site, url in again:
            self.crawler.engine.crawl(self._request(site, url, dont_filter=True))
        asked = sum(self._ask_for(site, queue.more()) for site, queue in self._queues.items()) if not again else 0
        if again or asked:
            raise DontCloseSpider

    def closed(self, reason: str) -> None:  # noqa: ARG002  Scrapy passes it
        """Close the journal."""
        self._journal.close()

    def _request(self, site: str, url: str, *, dont_filter: bool = False) -> Request:
        kwargs = {"site": site, "link": url}
        return Request(url, callback=self.parse, errback=self.failed, cb_kwargs=kwargs, dont_filter=dont_filter)

    def _queue(self, site: str) -> SiteQueue:
        if site not in self._queues:
            self._queues[site] = SiteQueue(self._budget, site, self._journal)
        return self._queues[site]

    def request_dropped(self, request: Request) -> None:
        """Note that the scheduler has not taken a link, since its address was asked for: by this run, or before."""
        site, link = request.cb_kwargs.get("site"), request.cb_kwargs.get("link")
        if site is not None and not self._queue(site).is_left_behind(str(link)):
            self._end(site, link, stored=False)

    def _ask_for(self, site: str, links: list[Link]) -> int:
        """Ask for links that have waited, as deep as they were found; return how many."""
        limit, priority = (self.settings.getint(name) for name in ("DEPTH_LIMIT", "DEPTH_PRIORITY"))
        for link in links:
            if limit and link.depth > limit:
                self._queues[site].end(link.url, stored=False)
                continue
            request = self._request(site, link.url)
            request.meta["depth"] = link.depth
            self.crawler.engine.crawl(request.replace(priority=-link.depth * priority))
        return len(links)

    def _stored(self, response: Response) -> None:
        self._end(response.cb_kwargs.get("site"), response.cb_kwargs.get("link"), stored=True)

    def _end(self, site: str | None, link: str | None, *, stored: bool) -> None:
        if site is not None and link is not None:
            queue = self._queue(site)
            queue.end(link, stored=stored)
            self._ask_for(site, queue.next())
