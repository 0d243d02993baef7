"""Menus: which pages are loaded, which nodes of two pages correspond, and the template that comes out."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.page.page import Page
from tamis_papers.experiments.harness import HtmlPages
from tamis_papers.menu_mapping import Equality, Profile, shared_units, template_of
from tamis_papers.menus import PAPER, Menus, MenuSearch, site_links
from tamis_papers.methods import METHODS
from tamis_papers.pages import SiteError
from tests.prose import prose
from tests.tamis.chosen import texts_of

SECTIONS = ["news", "sport", "culture", "letters", "weather", "harbour"]


def _page(name, links, content):
    menu = "".join(f"<li><a href='/{section}.html'>To {section}</a></li>" for section in SECTIONS)
    inside = "".join(f"<p><a href='/{link}.html'>{prose(link, 5)}</a></p>" for link in links)
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
    pages += [_page(section, names[at::6], f"<p>{prose(section, 40)}</p>") for at, section in enumerate(SECTIONS)]
    pages += [_page(name, [], f"<p>{prose(name, 40)}</p><p>{prose(name + 'b', 40)}</p>") for name in names]
    return pages


TEMPLATE = {*(f"To {section}" for section in SECTIONS), "The paper of the harbour"}


@pytest.mark.parametrize(
    ("parameters", "key_page", "menu"),
    [({"variant": "paper"}, "index", SECTIONS[:4]), ({}, "news", SECTIONS[1:3])],
    ids=["from the front page, as in the paper", "from a section, with two pages that agree"],
)
def test_the_template_is_found_from_the_pages_of_the_menu(parameters, key_page, menu):
    pages = HtmlPages.from_html(_site())
    learned = METHODS["menus"](**parameters).learn(pages)
    assert [pages.names[number][22:-5] for number in learned.groups[0]] == [key_page, *menu]
    assert learned.pages == len(menu) + 1
    for number in range(len(pages)):
        read = pages.read(number)
        assert {*texts_of(read.page, learned.label(read).template)} == TEMPLATE


def test_the_front_page_is_tried_last_where_the_links_of_others_lead_nowhere():
    def moved(url: str, html: bytes) -> tuple[str, bytes]:
        return url, html if url.endswith("index.html") else html.replace(b"href='/", b"href='/moved/")

    pages = HtmlPages.from_html([moved(*page) for page in _site()])
    learned = METHODS["menus"]().learn(pages)
    assert pages.names[learned.groups[0][0]] == "https://paper.example/index.html"


def test_the_key_page_can_be_named():
    pages = HtmlPages.from_html(_site())
    key = "https://paper.example/story-4.html"
    learned = METHODS["menus"](key_page=key).learn(pages)
    assert pages.urls[learned.groups[0][0]] == key
    with pytest.raises(SiteError, match="there is no page 'x' among 19 pages"):
        METHODS["menus"](key_page="x").learn(pages)


@pytest.mark.parametrize(
    "html",
    [
        [],
        [("https://a.example/", b"<p>alone")],
        [(f"https://a.example/{n}", b"<a href='https://b.example/'>away</a>") for n in range(4)],
    ],
)
def test_pages_without_links_among_them_are_a_clear_error(html):
    with pytest.raises(SiteError, match=r"no links to other pages were found among .* give the folder of a whole site"):
        METHODS["menus"]().learn(HtmlPages.from_html(html))


ATTRIBUTES = st.sampled_from(["", " id=a", " id=b", " class='x y'", " class=x", " class='y z' title=t", " title=t"])
TREES = st.recursive(
    st.sampled_from(["red", "blue", "<br>"]),
    lambda inner: st.tuples(st.sampled_from(["div", "section"]), ATTRIBUTES, st.lists(inner, max_size=4)),
    max_leaves=14,
)
DOCUMENTS = st.tuples(ATTRIBUTES, st.lists(TREES, max_size=3))


def _tree_html(tree):
    if isinstance(tree, str):
        return tree
    return f"<{tree[0]}{tree[1]}>{''.join(map(_tree_html, tree[2]))}</{tree[0]}>"


def _tree_page(document):
    attributes, trees = document
    return Page.parse(f"<html><body{attributes}>{''.join(map(_tree_html, trees))}</body></html>", "http://a.example/")


def _children(page, node):
    return [child for child in range(page.n) if page.parent[child] == node]


def _texts(page, node):
    texts = page.block_texts()
    return {block: texts[block] for block in range(page.m) if page.block_node[block] == node}


def _recursive_etdm(one, other, equal):
    """Function ETDM of Algorithm 2, as printed, with texts as leaves that are equal when they say the same."""
    profiles = Profile.from_page(one), Profile.from_page(other)

    def same(node, partner):
        return bool(equal.between(*profiles)(np.array([node]), np.array([partner]))[0])

    def etdm(node, partner):
        said = set(_texts(other, partner).values())
        mapped = {node} | {one.n + block for block, text in _texts(one, node).items() if text in said}
        for child in _children(one, node):
            for its_partner in _children(other, partner):
                if same(child, its_partner):
                    mapped |= etdm(child, its_partner)
        return mapped

    return etdm(0, 0) if same(0, 0) else set()


@settings(max_examples=25, deadline=None)
@given(DOCUMENTS, DOCUMENTS, st.sampled_from([0.0, 0.3, 0.5, 0.8]))
def test_the_mapping_is_that_of_the_recursion(one, other, threshold):
    first, second = _tree_page(one), _tree_page(other)
    equal = Equality(threshold)
    mapped = shared_units(Profile.from_page(first), Profile.from_page(second), equal)
    assert set(np.flatnonzero(mapped).tolist()) == _recursive_etdm(first, second, equal)


def test_what_stands_under_another_ancestor_is_found_by_what_it_says():
    foot = "<div class=foot><p>The paper of the harbour</p><a href=/x>Imprint</a></div>"
    key = Page.parse(f"<body><div class=a><h1>Sea</h1></div>{foot}<i>Hi</i></body>", "https://a.example/1")
    wrapped = f"<body><section id=all><div class=b><h1>Land</h1></div>{foot}<i>Hi</i></section></body>"
    other = Profile.from_page(Page.parse(wrapped, "https://a.example/2"))
    tags = [str(element.tag) for element in key.elements]
    exact = template_of(Profile.from_page(key), [other], Equality())
    assert [tags[index] for index in np.flatnonzero(exact[: key.n])] == ["html", "head", "body"]
    anywhere = template_of(Profile.from_page(key), [other], Equality(least_characters=10))
    assert [tags[index] for index in np.flatnonzero(anywhere[: key.n])] == ["html", "head", "body", "div", "p", "a"]
    assert np.array(key.block_texts())[anywhere[key.n :]].tolist() == ["The paper of the harbour", "Imprint"]


NAMES = "abcdefgh"
TOPOLOGIES = st.dictionaries(
    st.sampled_from(NAMES), st.one_of(st.none(), st.sets(st.sampled_from(NAMES + "xy"))), max_size=8
)


def _algorithm_1(topology, size):
    """The paper's algorithm to the letter: all subsets of the pages loaded so far.

    Returns the size of the subdigraph, the page that completed it, and how many pages were loaded.
    """
    best, last, loaded = [], None, []
    for number, link in enumerate(topology, 1):
        if topology[link] is None:
            continue
        loaded.append(link)
        complete = [
            subset
            for length in range(1, len(loaded) + 1)
            for subset in combinations(loaded, length)
            if link in subset and all(other in topology[one] for one in subset for other in subset if one != other)
        ]
        largest = max(complete, key=len)
        if len(largest) > len(best):
            best, last = largest, link
        if len(largest) >= size:
            return len(best), last, number
    return len(best), last, len(topology)


def _linked_page(url, *links, head=""):
    return Page.parse(f"<html><head>{head}</head><body>" + "".join(f"<a href='{link}'>x</a>" for link in links), url)


def _search(topology, size):
    def load(address):
        links = topology[address[-1]]
        return None if links is None else _linked_page(address, *links)

    return MenuSearch(_linked_page("http://a.example/key", *topology), Menus(PAPER, size), load)


@settings(max_examples=25, deadline=None)
@given(TOPOLOGIES, st.integers(1, 6))
def test_the_search_finds_what_a_search_through_all_subsets_finds(topology, size):
    search = _search(topology, size)
    found = [key[-1] for key in search.found]
    completed_by = found[-1] if found else None
    assert (len(found), completed_by, search.loaded - 1) == _algorithm_1(topology, size)
    assert all(other in topology[one] for one in found for other in found if one != other)
    assert found == [link for link in topology if link in found]


def test_only_links_to_other_pages_of_the_domain_count():
    page = _linked_page(
        "http://www.a.example/b/c.html",
        *("d.html#part", "/e/", "//a.example/e/index.html", "https://a.example/f?x=1", "c.html#top", "", "#", "?"),
        *("http://other.example/", "mailto:x@a.example", "javascript:go()", "picture.PNG", "http://[broken", "ftp://a"),
    )
    assert site_links(page) == {
        "a.example/b/d.html": "http://www.a.example/b/d.html",
        "a.example/e": "http://www.a.example/e/",
        "a.example/f?x=1": "https://a.example/f?x=1",
    }


MENU = "<ul><li><a href=/>Front</a><li><a href=/a>Letters</a><li><a href=/b>Sport</a><li><a href=/c>News</a></ul>"


def _of(name, html):
    return Page.parse(f"<html><body>{html}</body></html>", f"http://a.example/{name}")


def test_pages_that_do_not_agree_are_compared_with_more():
    foot = "<div><p>The letters of the harbour</p></div>"
    site = {f"http://a.example/{name}": _of(name, MENU + foot * (name != "b")) for name in ("", "a", "b", "c", "key")}
    search = MenuSearch(site["http://a.example/key"], Menus(), site.get)
    assert list(search.found) == ["a.example/a", "a.example/b", "a.example/c", "a.example"]
    assert texts_of(site["http://a.example/key"], ~search.template()) == ["The letters of the harbour"]
