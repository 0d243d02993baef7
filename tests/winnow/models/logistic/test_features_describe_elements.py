"""Features say of every visible element what their table says they do."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from winnow.page.page import Page
from winnow.papers.element_features import NODE_FEATURES, Measures, node_features

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
    measures = Measures.of(page)
    named = page.attribute("id")
    table = node_features(measures)
    assert table.shape == (len(measures.elements), len(NODE_FEATURES))
    assert table.dtype == np.float32
    return {
        named[element]: dict(zip((feature.name for feature in NODE_FEATURES), row, strict=True))
        for element, row in zip(measures.elements.tolist(), table.tolist(), strict=True)
        if element in named
    }


def test_the_table_names_each_feature_once_and_says_where_it_is_from():
    names = [feature.name for feature in NODE_FEATURES]
    assert len(set(names)) == len(names)
    assert all(feature.unit and feature.source for feature in NODE_FEATURES)


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


def test_titles_of_scripts_without_spaces_are_matched_by_pairs_of_characters():
    html = "<title>東京都知事選挙</title><body><p id=p>今年の東京都の選挙について</p><p id=q>全く別の話です</p>"
    found = rows(html)
    assert found["p"]["title_covered"] > 0
    assert found["q"]["title_covered"] == 0


def test_positions_follow_the_order_of_the_page():
    found = rows(PAGE)
    assert found["menu"]["text_before"] == 0
    assert found["foot"]["text_after"] == pytest.approx(0, abs=1e-6)
    assert found["menu"]["top_margin"] < found["story"]["top_margin"] < found["foot"]["top_margin"]
    assert found["foot"]["bottom_margin"] < found["story"]["bottom_margin"]
    assert found["story"]["share_of_words"] > 0.8


@pytest.mark.parametrize("html", ["", "<p>", "<title></title><p>x", "<a>no address</a>", "<body><a href='#'>up</a>"])
def test_pages_with_next_to_nothing_have_finite_features(html: str):
    assert np.isfinite(node_features(Measures.of(Page.parse(html)))).all()


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=80), st.text(max_size=30))
def test_any_text_and_title_has_finite_features(text: str, title: str):
    escaped = [part.replace("&", "&amp;").replace("<", "&lt;") for part in (title, text)]
    page = Page.parse("<title>{}</title><body><h1>{}</h1><p>İ{}</p>".format(escaped[0], *escaped[::-1]))
    assert np.isfinite(node_features(Measures.of(page))).all()
