"""Algorithm 1: pages that all link to each other, found page by page, against a search through all subsets."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.page.page import Page
from winnow.papers.menu_search import (
    VARIANTS,
    MenuSearch,
    SubdigraphSearch,
    largest_clique,
    page_key,
    search_menu,
    site_links,
)

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


def _search(topology, size, most_pages=None):
    search = SubdigraphSearch(topology, size, most_pages)
    while (link := search.wanted()) is not None:
        search.add(topology[link])
    return search


@settings(max_examples=60, deadline=None)
@given(TOPOLOGIES, st.integers(1, 6))
def test_the_search_finds_what_a_search_through_all_subsets_finds(topology, size):
    search = _search(topology, size)
    completed_by = search.found[-1] if search.found else None
    assert (len(search.found), completed_by, search.loaded) == _algorithm_1(topology, size)
    assert all(other in topology[one] for one in search.found for other in search.found if one != other)
    assert search.found == [link for link in topology if link in search.found]


@settings(max_examples=60, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))), st.integers(1, 8))
def test_a_largest_clique_is_found(edges, enough):
    neighbours = {
        one: sum(1 << other for other in range(8) if other != one and {(one, other), (other, one)} & edges)
        for one in range(8)
    }
    cliques = [
        subset
        for length in range(9)
        for subset in combinations(range(8), length)
        if all(neighbours[one] >> other & 1 for one, other in combinations(subset, 2))
    ]
    found = largest_clique(neighbours, 255, enough)
    assert tuple(sorted(found)) in cliques
    assert len(found) == min(enough, max(map(len, cliques)))


def test_a_graph_of_many_cliques_takes_no_time():
    # 7 groups of 40 pages, each page linked to all pages of the other groups: 40**7 cliques of 7, none of 8.
    names = [(group, number) for number in range(40) for group in range(7)]
    topology = {name: [other for other in names if other[0] != name[0]] for name in names}
    assert len(_search(topology, 8).found) == 7


def test_no_more_pages_are_loaded_than_allowed():
    topology = {name: set() for name in NAMES}
    assert _search(topology, 2, most_pages=3).loaded == 3
    assert _search(topology, 2, most_pages=0).found == []


def test_a_subdigraph_without_pages_is_refused():
    with pytest.raises(ValueError, match="at least 1 page"):
        SubdigraphSearch(["a"], 0)


def _page(url, *links, head=""):
    return Page.parse(f"<html><head>{head}</head><body>" + "".join(f"<a href='{link}'>x</a>" for link in links), url)


def test_only_links_to_other_pages_of_the_domain_count():
    page = _page(
        "http://www.a.example/b/c.html",
        *("d.html#part", "/e/", "//a.example/e/index.html", "https://a.example/f?x=1", "c.html#top", "", "#", "?"),
        *("http://other.example/", "mailto:x@a.example", "javascript:go()", "picture.PNG", "http://[broken", "ftp://a"),
    )
    assert site_links(page) == {
        "a.example/b/d.html": "http://www.a.example/b/d.html",
        "a.example/e": "http://www.a.example/e/",
        "a.example/f?x=1": "https://a.example/f?x=1",
    }


def test_links_are_relative_to_the_base_of_the_page():
    page = _page("http://a.example/b/c.html", "d.html", head="<base href='/x/'>")
    assert list(site_links(page)) == ["a.example/x/d.html"]


def test_addresses_of_one_page_have_one_key():
    same = ["http://a.example", "https://www.A.example/", "http://a.example/index.html", "http://a.example/#x"]
    assert {page_key(address) for address in same} == {"a.example"}
    assert page_key("http://a.example/%C3%A4/") == page_key("http://a.example/ä")
    assert page_key("http://a.example/index.html?page=2") == "a.example?page=2"


def _site(topology):
    return {f"http://a.example/{name}": _page(f"http://a.example/{name}", *links) for name, links in topology.items()}


def test_menu_pages_are_loaded_one_by_one_until_enough_link_to_each_other():
    site = _site({"": "abcdef", "a": "x", "b": "cd", "c": "bd", "d": "bc", "e": "bcd", "f": ""})
    asked = []
    search = MenuSearch(site["http://a.example/"], 3, variant=VARIANTS["paper"])
    search_menu(search, lambda url: asked.append(url[-1]) or site[url])
    assert list(search.found) == ["a.example/b", "a.example/c", "a.example/d"]
    assert asked == ["a", "b", "c", "d"]
    assert search.loaded == 5  # the key page, too


MENU = "<ul><li><a href=/>Front</a><li><a href=/a>Letters</a><li><a href=/b>Sport</a><li><a href=/c>News</a></ul>"


def _of(name, html):
    return Page.parse(f"<html><body>{html}</body></html>", f"http://a.example/{name}")


def test_the_front_page_is_loaded_last_and_pages_that_agree_end_the_search():
    site = {f"http://a.example/{name}": _of(name, f"{MENU}<p>All of {name}</p>") for name in ("", "a", "b", "c", "key")}
    asked = []
    search = MenuSearch(site["http://a.example/key"])
    search_menu(search, lambda url: asked.append(url[17:]) or site[url])
    assert asked == ["a", "b"]
    assert search.satisfied
    assert list(search.addresses) == ["a.example/a", "a.example/b", "a.example/c", "a.example"]


def test_pages_that_do_not_agree_are_compared_with_more():
    foot = "<div><p>The letters of the harbour</p></div>"
    site = {f"http://a.example/{name}": _of(name, MENU + foot * (name != "b")) for name in ("", "a", "b", "c", "key")}
    search = search_menu(MenuSearch(site["http://a.example/key"]), site.get)
    assert list(search.found) == ["a.example/a", "a.example/b", "a.example/c", "a.example"]
    texts = site["http://a.example/key"].block_texts()
    kept = search.template()[-len(texts) :]
    assert [text for text, chosen in zip(texts, kept, strict=True) if not chosen] == ["The letters of the harbour"]


def test_what_leads_back_to_a_page_that_is_known_is_no_page_of_its_own():
    site = _site({"": "abc", "b": "ac", "c": "ab"})
    site["http://a.example/a"] = site["http://a.example/"]  # the key page again, as after a redirect
    search = search_menu(MenuSearch(site["http://a.example/"]), site.get)
    assert list(search.found) == ["a.example/b", "a.example/c"]


def test_links_to_pages_that_are_not_there_are_left_alone():
    site = _site({"": "xyab", "a": "b", "b": "a"})
    known = {"a.example/a", "a.example/b"}
    search = search_menu(MenuSearch(site["http://a.example/"], known=known), site.__getitem__)
    assert (sorted(search.found), search.loaded) == (sorted(known), 3)
