"""One item's HTML to the values of its fields; plain work without Scrapy, so that it can run in a thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_winnow.fields import FIELDS, Outcome
from winnow.cleaning import clean
from winnow.duplicates.shingles import KEEP, shingles
from winnow.site.counting.site_level import MIN_PAGES

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    from numpy.typing import NDArray

    from scrapy_winnow.hosts.evidence import HashedPage, SiteEvidence
    from winnow.models.base import Model
    from winnow.page.page import Limits


@dataclass(frozen=True, slots=True, eq=False)
class CleanedItem:
    """What the pipeline writes.

    Attributes:
        values: values by the names of :data:`scrapy_winnow.fields.FIELDS`.
        shingles: uint64, of the clean text.
        with_evidence: whether the counts of the site took part in the decision.
    """

    values: dict[str, object]
    shingles: NDArray[np.uint64]
    with_evidence: bool

    @property
    def status(self) -> str:
        """``cleaned``, ``fallback``, ``empty`` or ``too_large``."""
        return str(self.values["status"])


def clean_item(
    html: str | bytes,
    url: str | None,
    hashed: HashedPage | None,
    evidence: SiteEvidence | None,
    *,
    model: Model,
    limits: Limits,
    outputs: Collection[str],
    sketch: int = KEEP,
) -> CleanedItem:
    """Clean a page for an item.

    Args:
        html: the item's HTML.
        url: address of the page, where known.
        hashed: the page already read; without it the HTML is parsed.
        evidence: what the site's counts say of the fingerprints of ``hashed``.
        model: page-level model.
        limits: caps above which the page is passed through.
        outputs: optional values to work out as well.
        sketch: shingles of the clean text to work out.
    """
    with_evidence = hashed is not None and evidence is not None and evidence.pages >= MIN_PAGES
    cleaned = clean(
        html if hashed is None else hashed.page,
        url,
        model=model,
        limits=limits,
        df=hashed.frequencies(evidence) if hashed is not None and evidence is not None else None,
        pages=evidence.pages if evidence is not None else 0,
    )
    own = shingles(cleaned.text, keep=sketch)
    outcome = Outcome(cleaned, evidence, with_evidence, own)
    values = {
        field.name: field.value(outcome)
        for field in FIELDS
        if field.value is not None and (not field.optional or field.name in outputs)
    }
    return CleanedItem(values, own, with_evidence)
