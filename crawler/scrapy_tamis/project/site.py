"""The spider that crawls sites as a whole: ``scrapy crawl site -a url=https://host/ -O items.jsonl``."""

from __future__ import annotations

import zlib
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from scrapy import Field, Item, Request, Spider, signals
from scrapy.http import HtmlResponse
from scrapy.linkextractors import IGNORED_EXTENSIONS
from scrapy.utils.response import get_base_url
from w3lib.html import strip_html5_whitespace
from w3lib.url import safe_url_string

from scrapy_tamis.extension import Tamis
from scrapy_tamis.fields import FIELDS
from scrapy_tamis.storage.keys import site_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Container, Iterable, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure

MAX_LINKS_PER_PAGE: Final = 10
"""Links of a host that are remembered, for each page to store: some lead to no HTML, or nowhere."""

MAX_REQUESTS: Final = 16
"""Requests of a host at a time."""

_MAX_LINK_CHARS: Final = 4_096  # longer ones are scripts and pictures, which are not to be kept

_NO_PAGES: Final = tuple(f".{extension}" for extension in IGNORED_EXTENSIONS)


class PageItem(Item):
    """One page: the spider fills the address and the HTML, the pipeline the rest (``docs/reference/fields.md``)."""

    url = Field()
    html = Field()


PageItem.fields.update({each.name: Field() for each in FIELDS})


@dataclass(slots=True)
class SiteState:
    """What is known of a host until it is finished.

    That is addresses that were met and stored, links that wait with their depth, those that were requested, and the
    hosts of the start addresses that led to it.
    """

    seen: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    waiting: deque[tuple[str, int]] = field(default_factory=deque)
    requested: set[str] = field(default_factory=set)
    origins: set[str] = field(default_factory=set)


class SiteSpider(Spider):
    """Follows the links inside each site it is given and yields its HTML pages, up to a number of pages per host.

    With ``JOBDIR`` a crawl that was stopped (Ctrl-C, SIGTERM) goes on where it was. Of a host that is finished only its
    name is kept.

    Arguments of ``scrapy crawl site``:
        url: address to start from; the site is the host it leads to, redirects included.
        urls_file: file with one address per line, to crawl many sites at once.
        pages: most pages to store per host, 200 by default.
        shard: ``K/N``, to take every N-th host only, so that N crawls share a file.
    """

    name = "site"
    state: dict[str, Any]

    def __init__(
        self,
        url: str | None = None,
        urls_file: str | None = None,
        pages: str | int = 200,
        shard: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if unknown := [name for name in kwargs if name != "name" and not name.startswith("_")]:  # scrapyd gives _job
            self.logger.warning("This spider has no argument -a %s", ", -a ".join(unknown))
        self.state = {}  # replaced by Scrapy with that of an earlier run, where JOBDIR is set
        self._pages = parse_int("pages", pages)
        self._start_urls = shard_of(start_urls(url, urls_file), shard)
        self._unanswered = Counter(map(site_of, self._start_urls))  # start addresses by their host
        self._led_to: dict[str, set[str]] = {}  # hosts that those of a host have led to
        if not self._start_urls:
            self.logger.warning("Nothing to crawl: all of the hosts given are in other shards than %s", shard)

    async def start(self) -> AsyncIterator[Request]:
        """Request the addresses given, unless an earlier run of the same job has finished their hosts."""
        self.crawler.signals.connect(self._go_on, signals.spider_error)
        with suppress(TypeError, ValueError):  # Tamis itself says what is wrong with a setting
            names = self.settings.getdict("TAMIS_FIELD_NAMES").values()
            PageItem.fields.update({name: Field() for name in names if name})
        for url in self._start_urls:
            if (start := site_of(url)) in self._finished:
                self._unanswered[start] -= 1
            else:
                yield Request(url, errback=self.failed, dont_filter=True, cb_kwargs={"start": start})

    def parse(
        self,
        response: Response,
        site: str | None = None,
        depth: int = 0,
        link: str | None = None,
        start: str | None = None,
    ) -> Iterator[Any]:
        """Yield the page, and requests for links that stay on its site; a start address may lead to any."""
        here = site_of(response.url)
        self._note_answer(site, link, start)
        if here is not None and here == (site or here) and isinstance(response, HtmlResponse):
            site = here
            if here not in self._finished:
                yield from self._read(response, here, depth, start)
        yield from self._next_requests(site)
        self._finish_where(start)

    def _read(self, response: HtmlResponse, site: str, depth: int, start: str | None) -> Iterator[PageItem]:
        """Yield a page that is new, and note its links."""
        state = self._site(site)
        if start is not None:
            state.origins.add(start)
            self._led_to.setdefault(start, set()).add(site)
        state.seen.add(response.url)
        if len(state.stored) < self._pages and response.url not in state.stored:
            state.stored.add(response.url)
            yield PageItem(url=response.url, html=response.text)
        max_links = self._pages * (1 + MAX_LINKS_PER_PAGE)
        tamis = self.crawler.get_extension(Tamis)
        links = tamis.links_of(response) if tamis is not None else None
        for url in islice(new_links(response, site, state.seen, links), max(max_links - len(state.seen), 0)):
            state.seen.add(url)
            state.waiting.append((url, depth + 1))

    def failed(self, failure: Failure) -> Iterator[Request]:
        """Request another link in place of one that has led to no page; Scrapy logs why."""
        options: dict[str, Any] = failure.request.cb_kwargs  # type: ignore[attr-defined]
        self._note_answer(options.get("site"), options.get("link"), options.get("start"))
        yield from self._next_requests(options.get("site"))
        self._finish_where(options.get("start"))

    def _go_on(self, response: Any) -> None:  # or the failure, where an errback has failed
        """Request the links that wait after a callback or a middleware has failed: no other page may be on its way."""
        failed = response.request
        for request in self._next_requests(failed.cb_kwargs.get("site") or str(site_of(failed.url))):
            self.crawler.engine.crawl(request)

    def _site(self, site: str) -> SiteState:
        sites: dict[str, SiteState] = self.state.setdefault("sites", {})
        return sites.setdefault(site, SiteState())

    @property
    def _finished(self) -> set[str]:
        finished: set[str] = self.state.setdefault("finished", set())
        return finished

    def _note_answer(self, site: str | None, link: str | None, start: str | None) -> None:
        """Note that a request for a link of a site was answered, or one for a start address of a host."""
        if site is not None and link is not None and site not in self._finished:
            self._site(site).requested.discard(link)
        if start is not None:
            self._unanswered[start] -= 1

    def _finish_where(self, start: str | None) -> None:
        """Finish the sites that the start addresses of a host have led to, if these are all answered."""
        if start is not None and self._unanswered[start] <= 0:
            for site in self._led_to.pop(start, ()):
                self._finish(site)

    def _finish(self, site: str) -> None:
        """Keep nothing but the name of a site that has its pages, or no more links, requests and start addresses."""
        if site in self._finished:
            return
        state = self._site(site)
        is_open = state.waiting or state.requested or any(self._unanswered[each] > 0 for each in state.origins)
        if len(state.stored) >= self._pages or not is_open:
            self._finished.add(site)
            del self.state["sites"][site]

    def _next_requests(self, site: str | None) -> Iterator[Request]:
        """Yield requests for the links found first, no more than there are pages to store."""
        if site is None or site in self._finished:
            return
        state = self._site(site)
        # Scrapy drops requests beyond its limits, and those would never come back to make room for others.
        max_depth, max_length = (self.settings.getint(name) or inf for name in ("DEPTH_LIMIT", "URLLENGTH_LIMIT"))
        while state.waiting and len(state.requested) < min(MAX_REQUESTS, self._pages - len(state.stored)):
            url, depth = state.waiting.popleft()
            if depth <= max_depth and len(url) <= max_length:
                state.requested.add(url)
                # The response that it is yielded for need not be the one that has the link.
                options: dict[str, Any] = {"errback": self.failed, "meta": {"depth_reset": True}, "dont_filter": True}
                yield Request(url, self.parse, cb_kwargs={"site": site, "depth": depth, "link": url}, **options)
        self._finish(site)


def new_links(
    response: HtmlResponse, site: str, seen: Container[str], links: Iterable[str | None] | None = None
) -> Iterator[str]:
    """Yield the addresses of a page's links that stay on its site and were not seen, without fragments.

    Scrapy's ``LinkExtractor`` would prepare every link for a request, while nearly all of a page's were seen on others.
    Where Tamis knows the ``links``, since it has read the page already, Scrapy does not parse it.
    """
    base = get_base_url(response)
    # From where links lead to the same: so they are looked up once for all pages of a site, or of a folder.
    root, folder, encoding = urljoin(base, "/"), urljoin(base, "."), response.encoding
    if links is None:
        links = (element.get("href") for element in response.selector.root.iter("a", "area"))
    for link in links:
        if link and not link.startswith("#") and len(link) <= _MAX_LINK_CHARS:
            is_absolute = link.startswith(("/", "http://", "https://"))
            start = root if is_absolute else folder if link[0].isalnum() or link[0] == "." else base
            url, its_site = _resolve(start, link, encoding)
            if its_site == site and url not in seen:
                yield url


@lru_cache(maxsize=16_384)
def _resolve(base: str, link: str, encoding: str) -> tuple[str, str | None]:
    """Return the address that a link leads to, without its fragment, and its site; ``None`` where no page can be."""
    try:
        url = urljoin(base, strip_html5_whitespace(link)).partition("#")[0]
        if (site := site_of(url)) is None:
            return url, None
        url = safe_url_string(url, encoding)
        is_file = urlsplit(url).path.lower().endswith(_NO_PAGES)
    except ValueError:  # some links are no addresses
        return link, None
    return url, None if is_file else site


def start_urls(url: str | None, urls_file: str | None) -> list[str]:
    """Return the addresses to start from, one per argument or line, each once."""
    found = [_checked(url, "-a url")] if url else []
    if urls_file:
        try:
            lines = Path(urls_file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"-a urls_file: cannot read {urls_file}: {error}") from error
        for number, line in enumerate(lines, start=1):
            if (address := line.strip()) and not address.startswith("#"):
                found.append(_checked(address, f"{urls_file}, line {number}"))
    if not found:
        raise ValueError("nothing to crawl: give -a url=https://host/ or -a urls_file=FILE with an address per line")
    return list(dict.fromkeys(found))


def shard_of(urls: list[str], shard: str | None) -> list[str]:
    """Return the addresses of one shard, ``K/N``, so that N crawls share a file; a host is in one shard only."""
    if shard is None:
        return urls
    number, _, count = shard.partition("/")
    if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise ValueError(f"-a shard must be K/N with K from 0 to N - 1, such as 0/4, not {shard!r}")
    return [url for url in urls if zlib.crc32(str(site_of(url)).encode()) % int(count) == int(number)]


def parse_int(name: str, value: str | int) -> int:
    """Return an argument that is a whole number from 1 on."""
    with suppress(ValueError):
        if (number := int(value)) >= 1:
            return number
    raise ValueError(f"-a {name} must be a whole number of at least 1, not {value!r}")


def _checked(url: str, where: str) -> str:
    if site_of(url) is None:
        hint = "" if urlsplit(url).scheme else f"; did you mean https://{url.lstrip('/')}?"
        raise ValueError(f"{where}: {url!r} is not an http or https address{hint}")
    # Links to a front page have the slash; without it the page would be two.
    return urlsplit(url)._replace(path=urlsplit(url).path or "/").geturl()
