"""What a request says of its page, and which page an item came from.

The middleware hands its work to the pipeline here, outside the item. Nothing outlives a response: a page, whose lxml
tree can be ten times its HTML, is looked up by its response, which holds that tree anyway, and goes with it. An item is
remembered until the pipeline has asked for it.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import WeakKeyDictionary, ref

from scrapy_winnow.storage.keys import site_of
from winnow.rules import Rules

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_winnow.storage.evidence import HashedUnits, SiteEvidence
    from winnow.rules import Rule

logger = logging.getLogger(__name__)

META: Final = "winnow"
"""Name of the entry in a request's ``meta``."""


_NO_RULES: Final = Rules()


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of one request; ``docs/reference/settings.md`` has their table.

    Attributes:
        count: count the page for its site.
        clean: clean its items.
        site: site that it counts for; ``None`` for that of its address.
        drop_duplicates: drop near-duplicates; ``None`` for what ``WINNOW_DROP_DUPLICATES`` says.
        model: name or file of the model that cleans it; ``None`` for that of the crawl.
        rules: rules for it besides those of the crawl; ``None`` to go by no rules.
    """

    count: bool = True
    clean: bool = True
    site: str | None = None
    drop_duplicates: bool | None = None
    model: str | None = None
    rules: Rules | None = _NO_RULES

    @classmethod
    def of(cls, response: Response) -> Self:
        """Read the options of a response's request; what makes no sense is logged and ignored."""
        value = response.meta.get(META, True) if response.request is not None else True
        return cls().updated(value, response.url)

    def updated(self, value: object, url: str | None) -> Self:
        """Return them with those in ``value``, a mapping or a truth value, for the page at ``url``."""
        if not isinstance(value, Mapping):
            is_off = not value or str(value).lower() in _OFF
            return replace(self, count=False, clean=False) if is_off and value is not None else self
        chosen: dict[str, Any] = {}
        for name, option in value.items():
            try:
                chosen |= {} if option is None else {name: _checked(name, option)}
            except ValueError as error:
                why = f": {error}" if str(error) else ""
                logger.warning("%r of %s: ignored %r: %r%s", META, url, name, option, why)
        return replace(self, **chosen)

    def rules_of(self, crawl: Rules, url: str | None) -> tuple[Rule, ...]:
        """Return the rules for a page, those of the crawl first."""
        return () if self.rules is None else crawl.of(url) + self.rules.of(url)

    def site_of(self, response: Response) -> str | None:
        """Return the site that a response counts for; ``None`` where it has none."""
        return self.site or site_of(response.url)


_OFF: Final = frozenset({"no", "off", "false", "0"})
DEFAULT: Final = RequestOptions()
_TYPES: Final = {f.name: str if f.name in {"site", "model"} else bool for f in fields(RequestOptions)}


def _checked(name: object, option: object) -> object:
    """The value of an option; a ``ValueError`` where it makes no sense."""
    if name == "rules":
        return None if option is False else Rules(() if option is True else option)  # type: ignore[arg-type]
    if name not in _TYPES or not isinstance(option, _TYPES[name]):
        raise ValueError
    if name == "site":
        return site_of(str(option) if "://" in str(option) else f"https://{option}/")
    return option


_MAX_ITEMS: Final = 1_000
"""Items that no pipeline of ours has asked for are forgotten beyond this many."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemSource:
    """What the middleware found out about a response.

    Attributes:
        url: address of the response.
        site: site that it counts for, where it has one.
        options: what its request says of it.
        html: the response's text and body; an item that holds one of them holds this very page.
        hashed: its fingerprints, and the page with them where the crawl's own process has read it.
        evidence: what the site's counts say of it, where there are some.
    """

    url: str
    site: str | None = None
    options: RequestOptions = DEFAULT
    html: tuple[str, bytes] | None = None
    hashed: HashedUnits | None = None
    evidence: SiteEvidence | None = None

    def is_of(self, html: str | bytes) -> bool:
        """Whether an item's HTML is the whole page, unchanged."""
        return self.html is not None and any(html is own or html == own for own in self.html)


class ItemSources:
    """Where the items came from that are on their way from the middleware to the pipeline."""

    def __init__(self) -> None:
        self._sources: WeakKeyDictionary[Response, ItemSource] = WeakKeyDictionary()
        self._items: OrderedDict[int, tuple[Any, ref[Response]]] = OrderedDict()

    def add_response(self, response: Response, source: ItemSource) -> None:
        """Keep what is known of a response as long as it lives."""
        self._sources[response] = source

    def add_item(self, item: Any, response: Response) -> None:
        """Remember that the item came from the response; the item is held, so that its id stays its own."""
        self._items[id(item)] = item, ref(response)
        if len(self._items) > _MAX_ITEMS:
            self._items.popitem(last=False)

    def take(self, item: Any) -> ItemSource | None:
        """Return where an item came from, once; ``None`` for an item that did not come through the middleware."""
        noted = self._items.pop(id(item), None)
        response = noted[1]() if noted else None
        return self._sources.get(response) if response is not None else None
