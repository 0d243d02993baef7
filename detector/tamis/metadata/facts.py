"""Facts about a page, from its sources in order of trust: JSON-LD, OpenGraph, microdata, ``meta``, markup."""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from tamis.metadata.dates import date_in_address, iso_date
from tamis.metadata.json_ld import json_ld_facts, json_ld_kind, read_offers
from tamis.metadata.values import MAX_VALUES, clean_text, is_user_name, keywords, seen_text, split_names
from tamis.metadata.visible import element_text, headings, site_names, stated_language, visible_authors, visible_dates
from tamis.page.addresses import base_address, domain, join_address, split_address
from tamis.page.text import UNSPACED_CLASS, UNSPACED_RUN
from tamis.page.tree import TAG_ID, elements_named, is_among, named_elements, once_per_page, within

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
_LINKS: Final = {"canonical": "canonical", "image_src": "image"}
_OFFER: Final = {  # as JSON-LD calls it
    "price": "product:price:amount og:price:amount product:sale_price:amount",
    "priceCurrency": "product:price:currency og:price:currency product:sale_price:currency",
    "availability": "product:availability og:availability",
    "sku": "product:retailer_item_id",
    "brand": "product:brand og:brand",
}
_MICRODATA: Final = {
    "headline": "headline", "datePublished": "published", "dateModified": "modified", "author": "authors",
}  # fmt: skip
_PROPERTIES: Final = _MICRODATA.keys() | frozenset(
    """price lowPrice priceCurrency availability sku gtin gtin13 gtin14 gtin12 gtin8 isbn brand ratingValue reviewCount
    ratingCount""".split()
)
_REVIEWS: Final = frozenset({"review", "reviews", "comment"})
_AUTHORS: Final = """author byl citation_author dc.creator dcterms.creator parsely-author sailthru.author
    article:author_name"""
_BETWEEN: Final = r" (?:[|–—•·»«›‹~*-]|::) | ?[|»«] ?|: "  # parts of a title
_BETWEEN_PARTS: Final = re.compile(f"({_BETWEEN})")
_BETWEEN_SHOWN: Final = re.compile(rf"({_BETWEEN}|(?<=[^\sa-zA-Z])(?:--?|_)(?=[{UNSPACED_CLASS}]))")  # "新闻-新华网"
_SITE_FIRST: Final = frozenset({"•", "::"})  # between the name of a forum and its topic
_MAX_PARTS: Final = 15  # of a title, with what is between them

_LISTINGS: Final = frozenset({"archive", "paged", "search-results", "page-taxonomy"})  # classes of ``body``
_MAX_NAMES: Final = 200  # elements with itemprop="name"
_MIN_LANGUAGE_CHARACTERS: Final = 40
_MAX_LANGUAGE_CHARACTERS: Final = 4_000
_LANGUAGE: Final = re.compile(r"(?<![\w-])[a-zA-Z]{2,3}(?:[-_](?:[a-zA-Z]|[a-zA-Z0-9]{2,8}))*(?![\w-])", re.ASCII)
_LAST_FIRST: Final = re.compile(r"^([^,]{2,40}), ([^,]{1,40})$")  # as citations have it
_ISO_DATE: Final = re.compile(rb"20\d\d-\d\d-\d\d(?:[T ][\d:.Z+-]{5,30})?")
_DATE_KEY: Final = re.compile(
    rb"""["'](?:((?:first_?|original_?)?publi(?:sh(?:ed)?|cation)_?(?:date|time|at|on)|date_?published|pub_?date)"""
    rb"""|(?:last_?)?modif(?:ied|ication)_?(?:date|time|at|on)|date_?modified|(?:last_?)?updated_?(?:date|time|at|on))"""
    rb"""\\?["']\s*:\s*\\?["']\Z""",
    re.IGNORECASE,
)
_MAX_KEY_BYTES: Final = 40
_MAX_SCRIPT_BYTES: Final = 4_000_000
_MAX_SCRIPTS: Final = 300
_MAX_DAYS_APART: Final = 2  # by time zones or a late edition
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
        kind: kind of page as stated in schema.org's terms, such as ``NewsArticle`` or ``Product``, or OpenGraph's, such
            as ``article``.
        breadcrumbs: names of the steps from the home page to this one.
        tags: keywords.
        offers: offers of a product, each with ``price``, ``currency`` (ISO 4217), ``availability`` (as in schema.org:
            ``InStock``), ``sku``, ``gtin``, ``brand``, ``rating`` and ``ratings`` (their number), as far as stated.
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


def read_metadata(page: Page, text: str = "") -> Metadata:
    """Collect the facts about a page.

    Args:
        page: the page.
        text: its content, from which the language is detected if the page does not state it.
    """
    facts: Facts = {"title": page.title} if page.title else {}
    sources = dict.fromkeys(facts, "markup")
    language = stated_language(page)
    readers: dict[str, Callable[[Page], Facts]] = {**SOURCES, "markup": partial(_visible_facts, known=facts)}
    for source, read_facts in readers.items():
        for name, stated in read_facts(page).items():
            if name in facts and not (name == "authors" and _names_no_person(facts)):
                continue
            value = iso_date(stated, language) if name in _DATES else stated
            if name == "language" and value:
                value = next(iter(_LANGUAGE.findall(value)), "").replace("_", "-")
            if value:
                facts[name], sources[name] = value, source
    outlet = {facts.get("site_name", "")}
    if people := [name for name in facts.get("authors", []) if not _is_site(name, outlet, page.url)]:
        facts["authors"] = people
    _add_site_and_headline(page, facts, sources)
    base = base_address(page)
    for name in facts.keys() & {"canonical", "image"}:
        address = join_address(base, facts[name])
        facts[name] = address if address and split_address(address).scheme in {"", "http", "https"} else None
    _add_dates(page, facts, sources)
    _add_language(text, facts, sources)
    return Metadata(**facts, sources=sources)


def _add_site_and_headline(page: Page, facts: Facts, sources: dict[str, str]) -> None:
    """Choose the headline, without the name of the site; add this name from the title if none is declared."""
    site = facts.get("site_name", "")
    names = {site, *site_names(page)}
    in_title, _ = _part_and_rest(page.title, names, page.url)
    if "headline" in facts:
        _, declared = _part_and_rest(facts["headline"], {site}, page.url, is_split_by_colon=True)
        outlet = {site, in_title}
        if visible := _visible_headline(page, declared, outlet) or _shown_part(page, declared, outlet):
            declared, sources["headline"] = visible, "markup"
        _, facts["headline"] = _part_and_rest(declared, names, page.url)
    if in_title and not site:
        facts["site_name"], sources["site_name"] = in_title, "markup"


def _add_language(text: str, facts: Facts, sources: dict[str, str]) -> None:
    """Add the language of a text that states none, or is not in English though its template says so."""
    sample = text[:_MAX_LANGUAGE_CHARACTERS]
    if facts.get("language", "")[:2].lower() == "en" and 2 * len(sample.encode("ascii", "ignore")) < len(sample):
        del facts["language"], sources["language"]
    if "language" not in facts and len(text) >= _MIN_LANGUAGE_CHARACTERS and (language := _detect_language(sample)):
        facts["language"], sources["language"] = language, "text"


def _add_dates(page: Page, facts: Facts, sources: dict[str, str]) -> None:
    """Add the date of the address, which also replaces a visible date far from it, then dates in scripts."""
    day, published = date_in_address(page.url or facts.get("canonical") or ""), facts.get("published")
    if day and (not published or (sources["published"] == "markup" and _are_apart(day, published))):
        facts["published"], sources["published"] = day, "address"
    if any(name not in facts for name in _DATES):
        for name, stated in _dates_in_scripts(page).items():
            if name not in facts and (date := iso_date(stated)):
                facts[name], sources[name] = date, "script"


def _dates_in_scripts(page: Page) -> dict[str, str]:
    """Dates in the page's scripts, each if its scripts state only one of its kind."""
    found: dict[str, dict[str, str]] = {name: {} for name in _DATES}  # by day
    left = _MAX_SCRIPT_BYTES
    for index in elements_named(page, "script")[:_MAX_SCRIPTS]:
        text = page.raw_texts[index]
        left -= len(text)
        for date in _ISO_DATE.finditer(text) if left > 0 else ():
            if key := _DATE_KEY.search(text[max(0, date.start() - _MAX_KEY_BYTES) : date.start()]):
                stated = date[0].decode()
                found["published" if key[1] else "modified"].setdefault(stated[:10], stated)
    return {name: next(iter(dates.values())) for name, dates in found.items() if len(dates) == 1}


def _are_apart(day: str, other: str) -> bool:
    return abs((datetime.fromisoformat(day[:10]) - datetime.fromisoformat(other[:10])).days) > _MAX_DAYS_APART


def _names_no_person(facts: Facts) -> bool:
    """Whether the authors found, if any, are user names or the outlet: a byline of people replaces them."""
    outlet = {facts.get("site_name", "")}
    return all(is_user_name(name) or _is_site(name, outlet, None) for name in facts.get("authors", []))


def _part_and_rest(title: str, names: set[str], url: str | None, *, is_split_by_colon: bool = False) -> tuple[str, str]:
    """The last or first part of a title that is one of the site's names, and the rest; "" and the title for none."""
    parts = _BETWEEN_PARTS.split(title)
    ends = ((parts[-1], parts[-2], parts[:-2]), (parts[0], parts[1], parts[2:])) if len(parts) > 2 else ()
    for part, between, rest in ends:
        if (is_split_by_colon or between != ": ") and _is_site(part, names, url):
            return part, "".join(rest).strip() or title
    return "", title


def _is_site(text: str, names: set[str], url: str | None) -> bool:
    """Whether a text is one of the site's names, or of its host."""
    own = _letters_of(text)
    return bool(own) and (own in map(_letters_of, names) or (len(own) > 3 and own in _letters_of(domain(url or ""))))


def _letters_of(text: str) -> str:
    return re.sub(r"\W", "", text.lower()).removeprefix("the")


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


@once_per_page
def _metas(page: Page) -> dict[str, list[str]]:
    """Contents of the ``meta`` elements by their names in lower case."""
    return _contents(pairs for _, pairs in named_elements(page, "meta"))


def _contents(metas: Iterable[dict[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pairs in metas:
        name = pairs.get("property") or pairs.get("name") or pairs.get("http-equiv") or ""
        if name and (content := clean_text(pairs.get("content"))):
            found.setdefault(name.lower(), []).append(content)
    return found


_NAMES_OF_KINDS: Final = {
    "article": "Article NewsArticle BlogPosting Recipe Review ReportageNewsArticle AnalysisNewsArticle LiveBlogPosting",
    "documentation": "TechArticle APIReference",
    "forum": "DiscussionForumPosting QAPage Question phpbb discourse vbulletin xenforo smf mybb flarum nodebb",
    "product": "Product ProductGroup IndividualProduct Book product product.item",
}
_KIND_OF: Final = {name: kind for kind, names in _NAMES_OF_KINDS.items() for name in names.split()}


def declared_kind(page: Page) -> str | None:
    """Kind of page that the page or its software states, in the words of :attr:`tamis.Cleaned.kind`.

    JSON-LD states the right kind on 348 of 372 pages of the WCXB development set.
    """
    return next((_KIND_OF[name] for name in _stated_kinds(page) if name in _KIND_OF), None)


def _stated_kinds(page: Page) -> Iterator[str | None]:
    yield json_ld_kind(page)
    stated = page.attributes.containing(("og:type", "generator"), "property", "name", "http-equiv")
    elements = page.attributes.elements_with([place for place, _ in stated])
    metas = _contents(dict(page.attributes[element]) for element in elements if page.tag[element] == TAG_ID["meta"])
    yield from metas.get("og:type", [])
    yield next(iter(metas.get("generator", [""])[0].lower().split()), None)  # the software


def _opengraph_facts(page: Page) -> Facts:
    metas = _metas(page)
    facts: Facts = {name: _first(metas, keys) for name, keys in _OPENGRAPH.items()}
    facts["authors"] = [name for value in metas.get("article:author", []) for name in split_names(value)]
    facts["tags"] = keywords(metas.get("article:tag", []))
    offer = {name: _first(metas, keys) for name, keys in _OFFER.items()}
    facts["offers"] = read_offers(offer | {"offers": offer}) if offer["price"] else []
    return facts


def _meta_facts(page: Page) -> Facts:
    """Facts from other ``meta`` elements and from ``link`` elements."""
    metas = _metas(page)
    facts: Facts = {name: _first(metas, keys) for name, keys in _META.items()}
    key = next((key for key in _AUTHORS.split() if metas.get(key)), "")
    stated = [_LAST_FIRST.sub(r"\2 \1", value) if "." in key or "_" in key else value for value in metas.get(key, [])]
    facts["authors"] = [name for value in stated for name in split_names(value)][:MAX_VALUES]
    facts["tags"] = keywords(", ".join(metas.get("keywords", metas.get("news_keywords", []))))
    table = page.attributes
    rels = {place: _LINKS.get(value.lower()) for place, value in table.containing(_LINKS, "rel")}
    for index, name in table.elements_and_values(rels):
        if page.tag[index] == TAG_ID["link"] and name and not facts.get(name):
            facts[name] = dict(table[index]).get("href")
    linked = facts.get("canonical") or ""
    facts["canonical"] = (linked if "://" in linked else "") or _first(metas, "og:url") or linked
    return facts


def _microdata_facts(page: Page) -> Facts:
    """Facts from microdata: the first value of each property that has one; a review states its own author and date."""
    values: dict[str, str] = {}
    properties = page.attribute("itemprop")
    in_review = within(page, is_among(page, [index for index, value in properties.items() if value in _REVIEWS]))
    names = [index for index, value in properties.items() if value == "name"][:_MAX_NAMES]
    for index, value in properties.items():
        for key in value.replace("dateCreated", "datePublished").split():
            if key in _PROPERTIES and not values.get(key) and not (key in _MICRODATA and in_review[index]):
                inner = next((at for at in names if index < at < page.end[index]), index) if key == "author" else index
                values[key] = _property_value(page, inner)
    facts: Facts = {_MICRODATA[key]: value for key, value in values.items() if key in _MICRODATA}
    facts["authors"] = split_names(values.get("author", ""))
    if "price" in values or "lowPrice" in values:
        facts["offers"] = read_offers(values | {"offers": values, "aggregateRating": values})
    return facts


def _visible_facts(page: Page, known: Facts) -> Facts:
    """Facts that readers see: the language and the heading, the byline and the dates as far as they are not known.

    Bylines and dates on a page that calls itself a listing are those of its entries.
    """
    facts: Facts = {"language": stated_language(page)}
    if "headline" not in known:
        facts["headline"] = seen_text(page.title) or next(iter(headings(page, "h1")), None)
    classes = {name for _, pairs in named_elements(page, "body") for name in pairs.get("class", "").split()}
    if not classes.isdisjoint(_LISTINGS) and "single" not in classes:
        return facts
    if _names_no_person(known):
        facts["authors"] = visible_authors(page)
    if not known.keys() >= set(_DATES):
        facts |= visible_dates(page, is_publication_wanted="published" not in known)
    return facts


def _visible_headline(page: Page, declared: str, names: set[str]) -> str | None:
    """The ``h1`` with most words in common with the declared headline, at least half of its own; else the only one."""
    declared_words = _words(declared)
    candidates = [text for text in headings(page, "h1") if _letters_of(text) not in map(_letters_of, names)]
    parts = _BETWEEN_PARTS.split(page.title)
    is_long = len(parts[0].split()) > 2
    if len(parts) > 2 and _letters_of(parts[-1]) in map(_letters_of, candidates or parts[-1:] * is_long):
        # "Storm - Book", where the heading is the name of the book
        same = [text for text in headings(page, "h1", "h2", "h3") if _letters_of(text) == _letters_of(parts[0])]
        candidates = [text for text in same if _letters_of(text) not in map(_letters_of, names)] or candidates
    best, best_overlap = None, (0, 0.0, 0)
    for text in candidates:
        words = _words(text)
        common = len(words & declared_words)
        overlap = common, common / max(len(words), 1), len(text)
        if overlap > best_overlap and 0 < 2 * common >= len(words):
            best, best_overlap = text, overlap
    if best is None and len(candidates) == 1:
        words = set(candidates[0].lower().split())
        is_likely = len(words) > 1 and not words.isdisjoint(f"{declared} {page.title}".lower().split())
        return candidates[0] if is_likely or _letters_of(candidates[0]) == _letters_of(parts[0]) else None
    return best


def _shown_part(page: Page, title: str, names: set[str]) -> str | None:
    """The longest part of a title that is a heading, or most of it and a line, on the side that is not for sites."""
    pieces = _BETWEEN_SHOWN.split(title)
    if not 3 <= len(pieces) <= _MAX_PARTS:
        return None
    sign, shown, lines = pieces[1].strip(), headings(page, "h1", "h2", "h3"), f"\n{page.block_lines}\n"
    if sign == ":":
        shown = shown[:1]  # else "Opinion: ..." below a heading of a menu
    begins = range(2 * (sign in _SITE_FIRST), len(pieces) if sign in {*_SITE_FIRST, "»"} else 1, 2)
    found = []
    for begin in begins:
        for end in range(begin + 1, len(pieces) + (begin > 0), 2):
            part = "".join(pieces[begin:end]).strip()
            is_line = sign not in {"»", ":"} and (begin or 2 * len(part) > len(title)) and f"\n{part}\n" in lines
            if (part in shown or is_line) and not _is_site(part, names, page.url):
                found.append(part)
    return max(found, key=len, default=None)


def _words(text: str) -> set[str]:
    """Words of a text in lower case, and pairs of characters of unspaced scripts."""
    return set(UNSPACED_RUN.sub(lambda run: f" {' '.join(map(''.join, pairwise(run[0])))} ", text.lower()).split())


def _first(metas: dict[str, list[str]], keys: str) -> str | None:
    return next((metas[key][0] for key in keys.split() if metas.get(key)), None)


def _property_value(page: Page, index: int) -> str:
    pairs = dict(page.attributes[index])
    address = pairs.get("href") if pairs.get("itemprop") == "availability" else None
    return clean_text(pairs.get("content") or pairs.get("datetime") or address) or element_text(page, index)


SOURCES: Final[dict[str, Callable[[Page], Facts]]] = {
    "json-ld": json_ld_facts,
    "opengraph": _opengraph_facts,
    "microdata": _microdata_facts,
    "meta": _meta_facts,
}
"""Functions that read the facts that a page declares, by source, the most trusted first."""
