import pytest

from winnow.fingerprints import LinkTargets, node_fingerprints
from winnow.hashing import hash_text
from winnow.page.page import Page


def fingerprint(html: str, url: str | None = None, base: str = "") -> int:
    page = Page.parse(f"<head>{base}</head><body>{html}</body>", url)
    return int(node_fingerprints(page)[[element.tag for element in page.elements].index("body") + 1])


SAME = [
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
    ('<a href="/x?p=2">x', '<a href="/x?p=3">x'),
    ('<a href="/2020/x">x', '<a href="/2021/x">x'),
    ('<a href="/x#a">x', '<a href="/x#b">x'),
    ('<img src="1.png">x', '<img src="2.png">x'),
    ('<img alt="3 apples">x', '<img alt="4 apples">x'),
    ('<form><input type="submit" value="Go">x', '<form><input type="submit" value="Stop">x'),
    ('<p class="current-affairs news">x', '<p class="news x">x'),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_tokens_counters_and_states_do_not_change_fingerprints(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_targets_of_links_and_visible_text_change_fingerprints(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


PAGE = "https://example.org/a/b/page.html"


FORMS = """
    ../../index.html /index.html https://example.org/index.html http://example.org/index.html //example.org/index.html
    .././../index.html /a/../index.html ../../../../index.html
"""


@pytest.mark.parametrize("href", [*FORMS.split(), " /index.html\n"])
def test_forms_of_one_link_are_the_same_when_the_address_of_the_page_is_known(href: str) -> None:
    other = fingerprint('<a href="index.html">x', "https://example.org/start.html")
    assert fingerprint(f'<a href="{href}">x', PAGE) == other


@pytest.mark.parametrize(
    ("link", "resolved"),
    [
        *(("c.html", "/a/b/c.html"), ("./c.html?x=../y", "/a/b/c.html?x=../y"), ("..", "/a/"), (".", "/a/b/")),
        *(("c/../d/", "/a/b/d/"), ("https://example.org", "/"), ("https://example.org?p=1", "/?p=1")),
        ("https://example.org.evil.net/", "https://example.org.evil.net/"),
        *(("https://other.net/../x", "https://other.net/../x"), ("//other.net/x", "//other.net/x")),
        *(("mailto:a@b.c", "mailto:a@b.c"), ("javascript:void(0)", "javascript:void(0)")),
        *(("httpd.html", "/a/b/httpd.html"), ("#top", "#top"), ("?p=1", "?p=1"), ("", "")),
    ],
)
def test_links_are_resolved_to_paths_on_the_host_of_the_page(link: str, resolved: str) -> None:
    assert LinkTargets(PAGE).resolve(link) == resolved


def test_links_of_a_page_at_an_unknown_place_stay_as_they_are_after_any_page() -> None:
    for url in (PAGE, None, "https://example.org/q/", "https://[broken"):
        LinkTargets(url).token("c.html")
    assert LinkTargets(None).token("c.html") == hash_text("c.html")


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
