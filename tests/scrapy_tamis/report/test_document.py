"""The report as a document, of items and servers that a crawl has left."""

import gzip
import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page as Tab

from scrapy_tamis.commands import main
from scrapy_tamis.report.document import find_clusters, find_pages_to_check, render_report
from scrapy_tamis.report.records import CrawlRecord, PageRecord, page_record
from scrapy_tamis.storage.embedded import EmbeddedServer
from tests.scrapy_tamis.commands.test_command_hosts_shows_hosts import count_pages
from tests.scrapy_tamis.inspector.browsing import story


def _page(number: int, host: str = "a.example", **changed: object) -> PageRecord:
    page = PageRecord(f"https://{host}/{number}", host, number / 10, 100, 0.4, "cleaned", "page", number, 0, None, None)
    return page._replace(**changed)


def test_pages_are_noted_by_the_words_that_they_have_probably_lost() -> None:
    pages = [_page(number, words=1000, confidence=0.95, template_share=0.4) for number in range(20)]
    pages[3] = pages[3]._replace(template_share=0.95, words=9, confidence=0.9)  # short, not wrong
    pages[5] = pages[5]._replace(status="fallback", words=20, cut_words=10, confidence=0.0)
    pages[7] = pages[7]._replace(confidence=0.2)
    pages[9] = pages[9]._replace(confidence=0.2, words=9)
    pages[11] = pages[11]._replace(lost_price="129")
    pages[13] = pages[13]._replace(status="empty", words=0, confidence=0.0)
    pages[15] = pages[15]._replace(status="too_large", confidence=None)
    pages[17] = pages[17]._replace(structure_words=400, article_words=200, confidence=0.7)
    found = find_pages_to_check(pages)
    assert [(noted.page.url.rpartition("/")[2], round(noted.loss)) for noted in found] == [
        *(("13", 1000), ("7", 800), ("17", 540), ("15", 400), ("11", 100), ("5", 30))
    ]
    assert found[2].why == (
        "an F1 of 0.70 is expected of its 1,000 words; 400 words are cut of a table or list; "
        "200 words are cut of the article that the page marks"
    )


def test_text_that_most_pages_keep_is_a_loss_of_each_and_a_line_of_a_few_is_none() -> None:
    def page(number: int, *more: str) -> PageRecord:
        text = "\n".join([f"A story of day {number} that is told nowhere else.", *more])
        found = page_record({"url": f"https://a.example/{number}", "status": "cleaned", "text": text}, 0)
        assert found is not None
        return found

    pitch, series = "Get all our stories by mail every morning, free of charge.", "This is the first part of a series."
    pages = [page(number, *[pitch] * (number < 9), *[series] * (number > 8)) for number in range(12)]
    found = find_pages_to_check(pages)
    assert [noted.page.url.rpartition("/")[2] for noted in found] == [*"012345678"]
    assert {(noted.loss, noted.why) for noted in found} == {(11, "11 words are kept that most pages of the host have")}


def test_clusters_hold_all_copies_of_a_document() -> None:
    copies = [_page(number, f"h{number}.example", duplicate_of="https://a.example/0") for number in (1, 2, 3)]
    ((original, urls, hosts),) = find_clusters([_page(0), *copies])
    assert (original, len(urls), hosts) == ("https://a.example/0", 3, 4)


def test_repeated_pages_are_listed_by_host() -> None:
    repeated = [_page(number, "wall.example", status="repeated") for number in range(4)]
    record = CrawlRecord(pages=[_page(0), *repeated])
    _, section = render_report(record).split("<h2>Repeated pages</h2>")
    assert re.search(r'wall\.example</td><td class="n">4</td><td>.*https://wall\.example/0', section)
    assert "Repeated pages" not in render_report(CrawlRecord(pages=[_page(0)]))


def test_the_words_of_a_huge_text_are_estimated_from_its_beginning() -> None:
    texts = ["word " * 7, "word " * 20_000 + "-" * 900_000]
    pages = [page_record({"url": "https://a.example/", "status": "cleaned", "text": text}, 0) for text in texts]
    assert [page.words for page in pages if page] == [7, 200_000]


def test_the_command_reads_json_lines_or_an_array(tmp_path: Path) -> None:
    items, feed, out = tmp_path / "items.jsonl", tmp_path / "items.json.gz", tmp_path / "out.html"
    rows = [
        {"url": f"https://a.example/{n}", "text": "a b c", "template_share": 0.2, "status": "cleaned"} for n in range(9)
    ]
    items.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    feed.write_bytes(gzip.compress(json.dumps(rows).encode()))
    for source in (items, feed):
        assert main(["report", str(source), "-o", str(out)]) == 0
        assert "<b>9</b> pages" in out.read_text(encoding="utf-8")


def test_the_results_of_requests_and_the_errors_of_a_crawl_without_pages_are_shown() -> None:
    record = CrawlRecord(
        stats={
            "downloader/response_status_count/200": 12,
            "downloader/exception_type_count/scrapy.exceptions.IgnoreRequest": 5,
            "downloader/exception_type_count/twisted.internet.error.TimeoutError": 2,
            "robotstxt/forbidden": 5,
            "finish_reason": "finished",
        }
    )
    record.add_error("Spider error processing <GET https://a.example/x>")
    text = render_report(record)
    assert "No page was cleaned" in text
    assert "TimeoutError" in text
    assert "forbidden by robots.txt" in text
    assert "IgnoreRequest" not in text
    assert "Spider error processing &lt;GET https://a.example/x&gt;" in text


def test_hosts_are_shown_with_what_their_private_server_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state, items, out = tmp_path / "state", tmp_path / "items.jsonl", tmp_path / "out.html"
    with EmbeddedServer(state) as server:
        count_pages(server.url, "tamis", a=40, b=9)
    items.write_text(
        "".join(json.dumps({"url": f"https://{name}.example/", "status": "cleaned"}) + "\n" for name in "ab")
    )
    assert main(["report", str(items), str(state), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert re.search(r"<b>a\.example</b>.*?settled.*?counted</th><td>\d+ pages.*?12 frozen", text, re.DOTALL)
    counting = r"<b>b\.example</b>.*?counting.*?counted</th><td>9 pages.*?12 by now, of 21 units counted.*?at 32 pages"
    assert re.search(counting, text, re.DOTALL)
    assert main(["report", str(state), "-o", str(out)]) == 2
    assert "nothing to report: give the items of a crawl;" in capsys.readouterr().err


def test_the_items_of_a_crawl_that_was_killed_are_reported_but_for_half_a_line(tmp_path: Path, capsys) -> None:
    items, out = tmp_path / "items.jsonl", tmp_path / "out.html"
    row = json.dumps({"url": "https://a.example/1", "text": "a b c", "status": "cleaned"})
    items.write_text(f"\ufeff{row}\n{row}\n{row[:30]}", encoding="utf-8")
    assert main(["report", str(items), "-o", str(out)]) == 0
    assert f"{items}: 1 item without an address or the fields of Tamis" in capsys.readouterr().err
    assert "<b>2</b> pages" in out.read_text(encoding="utf-8")


def test_fields_of_the_same_names_with_other_values_do_not_stop_a_report(tmp_path: Path) -> None:
    items, out = tmp_path / "items.jsonl", tmp_path / "out.html"
    odd: list[object] = ["much", ["x"], {"a": 1}, 3, float("nan"), 1e999, 10**400, True, None]
    names = "status", "template_share", "evidence_pages", "site_label_version", "duplicate_of", "confidence", "text"
    rows = [{"url": "https://a.example/", "status": "cleaned", name: value} for name in names for value in odd]
    rows.append({"url": "https://a.example/", "status": "fallback", "text": "港口委员会" * 9})
    items.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["report", str(items), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert re.search(r"<b>[1-9]\d?%</b> of the text was cut", text)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("2026-11-22 05:03:15 [scrapy] INFO: a log\n", "nothing to report: no items"),
        (" ", "is empty"),
        ('{"url": broken', "crawl.x: "),
        ("[" * 100_000, "crawl.x: maximum recursion depth"),
        ('{"url": "http://a.example/"}', "nothing to report"),
        (None, "no such file"),
    ],
)
def test_other_files_are_refused(
    tmp_path: Path, content: str | None, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "crawl.x"
    if content is not None:
        source.write_text(content)
    assert main(["report", str(source), "-o", str(tmp_path / "out.html")]) == 2
    assert says in capsys.readouterr().err


def test_a_report_of_ten_thousand_pages_is_small() -> None:
    pages = [_page(number % 500, f"host-{number % 97}.example", seconds=number / 50) for number in range(10_000)]
    assert len(render_report(CrawlRecord(pages)).encode()) < 5_000_000


def test_sampled_pages_are_read_by_the_charset_of_their_responses() -> None:
    record = CrawlRecord([_page(0)])
    for number in range(3):
        html = story(number).replace("Weather", "Ilmaennustus: šokk").encode("iso-8859-15")
        record.samples.offer("a.example", f"https://a.example/{number}", html, "iso-8859-15")
    assert "Ilmaennustus: šokk" in render_report(record)


def test_it_loads_nothing_and_is_accessible(tab: Tab, tmp_path: Path) -> None:
    hostile = "https://a.example/<script>alert(1)</script>"
    odd = _page(21, url=hostile, status="fallback"), _page(22, url="javascript:x")
    record = CrawlRecord([*map(_page, range(20)), *odd])
    record.add_error("<img src=x onerror=alert(1)> failed")
    for number in range(5):
        html = story(number).replace("<nav>", '<nav class="&lt;script&gt;" id=\'"&gt;&lt;img&gt;\'>')
        html = html.replace("Weather", "&lt;script&gt;alert(1)&lt;/script&gt;")
        record.samples.offer("a.example", f"https://a.example/{number}", html.encode())
    file, requests = tmp_path / "report.html", []
    file.write_text(render_report(record), encoding="utf-8")
    tab.on("request", lambda request: requests.append(request.url))
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        tab.goto(file.as_uri())
        assert Axe().run(tab, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"] == []
    assert set(requests) == {file.as_uri()}
    assert tab.locator("a[href^='javascript'], script, img").count() == 0
    assert "<script>alert(1)</script>" in (tab.locator("td.text").first.text_content() or "")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_no_column_is_squeezed_in_a_narrow_window(tab: Tab, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(render_report(CrawlRecord([_page(1, status="fallback"), _page(2)])), encoding="utf-8")
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.goto(file.as_uri())
    heights = tab.evaluate("[...document.querySelectorAll('.wide td')].map(cell => cell.offsetHeight)")
    assert 0 < max(heights) < 150  # a few lines, and not one of each word
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
