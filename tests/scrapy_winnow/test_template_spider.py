"""``scrapy crawl template``: the template of a page from the few pages of its menu, loaded over HTTP."""

from pathlib import Path

import pytest

from demo.server import DemoWeb
from scrapy_winnow.project.template import TemplateSpider
from winnow.page.page import Page

SECTIONS = ["news", "sport", "culture", "letters", "weather", "harbour"]
MENU = "".join(f"<li><a href='/{section}'>To {section}</a></li>" for section in SECTIONS)


def _site(web):
    """A front page, sections that all have the menu, and links that lead nowhere good before those of the menu."""

    def page(name):
        return (
            f"<html><head><title>{name}</title></head><body><a href='/private'>p</a><a href='/plain'>p</a>"
            "<a href='/gone'>g</a><a href='/leaves'>l</a><a href='/home'>h</a><a href='http://elsewhere.invalid/'>e</a>"
            f"<ul>{MENU}</ul><p>This is what {name} says.</p><p>The paper of the harbour</p></body></html>"
        )

    for name in ["", *SECTIONS]:
        web.add(f"/{name}", page(name or "the front page"))
    web.add("/robots.txt", "User-agent: *\nDisallow: /private\n", Content_Type="text/plain")
    web.add("/private", page("private"))
    web.add("/plain", "plain", Content_Type="text/plain")
    web.add("/leaves", b"", status=302, Location="http://localhost:1/")
    web.add("/home", b"", status=301, Location="/")
    web.add("/bare", "<p>No links here.</p>")
    return web.url + "/"


def _plan(tmp_path, **arguments):
    return {
        "spider": "template",
        "arguments": {"out": str(tmp_path / "template.html"), **arguments},
        "ROBOTSTXT_OBEY": True,
        "RETRY_ENABLED": False,
    }


def test_only_the_pages_that_are_needed_are_loaded(web, start_crawls, tmp_path):
    (crawled,) = start_crawls(_plan(tmp_path, url=_site(web))).results()
    assert web.asked == ["/robots.txt", "/", "/plain", "/gone", "/leaves", "/home", "/"] + [
        f"/{n}" for n in SECTIONS[:2]
    ]
    (item,) = crawled.items
    assert item["menu_pages"] == [f"{web.url}/{section}" for section in SECTIONS[:2]]
    assert item["pages_loaded"] == 6  # the key page twice, /plain, /gone, and two of the menu, which agree
    page = Page.parse(Path(item["template_file"]).read_bytes())
    assert page.block_texts() == ["ppglhe", *(f"To {section}" for section in SECTIONS), "The paper of the harbour"]
    assert f"Template of {web.url}/: {item['template_nodes']} of {item['nodes']} nodes, from 6 pages" in crawled.log
    assert crawled.winnow_stats == {}


@pytest.fixture(scope="module")
def crawls(shared_web, start_crawls, tmp_path_factory):
    """Crawls of one process, by what is special about them."""
    folder = tmp_path_factory.mktemp("templates")
    url = _site(shared_web)
    arguments = {
        "size": {"url": url, "size": "1"},
        "pages": {"url": url, "pages": "8", "variant": "paper"},
        "paper": {"url": url, "variant": "paper"},
        **{path: {"url": url + path} for path in ("sport", "bare", "gone", "plain", "private")},
    }
    plans = [_plan(folder, **{**each, "out": str(folder / f"{name}.html")}) for name, each in arguments.items()]
    return url, folder, dict(zip(arguments, start_crawls(*plans).results(), strict=True))


def test_the_size_and_the_pages_can_be_limited(crawls):
    url, _, crawled = crawls
    assert [len(crawled[name].items[0]["menu_pages"]) for name in ("size", "pages", "paper", "sport")] == [1, 2, 4, 2]
    assert f"{url}sport" not in crawled["sport"].items[0]["menu_pages"]


def test_a_page_without_a_menu_and_one_that_cannot_be_loaded_end_the_crawl(crawls):
    url, folder, crawled = crawls
    ends = {"bare": "no_menu", "gone": "no_key_page", "plain": "no_key_page", "private": "no_key_page"}
    assert {name: crawled[name].stats["finish_reason"] for name in ends} == ends
    assert not any(crawled[name].items for name in ends)
    log = crawled["bare"].log
    assert f"{url}bare has no links to pages of its site that could be loaded" in log
    assert f"Could not load the key page {url}gone" in log
    assert f"Could not load the key page {url}private: Forbidden by robots.txt" in log
    assert f"{url}plain is no HTML page" in log
    assert sorted(file.stem for file in folder.iterdir()) == ["pages", "paper", "size", "sport"]


def test_the_template_of_the_demo_news_has_no_word_of_its_stories(start_crawls, tmp_path):
    with DemoWeb(pages=12) as demo:
        url = demo.urls["news"]
        (crawled,) = start_crawls(_plan(tmp_path, url=url)).results()
        truth = demo.truth(url)
        written = Page.parse((tmp_path / "template.html").read_bytes())
        texts = {" ".join(run.split()) for run in written.runs}
        asked = len(demo.requests("news"))
    assert crawled.items[0]["pages_loaded"] <= asked <= 12
    template = {text for text, is_template in truth.runs if is_template}
    content = {text for text, is_template in truth.runs if not is_template}
    assert len(texts & template) > len(template) / 2
    assert not texts & (content - template)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing to crawl"),
        ({"url": "a.example"}, r"did you mean https://a\.example"),
        ({"url": "https://a.example", "size": "0"}, "-a size must be a whole number of at least 1, not '0'"),
        ({"url": "https://a.example", "size": "many"}, "-a size must be a whole number"),
        ({"url": "https://a.example", "pages": "0"}, "-a pages must be a whole number of at least 2"),
        ({"url": "https://a.example", "variant": "quick"}, "variant must be one of agreeing, paper"),
        ({"url": "https://a.example", "threshold": "2"}, "threshold must be from 0 to 1"),
        ({"url": "https://a.example", "out": "/no/such/folder/x.html"}, "there is no folder /no/such/folder"),
    ],
)
def test_arguments_that_will_not_do_are_a_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        TemplateSpider(**arguments)
