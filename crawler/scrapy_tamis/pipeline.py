"""The item pipeline: cleans the HTML of an item and writes the results into the fields of the item."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import MutableMapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import DropItem
from w3lib.url import add_or_replace_parameter

from scrapy_tamis import stats
from scrapy_tamis.content import Content
from scrapy_tamis.extension import Component, Tamis, tamis_of
from scrapy_tamis.item_sources import META, ItemSource, page_address
from scrapy_tamis.pool import CRASHED, TIMED_OUT
from tamis.cleaning import NOT_HTML
from tamis.duplicates import KEEP, near_duplicates
from tamis.hashing import hash_text
from tamis.page.parsing import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from scrapy_tamis.fields import CleanedItem
    from scrapy_tamis.item_sources import RequestOptions
    from scrapy_tamis.storage.index import DuplicateIndex
    from tamis.duplicates import Verdict

_STATUS_STATS: Final = {
    "cleaned": stats.ITEMS_CLEANED,
    "from_data": stats.ITEMS_CLEANED,
    "fallback": stats.ITEMS_FALLBACK,
    "empty": stats.ITEMS_EMPTY,
    "too_large": stats.ITEMS_TOO_LARGE,
    CRASHED: stats.ITEMS_FAILED,
    TIMED_OUT: stats.ITEMS_FAILED,
    **dict.fromkeys(NOT_HTML, stats.ITEMS_NOT_HTML),
}

_CONTENT: Final = frozenset({"text", "clean_html", "markdown"})
"""Values that hold the content of a page."""

_MISSING: Final = "is not declared"
_HELD: Final = "holds something already"
_EMPTY_KINDS: Final = (str, bytes, list, tuple, set, dict)
"""Values of these kinds that are empty are filled; 0 and ``False`` are the user's."""

STORE_TIMEOUT_S: Final = 10.0
"""Time that a copy waits for its original to be stored; after it, both may be stored."""

_CLOSE_TIMEOUT_S: Final = 30.0


class CleanItems(Component):
    """Cleans items of every kind that ``itemadapter`` knows.

    For an item with the whole page of its response, it uses what the spider middleware has read. It parses any other
    HTML itself, and looks it up in the site's counts without counting it.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._tamis = tamis_of(crawler)
        self._config = self._tamis.config
        self._wants_content = any(self._config.field_names[name] for name in _CONTENT)
        self._in_hand: set[asyncio.Future[None]] = set()
        self._columns: set[str] | None = None
        if _has_csv_feed_without_fields(crawler.settings):
            crawler.signals.connect(self._check_columns, signals.item_scraped)
        self._unstored: UnstoredOriginals | None = None
        if self._config.drop_duplicates and not self._config.read_only:
            self._unstored = UnstoredOriginals(self._tamis)
            crawler.signals.connect(self._unstored.stored, signals.item_scraped)
            crawler.signals.connect(self._unstored.lost, signals.item_dropped)
            crawler.signals.connect(self._unstored.lost, signals.item_error)

    async def process_item(self, item: Any) -> Any:
        """Clean an item; one without HTML, or that cannot be cleaned, goes on as it is.

        If a step fails, only the fields that it would have written are missing.

        Raises:
            DropItem: the item is a near-duplicate and ``TAMIS_DROP_DUPLICATES`` is on.
        """
        done = asyncio.get_running_loop().create_future()
        self._in_hand.add(done)
        try:
            return await self._process(item)
        finally:
            self._in_hand.discard(done)
            done.set_result(None)

    async def close_spider(self) -> None:
        """Wait for the items in hand: ``scrapy parse`` shows them without waiting."""
        if self._in_hand:
            await asyncio.wait(self._in_hand, timeout=_CLOSE_TIMEOUT_S)

    async def _process(self, item: Any) -> Any:
        tamis, step = self._tamis, self._tamis.step
        source = tamis.sources.current() or ItemSource()
        if not ItemAdapter.is_item(item):
            self._skip(item, (), source.options)
            return item
        cleaned = document = None
        adapter = ItemAdapter(item)
        with step("clean the item", stats.ITEMS_FAILED, source.url):
            if (page := self._page_of(adapter, source)) is not None:
                html, source, document = page
                cleaned = await tamis.clean(html, source)
        if cleaned is None:
            return adapter.item
        url = source.url
        if cleaned.values["comments"]:
            tamis.count(stats.ITEMS_WITH_COMMENTS)
        if cleaned.values["label_source"] == "site":
            tamis.count(stats.ITEMS_WITH_EVIDENCE)
        if document is not None:
            with step("look for near-duplicates of the item", stats.ITEMS_INCOMPLETE, url):
                await self._find_original(document, cleaned, source.options)
        with step("fill the fields of the item", stats.ITEMS_INCOMPLETE, url):
            if self._write(adapter, cleaned):
                self._tell(url, cleaned.values | cleaned.losses)
        return adapter.item

    def _check_columns(self, item: Any) -> None:
        """Warn of fields that a CSV feed leaves out, which has the columns of the first item that it gets."""
        if not ItemAdapter.is_item(item):
            return
        names = ItemAdapter(item).field_names()
        if self._columns is None:
            self._columns = set(names)
        for name in names:
            if name not in self._columns and name in self._config.field_names.values():
                self._tamis.warn_once(
                    (name, "column"),
                    "CSV feeds have the columns of their first item, so they lose %r of others: list all columns in "
                    "FEED_EXPORT_FIELDS",
                    name,
                )

    def _page_of(self, adapter: ItemAdapter, source: ItemSource) -> tuple[str | bytes, ItemSource, str | None] | None:
        """Return the HTML of an item, what is known of its page, and the address that near-duplicates know it by.

        ``None`` is for an item that goes on as it is, which is counted.
        """
        tamis, config, options = self._tamis, self._config, source.options
        if (own := adapter.get(META)) is not None:
            _remove_field(adapter, META)
            options = options.updated(own, tamis.warn_once, ignored={"count", "url"})
        html = _unwrap_list(adapter.get(config.html_field))
        if html is None or not options.clean:
            self._skip(adapter.item, adapter, options)
            return None
        if not isinstance(html, str | bytes):
            tamis.count(stats.ITEMS_NOT_HTML)
            tamis.warn_once(
                (type(html), "not html"),
                "Items with %s in the field %r go on as they are: give text or bytes, as response.text",
                *(type(html).__name__, config.html_field),
            )
            return None
        if (encoding := config.clean.get("encoding")) is not None and isinstance(html, bytes):
            html = decode(html, encoding)
        is_whole = source.is_of(html) and options.site == source.options.site
        url = document = source.url
        if isinstance(address := _unwrap_list(adapter.get(config.field_names["url"])), str):
            url = document = page_address(address)
        elif url is not None and source.html and not is_whole:
            # A part of the page is a document of its own.
            document = add_or_replace_parameter(url, "part", f"{hash_text(html):016x}")
        if is_whole:
            return source.html[0], source if own is None else replace(source, options=options), document
        # A page that was carried along or fetched in the callback is judged by its own host, not by the response's.
        return html, ItemSource(url, options.site or source.site_for(url), options), document

    def _skip(self, item: object, field_names: Iterable[str], options: RequestOptions) -> None:
        """Count an item that is not to be cleaned or has no HTML, which is logged once for each kind of item."""
        tamis = self._tamis
        if not options.clean:
            tamis.count(stats.ITEMS_OPTED_OUT)
        elif isinstance(item, Content) and item.html is None and item.status is not None:
            tamis.count(_STATUS_STATS.get(item.status, stats.ITEMS_CLEANED))
            self._tell(item.url, vars(item))  # it was cleaned for its callback
        else:
            tamis.count(stats.ITEMS_WITHOUT_HTML)
            tamis.warn_once(
                (type(item), "html"),
                "Items of %s have no field %r to be cleaned and go on as they are; TAMIS_FIELD_NAMES names the "
                "field that holds the HTML, and the first of them has %s",
                *(type(item).__qualname__, self._config.html_field),
                ", ".join(map(repr, field_names)) or "no field at all",
                level=logging.INFO,
            )

    async def _find_original(self, document: str, cleaned: CleanedItem, options: RequestOptions) -> None:
        """Note what an item is a near-duplicate of, or drop it where that is wanted and the text is the same."""
        tamis, config = self._tamis, self._config
        if tamis.duplicates is None:
            return
        if self._unstored is not None:
            verdict = await self._unstored.find(tamis.duplicates, document, cleaned.shingles)
        else:
            verdict = await tamis.duplicates.find(document, cleaned.shingles, enter=not config.read_only)
        if verdict is None or verdict.duplicate_of is None:
            return
        tamis.count(stats.ITEMS_DUPLICATE)
        cleaned.values["duplicate_of"] = verdict.duplicate_of
        if not (config.drop_duplicates if options.drop_duplicates is None else options.drop_duplicates):
            return
        if verdict.is_same_text(cleaned.shingles, config.duplicates_sketch, config.duplicates_resemblance):
            tamis.count(_STATUS_STATS[cleaned.status])
            tamis.count(stats.ITEMS_DROPPED)
            raise DropItem(f"the text is that of {verdict.duplicate_of}", log_level="DEBUG")

    def _tell(self, url: str | None, values: Mapping[str, Any]) -> None:
        """Tell the report and the progress of the crawl of a cleaned item."""
        for listener in self._tamis.on_cleaned:
            listener(url, values)

    def _write(self, adapter: ItemAdapter, cleaned: CleanedItem) -> bool:
        """Fill the fields that the item has; return whether any content was written, and count it as cleaned then.

        A field that holds something already is the user's and stays. Without ``TAMIS_KEEP_HTML`` the HTML is taken off
        once the content is on the item. If the item cannot be changed, the adapter holds a changed copy afterwards.
        """
        has_content, problems = not self._wants_content, {}
        for name, value in cleaned.values.items():
            if (field := self._config.field_names[name]) is not None:
                problems[name] = _fill_field(adapter, field, value)
                has_content |= problems[name] is None and name in _CONTENT
        if not has_content:
            self._warn_of_no_room(type(adapter.item), problems)
        elif not self._config.keep_html and self._wants_content and not _remove_field(adapter, self._config.html_field):
            problems["html"] = "cannot be taken off"
        if not has_content or any(problem not in {None, _MISSING, _HELD} for problem in problems.values()):
            self._tamis.count(stats.ITEMS_WITHOUT_FIELD)
        if has_content:
            self._tell_of_absent_outputs(type(adapter.item), problems)
            self._tamis.count(_STATUS_STATS[cleaned.status])
        return has_content

    def _warn_of_no_room(self, kind: type, problems: dict[str, str | None]) -> None:
        """Warn, once for each kind of item, that nothing of the content could be written on it."""
        reasons = [f"{self._config.field_names[name]!r} {problems[name]}" for name in _CONTENT if problems.get(name)]
        self._tamis.warn_once(
            (kind, "room"),
            "Items of %s go on without their clean text: the field %s. TAMIS_FIELD_NAMES can name another",
            *(kind.__qualname__, " and ".join(sorted(reasons))),
        )

    def _tell_of_absent_outputs(self, kind: type, problems: dict[str, str | None]) -> None:
        """Say, once for each kind of item, which fields were asked for that it does not declare."""
        names = self._config.field_names
        if absent := sorted(repr(names[name]) for name in self._config.outputs if problems.get(name) == _MISSING):
            self._tamis.warn_once(
                (kind, "outputs"),
                "Items of %s do not get what TAMIS_OUTPUTS asks for: the class does not declare %s",
                *(kind.__qualname__, ", ".join(absent)),
                level=logging.INFO,
            )


def _has_csv_feed_without_fields(settings: BaseSettings) -> bool:
    feeds = settings.getdict("FEEDS").values()
    return not settings["FEED_EXPORT_FIELDS"] and any(
        feed.get("format") == "csv" and not feed.get("fields") for feed in feeds
    )


def _fill_field(adapter: ItemAdapter, field: str, value: object) -> str | None:
    """Set a field unless it holds something; return why it was not set."""
    try:
        held = adapter.get(field)
        is_empty = held is None or (isinstance(held, _EMPTY_KINDS) and not held)
        if not is_empty and (held or held != _default_of(type(adapter.item), field)):
            return _HELD
        _set_field(adapter, field, value)
    except KeyError:
        return _MISSING
    except Exception as error:  # whatever the item's class raises
        return f"refuses it ({type(error).__name__}: {error})"
    return None


def _default_of(kind: type, field: str) -> object:
    """Return the default of a field that a class declares, which nobody has set then; ``None`` without one."""
    for declared in (getattr(kind, "__dataclass_fields__", {}), getattr(kind, "model_fields", {})):
        if field in declared:
            return declared[field].default
    return next((each.default for each in getattr(kind, "__attrs_attrs__", ()) if each.name == field), None)


def _set_field(adapter: ItemAdapter, field: str, value: object) -> None:
    """Set a field; where the item cannot be changed, the adapter gets a copy of it."""
    item = adapter.item
    try:
        adapter[field] = value
    except KeyError:
        raise
    except Exception:
        if is_dataclass(item) and not isinstance(item, type):
            item = replace(item, **{field: value})
        elif hasattr(item, "__attrs_attrs__"):
            import attrs  # noqa: PLC0415  (it is there, since the item's class was made with it)

            item = attrs.evolve(item, **{field: value})
        elif getattr(item, "model_config", {}).get("frozen"):
            item = item.model_copy(update={field: value})
        else:
            raise
        adapter.adapter = type(adapter.adapter)(item)


def _unwrap_list(value: Any) -> Any:
    """Return the only value of a list: item loaders without an output processor make a list of every field."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _remove_field(adapter: ItemAdapter, field: str) -> bool:
    """Remove a field, or empty it where the class declares it; return whether this could be done."""
    try:
        if isinstance(adapter.item, MutableMapping):
            del adapter[field]
        else:
            _set_field(adapter, field, None)
    except Exception:
        return False
    return True


@dataclass(eq=False, slots=True)
class _Candidate:
    """An item on its way through the pipelines behind ours."""

    url: str
    shingles: NDArray[np.uint64]
    settled: asyncio.Event = field(default_factory=asyncio.Event)


class UnstoredOriginals:
    """Enters originals, whose copies are dropped, in the near-duplicate index once Scrapy has stored them.

    If an item were entered when it is first seen, and a later pipeline or a crash lost it, all its copies would be
    dropped with it. So copies of an item on its way wait until it is stored or lost. A signal's item is recognized by
    the task that takes it through the pipelines, since these may put another object in its place.
    """

    def __init__(self, tamis: Tamis) -> None:
        self._tamis = tamis
        self._pending: list[_Candidate] = []
        self._current: ContextVar[_Candidate | None] = ContextVar("tamis_candidate", default=None)

    async def find(self, index: DuplicateIndex, url: str, shingles: NDArray[np.uint64]) -> Verdict | None:
        """Return the verdict on an item; one that repeats no other is on its way from then on."""
        self._current.set(None)
        verdict: Verdict | None = None
        with suppress(TimeoutError):
            async with asyncio.timeout(STORE_TIMEOUT_S):
                while True:
                    verdict = await index.find(url, shingles, enter=False)
                    if verdict is None or verdict.duplicate_of is not None:
                        return verdict
                    others = (each for each in self._pending if each.url != url)
                    alike = (each for each in others if near_duplicates(each.shingles[:KEEP], shingles[:KEEP]))
                    if (original := next(alike, None)) is None:
                        break
                    await original.settled.wait()
        candidate = _Candidate(url, shingles)
        self._pending.append(candidate)
        self._current.set(candidate)
        return verdict

    async def stored(self) -> None:
        """Enter the item of this task: it has been stored."""
        candidate = self._current.get()
        try:
            if candidate is not None and candidate in self._pending and self._tamis.duplicates is not None:
                await self._tamis.duplicates.find(candidate.url, candidate.shingles)
        finally:
            self.lost()

    def lost(self) -> None:
        """Forget the item of this task: a later pipeline has dropped it, or failed."""
        candidate = self._current.get()
        if candidate is not None and candidate in self._pending:
            self._pending.remove(candidate)
            candidate.settled.set()
