"""What a request says of its page: ``meta={"winnow": False}``, or a mapping with more than on and off."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy_winnow.storage.keys import site_of

if TYPE_CHECKING:
    from scrapy.http import Response

logger = logging.getLogger(__name__)

META: Final = "winnow"
"""Name of the entry in a request's ``meta``."""


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of one request; ``docs/reference/settings.md`` has their table.

    Attributes:
        count: count the page for its site.
        clean: clean its items.
        site: site that it counts for; ``None`` for that of its address.
        drop_duplicates: drop near-duplicates; ``None`` for what ``WINNOW_DROP_DUPLICATES`` says.
        model: name or file of the model that cleans it; ``None`` for that of the crawl.
    """

    count: bool = True
    clean: bool = True
    site: str | None = None
    drop_duplicates: bool | None = None
    model: str | None = None

    @classmethod
    def of(cls, response: Response) -> Self:
        """Read the options of a response's request; what makes no sense is logged and passed over."""
        value = response.meta.get(META, True) if response.request is not None else True
        if not isinstance(value, Mapping):
            return cls() if value is not False else cls(count=False, clean=False)
        wanted: dict[str, Any] = {}
        for name, option in value.items():
            if name in _TAKES and (option is None or isinstance(option, _TAKES[name])):
                wanted |= {} if option is None else {name: option}
            else:
                logger.warning("meta[%r] of %s: passed over %r: %r", META, response.url, name, option)
        if "site" in wanted:
            name = wanted["site"]
            wanted["site"] = site_of(name if "://" in name else f"https://{name}/")
        return cls(**wanted)

    def site_of(self, response: Response) -> str | None:
        """Return the site that a response counts for; ``None`` where it has none."""
        return self.site or site_of(response.url)


DEFAULT: Final = RequestOptions()
_TAKES: Final = {f.name: str if f.name in {"site", "model"} else bool for f in fields(RequestOptions)}
