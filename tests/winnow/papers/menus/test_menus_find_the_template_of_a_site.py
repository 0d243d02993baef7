"""Menus as a site method: few pages loaded, their template labelled on any page, and written as a page."""

import random

import numpy as np
import pytest

from winnow.page.page import Page
from winnow.page.tree import within
from winnow.papers.menus import template_page
from winnow.papers.methods import method
from winnow.papers.pages import SiteError, SitePages

WORDS = ["wind", "river", "stone", "glass", "paper", "cloud", "salt", "iron", "lemon", "harbour", "winter", "garden"]
SECTIONS = ["news", "sport", "culture", "letters", "weather", "harbour"]


def _text(seed, words=40):
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(words))


def _page(name, links, content):
    menu = "".join(f"<li><a href='/{section}.html'>To {section}</a></li>" for section in SECTIONS)
    inside = "".join(f"<p><a href='/{link}.html'>{_text(link, 5)}</a></p>" for link in links)
    return (
        f"https://paper.example/{name}.html",
        f"<html><head><title>{name}</title><link rel=stylesheet href=/s.css><script>var page = '{name}';</script>"
        f"</head><body class='page-{name}'><div id=top><ul class=menu>{menu}</ul></div>"
        f"<div class=main><h1>All of {name}</h1>{content}{inside}</div>"
        "<div class=foot><p>The paper of the <b>harbour</b></p></div></body></html>".encode(),
    )


def _site(stories=12):
    """A front page, sections that link to each other, and stories that have the menu and that no menu names."""
    names = [f"story-{number}" for number in range(stories)]
    pages = [_page("index", names[:3], "")]
    pages += [_page(section, names[at::6], f"<p>{_text(section)}</p>") for at, section in enumerate(SECTIONS)]
    pages += [_page(name, [], f"<p>{_text(name)}</p><p>{_text(name + 'b')}</p>") for name in names]
    return pages


def _kept_texts(pages, number, template):
    page = pages.read(number).page
    return {text for text, chosen in zip(page.block_texts(), template[page.n :].tolist(), strict=True) if chosen}


TEMPLATE = {*(f"To {section}" for section in SECTIONS), "The paper of the harbour"}


@pytest.mark.parametrize("equality", ["tag", "attributes", "weighted"])
def test_the_template_is_found_from_the_pages_of_the_menu(equality):
    pages = SitePages.of_html(_site())
    learned = method("menus", equality=equality, variant="paper").learn(pages)
    assert pages.names[learned.key_page].endswith("/index.html")
    assert [pages.names[number][22:-5] for number in learned.subdigraph] == SECTIONS[:4]
    assert learned.pages == 5
    for number in range(len(pages)):
        assert _kept_texts(pages, number, learned.label(pages.read(number)).template) == TEMPLATE


@pytest.mark.parametrize("equality", ["tag", "attributes", "weighted"])
def test_two_pages_that_agree_are_enough_and_the_front_page_is_the_last_to_start_from(equality):
    pages = SitePages.of_html(_site())
    learned = method("menus", equality=equality).learn(pages)
    assert pages.names[learned.key_page].endswith("/news.html")
    assert [pages.names[number][22:-5] for number in learned.subdigraph] == SECTIONS[1:3]
    assert learned.pages == 3
    for number in range(len(pages)):
        assert _kept_texts(pages, number, learned.label(pages.read(number)).template) == TEMPLATE


def test_pages_that_were_never_seen_are_labelled_too():
    learned = method("menus").learn(SitePages.of_html(_site()))
    others = SitePages.of_html([_page("new", [], f"<p>{_text('new')}</p>"), ("https://paper.example/x", b"<p>bare")])
    assert _kept_texts(others, 0, learned.label(others.read(0)).template) == TEMPLATE
    bare = others.read(1)
    assert not learned.label(bare).template[bare.page.n :].any()


def test_elements_are_template_when_all_they_say_is_and_mapped_in_any_case():
    pages = SitePages.of_html(_site())
    learned = method("menus").learn(pages)
    read = pages.read(8)
    label, mapped = learned.label(read).template, learned.mapped(read)
    by_class = {dict(pairs).get("class", ""): node for node, pairs in enumerate(read.page.attributes)}
    assert label[by_class["menu"]]
    assert label[by_class["foot"]]
    assert mapped[by_class["main"]]
    assert not label[by_class["main"]]


def test_the_largest_smaller_subdigraph_is_taken():
    html = [page for page in _site() if page[0].rsplit("/")[-1] not in {"weather.html", "letters.html", "sport.html"}]
    learned = method("menus", size=5, variant="paper").learn(SitePages.of_html(html))
    assert len(learned.subdigraph) == 3


def test_the_key_page_can_be_named():
    pages = SitePages.of_html(_site())
    key = "https://paper.example/story-4.html"
    learned = method("menus", key_page=key).learn(pages)
    assert pages.urls[learned.key_page] == key
    with pytest.raises(SiteError, match="there is no page 'x' among 19 pages"):
        method("menus", key_page="x").learn(pages)


@pytest.mark.parametrize(
    "html",
    [
        [],
        [("https://a.example/", b"<p>alone")],
        [(f"https://a.example/{n}", b"<p>no links") for n in range(4)],
        [(f"https://a.example/{n}", b"<a href='https://b.example/'>away</a>") for n in range(4)],
        [(f"https://a.example/{n}", b"") for n in range(4)],
    ],
    ids=["none", "one", "no links", "links elsewhere", "empty"],
)
def test_pages_without_links_among_them_are_a_clear_error(html):
    with pytest.raises(SiteError, match=r"no links to other pages were found among .* give the folder of a whole site"):
        method("menus").learn(SitePages.of_html(html))


def test_unreadable_pages_are_passed_over(tmp_path):
    for url, html in _site():
        (tmp_path / url.rsplit("/")[-1]).write_bytes(html)
    files = sorted(tmp_path.glob("*.html"))
    (tmp_path / "news.html").unlink()
    learned = method("menus", variant="paper").learn(SitePages.of_files(tmp_path, files))
    assert len(learned.subdigraph) == 4


def test_parameters_are_checked():
    for parameters, message in (
        ({"size": 0}, "size must be at least 1"),
        ({"most_pages": 1}, "most_pages must be at least 2"),
        ({"equality": "same"}, "equality must be one of"),
        ({"variant": "quick"}, "variant must be one of agreeing, paper"),
        ({"threshold": -1.0}, "threshold must be from 0 to 1"),
    ):
        with pytest.raises(ValueError, match=message):
            method("menus", **parameters)


def test_the_template_page_has_the_template_and_nothing_else():
    pages = SitePages.of_html(_site())
    read = pages.read(7)
    written = template_page(read.page, method("menus").learn(pages).mapped(read))
    again = Page.parse(written)
    assert set(again.block_texts()) == TEMPLATE
    assert '<link rel="stylesheet" href="/s.css">' in written
    assert "var page" not in written
    assert "story-7" not in written
    assert 'class="page-story-0"' in written


def test_a_page_that_is_all_template_is_written_whole():
    html = (
        "<!DOCTYPE html>\n<html><head><title>A &amp; B</title><style>p > a {}</style></head><body><p>one <b>two</b> "
        'three<br>four &lt;five&gt; <a href="?a=1&amp;b=2" title="&quot;">six</a></p><!-- said to none --> seven'
        "<svg><g><text>eight</text></g></svg><select><option>nine</option></select></body></html>\n"
    )
    page = Page.parse(html)
    everything = np.ones(page.n + page.m, bool)
    assert template_page(page, everything) == html.replace("<!-- said to none -->", "")


def test_what_is_inside_an_element_that_is_no_template_is_left_out():
    page = Page.parse("<body><div><p>in <b>bold</b> and out</p></div><ul><li>x</ul></body>")
    template = np.ones(page.n + page.m, bool)
    template[[index for index, element in enumerate(page.elements) if element.tag in {"div", "b"}]] = False
    assert template_page(page, template) == "<!DOCTYPE html>\n<html><body><ul><li>x</li></ul></body></html>\n"
    assert within(page, ~template[: page.n]).sum() == 3


def test_the_charset_is_that_of_the_document_written():
    head = (
        "<meta charset='koi8-r'><meta http-equiv='Content-Type' content='text/html; charset=koi8-r'><meta content='x'>"
    )
    page = Page.parse(f"<html><head>{head}</head><body><p>\u044f</p></body></html>")
    written = template_page(page, np.ones(page.n + page.m, bool))
    assert "koi8-r" not in written
    assert written.count("utf-8") == 2
    assert 'content="x"' in written
    assert Page.parse(written.encode()).text == "\u044f"
