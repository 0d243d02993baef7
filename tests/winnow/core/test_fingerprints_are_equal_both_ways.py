"""Fingerprints by the compiled core against numpy: names, texts and links of every form, on pages at every address."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from winnow import Page, core
from winnow.fingerprints import LINKS, NAMED, STATE_BEGINNINGS, STATE_ENDINGS, STATES, TEXTS, both_fingerprints
from winnow.memo import forget

pytestmark = pytest.mark.skipif(core.compiled() is None, reason=f"no compiled core: {core.description()}")

ANY = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")
ADDRESSES = [None, "", "page", "https://example.org", "https://example.org/a/b.html?c=1", "http://[broken/", "file:///x/y",
             "https://bücher.example/über/uns.html#top"]  # fmt: skip
BASES = [None, "", "/other/", "../up/x", "https://cdn.example.org/base/", "http://[broken/"]
LINK_PARTS = [
    "/", "//", "https://", "http://", "HTTP://", "example.org", "example.org:80", "bücher.example", "a", "b.html",
    "über", "..", ".", "?", "#", "#top", "c=1", "sid=3", "&", ";jsessionid=1", "mailto:", "x:", ":", " ", "\u3000",
    "http",
    "%20", "-",
]  # fmt: skip
WORD_PARTS = [
    *sorted(STATES)[:6], *STATE_BEGINNINGS, *STATE_ENDINGS, "#", "12", "7", "-", "_",
    "0f8fad5b-d9cb-469f-a165-70867728950e", "9f86d081884c", "deadbeef", "post", "X", "é", "²", " ", "\n", "\x1f",
    "\u2003", "select",
]  # fmt: skip
LINK = st.lists(st.sampled_from(LINK_PARTS), max_size=6).map("".join)
WORDS = st.lists(st.one_of(st.sampled_from(WORD_PARTS), st.text(ANY, max_size=3)), max_size=12).map("".join)
ATTRIBUTES = st.one_of(
    st.tuples(st.sampled_from(sorted(LINKS)), LINK),
    st.tuples(st.sampled_from(sorted(NAMED | TEXTS | {"data-x"})), WORDS),
    st.tuples(
        st.just("type"), st.sampled_from(["submit", "SUBMIT", "Button", "text", "reset", "resets", "", "submİt"])
    ),
)
ELEMENTS = st.lists(
    st.tuples(
        st.sampled_from(["a", "p", "input", "script", "x-y", "td", "br", "svg", "title"]),
        st.lists(ATTRIBUTES, max_size=3).map(dict),
        st.sampled_from(["", " ", "text", "T é", "\U0001f600"]),
        st.booleans(),
    ),
    max_size=8,
)


def tree_of(elements: list[tuple[str, dict[str, str], str, bool]], base: str | None) -> etree._Element:
    root = current = etree.Element("html")
    if base is not None:
        etree.SubElement(root, "base", href=base)
    for name, attributes, text, goes_down in elements:
        try:
            child = etree.SubElement(current, name, attributes)
        except ValueError:  # a control character, which XML has none of
            continue
        child.text = child.tail = text
        current = child if goes_down else current
    return root


def assert_equal_both_ways(root: etree._Element, url: str | None) -> None:
    forget()
    fast = both_fingerprints(Page.from_tree(root, url))
    with core.numpy_only():
        forget()
        slow = both_fingerprints(Page.from_tree(root, url))
    for one, other in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=120, deadline=None)
@given(ELEMENTS, st.sampled_from(ADDRESSES), st.sampled_from(BASES))
def test_on_elements_with_attributes_of_every_form(
    elements: list[tuple[str, dict[str, str], str, bool]], url: str | None, base: str | None
) -> None:
    assert_equal_both_ways(tree_of(elements, base), url)


@pytest.mark.parametrize("name", ["alt", "class", "href"])
def test_on_values_of_every_length(name: str) -> None:
    root = etree.Element("body")
    for length in range(300):
        etree.SubElement(root, "img", {name: ("The winds of the storm, " * 15)[:length].replace(" ", "-")})
    etree.SubElement(root, "img", {name: "x " * 5_000})
    assert_equal_both_ways(root, "https://example.org/")


def test_pages_without_an_address_are_told_alike_whatever_page_came_before() -> None:
    html = "<p><a href=x.html>A link</a>"
    forget()
    both_fingerprints(Page.parse(html, "https://example.org/folder/page.html"))
    with core.numpy_only():
        after_another = both_fingerprints(Page.parse(html))[0]
        forget()
        np.testing.assert_array_equal(after_another, both_fingerprints(Page.parse(html))[0])
