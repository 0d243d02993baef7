"""One item's HTML to the values of its fields; plain work without Scrapy, for any thread or process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy_winnow.fields import FIELDS, Outcome
from winnow.cleaning import clean
from winnow.counting import MIN_PAGES
from winnow.duplicates import KEEP, shingles
from winnow.page.page import DEFAULT_LIMITS, Limits, Page
from winnow.site import PageCounts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from scrapy_winnow.storage.evidence import UnitCounts
    from winnow.evidence.comments import Comments
    from winnow.models.scores import Favor, Model, Scope

_SWITCHES: Final = ("links", "images", "tables", "deduplicate", "comments", "scope", "favor")


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


@dataclass(frozen=True, slots=True)
class CleaningOptions:
    """What is the same for all pages of a crawl; plain values, since they go to other processes with each page.

    Attributes:
        limits: caps above which a page is passed through.
        outputs: optional values to work out as well.
        comments: what becomes of what readers wrote.
        sketch: shingles of the clean text to work out.
        links, images, tables, deduplicate: as in :func:`winnow.clean`.
        scope: what is wanted of the pages, see :func:`winnow.cleaning.clean`.
        favor: which mistakes are worse, likewise.
    """

    limits: Limits = DEFAULT_LIMITS
    outputs: tuple[str, ...] = ()
    comments: Comments = "separate"
    sketch: int = KEEP
    links: bool = True
    images: bool = True
    tables: bool = True
    deduplicate: bool = True
    scope: Scope = "auto"
    favor: Favor = "balanced"

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Self:
        """Return the options that :func:`dataclasses.asdict` and JSON have made plain."""
        return cls(**{**plain, "limits": Limits(**plain["limits"]), "outputs": tuple(plain["outputs"])})


def clean_item(
    html: str | bytes | Page, url: str | None, counts: UnitCounts | None, *, model: Model, options: CleaningOptions
) -> CleanedItem:
    """Clean a page for an item.

    Args:
        html: the item's HTML, or the page where it was already read.
        url: address of the page, where known.
        counts: what the site's counts say of it, where there are some.
        model: page-level model.
        options: caps and outputs.

    Raises:
        ValueError: the counts are those of another page.
    """
    limits = options.limits
    site = None
    if counts is not None:
        html = html if isinstance(html, Page) else Page.parse(html, url, limits=limits)
        site = PageCounts(counts.frequencies(html), counts.pages)
    with_evidence = site is not None and site.pages >= MIN_PAGES
    switches = {name: getattr(options, name) for name in _SWITCHES}
    cleaned = clean(html, url, model=model, limits=limits, site=site, **switches)
    own = shingles(cleaned.text, keep=options.sketch)
    outcome = Outcome(cleaned, counts, with_evidence, own)
    values = {
        field.name: field.value(outcome)
        for field in FIELDS
        if field.value is not None and (not field.optional or field.name in options.outputs)
    }
    return CleanedItem(values, own, with_evidence)
