"""An item class with a field for everything, for those who want one; also what callbacks can ask scrapy-poet for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Content:
    """A page and what came out of it; ``docs/reference/fields.md`` says what each field holds.

    A spider yields ``Content(url=..., html=...)`` and the pipeline fills the rest. With scrapy-poet a callback or a
    page object asks for one that is filled already (:mod:`scrapy_winnow.providers`). What was not worked out is
    ``None``. The HTML that came is not part of what it prints as, since Scrapy's log prints every item.
    """

    url: str | None = None
    html: str | bytes | None = field(default=None, repr=False)
    text: str | None = None
    comments: str | None = None
    title: str | None = None
    template_share: float | None = None
    confidence: float | None = None
    kind: str | None = None
    label_source: str | None = None
    label_version: str | None = None
    evidence_pages: int | None = None
    site_label_version: int | None = None
    status: str | None = None
    shingles: list[str] | None = None
    duplicate_of: str | None = None
    clean_html: str | None = None
    markdown: str | None = None
    metadata: dict[str, Any] | None = None
    chunks: list[dict[str, Any]] | None = None
    segments: list[dict[str, Any]] | None = None
    blocks: list[dict[str, Any]] | None = None
