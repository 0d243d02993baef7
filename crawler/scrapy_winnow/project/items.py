"""The item of the project's own spider."""

from __future__ import annotations

from scrapy import Field, Item


class PageItem(Item):
    """One page: the spider fills the address and the HTML, the pipeline the rest; ``docs/fields.md`` has the table."""

    url = Field()
    html = Field()
    title = Field()
    text = Field()
    template_share = Field()
    label_source = Field()
    label_version = Field()
    evidence_pages = Field()
    site_label_version = Field()
    status = Field()
    shingles = Field()
    duplicate_of = Field()
    clean_html = Field()
    markdown = Field()
    segments = Field()
