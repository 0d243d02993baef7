"""Writes what came out of a page into the fields that its item has room for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from scrapy_winnow import stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from itemadapter import ItemAdapter

    from scrapy_winnow.config import Config

logger = logging.getLogger(__name__)

_CONTENT: Final = frozenset({"text", "clean_html", "markdown"})
"""Values that hold the content of a page."""


class ItemWriter:
    """Fills fields of items; classes of items refuse in any way they like, and no item is lost by it.

    Args:
        config: the settings.
        count: adds one to a stat.
        extra: gives what log records carry.
    """

    def __init__(
        self, config: Config, count: Callable[[str], object], extra: Callable[[], dict[str, object]] = dict
    ) -> None:
        self._config = config
        self._count = count
        self._extra = extra
        self._said: set[tuple[type, str]] = set()

    def write(self, adapter: ItemAdapter, values: dict[str, object]) -> None:
        """Fill the fields that the item has room for; one that holds something already is the user's and stays.

        The HTML is taken off, where it is not to be kept, once the content has a place on the item.
        """
        unwritten = has_content = False
        for name, value in values.items():
            field = self._config.field_names[name]
            if field is None:
                continue
            is_written = _fill(adapter, field, value)
            unwritten |= not is_written and name != "title"
            has_content |= is_written and name in _CONTENT
        if not self._config.keep_html and has_content:
            unwritten |= not _take_off(adapter, self._config.html_field)
        if unwritten:
            self._count(stats.ITEMS_WITHOUT_FIELD)
        if not has_content:
            self._has_no_room(type(adapter.item))

    def has_no_html(self, item: object, adapter: ItemAdapter | None) -> None:
        """Say, once for each kind of item, that it has nothing to be cleaned."""
        if self._is_first(type(item), "html"):
            logger.warning(
                "Items of %s have no field %r to be cleaned and go on as they are; WINNOW_HTML_FIELD names the field "
                "that holds the HTML, and the first of them has %s",
                *(_name_of(type(item)), self._config.html_field),
                ", ".join(map(repr, adapter or ())) or "no field at all",
                extra=self._extra(),
            )

    def _has_no_room(self, kind: type) -> None:
        """Say, once for each kind of item, that nothing of the content could be written on it."""
        wanted = any(self._config.field_names[name] for name in _CONTENT)
        if wanted and self._is_first(kind, "room"):
            logger.warning(
                "Items of %s have no room for their clean text: they need a field %r that is empty and can be set, or "
                "WINNOW_FIELD_NAMES with the name of another",
                *(_name_of(kind), self._config.field_names["text"] or "text"),
                extra=self._extra(),
            )

    def _is_first(self, kind: type, what: str) -> bool:
        is_first = (kind, what) not in self._said
        self._said.add((kind, what))
        return is_first


def _fill(adapter: ItemAdapter, field: str, value: object) -> bool:
    """Set a field unless it holds something; return whether it was set."""
    try:
        if adapter.get(field):
            return False
        adapter[field] = value
    except Exception:
        return False
    return True


def _take_off(adapter: ItemAdapter, field: str) -> bool:
    try:
        del adapter[field]
    except Exception:
        return _clear(adapter, field)
    return True


def _clear(adapter: ItemAdapter, field: str) -> bool:
    try:
        adapter[field] = None
    except Exception:
        return False
    return True


def _name_of(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
