"""Features of elements, and the positions and areas that stand in for a browser."""

import math

import numpy as np
import pytest

from tamis.page.page import Page
from tamis_papers.element_features import NODE_FEATURES, Measures, node_features

SENTENCE = "A sentence of eight words, one of them Otters. "
PAGE = f"""
<html><head><title>Otters of the river Thames</title></head><body>
<nav id=menu><ul><li><a href=/>Start page</a></li><li><a href=/all>All the animals</a></li>
<li><a href=https://elsewhere.test/>Our friends elsewhere</a></li></ul></nav>
<main><article id=story><h1 id=head>Otters return</h1><p id=text>{SENTENCE * 12}</p>
<p id=linked>Read of the <a href=/thames>Thames 2024!</a></p></article></main>
<footer id=foot><p>Copyright of nobody in particular, 2024</p></footer></body></html>
"""


def rows(html: str, url: str | None = "https://www.animals.test/otters") -> dict[str, dict[str, float]]:
    page = Page.parse(html, url)
    measures = Measures(page)
    named = page.attribute("id")
    table = node_features(measures)
    assert table.shape == (len(measures.elements), len(NODE_FEATURES))
    assert table.dtype == np.float32
    return {
        named[element]: dict(zip(NODE_FEATURES, row, strict=True))
        for element, row in zip(measures.elements.tolist(), table.tolist(), strict=True)
        if element in named
    }


def test_text_is_counted_by_words_and_punctuation():
    text = rows(PAGE)["text"]
    assert text["words"] == pytest.approx(math.log1p(12 * 9))
    assert text["sentence_ends"] == pytest.approx(1 / 9)
    assert text["commas"] == pytest.approx(1 / 9)
    assert text["in_paragraph"] == 1
    assert text["in_main"] == 1
    assert text["in_banner"] == 0


def test_links_are_counted_by_text_and_by_site():
    found = rows(PAGE)
    menu, linked, text = found["menu"], found["linked"], found["text"]
    assert menu["anchor_text_share"] == 1
    assert menu["in_site_links"] == pytest.approx(2 / 3)
    assert menu["links_per_word"] == pytest.approx(3 / 9)
    assert menu["in_banner"] == 1
    assert 0 < linked["anchor_text_share"] < 1
    assert linked["digits"] > 0
    assert text["has_links"] == 0


def test_absolute_links_are_in_site_by_address_canonical_link_or_majority():
    def share(head: str, url: str | None) -> float:
        links = '<a href="https://own.test/a">Words and words</a><a href="//www.own.test/b">More of the words</a>'
        page = f"<head>{head}</head><body><div id=d>{links}<a href='http://other.test/'>And others</a></div>"
        return rows(page, url)["d"]["in_site_links"]

    assert share("", "http://own.test/") == pytest.approx(2 / 3)
    assert share("", "http://other.test/") == pytest.approx(1 / 3)
    assert share("<link rel=canonical href=https://own.test/page>", None) == pytest.approx(2 / 3)
    assert share("", None) == pytest.approx(2 / 3)


def test_words_of_the_title_are_found_in_the_text():
    found = rows(PAGE)
    assert found["story"]["title_covered"] == pytest.approx(2 / 3)
    assert found["head"]["title_words"] == pytest.approx(1 / 2)
    assert found["foot"]["title_covered"] == 0


ORDINARY = "Some words that stand for a sentence of ordinary length in an article. "


def boxes(body: str) -> tuple[Measures, dict[str, int]]:
    page = Page.parse(f"<body>{body}</body>")
    return Measures(page), {value: index for index, value in page.attribute("id").items()}


def test_boxes_are_stacked_in_reading_order_and_the_page_holds_them_all():
    places, at = boxes("".join(f"<div id=d{k}><p>{ORDINARY * k}</p></div>" for k in range(1, 6)))
    tops = [places.top[at[f"d{k}"]] for k in range(1, 6)]
    assert tops == sorted(tops)
    assert tops[1] == pytest.approx(places.bottom[at["d1"]])
    assert places.page_height >= places.bottom[at["d5"]] - 1e-6


@pytest.mark.parametrize(
    "html",
    [
        *("", "<!-- nothing -->", "<a>no address</a>", "<table><tr><td>" * 300, "<aside>" * 200 + "x"),
        *("<h1><div>" * 900 + "x", "<img width=99999 height=99999>" * 50, "<p class=col-md-0>x<p class=col-lg-99>y"),
    ],
)
def test_degenerate_pages_have_finite_boxes_and_features(html: str):
    measures = Measures(Page.parse(html))
    assert np.isfinite(node_features(measures)).all()
    assert np.isfinite([measures.top, measures.bottom, measures.area]).all()
    assert (measures.area >= 0).all()
