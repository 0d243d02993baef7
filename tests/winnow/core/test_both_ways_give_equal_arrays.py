"""The compiled core against numpy, its oracle: on the demo's pages and on generated trees and markup."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from demo.web import generate
from winnow import Page, core
from winnow.counting import countable, frequencies_from_leaves, leaves
from winnow.duplicates import shingles
from winnow.evidence.comment_model import date_signs, posted
from winnow.fingerprints import both_fingerprints
from winnow.memo import forget
from winnow.page.ancestors import nearest
from winnow.page.parsing import parse_html
from winnow.page.subtrees import within
from winnow.page.text.kinds import character_properties
from winnow.page.text.statistics import TextStatistics

pytestmark = pytest.mark.skipif(core.compiled() is None, reason=f"no compiled core: {core.description()}")

TAGS = st.sampled_from(["div", "p", "a", "b", "br", "li", "td", "title", "svg", "script", "pre", "x-y", "input", "h1"])
NAMES = st.sampled_from(["class", "id", "href", "style", "hidden", "type", "value", "data-x", "aria-hidden", "rel"])
VALUES = st.one_of(
    st.sampled_from(
        [
            "",
            "post-12 Meta",
            "postHTMLBody2",
            "display: none",
            "true",
            "submit",
            "../a?sid=3#x",
            "é-²-9",
            "li-Comment-3",
            "Commentaire é",
        ]
    ),
    st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=12),
)
SAMPLES = ["", " ", "\n\t\u3000", "A word, and 42 more.", "我们去北京、上海。", "İΣ²\U0001f600 \U00020000", "x" * 170]
HALVES = ["\ud83d", "\ude00\U00020000"]
TEXTS = st.one_of(
    st.sampled_from(SAMPLES),
    st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=20),
)
MARKUP = st.sampled_from(
    ["<p>", " </p>", "<div class=a>", "<br>", "<!-- ", "<a href='x", "y'>", "</", "&amp;", "&#", "]]>", "<o:p>", "<td"]
)


@st.composite
def trees(draw: st.DrawFn, depth: int = 5) -> etree._Element:
    kind = draw(st.integers(0, 11)) if depth < 5 else 2
    if kind == 0:
        node: etree._Element = etree.Comment("ignored")
    elif kind == 1:
        node = etree.ProcessingInstruction("php", "ignored")
    else:
        name = draw(TAGS) if kind != 3 else "{http://www.w3.org/1999/xhtml}" + draw(TAGS).upper()
        node = etree.Element(name, draw(st.dictionaries(NAMES, VALUES, max_size=3)))
        node.text = draw(TEXTS)
        if depth:
            node.extend(draw(st.lists(trees(depth=depth - 1), max_size=3)))
    node.tail = draw(TEXTS)
    return node


def everything(root: etree._Element) -> dict[str, Any]:
    """All that is worked out of a page, from memos that are empty."""
    forget()
    page = Page.from_tree(root, "https://example.org/a/b.html?c=1")
    found = {name: value for name, value in vars(page).items() if name not in {"root", "attributes"}}
    found |= {f"attributes.{name}": getattr(page.attributes, name) for name in ("first", "begin", "element")}
    found["attributes"] = {name: dict(values) for name, values in page.attributes.by_name.items()}
    found["pairs"] = list(page.attributes)
    found["lengths"] = page.attributes.markup_length()
    found |= {"runs": page.runs, "elements": page.elements, "title": page.title, "texts": page.block_texts()}
    statistics = TextStatistics.of(page)
    found |= {f"statistics.{name}": getattr(statistics, name) for name in TextStatistics.__slots__}
    found["nodes"], found["text hashes"] = both_fingerprints(page)
    df = np.arange(page.n + page.m) * 5 % 7
    found |= {"countable": countable(page), "leaves": leaves(page), "frequencies": frequencies_from_leaves(page, df)}
    found["within"] = within(page, page.tag % 3 == 0)
    return found


def assert_equal_both_ways(root: etree._Element) -> None:
    fast = everything(root)
    with core.numpy_only():
        slow = everything(root)
    assert fast.keys() == slow.keys()
    for name, value in fast.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == slow[name].dtype, name
            if value.dtype == np.float32:  # logarithms differ in their last bit from library to library
                np.testing.assert_allclose(value, slow[name], rtol=3e-7, err_msg=name)
            else:
                np.testing.assert_array_equal(value, slow[name], name)
        else:
            assert value == slow[name], name


def test_on_every_character_in_lower_case() -> None:
    texts = [f"Ab{chr(code)}Z" for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    texts.append("A word in “quotes”, 12 TIMES. " * 9)
    lower_case, properties = core.compiled().lower_case, character_properties()
    assert [lower_case(text, properties) for text in texts] == [text.lower() for text in texts]


DATED = st.lists(st.sampled_from([*"0123456789:.+_-·éx年²", "h", "AM", "p.m", " min", " ago", "2019", " 3", " "])).map(
    "".join
)


@given(st.lists(DATED.map(str.split).map(" ".join)))
def test_on_dates(texts: list[str]) -> None:
    digits = np.array([any(map(str.isdigit, text)) for text in texts], bool)
    fast = date_signs(texts, digits)
    assert not any(posted(text) for text, sign in zip(texts, fast.tolist(), strict=True) if not sign)
    forget()
    with core.numpy_only():
        np.testing.assert_array_equal(date_signs(texts, digits), fast)


@given(st.lists(st.tuples(st.integers(-1, 9), st.booleans()), max_size=10))
def test_nearest_ancestors(nodes: list[tuple[int, bool]]) -> None:
    before = np.array([parent if parent < i else -1 for i, (parent, _) in enumerate(nodes)], np.int32)
    behind = np.where(before < 0, -1, len(nodes) - 1 - before)[::-1].astype(np.int32)  # children stand before parents
    chosen = np.array([flag for _, flag in nodes], bool)
    for parent in (before, behind):
        fast = nearest(parent, chosen)
        with core.numpy_only():
            np.testing.assert_array_equal(nearest(parent, chosen), fast)


@given(
    st.lists(st.one_of(st.sampled_from([*SAMPLES, *HALVES, " one two ", "1\u0301"]), st.text(max_size=5))),
    st.sampled_from([1, 2, 6, 10**12]),
    st.sampled_from([1, 3, 8, 10**12]),
)
def test_shingles(pieces: list[str], size: int, keep: int) -> None:
    text = "".join(pieces)
    fast = shingles(text, size, keep)
    with core.numpy_only():
        np.testing.assert_array_equal(shingles(text, size, keep), fast)


@settings(max_examples=60, deadline=None)
@given(trees())
def test_on_trees(root: etree._Element) -> None:
    root.tail = None
    assert_equal_both_ways(root)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(MARKUP, TEXTS)))
def test_on_broken_markup(pieces: list[str]) -> None:
    assert_equal_both_ways(parse_html("".join(pieces)))


def test_on_the_pages_of_the_demo(tmp_path: Path) -> None:
    generate(tmp_path, pages=11)
    files = sorted(tmp_path.rglob("*.html"))
    assert len(files) > 30
    for file in files:
        assert_equal_both_ways(parse_html(file.read_bytes()))


def test_a_part_of_a_tree_ends_where_it_ends() -> None:
    root = parse_html("<body><div>a<p>b</p>c</div>tail<div>d</div>")
    assert_equal_both_ways(root.find(".//div"))


def test_a_comment_is_a_page_without_elements() -> None:
    page = Page.from_tree(etree.Comment("x"))
    assert (page.n, page.m) == (0, 0)


def test_entities_that_stand_for_themselves_are_left_to_numpy() -> None:
    parser = etree.XMLParser(resolve_entities=False)
    root = etree.fromstring('<!DOCTYPE p [<!ENTITY e "x">]><p a="1 &e; 2">b &e; c</p>', parser)
    compiled = core.compiled()
    assert compiled is not None
    assert_equal_both_ways(root)


def test_thousands_of_attributes_cost_next_to_nothing_more_each() -> None:
    root = etree.Element("p", {f"data-{number}": "x" for number in range(20_000)})
    assert len(Page.from_tree(root).attributes.first) == 20_000
