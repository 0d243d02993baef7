import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.counting import LossyCounts, countable, site_level_templates, unique_units
from winnow.fingerprints import node_fingerprints
from winnow.page.page import Page

NAMES = ["Home", "News", "About", "Contact"]


def document(k: int) -> str:
    menu = "".join(
        f'<li class="item {"active" if k % 4 == i else ""}"><a href="/{name}">{name}</a></li>'
        for i, name in enumerate(NAMES)
    )
    story = "".join(f"<p>Sentence {i} of the story number {k} is like no other.</p>" for i in range(4))
    sponsor = "<aside><p>Rare words of a sponsor</p></aside>" if k in {3, 30} else ""
    return (
        f"<html><head><title>Story {k}</title></head><body><div id=top><h1><a href=/>Site</a></h1><ul>{menu}</ul></div>"
        f"<div id=main><h2>Story {k}</h2>{story}{sponsor}</div>"
        f"<div id=foot><p>All rights reserved by the publisher of it, <a href=/imprint>Imprint</a></p></div></body>"
    )


def site(pages: int) -> tuple[list[Page], LossyCounts]:
    parsed = [Page.parse(document(k), f"https://example.org/stories/{k}.html") for k in range(pages)]
    counts = LossyCounts(sys.maxsize)
    for k, page in enumerate(parsed):
        counts.add(k, node_fingerprints(page)[countable(page)])
    return parsed, counts


def labelled_texts(page: Page, label: np.ndarray) -> list[str]:
    return [text for text, yes in zip(page.block_texts(), label[page.n :], strict=True) if yes]


def test_menus_and_footers_are_template_and_articles_are_not() -> None:
    parsed, counts = site(40)
    for page in parsed:
        label = site_level_templates(page, counts.df(node_fingerprints(page)), counts.pages)
        footer = "All rights reserved by the publisher of it, Imprint"
        assert labelled_texts(page, label) == ["Site", *NAMES, footer]
        by_id = {i: bool(label[index]) for index, i in page.attribute("id").items()}
        assert by_id == {"top": True, "main": False, "foot": True}
        assert not label[:2].any()


def test_elements_inside_template_are_template() -> None:
    parsed, counts = site(20)
    page = parsed[0]
    label = site_level_templates(page, counts.df(node_fingerprints(page)), counts.pages)
    for i, element in enumerate(page.elements):
        if element.tag in {"li", "a", "ul", "h1"}:
            assert label[i], element.tag


def test_units_that_no_other_page_has_are_unique() -> None:
    parsed, counts = site(40)
    page = parsed[3]
    unique = unique_units(page, counts.df(node_fingerprints(page)), counts.pages)
    texts = labelled_texts(page, unique)
    assert texts == ["Story 3", *[f"Sentence {i} of the story number 3 is like no other." for i in range(4)]]
    assert not unique[:2].any()


def test_nothing_is_labelled_below_the_minimum_of_pages() -> None:
    parsed, counts = site(9)
    df = counts.df(node_fingerprints(parsed[0]))
    assert not site_level_templates(parsed[0], df, counts.pages).any()
    assert not unique_units(parsed[0], df, counts.pages).any()
    assert site_level_templates(parsed[0], df, counts.pages, min_pages=9).any()


def test_theta_and_the_least_number_of_pages_are_both_needed() -> None:
    page = Page.parse("<p>x</p>")
    for pages, df, expected in ((10, 3, False), (10, 4, True), (100, 9, False), (100, 10, True), (101, 10, False)):
        label = site_level_templates(page, np.full(page.n + page.m, df), pages)
        assert label.tolist() == [False, False, expected, expected], (pages, df)
    assert site_level_templates(page, np.full(4, 2), 20, theta=0.05, min_df=2)[2]


def test_an_element_most_of_whose_html_is_repeated_is_template_but_not_what_it_does_not_repeat() -> None:
    page = Page.parse("<div><ul>" + "<li>An entry of a menu</li>" * 12 + "</ul><p>visitor 1234</p></div>")
    df = np.where([True] * 3 + [True] * 13 + [False] + [True] * 12 + [False], 50, 1)
    label = site_level_templates(page, df * countable(page) * (np.arange(len(df)) != 2), 100)
    names = [element.tag for element, yes in zip(page.elements, label, strict=False) if yes]
    assert names == ["div", "ul", *["li"] * 12]
    assert label[page.n :].tolist() == [True] * 12 + [False]


def test_an_element_of_much_repeated_markup_and_little_repeated_text_is_not_template() -> None:
    icons = "".join(f'<img src="/icons/a-very-long-name-of-an-icon-{k}.png" alt="">' for k in range(20))
    page = Page.parse(f"<div><p>{icons}</p><p>The few words of this page</p></div>")
    df = np.concatenate([np.where([element.tag == "img" for element in page.elements], 50, 1), [1]])
    label = site_level_templates(page, df, 100)
    assert [element.tag for element, yes in zip(page.elements, label, strict=False) if yes] == ["p", *["img"] * 20]
    assert label[: page.n].sum() == 21


@pytest.mark.parametrize("html", ["", "<p></p>", "<script>x</script>", "<img>", "text"])
def test_small_pages_are_no_special_case(html: str) -> None:
    page = Page.parse(html)
    label = site_level_templates(page, np.full(page.n + page.m, 100), 100)
    assert label.dtype == bool
    assert label.shape == (page.n + page.m,)


def reference(page: Page, df: np.ndarray, pages: int) -> list[bool]:
    """The definition, unit by unit: repeated itself, or inside a repeated element."""
    chosen = countable(page) & (df >= max(0.1 * pages, 4))
    label: list[bool] = []
    for unit, parent in enumerate(page.unit_parent.tolist()):
        label.append(bool(chosen[unit]) or (parent >= 0 and label[parent]))
    return label


@settings(max_examples=25, deadline=None)
@given(st.integers(10, 100), st.randoms(use_true_random=False))
def test_blocks_follow_the_definition(pages: int, random: object) -> None:
    page = Page.parse(document(1) + document(30))
    df = np.random.default_rng(random.getrandbits(32)).integers(0, 20, page.n + page.m)  # type: ignore[attr-defined]
    label = site_level_templates(page, df, pages)
    assert label[page.n :].tolist() == reference(page, df, pages)[page.n :]
    assert (label | ~np.array(reference(page, df, pages))).all()
