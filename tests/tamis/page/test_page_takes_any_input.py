import pickle

import numpy as np
import pytest
from lxml import etree

from tamis.cleaning import clean
from tamis.fingerprints import node_fingerprints
from tamis.page.attributes import attribute_predicate
from tamis.page.css_values import SAID
from tamis.page.page import DEFAULT_LIMITS, Limits, Page, PageTooLarge
from tamis.page.parsing import parse_html
from tamis_papers.page_level import site_level_templates
from tamis_papers.pages import text_fingerprints

UNLIMITED = Limits(max_bytes=10**9, max_nodes=10**9, max_depth=10**9)


@pytest.mark.parametrize(
    "html", [b"", "", " \n", b"\xef\xbb\xbf", "\0", "<!-- -->", "<!doctype html>", "<?php echo 1 ?>"]
)
def test_a_document_without_elements_is_an_empty_page(html: str | bytes) -> None:
    page = Page.parse(html)
    assert ([element.tag for element in page.elements], page.m) == (["html", "head", "body"], 0)
    assert (page.runs, page.title) == ([], "")
    markup, text = node_fingerprints(page), text_fingerprints(page)
    assert markup.shape == text.shape == (3,)
    assert not site_level_templates(page, np.array([50]), 100).any()


def test_lone_surrogates_do_not_stop_the_parser() -> None:
    assert Page.parse("<p>a\ud800b</p>").block_texts() == ["ab"]


def test_predicates_are_refused_where_they_are_defined_when_their_parts_are_too_many_for_the_core() -> None:
    with pytest.raises(RuntimeError, match="more than 32 attribute predicates, or 64 parts"):
        attribute_predicate("class", parts=[f"part-{number}" for number in range(65)])
    assert clean("<p class=part-1>It is cleaned all the same.").text


def test_rules_for_other_pages_keep_none_of_this_one_from_hiding_text() -> None:
    others = "".join(f".other-{number}{{display:none}}" for number in range(400))
    page = (
        f"<style>{others}/* of this page */.secret{{display:none}}</style><p>Seen words.</p><p class=secret>Unseen.</p>"
    )
    assert clean(page).text == "Seen words."


def test_a_style_that_many_elements_have_is_not_read_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(SAID, "_function", lambda css: read.append(css) or ())
    style = "display:none;" + "margin:0;" * 50  # too long to be kept from page to page
    clean("<p>Seen words.</p>" + f"<p style='{style}'>Unseen words.</p>" * 200)
    assert 0 < len(read) < 5


def test_tags_with_prefixes_and_tags_nobody_knows_are_kept() -> None:
    page = Page.parse("<o:p>a</o:p><my-tag>b</my-tag><p>c")
    assert [element.tag for element in page.elements] == ["html", "head", "body", "x-o-p", "my-tag", "p"]
    assert page.unknown_names == {3: "o:p", 4: "my-tag"}


def test_a_title_in_the_body_has_its_text_once_in_a_tree() -> None:
    page = Page.parse("<body><p>a<title>b<!-- c -->d</title>e<!-- f -->g")
    assert etree.tostring(page.elements[-2], encoding="unicode") == "<p>a<title>b&lt;!-- c --&gt;d</title>eg</p>"


def test_pages_above_a_cap_say_which() -> None:
    cases = [
        ("<p>" * 50, Limits(max_bytes=149), "bytes", 150, 149),
        ("<p>" * 50, Limits(max_nodes=52), "nodes", 53, 52),
        ("<p><!-- -->" * 3, Limits(max_nodes=8), "nodes", 9, 8),
        ("<div>" * 50, Limits(max_depth=51), "depth", 52, 51),
    ]
    for html, limits, reason, size, limit in cases:
        with pytest.raises(PageTooLarge, match=f"page has {size} {reason}, the limit is {limit}") as caught:
            Page.parse(html, limits=limits)
        assert (caught.value.reason, caught.value.size, caught.value.limit) == (reason, size, limit)
        Page.parse(html, limits=UNLIMITED)


def test_the_error_of_a_page_above_a_cap_is_handed_from_process_to_process() -> None:
    error = PageTooLarge("nodes", 5_000, 4_000)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (str(again), vars(again)) == ("page has 5,000 nodes, the limit is 4,000", vars(error))


def test_fifty_megabytes_of_one_tag_do_no_harm_without_the_cap() -> None:
    assert Page.parse(b"<div>" * 10_000_000, limits=UNLIMITED).n == 2_048


def test_ten_thousand_nested_elements_are_above_the_cap_since_libxml2_drops_what_lies_deeper() -> None:
    html = "<div>" * 10_000 + "deep" + "</div>" * 10_000 + "<p>after"
    with pytest.raises(PageTooLarge, match="depth"):
        Page.parse(html)
    assert not Page.parse(html, limits=UNLIMITED).runs


def test_trees_as_deep_as_the_cap_are_whole() -> None:
    levels = DEFAULT_LIMITS.max_depth - 2
    page = Page.parse("<div>" * levels + "deep" + "</div>" * levels + "<p>after")
    assert page.block_texts() == ["deep", "after"]
    assert len(set(node_fingerprints(page).tolist())) == page.n + page.m


def test_a_tree_of_forty_thousand_levels_is_read_where_the_cap_allows() -> None:
    root = element = etree.Element("div")
    for _ in range(40):
        element.append(etree.fromstring("<div>" * 1_000 + "</div>" * 1_000, etree.XMLParser(huge_tree=True)))
        *_, element = element.iter()
    element.text = "At the bottom of the well"
    page = Page.from_tree(root, limits=Limits(max_depth=50_000))
    assert (page.n, page.m, int(page.depth[-1])) == (40_001, 1, 40_000)
    assert clean(page).text == "At the bottom of the well"


def test_as_many_siblings_as_the_cap_allows_are_worked_on() -> None:
    page = Page.parse("<p>x" * (DEFAULT_LIMITS.max_nodes - 3))
    markup, text = node_fingerprints(page), text_fingerprints(page)
    assert len(set(markup[3 : page.n].tolist())) == 1
    assert len(set(text[3:].tolist())) == 1
    assert site_level_templates(page, np.full(page.n + page.m, 50), 100)[3:].all()


@pytest.mark.parametrize(
    "html",
    [
        "<html><body><p>first</p></body></html><p>second</p>",
        "<html><p>first</p></html>\n<!DOCTYPE html><html><head><title>t</title></head><body><p>second</p></html>",
        "<HTML><BODY><p>first</p></HTML>second",
        "<html><body><p>first</p></html><script>x = '</html>'</script><div>second",
    ],
)
def test_text_after_the_end_of_the_document_is_read_as_browsers_do(html: str) -> None:
    assert [text for text in Page.parse(html).block_texts() if text != "t"] == ["first", "second"]


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<!doctype html><!--a--><title>T</title><main><p>Storm</main>", ["Storm"]),
        ("<title>T</title><meta charset=utf-8><article>Storm</article>and <p>wind", ["Storm", "and", "wind"]),
        ("<html><head><title>T</title><x-app>Storm</x-app><script>x</script></head><body>wind</body>", ["Stormwind"]),
        ("<title>T</title><noscript>No scripts</noscript><body><nav>Storm</nav>", ["Storm"]),
        ("<head><title>T</title><script>x</script></head><p>Storm", ["Storm"]),
        ("<head><title>T</title><main><p>Storm<body>wind</main>", ["Stormwind"]),
        ("<title>T</title><main><div><p>Storm<body>and</div><p>wind</main>", ["Stormand", "wind"]),
        ("<head><title>T</title><main>Storm</main>and <body>wind</body>", ["Storm", "and wind"]),
    ],
)
def test_content_ends_the_head_as_in_browsers_where_its_end_tag_is_left_out(html: str, texts: list[str]) -> None:
    page = Page.parse(html)
    assert (page.title, page.block_texts()) == ("T", texts)


def test_the_tree_of_a_page_whose_head_has_content_is_not_changed() -> None:
    root = parse_html("<title>T</title><main>Storm</main>")
    before = etree.tostring(root)
    assert Page.from_tree(root).block_texts() == ["Storm"]
    assert etree.tostring(root) == before


def test_a_page_of_frames_is_what_it_says_to_those_without_frames() -> None:
    frames = "<frameset cols=1><frame src=a><noframes><body><p>Our <b>menu</b></p></body></noframes></frameset>"
    assert Page.parse(f"<html><head><title>t</title></head>{frames}</html>").block_texts() == ["Our menu"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("boundary", ['"--abc"', '\n "--abc"', "--abc "])
def test_a_page_that_a_browser_saved_as_mhtml_is_unpacked(line_end, boundary):
    saved = f"""\
From: <Saved by Blink>
Snapshot-Content-Location: https://harbour.example/
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary={boundary}

----abc
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable
Content-Location: https://harbour.example/news

<title>Gr=FC=
n</title><p>Boats</p>
----abc
Content-Type: text/css

p {{}}
----abc--
"""
    page = Page.parse(saved.replace("\n", line_end).encode())
    assert (page.title, page.url, page.block_texts()) == ("Grün", "https://harbour.example/news", ["Boats"])


@pytest.mark.parametrize(
    "part",
    [
        *("", "----abc", "----abc\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\n=x"),
        "----abc"
        + "".join(
            f"\nContent-Type: multipart/x; boundary=b{n}\nContent-Type: text/html\n\n--b{n}" for n in range(2_000)
        ),
    ],
)
def test_mhtml_that_is_broken_is_a_page_all_the_same(part):
    Page.parse(f"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=--abc\n\n{part}".encode())
