"""A page as it comes out of an archive: one row, the same in JSON Lines, Parquet and WARC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy_winnow.fields import FIELDS, Outcome
from scrapy_winnow.hosts.evidence import HashedPage
from winnow.cleaning import clean
from winnow.counting import MIN_PAGES
from winnow.duplicates.shingles import shingles
from winnow.page import Page, PageTooLarge

if TYPE_CHECKING:
    from scrapy_winnow.archives.counting.host_counts import HostCounts
    from scrapy_winnow.archives.reading.records import ArchivedPage
    from scrapy_winnow.hosts.evidence import SiteEvidence
    from winnow.models.base import Model
    from winnow.page.page import Limits

    Row = dict[str, object]

OWN_COLUMNS: Final = ("url", "host", "date", "record_id")
"""What the archive says of a page; the other columns are those of items."""


def columns(outputs: frozenset[str]) -> tuple[str, ...]:
    """Names of the columns, with the optional ones that are wanted."""
    return OWN_COLUMNS + tuple(field.name for field in FIELDS if not field.optional or field.name in outputs)


def read(page: ArchivedPage, limits: Limits) -> HashedPage | None:
    """Read a page and fingerprint its leaves; ``None`` for one above the limits."""
    try:
        return HashedPage.of(Page.parse(page.html, page.url, encoding=page.charset, limits=limits))
    except PageTooLarge:
        return None


def counted_row(page: ArchivedPage, known: HostCounts, *, model: Model, limits: Limits, outputs: frozenset[str]) -> Row:
    """Clean a page with the final counts of its host."""
    hashed = read(page, limits)
    evidence = known.evidence(page.host, hashed.fingerprints) if hashed is not None else None
    return row_of(page, hashed, evidence, model=model, limits=limits, outputs=outputs)


def row_of(
    page: ArchivedPage,
    hashed: HashedPage | None,
    evidence: SiteEvidence | None,
    *,
    model: Model,
    limits: Limits,
    outputs: frozenset[str],
) -> Row:
    """Clean a page that was read, with what is known of its host."""
    cleaned = clean(
        page.html if hashed is None else hashed.page,
        page.url,
        model=model,
        limits=limits,
        df=hashed.frequencies(evidence) if hashed is not None and evidence is not None else None,
        pages=evidence.pages if evidence is not None else 0,
    )
    with_evidence = evidence is not None and evidence.pages >= MIN_PAGES
    outcome = Outcome(cleaned, evidence, with_evidence, shingles(cleaned.text))
    row: Row = {name: getattr(page, name) for name in OWN_COLUMNS}
    for field in FIELDS:
        if not field.optional or field.name in outputs:
            row[field.name] = field.value(outcome) if field.value is not None else None
    return row
