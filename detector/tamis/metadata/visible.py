"""The visible surroundings of the headline: where it stands, other headings, and how likely facts are in each block."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tamis.memo import Memo
from tamis.metadata.values import normalize_text
from tamis.page.addresses import home_addresses
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
    from tamis.arrays import Floats
    from tamis.page.page import Page

MAX_FACT_CHARACTERS: Final = 4_000  # white space included
_MAX_NAMING: Final = 6  # links, headings, and elements in each of them
_SIDE_CLASSES: Final = (
    "related recent sidebar footer nav menu archive archives replies review reviews testimonial testimonials"
    " recommended readmore comment comments reply widget"
).split()
_HOME: Final = re.compile(r"/|(?:https?:)?//[^/?#]+/?")
_SITE_NAME: Final = re.compile(r"\b(?:site|menu)-?(?:title|name|logo)\b")


def _split_class(value: str) -> frozenset[str]:
    """Words of a class or an id, such as ``author-info`` or ``authorInfo``."""
    if not value.islower():
        value = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", value).lower()
    return frozenset(re.split(r"[\s_-]+", value))


_CLASS_WORDS: Final = Memo(_split_class, max_size=5_000)


@cached_on_page
def position_scores(page: Page) -> Floats:
    """float64[m], score of each block by its position: near the headline, early on the page, not in side content."""
    block = np.arange(page.m)
    scores = -0.001 * np.minimum(block, 900)
    named = as_mask(page, page.attributes.elements_with(attribute_indices(page, _SIDE_CLASSES, "class", "id")))
    # An element that holds most of the page is no side content, whatever its class.
    side = tag_set("nav", "footer", "aside").take(page.tag)
    side |= named & (2 * (page.block_end - page.block_begin) < page.m)
    is_side = within(page, side)[page.block_node]
    heading = heading_block(page)
    if heading is not None:
        distance = block - heading
        nearness = np.array([0.0, 1.0, 2.0, 2.5, 2.0, 1.0, 0.0])  # before, between and from these distances:
        nearness = nearness.take(np.array([-8, -4, 0, 7, 13, 24]).searchsorted(distance, "right"))
        scores += np.where(nearness > 0, nearness - 0.03 * np.abs(distance), 0.0)
        is_side &= (distance < -3) | (distance > 8)
    return scores - 1.5 * is_side


def attribute_indices(page: Page, words: list[str], *names: str) -> list[int]:
    """Places of the distinct attributes with one of some names, such as ``class``, that have one of some words."""
    possible = page.attributes.containing(words, *names)
    return [index for index, value in possible if not _CLASS_WORDS[value].isdisjoint(words)]


@cached_on_page
def heading_block(page: Page) -> int | None:
    """Number of the block that the headline begins in: the heading, else the line, that is most like the title."""
    title = set(page.title.lower().split())

    def similarity_to_title(text: str) -> float:
        words = set(text.lower().split())
        return 2 * len(words & title) / max(len(words) + len(title), 1)

    best, best_similarity = None, 0.0
    names = site_names(page)
    for index in elements_with_names(page, "h1", "h2", "h3")[:400]:
        text = element_text(page, index)
        similarity = similarity_to_title(text) + 0.15 * bool(text and page.tag[index] == TAG_ID["h1"])
        if similarity > best_similarity and text.lower() not in names:
            best, best_similarity = int(page.block_begin[index]), similarity
    if best_similarity < 0.5 and len(title) >= 3:
        best_similarity = 0.5
        for block, line in enumerate(page.block_texts()):
            if len(line) > 2 * len(page.title):
                continue
            similarity = similarity_to_title(line)
            if similarity > best_similarity:
                best, best_similarity = block, similarity
    return best


class Heading(NamedTuple):
    """A heading: its element and its text."""

    element: int
    text: str


@cached_on_page
def site_names(page: Page) -> set[str]:
    """Texts and labels that may name the site: of the first links home, and of headings with a class or a link for it.

    A heading may link to the home page of another host: that of the site around this one.
    """
    table = page.attributes
    indices = table.first_index_by_value("href")
    homes = home_addresses(page) & indices.keys()
    naming = []
    for index, pairs in elements_with_attributes(page, "h1")[:_MAX_NAMING]:
        if _SITE_NAME.search(pairs.get("class", "")) or any(map(_HOME.fullmatch, _addresses_in(page, index))):
            naming.append(index)
    naming += table.elements_with([indices[value] for value in homes])[:_MAX_NAMING]
    texts = [element_text(page, index) for index in naming]
    inner = np.array([at for index in naming for at in _first_elements(page, index)], np.int64)
    for labels in table.of_elements(inner, {"alt", "aria-label"}):
        texts += [text for _, text in labels]
    return {text.lower().removesuffix("logo") for text in texts} - {"home"}


def _first_elements(page: Page, element: int) -> range:
    """An element and the first ones in it."""
    return range(element, min(int(page.end[element]), element + _MAX_NAMING))


def _addresses_in(page: Page, element: int) -> list[str]:
    """Addresses of the links in an element, and of the one around it."""
    elements = (max(int(page.parent[element]), 0), *_first_elements(page, element))
    return [dict(page.attributes[at]).get("href", "") for at in elements if page.tag[at] == TAG_ID["a"]]


@cached_on_page
def headings(page: Page, *names: str) -> list[Heading]:
    """Each heading of some names, without headings in others and the site's name."""
    found: list[Heading] = []
    last_end = 0
    for index, pairs in elements_with_attributes(page, *names):
        if index < last_end or _SITE_NAME.search(f"{pairs.get('id')} {pairs.get('class')}"):
            continue
        last_end = int(page.end[index])
        text = _without_buttons(page, index).rstrip("¶§ ")
        if text not in page.title:  # as is "C#"
            text = re.sub(r"^(?:Title|Thread): ?", "", text.rstrip("# "))
        if text:
            found.append(Heading(index, text))
    return found


def _without_buttons(page: Page, index: int) -> str:
    """Text of a heading, without that of buttons in it, such as "Copy link", unless it has no other."""
    text = rest = element_text(page, index)
    if "button" not in page.tag_names:
        return text
    for button in np.flatnonzero(page.tag[index : page.end[index]] == TAG_ID["button"]).tolist():
        rest = rest.replace(element_text(page, index + button) or "\n", " ")
    return " ".join(rest.split()) or text


@cached_on_page
def declared_language(page: Page) -> str | None:
    """Language in an attribute of ``html`` or ``body``."""
    for index in elements_with_names(page, "html", "body")[:2]:
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
    return normalize_text(" ".join([page.text[start:stop] for start, stop in pairwise(bounds)]))
