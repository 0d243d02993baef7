"""Selectors match what lxml finds by XPath; media queries hold for a screen of 1280 by 800 pixels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.cssselect import CSSSelector

from tamis.page.media import holds, is_supported
from tamis.page.page import Page
from tamis.page.selectors import parse_selector, select
from tamis.page.tree import cached_on_page

SIMPLE = st.sampled_from([
    *("p", "div", "b", "*", ".x", ".y", "#i", "p.x.y", "[title]", "[title=t]", "[title^=t]", "[title*=u]"),
    *(":first-child", ":last-child", ":only-child", ":nth-child(2n+1)", ":nth-last-child(2)", "p:nth-of-type(2)"),
    *("p:not(.x)", ":is(.x, #i)", ":where(b, .y)", ":empty", "b:last-of-type"),
])  # fmt: skip
SELECTORS = st.lists(SIMPLE, min_size=1, max_size=3).flatmap(
    lambda parts: st.lists(
        st.sampled_from([" ", " > ", " + ", " ~ "]), min_size=len(parts) - 1, max_size=len(parts) - 1
    ).map(lambda between: parts[0] + "".join(a + b for a, b in zip(between, parts[1:], strict=True)))
)
ATTRIBUTES = st.sampled_from(["", " class=x", " class='y x'", " id=i", " title=t", " title=tu class=y"])
ELEMENTS = st.recursive(
    st.builds("<b{}>a</b>".format, ATTRIBUTES) | st.builds("<div{}></div>".format, ATTRIBUTES),
    lambda inner: st.builds(
        lambda attributes, parts: f"<div{attributes}>{''.join(parts)}</div>", ATTRIBUTES, st.lists(inner, max_size=4)
    ),
    max_leaves=12,
)


def matched(page, selector):
    found = select(page, parse_selector(selector), among=every(page))
    return found.nonzero()[0].tolist()


@cached_on_page
def every(page):
    return page.depth >= 0


@given(ELEMENTS, SELECTORS)
def test_a_selector_matches_what_xpath_finds(html, selector):
    page = Page.parse(f"<html><head></head><body>{html}</body></html>")
    number = {element: k for k, element in enumerate(page.elements)}
    expected = sorted(number[each] for each in CSSSelector(selector, translator="html")(page.elements[0]))
    # To cssselect before 1.5 the root, which has no parent, is no only child.
    assert [each for each in matched(page, selector) if each] == [each for each in expected if each]


@pytest.mark.parametrize("selector", ["p:hover", "p::before", "p:unheard-of", "p:has(b)", "p[title!=t]"])
def test_what_no_element_is_yet_or_nobody_evaluates_matches_nothing(selector):
    page = Page.parse("<p>a<b>c</b></p>")
    parsed = parse_selector(selector)
    assert parsed is None or not select(page, parsed, among=every(page)).any()


def test_a_word_is_found_in_any_case_where_the_selector_says_so():
    page = Page.parse('<p class="Boat sea">a</p><p class="boats">b</p><p class="quay BOAT">c</p>')
    assert [page.elements[each].text for each in matched(page, "[class~=BOAT]")] == ["c"]
    parsed = parse_selector("[class~=boat i]")  # cssselect reads this from 1.6 on
    assert parsed is None or [page.elements[each].text for each in matched(page, "[class~=boat i]")] == ["a", "c"]


def test_in_any_state_an_element_may_have_another_class_but_no_other_name():
    page = Page.parse("<div class=a><p class=b>c</p></div>")
    tags = {
        selector: select(page, parse_selector(selector), among=every(page), in_any_state=True).sum()
        for selector in (".a.open .b", ".b:hover", "body.ready p", "ul.open .b")
    }
    assert tags == {".a.open .b": 1, ".b:hover": 1, "body.ready p": 1, "ul.open .b": 0}


@pytest.mark.parametrize("media", [
    *("screen", "all", "only screen", "(min-width: 1280px)", "screen and (min-width:40em)", "not print"),
    *("print, screen", "(width >= 600px)", "(600px <= width < 1300px)", "(orientation: landscape)", "(hover)"),
    *("not (max-width: 600px)", "(prefers-color-scheme: light)", "(max-width:600px) or (min-width:1000px)"),
])  # fmt: skip
def test_media_that_hold(media):
    assert holds(media)


@pytest.mark.parametrize("media", [
    *("print", "speech", "(max-width: 1279px)", "not all", "(prefers-color-scheme: dark)"),
    *("(width < 600px)", "(400px <= width <= 900px)", "(orientation: portrait)", "(unheard-of: 1)", "(" + " " * 5_000),
])  # fmt: skip
def test_media_that_do_not_hold(media):
    assert not holds(media)


def test_a_browser_of_today_supports_what_is_not_of_another_one():
    assert is_supported("(display:grid)")
    assert not is_supported("not (display:grid)")
    assert not is_supported("(-ms-ime-align:auto)")
