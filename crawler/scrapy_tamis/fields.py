"""From the HTML of an item to the values of its fields, without Scrapy: it runs in any thread or process."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy_tamis.losses import measure_losses
from scrapy_tamis.storage.evidence import HashedPage
from tamis.cleaning import clean
from tamis.duplicates import shingles
from tamis.page.page import DEFAULT_LIMITS, Limits
from tamis.site import PageCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from scrapy_tamis.storage.evidence import SiteEvidence
    from tamis.cleaning import Cleaned
    from tamis.models import Model
    from tamis.rules import Rule


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A cleaned page with the counts of its site, from which fields are computed."""

    cleaned: Cleaned
    evidence: SiteEvidence | None

    def values(self, outputs: Collection[str] = ()) -> dict[str, object]:
        """Return the values of the fields that are always written, and of those in ``outputs``, by field name."""
        return {
            field.name: field.value(self)
            for field in FIELDS
            if field.value is not None and (not field.optional or field.name in outputs)
        }


class ItemField(NamedTuple):
    """A field of items, and what computes its value; ``None`` for what only the near-duplicate index knows."""

    name: str
    value: Callable[[Outcome], object] | None
    optional: bool = False


FIELDS: Final = (
    ItemField("text", lambda o: o.cleaned.text),
    ItemField("comments", lambda o: o.cleaned.comments),
    ItemField("title", lambda o: o.cleaned.title),
    ItemField("template_share", lambda o: round(o.cleaned.template_share, 4)),
    ItemField("confidence", lambda o: None if o.cleaned.confidence is None else round(o.cleaned.confidence, 4)),
    ItemField("kind", lambda o: o.cleaned.kind),
    ItemField("label_source", lambda o: "site" if o.cleaned.decided and o.cleaned.decided.uses_counts else "page"),
    ItemField("model_version", lambda o: o.cleaned.model_version),
    ItemField("evidence_pages", lambda o: o.evidence.pages if o.evidence else 0),
    ItemField("site_label_version", lambda o: o.evidence.label_version if o.evidence else 0),
    ItemField("status", lambda o: o.cleaned.status),
    ItemField("shingles", lambda o: shingles(o.cleaned.text).astype(">u8").tobytes().hex(" ", 8).split()),
    ItemField("duplicate_of", None),
    ItemField("resemblance", None),
    ItemField("clean_html", lambda o: o.cleaned.html, optional=True),
    ItemField("markdown", lambda o: o.cleaned.markdown, optional=True),
    ItemField("metadata", lambda o: o.cleaned.metadata.to_dict(), optional=True),
    ItemField("chunks", lambda o: [chunk.to_dict() for chunk in o.cleaned.chunks()], optional=True),
    ItemField("segments", lambda o: [asdict(segment) for segment in o.cleaned.segments], optional=True),
    ItemField("blocks", lambda o: [asdict(block) for block in o.cleaned.blocks], optional=True),
)
"""All fields; ``docs/reference/fields.md`` has their table."""

READ_FIELDS: Final = ("html", "url")
"""What the pipeline reads of an item; of one without an address the response's is taken."""

WRITTEN_FIELDS: Final = tuple(field.name for field in FIELDS if not field.optional)
"""What the pipeline writes on every item that has such a field."""

OPTIONAL_FIELDS: Final = tuple(field.name for field in FIELDS if field.optional)
"""What the pipeline writes when ``TAMIS_OUTPUTS`` names it."""


@dataclass(frozen=True, slots=True, eq=False)
class CleanedItem:
    """The values of an item's fields, by name, and what its page may have lost."""

    values: dict[str, object]
    losses: dict[str, object] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """See :attr:`tamis.Cleaned.status`."""
        return str(self.values["status"])

    @property
    def text(self) -> str:
        """See :attr:`tamis.Cleaned.text`."""
        return str(self.values["text"])


@dataclass(frozen=True, slots=True)
class CleaningOptions:
    """The options for all pages of a crawl.

    Attributes:
        switches: further arguments of :func:`tamis.clean`, by name.
        measures_losses: whether there is a report, which ranks pages by :func:`measure_losses`.
    """

    limits: Limits = DEFAULT_LIMITS
    outputs: tuple[str, ...] = ()
    switches: Mapping[str, Any] = field(default_factory=dict)
    measures_losses: bool = False


def clean_item(
    html: str | bytes | HashedPage,
    url: str | None,
    evidence: SiteEvidence | None,
    model: Model,
    options: CleaningOptions,
    rules: tuple[Rule, ...] = (),
) -> CleanedItem:
    """Clean a page for an item; ``evidence`` has the counts of its site for one that was hashed."""
    page, site = html.page if isinstance(html, HashedPage) else html, None
    if isinstance(html, HashedPage) and evidence is not None:
        df = html.frequencies(evidence.df)
        if html.model_version != model.version:  # another model's scores at the places of a page say nothing here
            df = df[: html.page.n + html.page.m]
        site = PageCounts(df, evidence.pages)
    cleaned = clean(page, url, model=model, limits=options.limits, site=site, rules=rules, **options.switches)
    losses = measure_losses(cleaned) if options.measures_losses else {}
    return CleanedItem(Outcome(cleaned, evidence).values(options.outputs), losses)
