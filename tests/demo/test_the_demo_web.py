"""The demo web has the traits of the real one, its truth is what it serves, and accuracy by it counts words."""

import http.client
import re
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from urllib.parse import urlsplit

import lxml.html
import pytest
from lxml.html import HtmlElement
from scrapy.http import HtmlResponse

from demo.hosts import BUILDERS
from demo.server import DemoWeb
from demo.truth import PageTruth, compare, total
from demo.web import LEAST_PAGES, build_site

UNSEEN = {"script", "style", "template", "head"}


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb(pages=30) as served:
        yield served


@cache
def get(url: str) -> HtmlResponse:
    """What the server answers, a redirect as such."""
    host = urlsplit(url).netloc
    with closing(http.client.HTTPConnection(host, timeout=240)) as connection:
        connection.request("GET", url.partition(host)[2])
        answer = connection.getresponse()
        return HtmlResponse(url, answer.status, dict(answer.getheaders()), answer.read())


def text_runs(tree: HtmlElement) -> list[str]:
    """Every non-blank text and tail of the body, in document order, white space normalised."""
    runs: list[str] = []
    stack: list[tuple[HtmlElement, bool]] = [(tree.find("body"), False)]
    while stack:
        element, leaving = stack.pop()
        if leaving:
            runs.append(" ".join((element.tail or "").split()))
            continue
        stack.append((element, True))
        if isinstance(element.tag, str) and element.tag not in UNSEEN:
            runs.append(" ".join((element.text or "").split()))
            stack.extend((child, False) for child in reversed(element))
    return [run for run in runs if run]


def articles(web: DemoWeb, name: str) -> list[PageTruth]:
    pages = web.sites[name].truth.values()
    return [truth for truth in pages if truth.kind == "article" and truth.path[:9] != "/private/"]


def served(web: DemoWeb, name: str, count: int = 12) -> list[HtmlResponse]:
    return [get(web.urls[name] + truth.path[1:]) for truth in articles(web, name)[:count]]


@pytest.mark.parametrize("name", BUILDERS)
def test_a_redirect_a_404_an_empty_page_and_files_are_served_as_such(web: DemoWeb, name: str):
    base = web.urls[name]
    moved = get(base + "latest")
    assert moved.status == 302
    assert get(base + moved.headers["Location"].decode()[1:]).status == 200
    assert get(base + "old/archive-2009").status == 404
    empty = get(base + "print")
    assert (empty.status, empty.body) == (200, b"")
    pdf, picture, notes = (
        get(base + "files/annual-report.pdf"),
        get(base + "static/picture.png"),
        get(base + "files/notes.txt"),
    )
    assert (pdf.headers["Content-Type"], pdf.body[:5]) == (b"application/pdf", b"%PDF-")
    assert (picture.headers["Content-Type"], picture.body[1:4]) == (b"image/png", b"PNG")
    assert notes.headers["Content-Type"].startswith(b"text/plain")


def test_some_pages_have_broken_markup_and_most_have_not(web: DemoWeb):
    for name in BUILDERS:
        broken = [truth for truth in articles(web, name) if not truth.well_formed]
        assert 2 <= len(broken) <= len(articles(web, name)) // 3
        bodies = [get(web.urls[name] + truth.path[1:]).body for truth in broken]
        assert all(b"</body>" not in body for body in bodies)
        assert any(re.search(rb"<\w+ (?:[^>]* )?(\w+=\"[^\"]*\") (?:[^>]* )?\1", body) for body in bodies)
        assert any(body.count(b"<p>") > body.count(b"</p>") for body in bodies)


@pytest.mark.parametrize(
    ("name", "charset", "declared"),
    [
        *(("news", "windows-1252", "header"), ("council", "windows-1252", "meta"), ("docs", "shift_jis", "meta")),
        *(("docs", "gb18030", "header"), ("blog", "utf-8", "nowhere")),
    ],
)
def test_charsets_are_declared_as_stated_and_decode(web: DemoWeb, name: str, charset: str, declared: str):
    found = [truth for truth in articles(web, name) if (truth.charset, truth.declared) == (charset, declared)]
    assert len(found) >= 3
    for truth in found:
        answer = get(web.urls[name] + truth.path[1:])
        assert (b"charset" in answer.headers["Content-Type"]) == (declared == "header")
        assert (b"charset=" in answer.body) == (declared == "meta")
        assert not answer.body.isascii()
        text = answer.body.decode(charset)
        longest = max((run for run, template in truth.runs if not template), key=len)
        assert longest[:30].replace("\u202f", "&#8239;") in " ".join(text.replace("\u00a0", " ").split())


@pytest.mark.parametrize("name", BUILDERS)
def test_the_runs_of_the_truth_are_the_text_that_lxml_finds(web: DemoWeb, name: str):
    for path, truth in web.sites[name].truth.items():
        if truth.kind == "empty":
            continue
        found = text_runs(lxml.html.document_fromstring(get(web.urls[name] + path[1:]).text))
        expected = [text for text, _ in truth.runs]
        if truth.well_formed:
            assert found == expected, path
        else:
            assert " ".join(found).split() == " ".join(expected).split(), path


@pytest.mark.parametrize("name", BUILDERS)
def test_pages_carry_no_mark_of_their_truth_and_articles_have_template_and_content(name: str):
    site = build_site(name, pages=LEAST_PAGES)
    for path, truth in site.truth.items():
        markup = re.sub(rb">[^<]*<", b"><", site.resources[path].body)
        assert not re.search(rb"template=|is[-_]template|data-(?:template|content|truth|label)", markup)
        assert truth.kind != "article" or (truth.content_text.strip() and truth.template_text.strip())


@pytest.mark.parametrize("name", BUILDERS)
def test_the_same_seed_writes_the_same_bytes_and_another_seed_does_not(name: str):
    one, two, three = (build_site(name, seed, LEAST_PAGES) for seed in (7, 7, 8))
    assert (one.resources, one.truth) == (two.resources, two.truth)
    assert one.resources != three.resources


PAGE = PageTruth("/", "article", (("Home News", True), ("The story of the news", False), ("All rights reserved", True)))


def test_a_template_word_that_content_has_too_counts_once():
    assert compare(PAGE, "The story of the news news").template_cut == 4
    assert compare(PAGE, "The story of the news").template_cut == 5


def test_comparisons_add_up_over_pages():
    both = total([compare(PAGE, "The story of the news"), compare(PAGE, "")])
    assert both.content_recall == 0.5
    assert total([]).content_recall == 1.0
