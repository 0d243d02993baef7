import re

import pytest

from demo.hosts import BUILDERS
from demo.hosts.parts import STORY_ID, STORY_PARAGRAPHS
from demo.server import DemoWeb
from demo.truth import PageTruth
from demo.web import LEAST_PAGES, build_site
from tests.demo.browsing import Answer, get


def articles(web: DemoWeb, name: str) -> list[PageTruth]:
    return [truth for truth in web.pages(name).values() if truth.kind == "article" and truth.path[:9] != "/private/"]


def served(web: DemoWeb, name: str, count: int = 12) -> list[Answer]:
    return [get(web.urls[name] + truth.path[1:]) for truth in articles(web, name)[:count]]


@pytest.mark.parametrize("name", BUILDERS)
def test_a_redirect_a_404_an_empty_page_and_files_are_served_as_such(web: DemoWeb, name: str) -> None:
    base = web.urls[name]
    moved = get(base + "latest")
    assert moved.status == 302
    assert get(base + moved.headers["location"][1:]).status == 200
    assert get(base + "old/archive-2009").status == 404
    empty = get(base + "print")
    assert (empty.status, empty.body) == (200, b"")
    pdf, picture, notes = (
        get(base + "files/annual-report.pdf"),
        get(base + "static/picture.png"),
        get(base + "files/notes.txt"),
    )
    assert (pdf.headers["content-type"], pdf.body[:5]) == ("application/pdf", b"%PDF-")
    assert (picture.headers["content-type"], picture.body[1:4]) == ("image/png", b"PNG")
    assert notes.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("name", BUILDERS)
def test_menus_promotions_lists_and_time_stamps_change_from_page_to_page(web: DemoWeb, name: str) -> None:
    templates = [truth.template_text.split("\n") for truth in articles(web, name)]
    common = set.intersection(*map(set, templates))
    assert len(common) >= 8, "a menu and a footer that every page has"
    changing = {line for lines in templates for line in lines} - common
    assert len(changing) > 3 * len(common)
    assert sum(bool(re.search(r"\d\d:\d\d(:\d\d)?", line)) for line in changing) > len(templates) // 2


@pytest.mark.parametrize("name", BUILDERS)
def test_the_menus_active_item_is_marked_on_some_pages_and_not_on_others(web: DemoWeb, name: str) -> None:
    marked = "//li[contains(@class, 'active') or contains(@class, 'current')] | //td[@bgcolor='#eeddcc']"
    pages = [get(web.urls[name] + truth.path[1:]).tree() for truth in articles(web, name)]
    assert len({page.xpath(marked)[0].text_content().split("\n")[0] for page in pages if page.xpath(marked)}) >= 4


@pytest.mark.parametrize("name", BUILDERS)
def test_attributes_carry_tokens_that_no_other_page_has(web: DemoWeb, name: str) -> None:
    tokens = [set(re.findall(rb"[\"'=?]([0-9a-f]{8,48})[\"'&]", page.body)) for page in served(web, name)]
    assert all(tokens)
    assert not set.intersection(*tokens)


def test_some_pages_have_broken_markup_and_most_have_not(web: DemoWeb) -> None:
    for name in BUILDERS:
        broken = [truth for truth in articles(web, name) if not truth.well_formed]
        assert 3 <= len(broken) <= len(articles(web, name)) // 3
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
def test_charsets_are_declared_as_stated_and_decode(web: DemoWeb, name: str, charset: str, declared: str) -> None:
    found = [truth for truth in articles(web, name) if (truth.charset, truth.declared) == (charset, declared)]
    assert len(found) >= 3
    for truth in found:
        answer = get(web.urls[name] + truth.path[1:])
        assert ("charset" in answer.headers["content-type"]) == (declared == "header")
        assert (b"charset=" in answer.body) == (declared == "meta")
        assert not answer.body.isascii()
        text = answer.body.decode(charset)
        longest = max((run for run, template in truth.runs if not template), key=len)
        assert longest[:30].replace("\u202f", "&#8239;") in " ".join(text.replace("\u00a0", " ").split())


def test_several_hosts_carry_one_story_in_templates_of_their_own(web: DemoWeb) -> None:
    carriers = {name: truth for name in BUILDERS for truth in articles(web, name) if truth.story == STORY_ID}
    assert len(carriers) >= 4
    for truth in carriers.values():
        assert all(text in truth.content_text for text in STORY_PARAGRAPHS)
    frames = [set(truth.template_text.split("\n")) for truth in carriers.values()]
    assert len(set.intersection(*frames)) <= 8, "only the links to the odds and ends"


def test_no_content_is_repeated_from_page_to_page(web: DemoWeb) -> None:
    for name in BUILDERS:
        pages = [set(re.findall(r"[^\n]{80,}", truth.content_text)) for truth in articles(web, name) if not truth.story]
        total = sum(map(len, pages))
        assert len(set().union(*pages)) >= 0.99 * total


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_a_host_has_a_least_number_of_pages_and_says_so(name):
    assert build_site(name, pages=LEAST_PAGES).truth
    with pytest.raises(ValueError, match=f"{LEAST_PAGES} content pages"):
        build_site(name, pages=LEAST_PAGES - 1)
