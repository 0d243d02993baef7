"""The visible surroundings of the headline: where it stands, other headings, and how likely facts are in each block."""

# ruff: noqa: SIM905 - lists of words are read as text

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.memo import Memo
from tamis.metadata.values import seen_text
from tamis.page.addresses import home_addresses
from tamis.page.tree import TAG_ID, elements_named, named_elements, once_per_page, tag_set, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tamis.page.page import Page

MAX_FACT_CHARACTERS: Final = 4_000  # white space included
_MAX_HEADINGS: Final = 400
_MAX_NAMING: Final = 6  # links, headings, and elements in each of them
_DISTANCES: Final = np.array([-8, -4, 0, 7, 13, 24])
_NEARNESS: Final = np.array([0.0, 1.0, 2.0, 2.5, 2.0, 1.0, 0.0])  # before, between and from these distances
_SIDE: Final = tag_set("nav", "footer", "aside")
_SIDE_CLASSES: Final = (
    "related recent sidebar footer nav menu archive archives replies review reviews testimonial testimonials"
    " recommended readmore comment comments reply widget"
).split()
_WORDS: Final = re.compile(r"[\s_-]+")
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")  # authorInfo
_LABEL: Final = re.compile(r"^(?:Title|Thread): ?")  # before a headline
_HOME: Final = re.compile(r"/|(?:https?:)?//[^/?#]+/?")
_SITE_NAME: Final = re.compile(r"\b(?:site|menu)-?(?:title|name|logo)\b")


def _split_class(value: str) -> frozenset[str]:
    """Words of a class or an id."""
    return frozenset(_WORDS.split(value if value.islower() else _CAPITAL.sub(" ", value).lower()))


_CLASS_WORDS: Final = Memo(_split_class, max_size=5_000)


@once_per_page
def place_scores(page: Page) -> NDArray[np.float64]:
    """float64[m], score of each block by its place: near the headline, early on the page, not in side content."""
    block = np.arange(page.m)
    scores = -0.001 * np.minimum(block, 900)
    is_called = np.zeros(len(page.attributes.first), np.int32)
    is_called[attribute_places(page, _SIDE_CLASSES, "class", "id")] = 1
    # An element that holds most of the page is no side content, whatever its class.
    called = page.attributes.sum_per_element(is_called) > 0
    side = _SIDE.take(page.tag) | (called & (2 * (page.block_end - page.block_begin) < page.m))
    is_side = within(page, side)[page.block_node]
    if (heading := heading_block(page)) is not None:
        distance = block - heading
        nearness = _NEARNESS.take(_DISTANCES.searchsorted(distance, "right"))
        scores += np.where(nearness > 0, nearness - 0.03 * np.abs(distance), 0.0)
        is_side &= (distance < -3) | (distance > 8)
    return scores - 1.5 * is_side


def attribute_places(page: Page, words: list[str], *names: str) -> list[int]:
    """Places of the distinct attributes with one of some names, such as ``class``, that have one of some words."""
    return [
        place for place, value in page.attributes.containing(words, *names) if not _CLASS_WORDS[value].isdisjoint(words)
    ]


@once_per_page
def heading_block(page: Page) -> int | None:
    """Number of the block that the headline begins in: the heading, else the line, that is most like the title."""
    title = set(page.title.lower().split())

    def similarity_of(text: str) -> float:
        words = set(text.lower().split())
        return 2 * len(words & title) / max(len(words) + len(title), 1)

    best, best_similarity = None, 0.0
    names = site_names(page)
    for index in elements_named(page, "h1", "h2", "h3")[:_MAX_HEADINGS]:
        text = element_text(page, index)
        similarity = similarity_of(text) + 0.15 * bool(text and page.tag[index] == TAG_ID["h1"])
        if similarity > best_similarity and text.lower() not in names:
            best, best_similarity = int(page.block_begin[index]), similarity
    if best_similarity < 0.5 and len(title) >= 3:
        best_similarity = 0.5
        for block, line in enumerate(page.block_texts()):
            if len(line) <= 2 * len(page.title) and (similarity := similarity_of(line)) > best_similarity:
                best, best_similarity = block, similarity
    return best


class Heading(NamedTuple):
    """A heading: its element and its text."""

    element: int
    text: str


@once_per_page
def site_names(page: Page) -> set[str]:
    """Texts and labels that may name the site: of the first links home, and of headings with a class or a link for it.

    A heading may link to the home page of another host: that of the site around this one.
    """
    table = page.attributes
    places = table.places_by_value("href")
    homes = home_addresses(page) & places.keys()
    named = []
    for index, pairs in named_elements(page, "h1")[:_MAX_NAMING]:
        links = (dict(table[at]).get("href", "") for at in _links_in(page, index))
        if _SITE_NAME.search(pairs.get("class", "")) or any(map(_HOME.fullmatch, links)):
            named.append(index)
    first = named + table.elements_with([places[value] for value in homes])[:_MAX_NAMING]
    inner = [at for index in first for at in range(index, min(int(page.end[index]), index + _MAX_NAMING))]
    labels = table.of_elements(np.array(inner, np.int64), {"alt", "aria-label"})
    found = [element_text(page, index) for index in first] + [text for pairs in labels for _, text in pairs]
    return {text.lower().removesuffix("logo") for text in found} - {"home"}


def _links_in(page: Page, element: int) -> list[int]:
    """The links in an element, and the one around it."""
    inner = range(element, min(int(page.end[element]), element + _MAX_NAMING))
    return [at for at in (int(page.parent[element]), *inner) if at >= 0 and page.tag[at] == TAG_ID["a"]]


@once_per_page
def headings(page: Page, *names: str) -> list[Heading]:
    """Each heading of some names, without headings in others and the site's name."""
    found: list[Heading] = []
    last_end = 0
    for index, pairs in named_elements(page, *names):
        if index >= last_end and not _SITE_NAME.search(f"{pairs.get('id')} {pairs.get('class')}"):
            text = _without_buttons(page, index).rstrip("¶§ ")
            text = text if text in page.title else _LABEL.sub("", text.rstrip("# "))  # not "C#"
            if text:
                found.append(Heading(index, text))
            last_end = int(page.end[index])
    return found


def _without_buttons(page: Page, index: int) -> str:
    """Text of a heading, without that of buttons in it, such as "Copy link", unless it has no other."""
    text = rest = element_text(page, index)
    if "button" not in page.tag_names:
        return text
    for button in np.flatnonzero(page.tag[index : page.end[index]] == TAG_ID["button"]).tolist():
        rest = rest.replace(element_text(page, index + button) or "\n", " ")
    return " ".join(rest.split()) or text


@once_per_page
def stated_language(page: Page) -> str | None:
    """Language in an attribute of ``html`` or ``body``."""
    for index in elements_named(page, "html", "body")[:2]:
        for name in ("lang", "xml:lang"):
            if language := page.attribute(name).get(index, "").strip():
                return language.replace("_", "-")
    return None


def first_block(page: Page, index: int) -> int:
    """Number of the block that an element's first text is in; an inline element may begin within a block."""
    if page.block_begin[index] < page.block_end[index]:
        return int(page.block_begin[index])
    return max(int(page.block_run_begin.searchsorted(page.run_begin[index], "right")) - 1, 0)


def element_text(page: Page, index: int) -> str:
    """Text of an element, its lines separated by spaces; "" if it is too long: thousands may be nested."""
    begin, end = int(page.run_begin[index]), int(page.run_end[index])
    if page.run_offset[end] - page.run_offset[begin] > MAX_FACT_CHARACTERS:
        return ""
    lines = page.block_run_begin[page.block_begin[index] : page.block_end[index]]
    bounds = page.run_offset[[begin, *lines[lines > begin], end]].tolist()
    return seen_text(" ".join(page.text[at:behind] for at, behind in pairwise(bounds)))
