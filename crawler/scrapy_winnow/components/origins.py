"""Which page an item came from: how the middleware hands its work to the pipeline, outside the item.

Nothing here outlives a response. A page, whose lxml tree can be ten times its HTML, is looked up by its response, which
holds that tree anyway, and goes with it. An item is remembered until the pipeline has asked for it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary, ref

from scrapy_winnow.components.request_options import DEFAULT, RequestOptions

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_winnow.storage.evidence import HashedUnits, SiteEvidence

_REMEMBERED: Final = 1_000
"""Items that no pipeline of ours has asked for are forgotten beyond this many."""


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
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


class Origins:
    """The origins of the items that are on their way from the middleware to the pipeline."""

    def __init__(self) -> None:
        self._origins: WeakKeyDictionary[Response, Origin] = WeakKeyDictionary()
        self._items: OrderedDict[int, tuple[Any, ref[Response]]] = OrderedDict()

    def put(self, response: Response, origin: Origin) -> None:
        """Keep the origin as long as the response lives."""
        self._origins[response] = origin

    def note(self, item: Any, response: Response) -> None:
        """Remember that the item came from the response; the item is held, so that its id stays its own."""
        self._items[id(item)] = item, ref(response)
        if len(self._items) > _REMEMBERED:
            self._items.popitem(last=False)

    def take(self, item: Any) -> Origin | None:
        """Return the item's origin, once; ``None`` for an item that did not come through the middleware."""
        noted = self._items.pop(id(item), None)
        response = noted[1]() if noted else None
        return self._origins.get(response) if response is not None else None
