import json
import re
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page as Tab
from playwright.sync_api import expect

from scrapy_tamis.commands import main
from scrapy_tamis.inspector.documents import Documents
from scrapy_tamis.inspector.inspector import Inspector
from scrapy_tamis.inspector.server import InspectorServer
from tamis import clean
from tests.scrapy_tamis.inspector.browsing import inspected, opened, slide, story
from tests.scrapy_tamis.web import Web

CONTENT = "#panel li.content"
TEMPLATE = "#panel li.template"


def test_the_page_and_its_sections_lead_to_each_other(tab: Tab, page_server: InspectorServer) -> None:
    opened(tab, page_server.url)
    page = tab.frame_locator("#stage iframe")
    expect(page.locator("h1")).to_have_text("Story 3 of the harbour")
    expect(tab.locator(TEMPLATE, has_text="Weather")).to_have_count(1)
    expect(tab.locator(CONTENT, has_text="In report 3")).to_have_count(1)

    page.locator("h1").hover()
    expect(tab.locator("#panel li.hovered")).to_contain_text("Story 3")
    page.locator("nav").click()
    expect(tab.locator("#panel li[aria-selected=true]")).to_contain_text("Weather")
    expect(tab.locator("#card")).to_contain_text("nav")
    expect(tab.locator("#card .weights .name")).not_to_have_count(0)

    tab.click("#tab-Text")
    expect(tab.locator(".running .cut", has_text="Terms of use")).to_have_count(1)
    tab.click(".running span:has-text('In report 3') >> nth=0")
    expect(tab.locator("#card .kind")).to_have_text("Content")


def test_everything_can_be_done_with_keys(tab: Tab, page_server: InspectorServer) -> None:
    opened(tab, page_server.url)
    tab.keyboard.press("ArrowDown")
    expect(tab.locator("#panel li >> nth=0")).to_have_attribute("aria-selected", "true")
    tab.keyboard.press("2")
    expect(tab.locator(TEMPLATE)).to_have_count(0)
    tab.keyboard.press("2")
    tab.keyboard.press("/")
    tab.keyboard.type("newsletter")
    expect(tab.locator("#panel li")).to_have_count(1)
    tab.keyboard.press("Escape")
    tab.keyboard.press("b")
    expect(tab.locator("#panel li")).to_have_count(1)
    tab.keyboard.press("?")
    expect(tab.locator("#keys")).to_be_visible()
    tab.frame_locator("#stage iframe").locator("h1").click()
    tab.keyboard.press("?")
    expect(tab.locator("#keys")).to_be_hidden()


def test_pages_of_the_site_come_in_and_the_template_goes(tab: Tab, site_server: InspectorServer) -> None:
    newsletter = "Our newsletter brings the news"
    opened(tab, site_server.url)
    expect(tab.locator(CONTENT, has_text=newsletter)).to_have_count(1)
    tab.click("#pin")
    slide(tab, "seen", 14)
    expect(tab.locator(TEMPLATE, has_text=newsletter)).to_have_count(1)
    expect(tab.locator("#panel li.differs", has_text=newsletter)).to_have_count(1)
    expect(tab.locator("#notice")).to_have_text(
        re.compile(r"Against the pinned.* 0 words are kept that were not, \d+ are cut")
    )
    tab.click(f"#panel li:has-text('{newsletter}')")
    expect(tab.locator("#card")).to_contain_text("on 14 of 14 pages of the site")
    tab.click("#tab-Text")
    expect(tab.locator(".sides h2")).to_have_text(["Pinned", "Now"])
    tab.click("#reset")
    expect(tab.locator("#seen-value")).to_have_text("0")


def test_favor_moves_the_threshold_and_scope_is_named_with_what_is_pinned(
    tab: Tab, page_server: InspectorServer
) -> None:
    opened(tab, page_server.url)
    before = tab.locator("#threshold").input_value()
    slide(tab, "favor", "precision")
    assert tab.locator("#threshold").input_value() < before
    slide(tab, "scope", "article")
    tab.click("#pin")
    expect(tab.locator("#notice")).to_contain_text("scope article")
    slide(tab, "scope", "page")
    expect(tab.locator("#scope")).to_have_value("page")
    tab.click("#reset")
    expect(tab.locator("#scope")).to_have_value("auto")


def test_corrections_become_gold(tab: Tab, site: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    with inspected(site, gold) as server:
        opened(tab, server.url + "?page=3")
        slide(tab, "threshold", 0.99)
        tab.click("#panel li:has-text('newsletter')")
        tab.click("#card button")
        expect(tab.locator("#panel li.marked")).to_contain_text("newsletter")
        expect(tab.locator("#marks")).to_contain_text("words are marked as wrong")
        tab.keyboard.press("s")
        tab.wait_for_url("**page=4")
    (row,) = map(json.loads, gold.read_text(encoding="utf-8").splitlines())
    assert row["id"] == "story-03"
    assert "newsletter" not in row["gold_text"]
    assert "In report 3" in row["gold_text"]
    assert (tmp_path / "html" / "story-03.html").read_text(encoding="utf-8") == story(3)
    assert main(["evaluate", str(gold), "--pages", str(tmp_path / "html")]) == 0


def test_one_file_shows_the_page_and_the_sources_of_its_facts_without_a_server(tab: Tab, tmp_path: Path) -> None:
    page, file, requests = tmp_path / "product.html", tmp_path / "inspected.html", []
    offer = {"@type": "Product", "name": "A kettle", "offers": {"price": "5.90", "priceCurrency": "EUR"}}
    page.write_text(f"{story(3)}<script type=application/ld+json>{json.dumps(offer)}</script>", encoding="utf-8")
    assert main(["inspect", str(page), "-o", str(file)]) == 0
    tab.on("request", lambda request: requests.append(request.url))
    opened(tab, file.as_uri())
    expect(tab.frame_locator("#stage iframe").locator("h1")).to_have_text("Story 3 of the harbour")
    tab.click(TEMPLATE)
    expect(tab.locator("#card .weights .name")).not_to_have_count(0)
    tab.click("#tab-Item")
    expect(tab.locator("#panel")).to_contain_text("template_share")
    tab.click("#tab-Facts")
    row = tab.locator("#panel tr", has_text="offers")
    expect(row).to_contain_text(re.compile(r'"currency": "EUR"[\s\S]*from json-ld'))
    expect(tab.locator("#controls")).to_be_hidden()
    assert [url for url in requests if not url.startswith(("file:", "about:"))] == []


def test_style_sheets_are_loaded_when_asked_for(tab: Tab, web: Web) -> None:
    web.add("/style.css", "h1 { color: rgb(1, 2, 3) }", Content_Type="text/css")
    url = web.add("/page", story(1).replace("<style>", "<link rel=stylesheet href=style.css><style>"))
    for load_assets, colour in ((False, "rgb(17, 17, 17)"), (True, "rgb(1, 2, 3)")):
        with InspectorServer(Inspector(Documents(url), load_assets=load_assets)) as server:
            opened(tab, server.url)
            expect(tab.frame_locator("#stage iframe").locator("h1")).to_have_css("color", colour)


def test_it_is_accessible(tab: Tab, site: Path) -> None:
    with inspected(site, site.parent / "gold.jsonl") as server:
        opened(tab, server.url)
        tab.click(TEMPLATE)
        for colours in ("light", "dark"):
            tab.emulate_media(color_scheme=colours)
            expect(tab.locator("#card .weights .name")).not_to_have_count(0)
            found = Axe().run(tab, options={"iframes": False, "runOnly": ["wcag2a", "wcag2aa", "best-practice"]})
            assert found.response["violations"] == []


def test_text_from_the_json_of_a_page_is_shown_without_sections(tab: Tab, tmp_path: Path) -> None:
    file = tmp_path / "data.html"
    article = json.dumps(
        {"headline": "The bridge", "articleBody": "The council has met to talk about the bridge. " * 20}
    )
    file.write_text(f"<p>Loading</p><script type=application/ld+json>{article}</script>", encoding="utf-8")
    with inspected(file) as server:
        opened(tab, server.url)
        expect(tab.locator("#panel")).to_contain_text("its text is in its JSON")
        tab.keyboard.press("b")
        tab.click("#tab-Text")
        expect(tab.locator(".running")).to_contain_text("The council has met")
        expect(tab.locator(".running .cut")).to_have_text("Loading")


def test_a_page_that_cannot_be_shown_leaves_the_way_to_the_others(tab: Tab, tmp_path: Path) -> None:
    for name, content in {"1": "", "2": '{"price": 7}', "3": story(3)}.items():
        (tmp_path / f"{name}.html").write_text(content, encoding="utf-8")
    with inspected(tmp_path) as server:
        tab.goto(server.url)
        for name, said in (("1.html", "is empty"), ("2.html", "is JSON, not HTML")):
            expect(tab.locator("#title")).to_have_text(name)
            expect(tab.locator("#notice")).to_contain_text(said)
            tab.click("#next")
        expect(tab.locator("#title")).to_have_text("Story 3 of the harbour")
        tab.fill("#number", "99")
        tab.keyboard.press("Enter")
        expect(tab.locator("#number")).to_have_value("3")


def test_a_page_that_scripts_write_says_so(tab: Tab, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<div id=app></div><script src=app.js></script>", encoding="utf-8")
    with inspected(file) as server:
        opened(tab, server.url)
        expect(tab.locator("#notice")).to_contain_text("render it in a browser first")


def test_broken_foreign_and_empty_pages_are_shown(tab: Tab, tmp_path: Path) -> None:
    pages = {
        "empty": "<p>",
        "broken": "<table><p>A stray <b>paragraph <div>in a table</b> of </p>nothing</table></html><p>after the end"
        * 3,
        "arabic": "<html dir=rtl lang=ar><body><nav><a href=/>الرئيسية</a></nav><p>"
        + "أعلن المجلس عن خطة جديدة للميناء. " * 20,
        "chinese": "<html lang=zh><body><p>" + "港口委员会昨天宣布了新的计划，预计明年完工。" * 20,
        "emoji": "<article><p>"
        + "🚢 The ferry 🛥 leaves at noon, the captain said. " * 12
        + "</p><p>Another one follows it.</p></article>",
    }
    for name, html in pages.items():
        file = tmp_path / f"{name}.html"
        file.write_text(f"<!DOCTYPE html><title>{name}</title>{html}", encoding="utf-8")
        with inspected(file) as server:
            opened(tab, server.url)
            tab.click("#tab-Text")
            kept = clean(file.read_bytes()).text
            shown = tab.evaluate(
                "[...document.querySelectorAll('.running span:not(.cut)')].map(e => e.textContent).join(' ')"
            )
            assert " ".join(shown.split()) == " ".join(kept.split()), name
