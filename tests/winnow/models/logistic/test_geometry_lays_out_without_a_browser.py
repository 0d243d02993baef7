"""Areas and positions follow text, images, tables and side columns as a browser's would, roughly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.page.page import Page
from winnow.papers.geometry import HIDDEN_AREA, PAGE_WIDTH, Geometry, layout

SENTENCE = "Some words that stand for a sentence of ordinary length in an article. "


def boxes(body: str) -> tuple[Page, Geometry, dict[str, int]]:
    page = Page.parse(f"<body>{body}</body>")
    return page, layout(page), {value: index for index, value in page.attribute("id").items()}


def test_more_text_takes_more_area():
    _, geometry, at = boxes(f"<p id=short>{SENTENCE}</p><p id=long>{SENTENCE * 20}</p>")
    assert geometry.area[at["long"]] > 4 * geometry.area[at["short"]] > 0


def test_boxes_are_stacked_in_reading_order_and_the_page_holds_them_all():
    _, geometry, at = boxes("".join(f"<div id=d{k}><p>{SENTENCE * k}</p></div>" for k in range(1, 6)))
    tops = [geometry.y[at[f"d{k}"]] for k in range(1, 6)]
    assert tops == sorted(tops)
    assert tops[1] == pytest.approx(geometry.y[at["d1"]] + geometry.height[at["d1"]])
    assert geometry.page_height >= tops[-1] + geometry.height[at["d5"]] - 1e-6


def test_a_headline_is_higher_than_the_same_words_in_a_paragraph():
    _, geometry, at = boxes(f"<h1 id=h>{SENTENCE}</h1><p id=p>{SENTENCE}</p>")
    assert geometry.height[at["h"]] > geometry.height[at["p"]]


def test_images_have_the_size_they_declare_and_shrink_to_the_page():
    _, geometry, at = boxes(
        "<img id=small width=100 height=50><img id=large width=4096 height=1024><img id=logo width=32px height=32>"
        "<noscript><img id=copy width=500 height=500></noscript>"
    )
    areas = [geometry.area[at[name]] for name in ("small", "large", "logo", "copy")]
    assert areas == pytest.approx([5000, 1024 * 256, 1024, 0])
    assert geometry.hidden[at["logo"]]
    assert not geometry.hidden[at["small"]]


def test_cells_of_a_row_stand_beside_each_other():
    _, geometry, at = boxes(f"<table><tr><td id=left>Menu<td id=right>{SENTENCE * 30}</table>")
    left, right = at["left"], at["right"]
    assert geometry.y[left] == geometry.y[right]
    assert geometry.x[right] == pytest.approx(geometry.x[left] + geometry.width[left], abs=1)
    assert geometry.width[left] < geometry.width[right]


def test_grid_classes_share_a_row():
    _, geometry, at = boxes(
        f"<div><div id=a class=col-md-8>{SENTENCE}</div><div id=b class='col-md-4 x'>{SENTENCE}</div></div>"
    )
    assert geometry.width[at["a"]] == pytest.approx(PAGE_WIDTH * 2 / 3)
    assert geometry.x[at["b"]] == pytest.approx(PAGE_WIDTH * 2 / 3)


@pytest.mark.parametrize("side", ["<aside id=side>{}</aside>", "<div id=side class=left-sidebar>{}</div>"])
def test_a_side_column_keeps_to_a_margin(side: str):
    side = side.format(f"<p>{SENTENCE}</p>")
    main = f"<div id=main><p>{SENTENCE * 9}</p></div>"
    _, geometry, at = boxes(f"<div>{main}{side}</div>")
    assert geometry.x[at["side"]] >= geometry.width[at["main"]] - 1
    _, geometry, at = boxes(f"<div>{side}{main}</div>")
    assert geometry.x[at["side"]] == 0
    assert geometry.x[at["main"]] >= geometry.width[at["side"]] - 1
    assert geometry.side_distance[at["side"]] < geometry.side_distance[at["main"]]


def test_short_links_of_a_menu_share_lines():
    menu = "".join(f"<li><a href=/{k}>Item {k}</a></li>" for k in range(10))
    _, geometry, at = boxes(f"<nav id=menu><ul>{menu}</ul></nav>")
    assert geometry.height[at["menu"]] < 5 * 24


def test_links_of_a_menu_stay_visible_however_short_they_are():
    _, geometry, at = boxes("<nav><ul><li id=one><a href=/>Shop</a></li><li><a href=/b>Blog</a></li></ul></nav>")
    assert not geometry.hidden[at["one"]]


def test_margins_are_no_part_of_a_box_but_of_what_is_around_it():
    _, geometry, at = boxes(f"<div id=around><p id=p>{SENTENCE}</p></div><div id=bare>{SENTENCE}</div>")
    assert geometry.area[at["p"]] == pytest.approx(geometry.area[at["bare"]])
    assert geometry.area[at["around"]] > geometry.area[at["p"]]


def test_the_box_of_an_inline_element_leaves_out_the_space_between_lines():
    _, geometry, at = boxes(f"<p id=p><b id=b>{SENTENCE * 40}</b></p>")
    assert 0.6 < geometry.area[at["b"]] / geometry.area[at["p"]] < 0.75


def test_distances_tell_the_middle_of_a_page_from_its_edges():
    _, geometry, at = boxes("".join(f"<p id=p{k}>{SENTENCE * 5}</p>" for k in range(11)))
    distance = geometry.centre_distance[[at["p0"], at["p5"], at["p10"]]]
    assert distance[1] < 0.1 < distance.min(initial=2, where=[True, False, True])
    assert geometry.bottom_distance[at["p10"]] < geometry.bottom_distance[at["p0"]]


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<html>",
        "<!-- nothing -->",
        "<table><tr><td>" * 300,
        "<aside>" * 200 + "x",
        "<h1><div>" * 900 + "x",
        "<small><div>" * 900 + "x",
        "<img width=99999 height=99999>" * 50,
        "<p class=col-md-0>x<p class=col-lg-99>y",
        "x" * 200_000,
    ],
)
def test_degenerate_pages_have_finite_boxes(html: str):
    geometry = layout(Page.parse(html))
    for values in (geometry.x, geometry.y, geometry.width, geometry.height, geometry.area, geometry.centre_distance):
        assert np.isfinite(values).all()
    assert (geometry.area >= 0).all()


TREES = st.recursive(
    st.sampled_from(["word ", SENTENCE, "<img width=300 height=20>", "<br>", "<input type=text>", "<hr>"]),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(["div", "p", "a href=/", "table", "tr", "td", "aside", "div class=col-md-6", "h1", "nav"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


@given(TREES)
def test_any_tree_lies_inside_its_page(body: str):
    page = Page.parse(f"<body>{body}</body>")
    geometry = layout(page)
    assert len(geometry.area) == page.n + page.m
    assert (geometry.x >= -1e-6).all()
    assert (geometry.x + geometry.width <= PAGE_WIDTH + 1 + 1e-6).all()
    assert (geometry.y >= -1e-6).all()
    assert (geometry.hidden == (geometry.area < HIDDEN_AREA)).all()
