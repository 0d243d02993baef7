"""The fields that the pipeline writes on items: one table of their names and of how each comes about."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from winnow.duplicates import KEEP

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from scrapy_winnow.storage.evidence import SiteEvidence, UnitCounts
    from winnow.cleaned import Cleaned


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What is known of an item's page once it is cleaned.

    Attributes:
        cleaned: its content.
        evidence: what the counts of its site say of it; ``None`` without counts.
        with_evidence: whether they took part in the decision.
        shingles: uint64, of the clean text, ascending.
    """

    cleaned: Cleaned
    evidence: SiteEvidence | UnitCounts | None
    with_evidence: bool
    shingles: NDArray[np.uint64]

    @property
    def status(self) -> str:
        """``cleaned``, ``fallback``, ``empty``, ``too_large`` or ``binary``."""
        if self.cleaned.passed_through is not None:
            return "binary" if self.cleaned.passed_through == "binary" else "too_large"
        if not self.cleaned.text:
            return "empty"
        return "fallback" if self.cleaned.fallback else "cleaned"


class ItemField(NamedTuple):
    """A field of items.

    Attributes:
        name: what it is called where ``WINNOW_FIELD_NAMES`` does not say otherwise.
        value: works it out; ``None`` for what only the near-duplicate index knows.
        optional: written only where ``WINNOW_OUTPUTS`` names it.
    """

    name: str
    value: Callable[[Outcome], object] | None
    optional: bool = False


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


FIELDS: Final = (
    ItemField("text", lambda o: o.cleaned.text),
    ItemField("comments", lambda o: o.cleaned.comments),
    ItemField("title", lambda o: o.cleaned.title),
    ItemField("template_share", lambda o: round(o.cleaned.template_share, 4)),
    ItemField("confidence", lambda o: _rounded(o.cleaned.confidence)),
    ItemField("kind", lambda o: o.cleaned.kind),
    ItemField("label_source", lambda o: "site" if o.with_evidence else "page"),
    ItemField("label_version", lambda o: o.cleaned.model_version),
    ItemField("evidence_pages", lambda o: o.evidence.pages if o.evidence is not None else 0),
    ItemField("site_label_version", lambda o: o.evidence.label_version if o.evidence is not None else 0),
    ItemField("status", lambda o: o.status),
    ItemField("shingles", lambda o: [f"{shingle:016x}" for shingle in o.shingles[:KEEP].tolist()]),
    ItemField("duplicate_of", None),
    ItemField("clean_html", lambda o: o.cleaned.html, optional=True),
    ItemField("markdown", lambda o: o.cleaned.markdown, optional=True),
    ItemField("metadata", lambda o: o.cleaned.metadata.to_dict(), optional=True),
    ItemField("chunks", lambda o: [chunk.to_dict() for chunk in o.cleaned.chunks()], optional=True),
    ItemField("segments", lambda o: [asdict(segment) for segment in o.cleaned.segments], optional=True),
)
"""All fields; ``docs/reference/fields.md`` has their table."""

WRITTEN_FIELDS: Final = tuple(field.name for field in FIELDS if not field.optional)
"""What the pipeline writes on every item, where the item has room for it."""

OPTIONAL_FIELDS: Final = tuple(field.name for field in FIELDS if field.optional)
"""What the pipeline writes when ``WINNOW_OUTPUTS`` names it."""
