"""The options of a request, and which page an item came from.

The middleware hands its results to the pipeline here, outside the item. They are found by the response and freed with
it: the lxml tree of a page, which the response holds anyway, can be ten times its HTML.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args
from urllib.parse import parse_qsl, urlsplit
from weakref import WeakKeyDictionary, ref

from scrapy_tamis.storage.keys import site_of
from tamis.rules import Rules

if TYPE_CHECKING:
    from scrapy.http import Request, Response

    from scrapy_tamis.pool import PageFailedError
    from scrapy_tamis.storage.evidence import HashedUnits, SiteEvidence
    from tamis.rules import Rule

Warn = Callable[..., None]
"""As :meth:`scrapy_tamis.extension.Tamis.warn_once`."""

META: Final = "tamis"
"""Name of the entry in a request's ``meta``."""

Duplicates = Literal["off", "mark", "drop"]
DUPLICATES: Final[tuple[Duplicates, ...]] = get_args(Duplicates)

_NO_RULES: Final = Rules()


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of one request, see ``docs/reference/settings.md``; ``rules=None`` takes all rules away."""

    count: bool = True
    clean: bool = True
    site: str | None = None
    url: str | None = None
    duplicates: Duplicates | None = None
    model: str | None = None
    rules: Rules | None = _NO_RULES

    def updated(self, value: object, warn: Warn, ignored: Collection[str] = ()) -> RequestOptions:
        """Return the options changed by a mapping or a truth value.

        ``warn`` is called for each that makes no sense, or is ``ignored`` since it only makes sense for a request.
        """
        if not isinstance(value, Mapping):
            is_off = not value or str(value).lower() in _OFF
            return replace(self, count=False, clean=False) if is_off and value is not None else self
        chosen: dict[str, Any] = {}
        for name, option in value.items():
            try:
                chosen |= {} if option is None else {name: _checked(name, option, ignored)}
            except ValueError as error:
                warn((META, name), "%r: ignored %r: %r%s", META, name, option, f": {error}" if str(error) else "")
        return replace(self, **chosen)

    def rules_of(self, crawl: Rules, url: str | None) -> tuple[Rule, ...]:
        """Return the rules for a page, those of the crawl first."""
        return () if self.rules is None else crawl.for_url(url) + self.rules.for_url(url)


_API_KEYS: Final = frozenset({"api_key", "apikey", "key", "token", "x-api-key"})


def page_address(url: str) -> str:
    """Return the address in the ``url`` of a request to a scraping API, which also has a key; others as they are."""
    if "url=http" in url:
        with suppress(ValueError):
            query = dict(parse_qsl(urlsplit(url).query))
            if query.get("url", "").startswith(("http://", "https://")) and not _API_KEYS.isdisjoint(query):
                return query["url"]
    return url


_OFF: Final = frozenset({"no", "off", "false", "0"})
DEFAULT: Final = RequestOptions()
_TEXTS: Final = frozenset({"site", "model", "url", "duplicates"})
_TYPES: Final = {f.name: str if f.name in _TEXTS else bool for f in fields(RequestOptions)}


def _checked(name: object, option: object, ignored: Collection[str]) -> object:
    """Return the value of an option; raise ``ValueError`` if it makes no sense, or none here."""
    if name in ignored:
        raise ValueError("it acts in the meta of a request, not on an item")
    if name == "rules":
        return None if option is False else Rules(() if option is True else option)  # type: ignore[arg-type]
    if name not in _TYPES:
        raise ValueError(f"there are {', '.join(_TYPES)}")
    if not isinstance(option, _TYPES[name]):
        raise ValueError(f"it takes a {_TYPES[name].__name__}")  # noqa: TRY004  (as for all that makes no sense)
    if name == "duplicates" and option not in DUPLICATES:
        raise ValueError(f"it is one of {', '.join(DUPLICATES)}")
    if name == "site":
        return site_of(str(option) if "://" in str(option) else f"https://{option}/")
    return option


@dataclass(slots=True, eq=False, weakref_slot=True)
class ItemSource:
    """What is known about a page before it is cleaned; nothing for an item that came from no response.

    Attributes:
        url: address of the page.
        site: site that the page counts for, if any.
        html: the text and body of the response; an item that holds one of them holds this very page.
        hashed: fingerprints of the page, with the page itself if the crawl's own process has read it.
        failure: why the page is not to be read again.
    """

    url: str | None = None
    site: str | None = None
    options: RequestOptions = DEFAULT
    html: tuple[str | bytes, ...] = ()
    hashed: HashedUnits | None = None
    evidence: SiteEvidence | None = None
    failure: PageFailedError | None = None

    def is_of(self, html: str | bytes) -> bool:
        """Whether an item's HTML is the whole page, unchanged."""
        return any(html is own or html == own for own in self.html)

    def site_for(self, url: str | None) -> str | None:
        """Return the site whose counts an item is judged by that has other HTML than the page: that of its address.

        It is the page's own where the item has no address, or one that differs by ``www.`` alone.
        """
        own, other = self.site, None if url is None else site_of(url)
        if own is None or other is None:
            return own or other
        return own if own.removeprefix("www.") == other.removeprefix("www.") else other


class _Entered(NamedTuple):
    """The source that tasks work for: a task and those that it starts, or the task alone."""

    source: ref[ItemSource]
    task: Callable[[], asyncio.Task[Any] | None]
    is_inherited: bool = True


_entered: Final[ContextVar[_Entered | None]] = ContextVar("tamis_entered", default=None)


class ItemSources:
    """Finds the response that an item came from, whatever objects other pipelines have made of the item.

    Scrapy takes the items of a response through the pipelines in tasks that are started by the task which calls
    ``process_spider_input``, and so inherit its context variables.
    """

    def __init__(self, warn: Warn) -> None:
        self._warn = warn
        self._sources: WeakKeyDictionary[Response, ItemSource] = WeakKeyDictionary()

    def make(self, request: Request | None, response: Response) -> ItemSource:
        """Return what a response and the options of its request say by themselves."""
        options = DEFAULT if request is None else DEFAULT.updated(request.meta.get(META), self._warn)
        url = options.url or page_address(response.url)
        return ItemSource(url, options.site or site_of(url), options)

    def of(self, response: Response) -> ItemSource:
        """Return what is known about a response; the middleware adds to it."""
        source = self._sources.get(response)
        if source is None:
            source = self._sources[response] = self.make(response.request, response)
        return source

    def enter(self, response: Response) -> ItemSource:
        """Make the response the source of all items of this task and of the tasks that it starts."""
        source, task = self.of(response), asyncio.current_task()
        _entered.set(_Entered(ref(source), ref(task) if task is not None else lambda: None))
        return source

    def leave(self) -> None:
        """Make the response the source of this task alone: requests that it has scheduled inherit its context."""
        entered, task = _entered.get(), asyncio.current_task()
        if entered is not None and entered.is_inherited and task is not None and entered.task() is not task:
            _entered.set(_Entered(entered.source, ref(task), is_inherited=False))

    def current(self) -> ItemSource | None:
        """Return the source of the item of this task; ``None`` if it came from no response."""
        entered = _entered.get()
        if entered is None or not (entered.is_inherited or entered.task() is asyncio.current_task()):
            return None
        return entered.source()
