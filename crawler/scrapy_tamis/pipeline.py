"""The item pipeline: cleans the HTML of an item and writes the results into the fields of the item."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import MutableMapping
from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy import signals

from scrapy_tamis import stats
from scrapy_tamis.content import Content
from scrapy_tamis.extension import Component, tamis_of
from scrapy_tamis.item_sources import META, ItemSource, page_address
from scrapy_tamis.pool import CRASHED, TIMED_OUT
from tamis.cleaning import NOT_HTML
from tamis.page.parsing import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from scrapy_tamis.fields import CleanedItem
    from scrapy_tamis.item_sources import RequestOptions

_STATUS_STATS: Final = {
    "cleaned": stats.ITEMS_CLEANED,
    "from_data": stats.ITEMS_CLEANED,
    "fallback": stats.ITEMS_FALLBACK,
    "repeated": stats.ITEMS_CLEANED,
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

    async def process_item(self, item: Any) -> Any:
        """Clean an item; one without HTML, or that cannot be cleaned, goes on as it is.

        If a step fails, only the fields that it would have written are missing.
        """
        done = asyncio.get_running_loop().create_future()
        self._in_hand.add(done)
        try:
            return await self._process(item)
        finally:
            self._in_hand.discard(done)
            done.set_result(None)

    async def close_spider(self) -> None:
        """Wait for the items on their way: ``scrapy parse`` shows them without waiting."""
        if self._in_hand:
            await asyncio.wait(self._in_hand, timeout=_CLOSE_TIMEOUT_S)

    async def _process(self, item: Any) -> Any:
        tamis, step = self._tamis, self._tamis.step
        source = tamis.sources.current() or ItemSource()
        if not ItemAdapter.is_item(item):
            self._skip(item, (), source.options)
            return item
        cleaned = None
        adapter = ItemAdapter(item)
        with step("clean the item", stats.ITEMS_FAILED, source.url):
            if (page := self._page_of(adapter, source)) is not None:
                html, source = page
                cleaned = await tamis.clean(html, source)
        if cleaned is None:
            return adapter.item
        url = source.url
        if cleaned.values["comments"]:
            tamis.count(stats.ITEMS_WITH_COMMENTS)
        if cleaned.status == "repeated":
            tamis.count(stats.ITEMS_REPEATED)
        if cleaned.values["label_source"] == "site":
            tamis.count(stats.ITEMS_WITH_EVIDENCE)
        with step("fill the fields of the item", stats.ITEMS_INCOMPLETE, url):
            if self._write(adapter, cleaned):
                self._notify(url, cleaned.values | cleaned.losses)
        return adapter.item

    def _check_columns(self, item: Any) -> None:
        """Warn of fields that a CSV feed leaves out, which has the columns of the first item that it gets."""
        if not ItemAdapter.is_item(item):
            return
        names = set(ItemAdapter(item).field_names())
        if self._columns is None:
            self._columns = names
        if lost := sorted((names - self._columns).intersection(self._config.field_names.values())):
            self._columns |= names
            self._tamis.warn_once(
                (*lost, "columns"),
                "CSV feeds have the columns of their first item, so they lose %s of others: list all columns in "
                "FEED_EXPORT_FIELDS",
                ", ".join(map(repr, lost)),
            )

    def _page_of(self, adapter: ItemAdapter, source: ItemSource) -> tuple[str | bytes, ItemSource] | None:
        """Return the HTML of an item and what is known of its page; ``None`` if it goes on as it is: it is counted."""
        tamis, config, options = self._tamis, self._config, source.options
        if (own := adapter.get(META)) is not None:
            _remove_field(adapter, META)
            options = options.updated(own, tamis.warn_once, ignored={"count", "url"})
        html = unwrap_list(adapter.get(config.html_field))
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
        if source.is_of(html) and options.site == source.options.site:
            return source.html[0], source if own is None else replace(source, options=options)
        address = unwrap_list(adapter.get(config.field_names["url"]))
        url = page_address(address) if isinstance(address, str) else source.url
        # A page that was carried along or fetched in the callback is judged by its own host, not by the response's.
        return html, ItemSource(url, options.site or source.site_for(url), options)

    def _skip(self, item: object, field_names: Iterable[str], options: RequestOptions) -> None:
        """Count an item that is not to be cleaned or has no HTML, which is logged once for each kind of item."""
        tamis = self._tamis
        if not options.clean:
            tamis.count(stats.ITEMS_OPTED_OUT)
        elif isinstance(item, Content) and item.html is None and item.status is not None:
            tamis.count(_STATUS_STATS.get(item.status, stats.ITEMS_CLEANED))
            self._notify(item.url, vars(item))  # it was cleaned for its callback
        else:
            tamis.count(stats.ITEMS_WITHOUT_HTML)
            tamis.warn_once(
                (type(item), "html"),
                "Items of %s have nothing in the field %r and go on as they are; TAMIS_FIELD_NAMES names the "
                "field that holds the HTML, and the first of them has %s",
                *(type(item).__qualname__, self._config.html_field),
                ", ".join(map(repr, field_names)) or "no field at all",
                level=logging.INFO,
            )

    def _notify(self, url: str | None, values: Mapping[str, Any]) -> None:
        """Hand a cleaned item to the listeners, such as the report of the crawl."""
        for listener in self._tamis.on_cleaned:
            listener(url, values)

    def _write(self, adapter: ItemAdapter, cleaned: CleanedItem) -> bool:
        """Fill the fields that the item has; return whether any content was written, and count it as cleaned then.

        A field that holds something already is the user's and stays. Without ``TAMIS_KEEP_HTML`` the HTML is taken off
        once the content is on the item. If the item cannot be changed, the adapter holds a changed copy afterwards.
        """
        has_content, problems, fields = not self._wants_content, {}, fields_of(adapter)
        for name, value in cleaned.values.items():
            if (field := self._config.field_names[name]) is not None:
                problems[name] = fill_field(fields, field, value)
                has_content |= problems[name] is None and name in _CONTENT
        if not has_content:
            self._warn_of_no_room(type(adapter.item), problems)
        elif not self._config.keep_html and self._wants_content and not _remove_field(adapter, self._config.html_field):
            problems["html"] = "cannot be taken off"
        if not has_content or any(problem not in {None, _MISSING, _HELD} for problem in problems.values()):
            self._tamis.count(stats.ITEMS_WITHOUT_FIELD)
        if has_content:
            self._report_absent_outputs(type(adapter.item), problems)
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

    def _report_absent_outputs(self, kind: type, problems: dict[str, str | None]) -> None:
        """Log, once for each kind of item, which fields of ``TAMIS_OUTPUTS`` it does not declare."""
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


def fields_of(adapter: ItemAdapter) -> MutableMapping[str, Any]:
    """Return what the fields of an item are written to: a mapping itself, since its adapter takes six calls a field."""
    return adapter.item if isinstance(adapter.item, MutableMapping) else adapter


def fill_field(fields: MutableMapping[str, Any], field: str, value: object) -> str | None:
    """Set one of the :func:`fields_of` an item unless it holds something; return why it was not set."""
    try:
        held = fields.get(field)
        is_empty = held is None or (isinstance(held, _EMPTY_KINDS) and not held)
        if not is_empty and (held or held != _default_of(fields, field)):
            return _HELD
        if isinstance(fields, ItemAdapter):
            _set_field(fields, field, value)
        else:
            fields[field] = value
    except KeyError:
        return _MISSING
    except Exception as error:  # whatever the item's class raises
        return f"refuses it ({type(error).__name__}: {error})"
    return None


def _default_of(fields: MutableMapping[str, Any], field: str) -> object:
    """Return the default of a declared field, which the user has not set; ``None`` without one."""
    kind = type(fields.item if isinstance(fields, ItemAdapter) else fields)
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


def unwrap_list(value: Any) -> Any:
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
