"""Hashes of units: what they follow, what they pass over as volatile, and that they never change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from tamis.fingerprints import FINGERPRINT_VERSION, attribute_tokens, node_fingerprints
from tamis.hashing import hash_text
from tamis.page.page import Page
from tamis_papers.pages import text_fingerprints


def test_a_block_is_the_markup_of_a_line_and_the_name_of_its_element() -> None:
    def block(html: str) -> int:
        page = Page.parse(html)
        return int(node_fingerprints(page)[page.n])

    line = '<a href="/x"><b>One</b></a> two'
    assert block(f"<p>{line}</p>") == block(f"<p class=q>\n{line}\n</p>") == block(f"<p>{line}<br>other</p>")
    assert block(f"<p>{line}</p>") != block(f"<h1>{line}</h1>")
    assert block(f"<p>{line}</p>") != block("<p><a href='/y'><b>One</b></a> two</p>")
    assert block("<p>One <img src=a.png></p>") != block("<p>One <img src=b.png></p>")


def test_invisible_elements_have_no_fingerprint_and_change_no_other_one() -> None:
    page = Page.parse("<head><title>t</title></head><body><div>x<script>1</script></div><style>s</style>")
    fingerprints = dict(zip([element.tag for element in page.elements], node_fingerprints(page).tolist(), strict=False))
    assert [name for name, value in fingerprints.items() if value == 0] == ["head", "title", "script", "style"]


PARTS = st.recursive(
    st.sampled_from(["x", "y z", "Y", "12", " ", "\u00a0\n", "<br>", "<img src=a.png>", "<script>1</script>"]),
    lambda inner: st.builds(
        "<{0}>{1}</{0}>".format, st.sampled_from(["div", "b", "ul", "p"]), st.lists(inner, max_size=3).map("".join)
    ),
    max_leaves=12,
)


def canonical(page: Page, i: int) -> tuple[object, ...]:
    """The slow definition: tag, attributes, and the children that leave a trace, texts folded."""
    element = page.elements[i]
    children: list[object] = []

    def text(value: str | None) -> None:
        if value and value.strip():
            children.append(" ".join(value.split()).casefold())

    text(element.text)
    child = i + 1
    while child < page.end[i]:
        if page.elements[child].tag != "script":
            children.append(canonical(page, child))
        text(page.elements[child].tail)
        child = int(page.end[child])
    return (element.tag, tuple(sorted(element.items())), tuple(children))


@given(st.lists(PARTS, max_size=5).map("".join))
def test_fingerprints_are_equal_exactly_where_the_trees_are(html: str) -> None:
    page = Page.parse(f"<div>{html}</div>")
    trees: dict[tuple[object, ...], int] = {}
    fingerprints: dict[int, tuple[object, ...]] = {}
    for i, fingerprint in enumerate(node_fingerprints(page)[: page.n].tolist()):
        if page.elements[i].tag != "script":
            tree = canonical(page, i)
            assert trees.setdefault(tree, fingerprint) == fingerprint
            assert fingerprints.setdefault(fingerprint, tree) == tree


@given(st.lists(PARTS, max_size=5).map("".join))
def test_text_fingerprints_are_equal_exactly_where_the_texts_are(html: str) -> None:
    page = Page.parse(f"<div>{html}</div>")
    border = set(page.block_run_begin.tolist())
    texts: dict[str, int] = {}
    seen: dict[int, str] = {}
    begins = np.concatenate([page.run_begin, page.block_run_begin])
    ends = np.concatenate([page.run_end, page.block_run_end])
    for begin, end, fingerprint in zip(begins, ends, text_fingerprints(page).tolist(), strict=True):
        joined = "".join(" " * (k in border) + page.runs[k] for k in range(begin, end))
        text = " ".join(joined.split()).casefold()
        assert (fingerprint == 0) == (not text)
        assert texts.setdefault(text, fingerprint) == fingerprint
        assert seen.setdefault(fingerprint, text) == text


def of_text(text: str) -> int:
    return int(text_fingerprints(Page.parse(f"<body>{text}</body>"))[2])


@pytest.mark.parametrize(
    ("upper", "lower"), [("ÀÉÎÕÜ", "àéîõü"), ("ПРИВЕТ", "привет"), ("ΓΕΙΆ", "γειά"), ("ＡＢＣ", "ａｂｃ")]
)
def test_case_is_folded_in_every_script_that_has_it(upper: str, lower: str) -> None:
    assert of_text(upper) == of_text(lower)


def test_characters_outside_the_basic_plane_differ() -> None:
    assert len({of_text(text) for text in ("a \U0001f600 b", "a \U0001f601 b", "a \U00020000 b", "a  b")}) == 4


# ---- What is volatile


def token(html: str, url: str | None = None) -> int:
    """Token of the only attribute of a page."""
    return int(attribute_tokens(Page.parse(html, url)).item())


def fingerprint(html: str, url: str | None = None, base: str = "") -> int:
    page = Page.parse(f"<head>{base}</head><body>{html}</body>", url)
    return int(node_fingerprints(page)[[element.tag for element in page.elements].index("body") + 1])


BASE = '<div class="menu" id="m"><a href="/a">A</a> text <b>bold</b></div>'
SAME = [
    (BASE, '<div class="menu" id="m">\n  <a href="/a"> A </a>\n\ttext\u00a0<b>BOLD</b></div>after'),
    (BASE, '<div id="m" class="menu"><!-- c --><a href="/a">A</a> text <b>bold</b><script>x()</script></div>'),
    (BASE, '<div class="menu" id="m" nonce="r4" style="top: 3px"><a href="/a" class="active">A</a> text <b>bold</b>'),
    (BASE, '<div class="menu" id="m" onclick="x()"><a href="/a" aria-current="page">A</a> text <b>bold</b></div>'),
    ('<p id="post-123">x', '<p id="post-4567">x'),
    ('<p id="a-0f8fad5b-d9cb-469f-a165-70867728950e">x', '<p id="a-7c9e6679-7425-40de-944b-e07fc1f90ae7">x'),
    ('<p id="x-9f86d081884c7d65-1">x', '<p id="x-e3b0c44298fc1c149afb-2">x'),
    ('<p class="node-12 promoted">x', '<p class="node-7 promoted">x'),
    ('<li class="menu-item current-menu-item">x', '<li class="menu-item">x'),
    ('<li class="first active is-active nav-active">x', "<li>x"),
    ('<form><input type="hidden" name="csrf" value="a81bc81b">x', '<form><input type="hidden" name="csrf" value="7">x'),
    ('<form><input name="q" value="last search">x', '<form><input name="q">x'),
    ('<a href="/x?sid=1&p=2">x', '<a href="/x?sid=e4c&p=2">x'),
    ('<a href="/x?p=2&utm_source=a&utm_medium=b">x', '<a href="/x?p=2">x'),
    ('<a href="/x;jsessionid=7C1A?p=2">x', '<a href="/x?p=2">x'),
    ('<a href="/x?PHPSESSID=e4c">x', '<a href="/x">x'),
    ('<img src="/x.png?v=1.2">x', '<img src="/x.png?ver=7">x'),
    ('<a href="/login?destination=node/7">x', '<a href="/login?destination=node/8">x'),
]
DIFFERENT = [
    (BASE, '<div class="menu" id="m"><a href="/b">A</a> text <b>bold</b></div>'),
    (BASE, '<div class="footer" id="m"><a href="/a">A</a> text <b>bold</b></div>'),
    (BASE, '<div class="menu" id="n"><a href="/a">A</a> text <b>bold</b></div>'),
    (BASE, '<div class="menu" id="m"><a href="/a" title="T">A</a> text <b>bold</b></div>'),
    (BASE, '<div id="menu" class="m"><a href="/a">A</a> text <b>bold</b></div>'),
    ('<a href="/x?p=2">x', '<a href="/x?p=3">x'),
    ('<a href="/2020/x">x', '<a href="/2021/x">x'),
    ('<a href="/x#a">x', '<a href="/x#b">x'),
    ('<img src="1.png">x', '<img src="2.png">x'),
    ('<img alt="3 apples">x', '<img alt="4 apples">x'),
    ('<form><input type="submit" value="Go">x', '<form><input type="submit" value="Stop">x'),
    ('<p class="current-affairs news">x', '<p class="news x">x'),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_white_space_case_comments_scripts_tokens_counters_and_states_make_no_difference(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_attributes_make_another_fingerprint(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


PAGE = "https://example.org/a/b/page.html"


FORMS = """
    ../../index.html /index.html https://example.org/index.html http://example.org/index.html //example.org/index.html
    .././../index.html /a/../index.html ../../../../index.html
"""


@pytest.mark.parametrize(
    ("link", "resolved"),
    [
        *((form, "/index.html") for form in (*FORMS.split(), " /index.html\n")),
        *(("c.html", "/a/b/c.html"), ("./c.html?x=../y", "/a/b/c.html?x=../y"), ("..", "/a/"), (".", "/a/b/")),
        *(("c/../d/", "/a/b/d/"), ("https://example.org", "/"), ("https://example.org?p=1", "/?p=1")),
        ("https://example.org.evil.net/", "https://example.org.evil.net/"),
        *(("https://other.net/../x", "https://other.net/../x"), ("//other.net/x", "//other.net/x")),
        *(("mailto:a@b.c", "mailto:a@b.c"), ("javascript:void(0)", "javascript:void(0)")),
        *(("httpd.html", "/a/b/httpd.html"), ("#top", "#top"), ("?p=1", "?p=1"), ("", "")),
    ],
)
def test_links_are_resolved_to_paths_on_the_host_of_the_page(link: str, resolved: str) -> None:
    assert token(f'<a href="{link}">x', PAGE) == hash_text(resolved)


@pytest.mark.parametrize("url", [None, "https://[broken"])
def test_links_of_a_page_at_an_unknown_place_stay_as_they_are(url: str | None) -> None:
    assert token('<a href="c.html">x', url) == hash_text("c.html")


@pytest.mark.parametrize("length", [1, 200, 240, 241, 300, 5000])
def test_values_of_any_length_and_script_are_hashed_alike(length: int) -> None:
    assert token(f'<a href="{"é" * length}">x', PAGE) == hash_text("/a/b/" + "é" * length)
    assert token(f'<p title=" {"é" * length}\u2003\u00a0x ">') == hash_text(f"title={'é' * length} x")
    assert token(f'<p class="é{"7" * length}\u2003active\u00a0x">') == hash_text("class=é# x")


@pytest.mark.parametrize(
    ("query", "left"),
    [
        *(("?V=1", ""), ("?a=1&utm_x=2#b", "?a=1&#b"), ("?utm_=1", "?utm_=1"), ("?sid=1;t=2&a=3", "?a=3")),
        ("?xv=1", "?xv=1"),
        *(("?csrf=1&csrf_token=2", ""), ("?v=#a", "?#a"), ("?a=1&ref", "?a=1&ref"), ("?a=1&?", "?a=1")),
        *((";SID=1/d?p=2", "/d?p=2"), (";sid=1;sid=2?p=2", "?p=2"), ("?a=v=1", "?a=v=1"), ("&next=/&p=2", "&p=2")),
    ],
)
def test_volatile_parameters_are_cut_from_links(query: str, left: str) -> None:
    assert token(f'<a href="/x{query}">x') == hash_text(f"/x{left}")


def test_links_into_the_page_itself_are_the_same_on_every_page() -> None:
    one = fingerprint('<a href="page.html#content">x', PAGE)
    assert one == fingerprint('<a href="https://example.org/q/?p=7#content">x', "https://example.org/q/?p=7")
    assert one == fingerprint('<a href="#content">x', "https://example.org/r")
    assert one != fingerprint('<a href="page.html#content">x', "https://example.org/a/b/other.html")


def test_the_base_element_is_followed() -> None:
    known = fingerprint('<a href="/docs/x.html">x', PAGE)
    assert known == fingerprint('<a href="x.html">x', PAGE, base='<base href="/docs/">')
    assert known == fingerprint('<a href="x.html">x', PAGE, base='<base href="../../docs/">')
    assert known == fingerprint(
        '<a href="x.html">x', "https://mirror.net/q", base='<base href="https://example.org/docs/">'
    )


@pytest.mark.parametrize("url", ["", "not an address", "http://[broken", "file:///tmp/x.html", "\udcff"])
def test_invalid_addresses_do_no_harm(url: str) -> None:
    assert fingerprint('<a href="../x">x', url)


@pytest.mark.parametrize(
    "value",
    ["1 2 3 " + "a" * 1_000_000, "?csrf" + "a" * 1_000_000, "a&" * 500_000 + "=", "../" * 300_000, "x" * 1_000_000],
)
def test_long_attributes_take_no_more_than_their_length(value: str) -> None:
    assert fingerprint(f'<a href="{value}" id="{value}" class="{value}" title="{value}">x</a>', PAGE)


# ---- Values


HTML = """<html><head><title>T</title></head><body class="home page-id-7"><nav id="menu-1"><a href="../about/?v=3"
class="active x">ABOUT &Uuml;ber</a> | <a href="/c">\u65e5\u672c \U0001f600</a></nav><p>Some <em>text</em>, 42.<br>
More</p><custom-tag>z</custom-tag><img src="a.png" alt="A  b"></body></html>"""
URL = "https://example.org/blog/post/"


def test_values_of_version_1_never_change() -> None:
    markup = node_fingerprints(Page.parse(HTML, URL))
    assert FINGERPRINT_VERSION == 1
    assert markup.dtype == np.uint64
    assert f"{markup[0]:016x} {markup[-1]:016x}" == "99dae1fceb301f3f dbec06d577c61325"


def test_texts_of_every_length_are_hashed_as_xxhash_does() -> None:
    text = bytes(33 + at * at % 90 for at in range(1_100))
    assert [hash_text(text[:end]) for end in range(1_100)] == [xxh3_64_intdigest(text[:end]) for end in range(1_100)]
