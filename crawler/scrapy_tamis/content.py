"""An item class with all fields, which callbacks can also ask scrapy-poet for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Content:
    """A page and its clean content; ``docs/reference/fields.md`` describes the fields.

    Yield ``Content(url=..., html=...)``; the pipeline fills the rest. With scrapy-poet a callback or a page object can
    ask for a filled one (:mod:`scrapy_tamis.providers`). Fields that were not computed are ``None``.
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
    model_version: str | None = None
    evidence_pages: int | None = None
    site_label_version: int | None = None
    status: str | None = None
    shingles: list[str] | None = None
    duplicate_of: str | None = None
    resemblance: float | None = None
    clean_html: str | None = None
    markdown: str | None = None
    metadata: dict[str, Any] | None = None
    chunks: list[dict[str, Any]] | None = None
    segments: list[dict[str, Any]] | None = None
    blocks: list[dict[str, Any]] | None = None
