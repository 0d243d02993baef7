"""Facts from JSON-LD, the structured data that search engines read."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tamis.metadata.offers import read_offers
from tamis.metadata.values import (
    as_list,
    as_objects,
    clean_text,
    first_object,
    image_address,
    keywords,
    person_names,
    unescape_text,
    word_set,
)
from tamis.page.attributes import attribute_predicate
from tamis.page.text import letters_of
from tamis.page.tree import TAG_ID, cached_on_page

if TYPE_CHECKING:
    from tamis.page.page import Page

    Thing = dict[str, Any]

_DECODER: Final = json.JSONDecoder(strict=False)
_CONTROL_ESCAPE: Final = re.compile(r"\\(?:[bfr]|u(?:00[0189]|007f|d[89a-f]|fff[ef]))", re.IGNORECASE)
_ESCAPE: Final = re.compile(  # tabs, line ends and whole pairs stay
    r"\\u(?:d[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|000[9ad])"
    r"|(?P<dropped>\\u(?:00[0189][\da-f]|007f|d[89a-f][\da-f]{2}|fff[ef]))|\\.",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_OPENINGS: Final = re.compile(r"\A(?:\s|<!--|(?://\s*)?<!\[CDATA\[)+")
# Linear: each comma looks through the white space after it alone.
_TRAILING_COMMA: Final = re.compile(r",(?=\s*[}\]])")
_ARTICLES: Final = re.compile(r"Article|BlogPosting|Report|Posting$|Review$")
_THINGS: Final = frozenset(
    "Product Recipe Event Course Book Movie VideoObject JobPosting HowTo ProductGroup QAPage Question Dataset".split()
)
_PUBLISHED: Final = ("datePublished", "uploadDate", "datePosted", "dateCreated")  # the second last is of jobs and homes
_PAGES: Final = frozenset("WebPage ItemPage AboutPage ContactPage CollectionPage ProfilePage FAQPage".split())
JSON_LD_SCRIPTS: Final = attribute_predicate("type", parts=("ld+json",))


class _Rank(IntEnum):
    """How much the type of an object says of what the page is about."""

    ARTICLE = 0
    THING = 1  # a product and the like
    PAGE = 2
    OTHER = 3


class _Subject(NamedTuple):
    """An object of JSON-LD that says something of what the page is about, or of the page."""

    rank: _Rank
    kind: str
    thing: Thing
    name: str  # its letters
    is_main: bool
    is_chosen: bool  # as the main entity, or by a name half of which is in the title
    is_in_title: bool  # a word of its name


def json_ld_facts(page: Page) -> dict[str, Any]:
    """Facts about the article, product or other thing that the page is about, then about the page and the site."""
    facts: dict[str, Any] = {}

    def add(found: dict[str, Any]) -> None:
        facts.update({name: value for name, value in found.items() if value and not facts.get(name)})

    things = json_ld_things(page)
    by_id = {str(thing["@id"]): thing for thing in reversed(things) if "@id" in thing}
    subjects = _subjects(page, things)
    for subject in subjects:
        found = _facts_of(subject, by_id)
        if not _is_same_subject(subject, subjects[0]):
            for name in ("headline", "authors", "published", "modified"):
                del found[name]
        add(found)
    for thing in things:
        kind = _kind(thing)
        if kind == "BreadcrumbList":
            add({"breadcrumbs": _breadcrumbs(thing)})
        elif kind == "WebSite":
            add({"site_name": clean_text(thing.get("name"))})
        elif kind in {"Organization", "NewsMediaOrganization"}:
            add({"publisher": clean_text(thing.get("name"))})
    return facts


def json_ld_kind(page: Page) -> str | None:
    """Kind of the article, product or other thing that the page is about, or of the page."""
    kind = min(map(_kind, json_ld_things(page)), key=_rank, default="")
    return kind if _rank(kind) < _Rank.OTHER else None


def _subjects(page: Page, things: list[Thing]) -> list[_Subject]:
    """What the page is about, the likeliest first, then what is said of the page itself.

    The main entity of the page comes first, then what has the name that is in the title, articles before products and
    the like. Several articles that all have other names are the entries of a list; videos, events and questions with
    another name stand beside what the page is about.
    """
    title = word_set(page.title)
    main = [part for thing in things for part in as_objects(as_list(thing.get("mainEntity")))]
    main_parts, main_ids = set(map(id, main)), {str(part["@id"]) for part in main if "@id" in part}
    subjects: list[_Subject] = []
    names: defaultdict[str, set[str]] = defaultdict(set)  # by kind
    for thing in things:
        kind = _kind(thing)
        rank = _rank(kind)
        if rank == _Rank.OTHER:
            continue
        name = clean_text(thing.get("headline")) or clean_text(thing.get("name")) or ""
        words = word_set(name)
        common = len(words & title)
        is_main = id(thing) in main_parts or str(thing.get("@id")) in main_ids
        is_chosen = is_main or 0 < len(words) <= 2 * common
        subjects.append(_Subject(rank, kind, thing, letters_of(name), is_main, is_chosen, bool(common)))
        names[kind].add(name)

    def is_wanted(subject: _Subject) -> bool:
        if subject.rank == _Rank.PAGE or subject.is_chosen or not title:
            return True
        may_be_beside = subject.kind in {"Event", "VideoObject", "Question", "Review"}
        return len(names[subject.kind]) == 1 and (subject.is_in_title or not may_be_beside)

    def order(subject: _Subject) -> tuple[bool, bool, bool, int]:
        return subject.rank == _Rank.PAGE, not subject.is_main, not subject.is_chosen, subject.rank

    return sorted(filter(is_wanted, subjects), key=order)


def _is_same_subject(subject: _Subject, first: _Subject) -> bool:
    """Whether an object is about the same as the first one: a page, or one of the same name or without."""
    return subject.rank == _Rank.PAGE or not subject.name or subject.name == first.name


def _facts_of(subject: _Subject, by_id: dict[str, Thing]) -> dict[str, Any]:
    thing = subject.thing
    name = None if subject.rank == _Rank.PAGE else clean_text(thing.get("name"))
    publisher = first_object(thing.get("publisher"))
    language = thing.get("inLanguage")
    images = (image_address(thing.get(key), by_id) for key in ("image", "primaryImageOfPage", "thumbnailUrl"))
    return {
        "kind": subject.kind,
        "headline": clean_text(thing.get("headline")) or name,
        "authors": person_names(thing.get("author"), by_id) or person_names(thing.get("creator"), by_id),
        "published": next(filter(None, map(thing.get, _PUBLISHED)), None),
        "modified": thing.get("dateModified"),
        "publisher": clean_text(publisher.get("name") or by_id.get(str(publisher.get("@id")), {}).get("name")),
        "language": clean_text(language) if isinstance(language, str) else None,
        "description": clean_text(thing.get("description")),
        "image": next(filter(None, images), None),
        "tags": keywords(thing.get("keywords")),
        "offers": read_offers(thing) if "offers" in thing or "hasVariant" in thing else [],
    }


@cached_on_page
def json_ld_things(page: Page) -> list[Thing]:
    """The typed objects of the JSON-LD scripts, each before the objects in it."""
    found: list[Thing] = []
    for document in json_ld_documents(page):
        waiting = [document]
        while waiting and len(found) < 1_000:
            value = waiting.pop()
            if isinstance(value, list):
                waiting += reversed(value)
            elif isinstance(value, dict):
                types = json_ld_types(value)
                if types:
                    found.append(value)
                waiting += map(value.get, ("mainEntityOfPage", "breadcrumb", "@graph"))
                if "FAQPage" not in types:  # its questions are not what the page is about
                    waiting.append(value.get("mainEntity"))
    return found


@cached_on_page
def json_ld_documents(page: Page) -> list[Any]:
    """The JSON documents of a page's JSON-LD scripts, ``None`` for invalid ones."""
    return list(map(_parse, json_ld_scripts(page)))


@cached_on_page
def json_ld_scripts(page: Page) -> list[str]:
    """Text of each JSON-LD script of a page."""
    elements = page.attributes.elements_matching(JSON_LD_SCRIPTS)
    return [page.raw_text(index) for index in elements if page.tag[index] == TAG_ID["script"]]


def _parse(text: str) -> Any:
    """Parse JSON that may be in a comment, escaped or with trailing commas; ``None`` if it is invalid all the same."""
    text = _OPENINGS.sub("", text, count=1)
    found = decode_json(text)
    if found is None:
        found = decode_json(unescape_text(text))
    if found is None:
        found = decode_json(_TRAILING_COMMA.sub("", text))
    return found


def decode_json(text: str) -> Any:
    """Decode the JSON at the beginning of a text, whatever follows; ``None`` if it is invalid.

    Texts in it have no control characters and no halves of surrogate pairs, as those of the page's elements.
    """
    if _CONTROL_ESCAPE.search(text):
        text = _ESCAPE.sub(_plain_escape, text)
    try:
        return _DECODER.raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _plain_escape(escape: re.Match[str]) -> str:
    """Write an escape of a JSON text: a line feed for a carriage return, windows-1252 for what HTML takes for it."""
    text = escape[0].lower()
    if text in {r"\r", r"\u000d"}:
        return r"\n"
    if text.startswith((r"\u008", r"\u009")):
        return bytes.fromhex(text[4:]).decode("cp1252", "ignore")
    return "" if escape["dropped"] or text in {r"\b", r"\f"} else escape[0]


def json_ld_types(thing: Thing) -> list[str]:
    """Names of the types of an object."""
    return [kind.rsplit("/", maxsplit=1)[-1] for kind in as_list(thing.get("@type")) if isinstance(kind, str)]


def _kind(thing: Thing) -> str:
    """The type of an object, the one that says most of the page if it has several."""
    return min(json_ld_types(thing), key=_rank, default="")


def _rank(kind: str) -> _Rank:
    if _ARTICLES.search(kind):
        return _Rank.ARTICLE
    if kind in _THINGS:
        return _Rank.THING
    return _Rank.PAGE if kind in _PAGES else _Rank.OTHER


def _breadcrumbs(thing: Thing) -> list[str]:
    names = []
    for step in as_objects(as_list(thing.get("itemListElement"))):
        item = first_object(step.get("item"))
        names.append(clean_text(step.get("name")) or clean_text(item.get("name")))
    return list(filter(None, names))
