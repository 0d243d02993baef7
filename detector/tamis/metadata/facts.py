"""Facts about a page, from its sources in order of trust: JSON-LD, OpenGraph, microdata, ``meta``, markup."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tamis.metadata.dates import date_in_address, iso_date
from tamis.metadata.headline import find_headline
from tamis.metadata.json_ld import JSON_LD_SCRIPTS, json_ld_documents, json_ld_facts, json_ld_kind
from tamis.metadata.offers import read_offers
from tamis.metadata.site_facts import NOTHING_COUNTED, SiteFacts
from tamis.metadata.values import (
    MAX_VALUES,
    clean_text,
    is_user_name,
    keywords,
    split_names,
)
from tamis.metadata.visible import declared_language, element_text
from tamis.metadata.visible_authors import stated_authors, visible_authors
from tamis.metadata.visible_dates import visible_dates
from tamis.page.addresses import base_address, domain, join_address, safe_urlsplit
from tamis.page.text import letters_of
from tamis.page.tree import (
    TAG_ID,
    as_mask,
    cached_on_page,
    elements_with_attributes,
    elements_with_names,
    tag_set,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tamis.page.page import Page

    Facts = dict[str, Any]

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
    "price": "product:sale_price:amount product:price:amount og:price:amount",
    "listPrice": "product:original_price:amount product:price:amount og:price:standard_amount",
    "priceCurrency": "product:price:currency og:price:currency product:sale_price:currency",
    "availability": "product:availability og:availability",
    "sku": "product:retailer_item_id",
    "brand": "product:brand og:brand",
}
_MICRODATA: Final = {
    "headline": "headline", "datePublished": "published", "dateModified": "modified", "author": "authors",
}  # fmt: skip
_OFFER_MICRODATA: Final = frozenset(
    """price listPrice lowPrice priceCurrency availability sku gtin gtin13 gtin14 gtin12 gtin8 isbn brand ratingValue
    reviewCount ratingCount""".split()
)
STRUCK_OUT: Final = tag_set("s", "del", "strike")
_LISTING_ADDRESS: Final = re.compile(  # a month, a tag, a further page
    r"/(?:(?:19|20)\d\d/(?:0[1-9]|1[0-2])|(?:tags?|category|categories|kategorie|schlagwort|etiqueta|labels?)/[^/]+"
    r"|page/\d+)(?:/|/index\.html?)?\Z"
)
_LANGUAGE: Final = re.compile(r"(?<![\w-])[a-zA-Z]{2,3}(?:[-_](?:[a-zA-Z]|[a-zA-Z0-9]{2,8}))*(?![\w-])", re.ASCII)

_ISO_DATE: Final = re.compile(rb"20\d\d-\d\d-\d\d(?:[T ][\d:.Z+-]{5,30})?")
_DATE_KEY: Final = re.compile(
    rb"""["'](?:((?:first_?|original_?)?publi(?:sh(?:ed)?|cation)_?(?:date|time|at|on)|date_?published|pub_?date)"""
    rb"""|(?:last_?)?modif(?:ied|ication)_?(?:date|time|at|on)|date_?modified|(?:last_?)?updated_?(?:date|time|at|on))"""
    rb"""\\?["']\s*:\s*\\?["']\Z""",
    re.IGNORECASE,
)
_DATES: Final = ("modified", "published")


@dataclass(frozen=True, slots=True)
class Metadata:
    """Facts about a page; ``None`` or an empty list for facts that it does not state.

    Attributes:
        title: title of the document.
        headline: title of the main content, without the name of the site.
        authors: names.
        published, modified: dates, ISO 8601, with the time and zone if given.
        site_name: name of the site.
        language: language code, such as ``en`` or ``pt-BR``.
        description: description of the page.
        canonical: absolute address that the page states for itself.
        image: absolute address of the lead image.
        kind: kind of page as stated, in terms of schema.org (``NewsArticle``) or OpenGraph (``article``).
        breadcrumbs: names of the steps from the home page to this one.
        tags: keywords.
        offers: offers of a product, each with those stated of ``price``, ``list_price`` (struck out), ``currency`` (ISO
            4217), ``availability`` (as in schema.org: ``InStock``), ``sku``, ``gtin``, ``brand``, ``rating`` and
            ``ratings`` (their number).
        sources: source of each fact by its name: a key of :data:`SOURCES`, ``markup``, ``address``,
            ``script`` or ``text``.
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


def read_metadata(page: Page, text: str = "", common: SiteFacts = NOTHING_COUNTED) -> Metadata:
    """Collect the facts about a page.

    Args:
        page: the page.
        text: its content, from which the language is detected if the page does not state it.
        common: what most pages of its site have, which is not of this page.
    """
    facts: Facts = {"title": page.title} if page.title else {}
    sources = dict.fromkeys(facts, "markup")
    language = declared_language(page)
    visible_facts = partial(_visible_facts, known=facts, common=common)
    readers: dict[str, Callable[[Page], Facts]] = {**SOURCES, "markup": visible_facts}
    for source, read_facts in readers.items():
        for name, stated in read_facts(page).items():
            if name in facts or (name in {"headline", "image"} and letters_of(stated or "") in common.texts):
                continue
            value = _normalize_fact(name, stated, language)
            if value:
                facts[name] = value
                sources[name] = source
    publisher, source = facts.pop("publisher", None), sources.pop("publisher", "")
    if publisher and "site_name" not in facts:
        facts["site_name"], sources["site_name"] = publisher, source
    _choose_authors(page, facts, sources, common)
    _add_site_and_headline(page, facts, sources, common)
    base = base_address(page)
    for name in facts.keys() & {"canonical", "image"}:
        address = join_address(base, facts[name])
        is_web_address = safe_urlsplit(address).scheme in {"", "http", "https"}
        facts[name] = address if address and is_web_address else None
    _add_dates(page, facts, sources)
    _add_language(text, facts, sources)
    return Metadata(**facts, sources=sources)


def _normalize_fact(name: str, stated: Any, language: str | None) -> Any:
    """Write a date as ISO 8601 and a language as a code; other facts stay as they are."""
    if name in _DATES:
        return iso_date(stated, language)
    if name == "language":
        code = _LANGUAGE.search(stated or "")
        return code and code[0].replace("_", "-")
    return stated


def _add_site_and_headline(page: Page, facts: Facts, sources: dict[str, str], common: SiteFacts) -> None:
    """Add the headline, without the name of the site, and this name from the title if none is declared."""
    site = facts.get("site_name", "")
    headline = find_headline(page, facts.get("headline"), site, common)
    if headline.text:
        facts["headline"] = headline.text
        if headline.is_visible or "headline" not in sources:
            sources["headline"] = "markup"
    if headline.site_name and not site:
        facts["site_name"], sources["site_name"] = headline.site_name, "markup"


def _add_language(text: str, facts: Facts, sources: dict[str, str]) -> None:
    """Add the language of a text that states none, or is not in English though its template says so."""
    sample = text[:4_000]
    is_mostly_ascii = 2 * len(sample.encode("ascii", "ignore")) >= len(sample)
    if not is_mostly_ascii and facts.get("language", "")[:2].lower() == "en":
        del facts["language"], sources["language"]
    if "language" in facts or len(text) < 40:
        return
    language = _detect_language(sample)
    if language:
        facts["language"], sources["language"] = language, "text"


def _add_dates(page: Page, facts: Facts, sources: dict[str, str]) -> None:
    """Add the date of the address, which also replaces a visible date far from it, then dates in scripts."""
    day = date_in_address(page.url or facts.get("canonical") or "")
    published = facts.get("published")
    if day and (not published or (sources["published"] == "markup" and _are_apart(day, published))):
        facts["published"], sources["published"] = day, "address"
    if facts.keys() >= set(_DATES):
        return
    for name, stated in _dates_in_scripts(page).items():
        date = iso_date(stated)
        if date and name not in facts:
            facts[name], sources[name] = date, "script"


def _dates_in_scripts(page: Page) -> dict[str, str]:
    """Dates in the page's scripts other than JSON-LD, each if they state only one of its kind."""
    found: dict[str, dict[str, str]] = {name: {} for name in _DATES}  # by day
    read = set(page.attributes.elements_matching(JSON_LD_SCRIPTS)) if any(json_ld_documents(page)) else set()
    bytes_left = 4_000_000
    for index in elements_with_names(page, "script")[:300]:
        if index in read:
            continue
        text = page.raw_texts[index]
        bytes_left -= len(text)
        if bytes_left <= 0:
            continue
        for date in _ISO_DATE.finditer(text):
            key = _DATE_KEY.search(text[max(0, date.start() - 40) : date.start()])
            if key:
                stated = date[0].decode()
                found["published" if key[1] else "modified"].setdefault(stated[:10], stated)
    return {name: next(iter(dates.values())) for name, dates in found.items() if len(dates) == 1}


def _are_apart(day: str, other: str) -> bool:
    """Whether two dates differ by more than a time zone or a late edition."""
    return abs((datetime.fromisoformat(day[:10]) - datetime.fromisoformat(other[:10])).days) > 1


def _choose_authors(page: Page, facts: Facts, sources: dict[str, str], common: SiteFacts) -> None:
    """Prefer a byline of people to the name of an outlet or an account, and to a name that the page does not show.

    A byline with all declared names and more is whole where the declaration is not.
    """
    declared = facts.get("authors", [])
    declared = _without_site(declared, facts, page.url) or declared
    people = _without_site(declared, facts, None)
    doubtful = {name for name in people if is_user_name(name) or letters_of(name) in common.texts}
    if doubtful:
        shown = page.block_lines.lower()
        people = [name for name in people if name not in doubtful or name.lower() in shown]
    if not _is_listing(page):
        is_byline_needed = doubtful.issuperset(people)
        byline = visible_authors(page) if is_byline_needed else stated_authors(page)
        byline = _without_site(byline, facts, page.url) or byline
        if byline and (is_byline_needed or _is_better(page, byline, people)):
            facts["authors"], sources["authors"] = byline, "markup"
            return
    if people or not doubtful.issuperset(declared):
        facts["authors"] = people or declared
    else:
        facts.pop("authors", None)
        sources.pop("authors", None)


def _is_better(page: Page, byline: list[str], declared: list[str]) -> bool:
    """Whether a byline of people has all declared names and more, or none of them is anywhere on the page."""
    if not all(" " in name for name in byline):
        return False
    if len(byline) > len(declared) and set(map(letters_of, declared)) <= set(map(letters_of, byline)):
        return True
    shown = page.block_lines.lower()
    return not any(name.lower() in shown for name in declared)


def _is_listing(page: Page) -> bool:
    """Whether a page or its address calls itself a listing: its bylines and dates are those of its entries."""
    if _LISTING_ADDRESS.search(safe_urlsplit(page.url or "").path):
        return True
    classes = {name for _, pairs in elements_with_attributes(page, "body") for name in pairs.get("class", "").split()}
    return "single" not in classes and not classes.isdisjoint(("archive", "paged", "search-results", "page-taxonomy"))


def _without_site(names: list[str], facts: Facts, url: str | None) -> list[str]:
    """The names that are neither that of the site nor, if the address is given, in its host."""
    site, host = letters_of(facts.get("site_name", "")), letters_of(domain(url or ""))
    found = []
    for name in names:
        letters = letters_of(name)
        is_site = letters == site or (len(letters) > 3 and letters in host)
        if not (letters and is_site):
            found.append(name)
    return found


def _detect_language(text: str) -> str | None:
    """Detect the language of a text; ``None`` without the package for it (``tamis[language]``)."""
    try:
        import py3langid  # noqa: PLC0415  (its model loads slowly, and most pages state their language)
    except ImportError:
        return None
    languages = [str(language) for language, _ in py3langid.rank(text)]
    if languages[0] == "zxx":  # no language: numbers and names
        return None
    return next(language for language in languages if len(language) == 2)  # not pcm or wuu, which are near en and zh


@cached_on_page
def _metas(page: Page) -> dict[str, list[str]]:
    """Contents of the ``meta`` elements by their names in lower case."""
    return _contents(pairs for _, pairs in elements_with_attributes(page, "meta"))


def _contents(metas: Iterable[dict[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pairs in metas:
        name = pairs.get("property") or pairs.get("name") or pairs.get("http-equiv") or ""
        if name and (content := clean_text(pairs.get("content"))):
            found.setdefault(name.lower(), []).append(content)
    return found


_KIND_OF: Final = {
    name: kind
    for kind, names in {
        "article": """Article NewsArticle BlogPosting Recipe Review ReportageNewsArticle AnalysisNewsArticle
            LiveBlogPosting""",
        "documentation": "TechArticle APIReference",
        "forum": "DiscussionForumPosting QAPage Question phpbb discourse vbulletin xenforo smf mybb flarum nodebb",
        "product": "Product ProductGroup IndividualProduct Book product product.item",
    }.items()
    for name in names.split()
}


def declared_kind(page: Page) -> str | None:
    """Kind of page that the page or its software states, in the words of :attr:`tamis.Cleaned.kind`.

    JSON-LD states the right kind on 348 of 372 pages of the WCXB development set.
    """
    return next((_KIND_OF[name] for name in _stated_kinds(page) if name in _KIND_OF), None)


def _stated_kinds(page: Page) -> Iterator[str | None]:
    yield json_ld_kind(page)
    stated = page.attributes.containing(("og:type", "generator"), "property", "name", "http-equiv")
    elements = page.attributes.elements_with([index for index, _ in stated])
    metas = _contents(dict(page.attributes[element]) for element in elements if page.tag[element] == TAG_ID["meta"])
    yield from metas.get("og:type", [])
    yield next(iter(metas.get("generator", [""])[0].lower().split()), None)  # the software


def _opengraph_facts(page: Page) -> Facts:
    metas = _metas(page)
    facts: Facts = _read_metas(metas, _OPENGRAPH)
    facts["authors"] = [name for value in metas.get("article:author", []) for name in split_names(value)]
    facts["tags"] = keywords(metas.get("article:tag", []))
    offer = _read_metas(metas, _OFFER)
    facts["offers"] = read_offers(offer | {"offers": offer}) if offer["price"] else []
    return facts


def _meta_facts(page: Page) -> Facts:
    """Facts from other ``meta`` elements and from ``link`` elements."""
    metas = _metas(page)
    facts: Facts = _read_metas(metas, _META)
    facts["authors"] = _meta_authors(metas)
    facts["tags"] = keywords(", ".join(metas.get("keywords", metas.get("news_keywords", []))))
    table = page.attributes
    names = {"canonical": "canonical", "image_src": "image"}
    links = {index: names.get(value.lower()) for index, value in table.containing(names, "rel")}
    for index, name in table.elements_and_values(links):
        if page.tag[index] == TAG_ID["link"] and name and not facts.get(name):
            facts[name] = dict(table[index]).get("href")
    linked = facts.get("canonical") or ""
    if "://" not in linked:
        facts["canonical"] = metas.get("og:url", [linked])[0]
    return facts


def _meta_authors(metas: dict[str, list[str]]) -> list[str]:
    """The authors that the first of some names of ``meta`` elements states."""
    keys = """author byl citation_author dc.creator dcterms.creator parsely-author sailthru.author
        article:author_name""".split()
    key = next((key for key in keys if key in metas), "")
    stated = metas.get(key, [])
    if "." in key or "_" in key:  # citations have "Last, First"
        stated = [re.sub(r"^([^,]{2,40}), ([^,]{1,40})$", r"\2 \1", value) for value in stated]
    return list(dict.fromkeys(name for value in stated for name in split_names(value)))[:MAX_VALUES]


def _microdata_facts(page: Page) -> Facts:
    """Facts from microdata: the first value of each property that has one, but for authors of reviews and pictures.

    Of several headlines it is the one that the title has.
    """
    properties = page.attribute("itemprop")
    if not properties:
        return {}
    others = {"review", "reviews", "comment", "image", "video", "associatedMedia"}
    in_others = as_mask(page, [index for index, value in properties.items() if value in others])
    in_others = within(page, in_others | tag_set("figure", "figcaption").take(page.tag))
    is_struck_out = within(page, STRUCK_OUT.take(page.tag))
    names = [index for index, value in properties.items() if value == "name"][:200]
    values: dict[str, str] = {}
    for index, value in properties.items():
        for stated in value.replace("dateCreated", "datePublished").replace("datePosted", "datePublished").split():
            key = "listPrice" if stated == "price" and is_struck_out[index] else stated
            is_wanted = key in _OFFER_MICRODATA or (key in _MICRODATA and not in_others[index])
            if not is_wanted or values.get(key):
                continue
            element = index
            if key == "author":
                element = next((name for name in names if index < name < page.end[index]), index)
            values[key] = _property_value(page, element)
    if headline := values.get("headline"):  # themes state the name of the section, too, such as "Blog"
        stated_at = [index for index, value in properties.items() if value == "headline" and not in_others[index]]
        title, headlines = letters_of(page.title), [_property_value(page, index) for index in stated_at[:200]]
        in_title = [text for text in headlines if letters_of(text) in title]
        values["headline"] = max(in_title, key=len, default="") or headline
    facts: Facts = {_MICRODATA[key]: value for key, value in values.items() if key in _MICRODATA}
    facts["authors"] = split_names(values.get("author", ""))
    if "price" in values or "lowPrice" in values:
        facts["offers"] = read_offers(values | {"offers": values, "aggregateRating": values})
    return facts


def _visible_facts(page: Page, known: Facts, common: SiteFacts) -> Facts:
    """Facts that readers see: the language, and the dates as far as they are not known and not those of entries."""
    facts: Facts = {"language": declared_language(page)}
    if _is_listing(page):
        return facts
    if not known.keys() >= set(_DATES):
        facts |= visible_dates(page, common.blocks, is_publication_wanted="published" not in known)
    return facts


def declared_offers(page: Page) -> list[dict[str, Any]]:
    """Offers that a page declares, of all sources that may have some."""
    sources = (json_ld_facts, _opengraph_facts, _microdata_facts)
    return [offer for read_facts in sources for offer in read_facts(page).get("offers", ())]


def _read_metas(metas: dict[str, list[str]], names_of_facts: dict[str, str]) -> dict[str, str | None]:
    """The first value of each fact, by the names of ``meta`` elements that state it."""
    facts: dict[str, str | None] = {}
    for fact, names in names_of_facts.items():
        stated = [metas[name][0] for name in names.split() if name in metas]
        facts[fact] = stated[0] if stated else None
    return facts


def _property_value(page: Page, index: int) -> str:
    pairs = dict(page.attributes[index])
    stated = pairs.get("content") or pairs.get("datetime")
    if not stated and pairs.get("itemprop") == "availability":
        stated = pairs.get("href")
    return clean_text(stated) or element_text(page, index)


SOURCES: Final[dict[str, Callable[[Page], Facts]]] = {
    "json-ld": json_ld_facts,
    "opengraph": _opengraph_facts,
    "microdata": _microdata_facts,
    "meta": _meta_facts,
}
"""Functions that read the facts that a page declares, by source, the most trusted first."""
