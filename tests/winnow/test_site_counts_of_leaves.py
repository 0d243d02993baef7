"""Counts of the leaves of a page give the labels of its text that counts of all units would give."""

import sys

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from winnow.counting import LossyCounts, countable, frequencies_from_leaves, leaves, site_level_templates
from winnow.fingerprints import node_fingerprints
from winnow.page.page import Page
from winnow.page.tags import IS_BLOCK_LEVEL

WORDS = st.sampled_from(["home", "about us", "the weather", "a story of the coast", "terms"])
INLINE = st.sampled_from(["{}", "<a href=/x>{}</a>", "<b>{}</b>", "<img src=i.png>{}", "<span class=c>{}</span>"])
LINE = st.builds(lambda words, inline: inline.format(words), WORDS, INLINE)
MEDIA = st.sampled_from(["<img src=logo.png>", "<a href=/><img src=logo.png></a>", "<iframe src=/ad></iframe>", "<br>"])
TREE = st.recursive(
    LINE | MEDIA,
    lambda inside: st.builds(
        lambda tag, name, parts: f"<{tag} class={name}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(["div", "ul", "li", "p", "section", "a"]),
        st.sampled_from(["menu", "on", "x"]),
        st.lists(inside, min_size=1, max_size=4),
    ),
    max_leaves=12,
)


def counted(pages: list[Page], only_leaves: bool) -> list[np.ndarray]:
    """df of the units of each page, with only leaves counted or all that is countable."""
    counts = LossyCounts(sys.maxsize)
    units = [np.flatnonzero(leaves(page) if only_leaves else countable(page)) for page in pages]
    for number, (page, own) in enumerate(zip(pages, units, strict=True)):
        counts.add(number, node_fingerprints(page)[own])
    result = []
    for page, own in zip(pages, units, strict=True):
        df = np.zeros(page.n + page.m, np.int64)
        df[own] = counts.df(node_fingerprints(page)[own])
        result.append(frequencies_from_leaves(page, df) if only_leaves else df)
    return result


@given(st.lists(TREE, min_size=10, max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_text_is_labelled_by_its_leaves_as_by_all_units(bodies: list[str]) -> None:
    pages = [Page.parse(f"<body>{body}</body>") for body in bodies]
    for page, whole, reduced in zip(pages, counted(pages, False), counted(pages, True), strict=True):
        every, some = (site_level_templates(page, df, len(pages)) for df in (whole, reduced))
        assert every[page.n :].tolist() == some[page.n :].tolist()


@given(st.lists(TREE, min_size=2, max_size=6))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_block_level_element_is_on_more_pages_than_its_leaves(bodies: list[str]) -> None:
    pages = [Page.parse(f"<body>{body}</body>") for body in bodies]
    for page, whole, reduced in zip(pages, counted(pages, False), counted(pages, True), strict=True):
        block_level = countable(page)[: page.n] & IS_BLOCK_LEVEL[page.tag]
        assert (reduced >= whole)[: page.n][block_level].all()
        assert (reduced[~countable(page)] == 0).all()


def _names(page: Page, chosen: np.ndarray) -> list[str]:
    return [element.tag for element, yes in zip(page.elements, chosen, strict=False) if yes]


def test_the_innermost_of_nested_elements_around_a_picture_is_the_leaf() -> None:
    page = Page.parse("<div><a href=/><img></a></div><form><input><button></button></form><p>text <img></p>")
    assert _names(page, leaves(page)) == ["img", "input", "button", "img"]
    assert leaves(page)[page.n :].all()


def test_an_element_is_as_frequent_as_the_rarest_of_its_leaves() -> None:
    page = Page.parse("<body><div><ul><li>a<li>b</ul><img></div><p>c</p></body>")
    df = np.zeros(page.n + page.m, np.int64)
    df[leaves(page)] = [3, 7, 5, 9]  # the picture, then a, b and c
    found = frequencies_from_leaves(page, df)
    assert dict(zip([element.tag for element in page.elements], found.tolist(), strict=False)) == {
        "html": 0,
        "body": 0,
        "div": 3,
        "ul": 5,
        "li": 5,
        "img": 3,
        "p": 9,
    }
    assert found[page.n :].tolist() == [7, 5, 9]


def test_a_leaf_that_was_not_counted_gives_no_count_to_elements_around_it() -> None:
    page = Page.parse("<div><p>a</p><p>b</p></div>")
    df = np.zeros(page.n + page.m, np.int64)
    df[page.n] = 4
    assert frequencies_from_leaves(page, df)[2] == 0


def test_a_page_without_leaves_is_no_special_case() -> None:
    page = Page.parse("")
    assert not leaves(page).any()
    assert frequencies_from_leaves(page, np.zeros(page.n + page.m, np.int64)).tolist() == [0] * (page.n + page.m)
