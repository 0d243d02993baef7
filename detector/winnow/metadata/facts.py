"""The facts about a page, from the sources in their order of trust: JSON-LD, OpenGraph, microdata, ``meta``, markup."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

import numpy as np

from winnow.metadata.dates import date_in_address, iso_date
from winnow.metadata.json_ld import json_ld_facts, offers_of
from winnow.metadata.values import MAX_VALUES, is_user_name, plain, split_names, words
from winnow.metadata.visible import headings, language_of, text_of, visible_authors, visible_dates
from winnow.page.tags import TAG_ID

if TYPE_CHECKING:
    from collections.abc import Callable

    from winnow.page.page import Page

    Facts = dict[str, Any]

# In the order of trust; lists of words are read as text.
_OPENGRAPH: Final = {
    "headline": "og:title",
    "published": """article:published_time og:published_time article:published og:article:published_time
        article:publish_date article:post_date article:published_date og:pubdate og:publish_date""",
    "modified": "article:modified_time og:updated_time article:modified og:article:modified_time",
    "site_name": "og:site_name",
    "description": "og:description",
    "image": "og:image:secure_url og:image og:image:url",
    "kind": "og:type",
}
_META: Final = {
    "headline": "citation_title dc.title dcterms.title parsely-title sailthru.title twitter:title",
    "published": """citation_publication_date parsely-pub-date sailthru.date dc.date dc.date.issued date dcterms.created
        dcterms.date pubdate publishdate publish-date publication_date article.published date.created created
        cxenseparse:recs:publishtime publish_date citation_date published publishedat published-date published_date
        datepublished datecreated bt:pubdate dcterms.issued date_published dateposted rnews:datepublished
        w-published-date publisheddate originalpublicationdate release_date article_date_original dc.date.created""",
    "modified": """last-modified dcterms.modified dc.date.modified revised article.updated datemodified lastmod
        modified_date""",
    "site_name": "application-name citation_journal_title dc.publisher apple-mobile-web-app-title",
    "description": "description dc.description twitter:description",
    "image": "twitter:image twitter:image:src thumbnail",
    "language": "content-language dc.language language",
}
_OFFER: Final = {  # as JSON-LD calls it
    "price": "product:price:amount og:price:amount product:sale_price:amount",
    "priceCurrency": "product:price:currency og:price:currency product:sale_price:currency",
    "availability": "product:availability og:availability",
    "sku": "product:retailer_item_id",
    "brand": "product:brand og:brand",
}
_MICRODATA: Final = {
    "headline": "headline", "datePublished": "published", "dateCreated": "published", "dateModified": "modified",
    "author": "authors",
}  # fmt: skip
_OFFERED: Final = frozenset(
    [
        "price",
        "lowPrice",
        "priceCurrency",
        "availability",
        "sku",
        "gtin",
        "gtin13",
        "gtin14",
        "gtin12",
        "gtin8",
        "isbn",
        "brand",
        "ratingValue",
        "reviewCount",
        "ratingCount",
    ]
)
_AUTHORS: Final = """author byl citation_author dc.creator dcterms.creator parsely-author sailthru.author
    article:author_name"""
_BETWEEN_PARTS: Final = re.compile(r"( (?:[|–—•·»«›‹~*-]|::) | ?[|»«] ?|: )")

_MAX_NAMED: Final = 200
_MIN_LANGUAGE_CHARACTERS: Final = 40
_MAX_LANGUAGE_CHARACTERS: Final = 4_000
_LAST_FIRST: Final = re.compile(r"^([^,]{2,40}), ([^,]{1,40})$")  # as citations have it
_STAMP: Final = re.compile(r"20\d\d-\d\d-\d\d(?:[T ][\d:.Z+-]{5,30})?")
_STATED_IN_SCRIPT: Final = re.compile(
    r"""["'](?:((?:first_?|original_?)?publi(?:sh(?:ed)?|cation)_?(?:date|time|at|on)|date_?published|pub_?date)"""
    r"""|(?:last_?)?modif(?:ied|ication)_?(?:date|time|at|on)|date_?modified|(?:last_?)?updated_?(?:date|time|at|on))"""
    r"""\\?["']\s*:\s*\\?["']\Z""",
    re.IGNORECASE,
)
_MAX_NAME_CHARACTERS: Final = 40
_MAX_SCRIPT_CHARACTERS: Final = 4_000_000
_MAX_SCRIPTS: Final = 300
_MAX_DAYS: Final = 2
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
        offers: of a product, each with ``price``, ``currency`` (ISO 4217), ``availability`` (as in schema.org:
            ``InStock``), ``sku``, ``gtin``, ``brand``, ``rating`` and ``ratings`` (how many), as far as it says them.
        sources: where each fact was found, by its name: a key of :data:`SOURCES`, ``address``, ``script`` or ``text``.
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
    offers: list[dict[str, Any]] = field(default_factory=list)
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
    language = language_of(page)
    for source, look in SOURCES.items():
        for name, value in look(page).items():
            kept = iso_date(value, language) if name in _DATES else value
            if kept and (name not in found or (name == "authors" and _is_weak(found))):
                found[name], sources[name] = kept, source
    site = found.get("site_name") or ""
    if "headline" in found:
        found["headline"] = without_site(found["headline"], site, page.url)
        if stated := _stated_headline(page, found["headline"], site):
            found["headline"], sources["headline"] = stated, "markup"  # what readers see goes before all
    if people := [name for name in found.get("authors", []) if not _is_site(name, site, page.url)]:
        found["authors"] = people
    for name in {"canonical", "image"} & found.keys():
        found[name] = _in_full(page, found[name])
    _add_dates(page, found, sources)
    if "language" not in found and len(text) >= _MIN_LANGUAGE_CHARACTERS and (language := _identified(text)):
        found["language"], sources["language"] = language, "text"
    return Metadata(**found, sources=sources)


def _add_dates(page: Page, found: Facts, sources: dict[str, str]) -> None:
    """Add the date of the address, also for one of the visible text that is far from it, then dates of scripts."""
    date, published = date_in_address(page.url or found.get("canonical", "")), found.get("published")
    if date and (not published or (sources["published"] == "markup" and _are_apart(date, published))):
        found["published"], sources["published"] = date, "address"
    if missing := _DATES - found.keys():
        for name, value in dates_in_scripts(page).items():
            if name in missing and (date := iso_date(value)):
                found[name], sources[name] = date, "script"


def dates_in_scripts(page: Page) -> dict[str, str]:
    """Dates that the page's scripts state of it: of each kind the one that all of them name."""
    found: dict[str, dict[str, str]] = {name: {} for name in _DATES}
    left = _MAX_SCRIPT_CHARACTERS
    for index in np.flatnonzero(page.tag == TAG_ID["script"])[:_MAX_SCRIPTS].tolist():
        text = page.raw_text(index)
        left -= len(text)
        for stamp in _STAMP.finditer(text) if left > 0 else ():
            if stated := _STATED_IN_SCRIPT.search(text[max(0, stamp.start() - _MAX_NAME_CHARACTERS) : stamp.start()]):
                found["published" if stated[1] else "modified"].setdefault(stamp[0][:10], stamp[0])
    return {name: next(iter(dates.values())) for name, dates in found.items() if len(dates) == 1}


def _are_apart(day: str, other: str) -> bool:
    """Whether two dates are further apart than the time zone or a late edition has them."""
    return abs((datetime.fromisoformat(day[:10]) - datetime.fromisoformat(other[:10])).days) > _MAX_DAYS


def _is_weak(found: Facts) -> bool:
    """Whether the authors found are but a user name or the outlet, so that a byline of people goes before them."""
    return all(is_user_name(name) or _is_site(name, found.get("site_name") or "", None) for name in found["authors"])


def without_site(title: str, site: str, url: str | None) -> str:
    """Return a title without the part at its end or beginning that is the site's name or that of its host."""
    parts = _BETWEEN_PARTS.split(title)
    if len(parts) < 3:
        return title
    for part, rest in ((parts[-1], "".join(parts[:-2])), (parts[0], "".join(parts[2:]))):
        if _is_site(part, site, url):
            return rest.strip()
    return title


def _is_site(text: str, site: str, url: str | None) -> bool:
    """Whether a text is the name of the site, or of its host."""
    squeezed = _squeezed(text)
    host = (urlsplit(url).hostname or "").removeprefix("www.") if url else ""
    return bool(squeezed) and (squeezed == _squeezed(site) or (len(squeezed) > 3 and squeezed in _squeezed(host)))


def _squeezed(text: str) -> str:
    return re.sub(r"\W", "", text.lower()).removeprefix("the")


def _identified(text: str) -> str | None:
    """Language of a text, where the package that tells it is installed (``scrapy-winnow[language]``)."""
    try:
        import py3langid  # noqa: PLC0415  (its model takes a moment to load, and most pages say their language)
    except ImportError:
        return None
    language = str(py3langid.classify(text[:_MAX_LANGUAGE_CHARACTERS])[0])
    return language if language != "zxx" else None  # no language: numbers and names


def _metas(page: Page) -> dict[str, list[str]]:
    """Contents of the ``meta`` elements by their names in lower case."""
    found: dict[str, list[str]] = {}
    for index in np.flatnonzero(page.tag == TAG_ID["meta"]).tolist():
        pairs = dict(page.attributes[index])
        name = pairs.get("property") or pairs.get("name") or pairs.get("http-equiv") or ""
        if name and (content := plain(pairs.get("content"))):
            found.setdefault(name.lower(), []).append(content)
    return found


_KINDS: Final = {
    "article": "Article NewsArticle BlogPosting Recipe Review ReportageNewsArticle AnalysisNewsArticle LiveBlogPosting",
    "documentation": "TechArticle APIReference",
    "forum": "DiscussionForumPosting QAPage Question phpbb discourse vbulletin xenforo smf mybb flarum nodebb",
    "product": "Product ProductGroup IndividualProduct Book product product.item",
}
_KIND_OF: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}


def declared_kind(page: Page) -> str | None:
    """Kind of page, in the words of :attr:`winnow.Cleaned.kind`, by what the page or its software says.

    On the WCXB development set what JSON-LD says so is right of 348 of 372 pages.
    """
    metas = _metas(page)
    software = (metas.get("generator", [""])[0].split() or [""])[0].lower()
    said = [str(json_ld_facts(page).get("kind")), *metas.get("og:type", []), software]
    return next((_KIND_OF[name] for name in said if name in _KIND_OF), None)


def opengraph_facts(page: Page) -> Facts:
    """Facts of OpenGraph."""
    metas = _metas(page)
    facts: Facts = {name: _first(metas, keys) for name, keys in _OPENGRAPH.items()}
    facts["authors"] = [name for value in metas.get("article:author", []) for name in split_names(value)]
    facts["tags"] = metas.get("article:tag", [])[:MAX_VALUES]
    offer = {name: _first(metas, keys) for name, keys in _OFFER.items()}
    facts["offers"] = offers_of(offer | {"offers": offer})
    return facts


def meta_facts(page: Page) -> Facts:
    """Facts of other ``meta`` elements, and of the links of the head."""
    metas = _metas(page)
    facts: Facts = {name: _first(metas, keys) for name, keys in _META.items()}
    key = next((key for key in _AUTHORS.split() if metas.get(key)), "")
    stated = [_LAST_FIRST.sub(r"\2 \1", value) if "." in key or "_" in key else value for value in metas.get(key, [])]
    facts["authors"] = [name for value in stated for name in split_names(value)][:MAX_VALUES]
    facts["tags"] = words(", ".join(metas.get("keywords", metas.get("news_keywords", []))))
    for index in np.flatnonzero(page.tag == TAG_ID["link"]).tolist():
        pairs = dict(page.attributes[index])
        name = {"canonical": "canonical", "image_src": "image"}.get(pairs.get("rel", "").lower())
        if name and not facts.get(name):
            facts[name] = pairs.get("href")
    linked = facts.get("canonical") or ""
    facts["canonical"] = (linked if "://" in linked else "") or _first(metas, "og:url") or linked
    return facts


def microdata_facts(page: Page) -> Facts:
    """Facts of microdata: the first of each property."""
    facts: Facts = {}
    offer: dict[str, str] = {}
    props = page.attribute("itemprop")
    named = [index for index, value in props.items() if value == "name"][:_MAX_NAMED]
    for index, value in props.items():
        for prop in dict.fromkeys(value.split()):
            if prop in _OFFERED and prop not in offer:
                offer[prop] = _stated(page, index)
            name = _MICRODATA.get(prop)
            if name is None or facts.get(name):
                continue
            if name == "authors":
                inner = next((at for at in named if index < at < page.end[index]), index)
                facts[name] = split_names(_stated(page, inner))
            else:
                facts[name] = _stated(page, index)
    facts["offers"] = offers_of(offer | {"offers": offer, "aggregateRating": offer})
    return facts


def markup_facts(page: Page) -> Facts:
    """Facts of what readers see: the language, dates, the byline, and the heading."""
    return {
        "language": language_of(page),
        "headline": page.title or next(iter(headings(page)), None),
        "authors": visible_authors(page),
        **visible_dates(page),
    }


def _stated_headline(page: Page, declared: str, site: str) -> str | None:
    """The ``h1`` with most words in common with what is declared, half of its own at least, or the only one."""
    words = set(declared.lower().split())
    stated = [text for text in headings(page) if _squeezed(text) != _squeezed(site)]
    parts = _BETWEEN_PARTS.split(page.title)
    is_long = len(parts[0].split()) > 2
    if len(parts) > 2 and _squeezed(parts[-1]) in map(_squeezed, stated or parts[-1:] * is_long):  # "Storm - Book"
        stated = [text for text in headings(page, "h1", "h2") if _squeezed(text) == _squeezed(parts[0])] or stated
    best, most = None, (0, 0.0, 0)
    for text in stated:
        own = set(text.lower().split())
        common = len(own & words)
        if (alike := (common, common / max(len(own), 1), len(text))) > most and 0 < 2 * common >= len(own):
            best, most = text, alike
    if best is None and len(stated) == 1 and len(own := set(stated[0].lower().split())) > 1:
        return stated[0] if own & (words | set(page.title.lower().split())) else None
    return best


def _first(metas: dict[str, list[str]], keys: str) -> str | None:
    return next((metas[key][0] for key in keys.split() if metas.get(key)), None)


def _in_full(page: Page, address: str) -> str | None:
    """An address in full: against ``base``, where there is one, and the address of the page, where it is known."""
    base = next(iter(np.flatnonzero(page.tag == TAG_ID["base"]).tolist()), None)
    try:
        around = urljoin(page.url or "", dict(page.attributes[base]).get("href", "")) if base is not None else page.url
        return urljoin(around or "", address.strip()) or None
    except ValueError:
        return None


def _stated(page: Page, index: int) -> str:
    pairs = dict(page.attributes[index])
    address = pairs.get("href") if pairs.get("itemprop") == "availability" else None
    return plain(pairs.get("content") or pairs.get("datetime") or address) or text_of(page, index)


SOURCES: Final[dict[str, Callable[[Page], Facts]]] = {
    "json-ld": json_ld_facts,
    "opengraph": opengraph_facts,
    "microdata": microdata_facts,
    "meta": meta_facts,
    "markup": markup_facts,
}
"""Where facts are looked for, the most trusted first."""
