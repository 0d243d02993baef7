import re
import sys
from pathlib import Path

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from scrapy_winnow.report.crawl import CrawlReport


def test_it_has_the_pages_the_hosts_and_what_failed(web, crawl, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    urls = web.add_articles(20)
    web.add("/broken", "<html><body>The server failed", status=500)
    crawled = crawl(
        urls=[*urls, f"{web.url}/broken", f"{web.url}/gone"],
        WINNOW_REPORT=str(report),
        RETRY_ENABLED=False,
        CONCURRENT_REQUESTS=2,
    )
    assert len(crawled.items) == 20
    assert "/s · " not in crawled.log, "the line of progress is for terminals alone"
    text = report.read_text(encoding="utf-8")
    assert "<b>20</b> pages" in text
    assert re.search(r"HTTP 500</th><td class=\"n\">1<", text)
    assert re.search(r"HTTP 404</th><td class=\"n\">1<", text)
    assert re.search(r"counted</th><td>20 pages", text)  # said by Redis, before the way to it was closed
    assert re.search(r"in Redis</th><td>[\d,]+ bytes", text)
    assert "10 of 10" in text
    assert "Copyright of the harbour news" in text
    assert "WINNOW_REDIS_PREFIX" in text
    assert "redis://" not in text
    assert "unix://" not in text


def test_without_redis_it_says_what_it_knows(web, crawl, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    crawl(urls=web.add_articles(3), WINNOW_REPORT=str(report), WINNOW_REDIS_URL="redis://127.0.0.1:1/0")
    assert "<b>3</b> pages" in report.read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_harms_nothing(web, crawl, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.symlink_to(tmp_path / "gone" / "report.html")
    crawled = crawl(urls=web.add_articles(3), WINNOW_REPORT=str(report))
    assert len(crawled.items) == 3
    assert crawled.stats["finish_reason"] == "finished"
    assert "Could not write the report" in crawled.log


def test_a_report_that_was_asked_for_and_is_not_installed_is_missed_aloud(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(NotConfigured):
        CrawlReport(get_crawler(settings_dict={"WINNOW_REPORT": "report.html"}))
    assert [record.levelname for record in caplog.records if "scrapy-winnow[inspect]" in record.message] == ["WARNING"]
