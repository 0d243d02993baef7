"""The facts about a page, from the sources in their order of trust."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from winnow.metadata.dates import date_in_address, iso_date
from winnow.metadata.json_ld import json_ld_facts
from winnow.metadata.markup import heading, markup_facts, meta_facts, microdata_facts, opengraph_facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from winnow.page.page import Page

    Facts = dict[str, Any]

SOURCES: Final[dict[str, Callable[[Page], Facts]]] = {
    "json-ld": json_ld_facts,
    "opengraph": opengraph_facts,
    "microdata": microdata_facts,
    "meta": meta_facts,
    "markup": markup_facts,
}
"""Where facts are looked for, the most trusted first."""

_LEAST_TEXT: Final = 40  # characters, for a guess at the language
_MOST_TEXT: Final = 4_000
_DATES: Final = frozenset({"published", "modified"})


@dataclass(frozen=True, slots=True)
class Metadata:
    """Facts about a page; ``None`` or an empty list for what it does not say.

    Attributes:
        title: title of the document.
        headline: title of what it is about, without the name of the site.
        authors: names.
        published, modified: dates, ISO 8601, with the time and zone where they are given.
        site_name: name of the site.
        language: language code, as ``en`` or ``pt-BR``.
        description: description of the page.
        canonical: address that the page gives for itself, in full.
        image: address of the lead image, in full.
        kind: what the page says it is, as in schema.org: ``NewsArticle``, ``Product``; or by OpenGraph: ``article``.
        breadcrumbs: names of the steps from the home page to this one.
        tags: keywords.
        sources: where each fact was found, by its name: a key of :data:`SOURCES`, ``address`` or ``text``.
    """

    title: str | None = None
    headline: str | None = None
    authors: list[str] = field(default_factory=list)
    published: str | None = None
    modified: str | None = None
    site_name: str | None = None
    language: str | None = None
    description: str | None = None
    canonical: str | None = None
    image: str | None = None
    kind: str | None = None
    breadcrumbs: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as a dictionary that JSON can hold."""
        return asdict(self)


def metadata_of(page: Page, text: str = "") -> Metadata:
    """Find out what a page says of itself.

    Args:
        page: the page.
        text: its content, by which the language is told where the page does not say it.
    """
    found: Facts = {"title": page.title} if page.title else {}
    sources = dict.fromkeys(found, "markup")
    for source, look in SOURCES.items():
        for name, value in look(page).items():
            kept = iso_date(value) if name in _DATES else value
            if kept and name not in found:
                found[name], sources[name] = kept, source
    if sources.get("headline") in {"opengraph", "meta"} and (stated := heading(page, found["headline"])):
        found["headline"], sources["headline"] = stated, "markup"  # what readers see goes before what is for sharing
    if "published" not in found and (date := date_in_address(page.url or found.get("canonical", ""))):
        found["published"], sources["published"] = date, "address"
    if "language" not in found and len(text) >= _LEAST_TEXT and (language := _identified(text)):
        found["language"], sources["language"] = language, "text"
    return Metadata(**found, sources=sources)


def _identified(text: str) -> str | None:
    """Language of a text, where the package that tells it is installed (``scrapy-winnow[language]``)."""
    try:
        import py3langid  # noqa: PLC0415  (its model takes a moment to load, and most pages say their language)
    except ImportError:
        return None
    return str(py3langid.classify(text[:_MOST_TEXT])[0])
