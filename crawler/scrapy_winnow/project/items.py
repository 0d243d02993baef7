"""The item of the project's own spider."""

from __future__ import annotations

from scrapy import Field, Item

from scrapy_winnow.fields import FIELDS


class PageItem(Item):
    """One page: the spider fills the address and the HTML, the pipeline the rest (``docs/reference/fields.md``)."""

    url = Field()
    html = Field()


PageItem.fields.update({field.name: Field() for field in FIELDS})
