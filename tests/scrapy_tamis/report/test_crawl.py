"""What a crawl writes of itself: its report, and a line of progress in a terminal."""

import html
import json
import logging
import os
import pty
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scrapy_tamis.commands import main
from scrapy_tamis.report.crawl import _Errors
from scrapy_tamis.report.records import CrawlRecord
from tests.scrapy_tamis.forked import Forked, Forks

ALONE = {"TAMIS_SITE_EVIDENCE": False}
TEXT_ONLY = {"TAMIS_FIELD_NAMES": dict.fromkeys(["status", "template_share"])}


def in_terminal(forks: Forks, folder: Path, *crawls: dict[str, Any]) -> str:
    """Crawl with standard error in a terminal, and return what was written there."""
    plan = json.dumps({"out": str(folder / "crawled.json"), "crawls": crawls})
    terminal, other = pty.openpty()
    environment = {"TERM": "xterm-256color", "COLUMNS": "200", "LINES": "50"}
    process = Forked(
        forks, "tests.scrapy_tamis.crawl_process", plan, folder=folder, terminal=os.ttyname(other), **environment
    )
    written = os.read(terminal, 65_536)
    os.close(other)
    try:
        while part := os.read(terminal, 65_536):
            written += part
    except OSError:  # a terminal whose other end is closed
        pass
    assert process.end().returncode == 0, written.decode()
    os.close(terminal)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode())


def test_in_a_terminal_each_crawl_that_wants_one_has_a_line_below_the_log(
    web: Any, forks: Forks, tmp_path: Path
) -> None:
    urls = web.add_articles(6)
    crawls = [{"settings": {**ALONE, **TEXT_ONLY}, "urls": urls[:number]} for number in (2, 4)]
    silent = {"settings": {**ALONE, "TAMIS_PROGRESS": False}, "urls": urls}
    said = in_terminal(forks, tmp_path, *crawls, silent)
    for number in (2, 4):
        assert re.search(rf"planned  0:\d\d · {number} pages, [\d.]+/s · {number} cleaned · \d+% cut", said)
    assert "· 6 pages, " not in said  # more than the others ever come to, on their way or at their end
    assert said.count("Spider closed (finished)") == 3


def test_a_report_has_the_pages_the_hosts_and_the_errors(
    web, crawl, redis_url: str, prefix: str, tmp_path: Path
) -> None:
    urls = web.add_articles(20)
    web.add("/broken", "<html><body>The server failed", status=500)
    crawled = crawl(
        urls=[*urls, f"{web.url}/broken", f"{web.url}/gone"],
        TAMIS_REPORT=str(tmp_path / "%(name)s-%(time)s.html"),
        RETRY_ENABLED=False,
        CONCURRENT_REQUESTS=2,
    )
    (report,) = tmp_path.glob("planned-20*.html")
    assert len(crawled.items) == 20
    assert "/s · " not in crawled.log, "the line of progress is for terminals only"
    text = report.read_text(encoding="utf-8")
    assert "<b>20</b> pages" in text
    assert re.search(r"HTTP 500</th><td class=\"n\">1<", text)
    assert re.search(r"HTTP 404</th><td class=\"n\">1<", text)
    assert re.search(r"counted</th><td>20 pages", text)  # from Redis, before its connection was closed
    assert re.search(r"in Redis</th><td>[\d,]+ bytes", text)
    assert "10 of 10" in text
    assert "Copyright of the harbour news" in text
    assert "TAMIS_REDIS_PREFIX" in text
    assert "redis://" not in text
    assert "unix://" not in text

    # The inspector shows a page as the crawl has seen it, and so does the command for a page to check.
    item, shown = next(item for item in crawled.items if item["evidence_pages"] == 20), tmp_path / "shown.html"
    counts = ["--redis-url", redis_url, "--prefix", prefix, "--pages", "20"]
    assert main(["inspect", item["url"], *counts, "-o", str(shown)]) == 0
    (data,) = re.findall(r'id="data">(.*?)</script>', shown.read_text(encoding="utf-8"), re.DOTALL)
    fields = json.loads(data)["state"]["item"]
    assert {name: item[name] for name in fields if name in item} == fields

    empty = web.add("/last?a=1&b=2", "<html><body><ul><li><a href=/0>Front page</a></li></ul></body></html>")
    settings = {"TAMIS_REPORT": str(report), "TAMIS_RULES": [{"drop": "li"}], "TAMIS_FAVOR": "recall"}
    (again,) = crawl(urls=[empty], **settings).items
    assert (again["status"], again["evidence_pages"]) == ("empty", 21)
    (command,) = set(re.findall("tamis inspect [^<]+", report.read_text(encoding="utf-8")))
    assert shlex.split(html.unescape(command))[2:] == [
        *(empty, "--redis-url", "$TAMIS_REDIS_URL", "--prefix", prefix, "--favor", "recall", "--pages", "21")
    ]


def test_a_report_is_written_without_redis_and_one_that_cannot_be_changes_nothing_else(
    web, start_crawls, tmp_path: Path
) -> None:
    report, unwritable = tmp_path / "report.html", tmp_path / "unwritable.html"
    unwritable.symlink_to(tmp_path / "gone" / "report.html")
    urls = web.add_articles(3)
    _, crawled = start_crawls(
        {"urls": urls, "TAMIS_REPORT": str(report), "TAMIS_REDIS_URL": "redis+cluster://127.0.0.1:1"},
        {"urls": urls, "TAMIS_REPORT": str(unwritable)},
    ).results()
    assert "<b>3</b> pages" in report.read_text(encoding="utf-8")
    assert len(crawled.items) == 3
    assert crawled.stats["finish_reason"] == "finished"
    assert crawled.log.count("Could not write the report") == 1


def test_a_report_has_the_errors_of_its_own_crawl_alone(web, start_crawls, tmp_path: Path) -> None:
    failing = {"ITEM_PIPELINES": {"__main__.LosingPipeline": 900}, "LOSES": "error"}
    reports = {tmp_path / "failing.html": failing, tmp_path / "slower.html": {"DOWNLOAD_DELAY": 0.3}}
    plans = [
        {"urls": web.add_articles(3), "TAMIS_REPORT": str(file), **ALONE, **more} for file, more in reports.items()
    ]
    start_crawls(*plans).results()
    assert ["<h2>Errors</h2>" in file.read_text(encoding="utf-8") for file in reports] == [True, False]


def test_items_with_nothing_but_text_are_reported_under_their_address_and_objects_that_are_no_items_not_at_all(
    web, start_crawls, tmp_path: Path
) -> None:
    reports, urls = {kind: tmp_path / f"{kind}.html" for kind in ("nameless", "object")}, web.add_articles(2)
    plans = [
        {"urls": urls, "item": kind, "TAMIS_REPORT": str(file), **ALONE, **TEXT_ONLY} for kind, file in reports.items()
    ]
    _, objects = start_crawls(*plans).results()
    nameless, nothing = (file.read_text(encoding="utf-8") for file in reports.values())
    assert "<b>2</b> pages" in nameless
    assert web.host in nameless
    assert objects.stats["tamis/items/without_html"] == 2
    assert "Traceback" not in objects.log
    assert "No page was cleaned" in nothing


def test_whoever_logs_an_error_with_arguments_that_do_not_fit_is_not_failed_by_the_report() -> None:
    record = CrawlRecord()
    handler = _Errors(record, SimpleNamespace(spider=None))
    for number in ("many", 3):
        handler.handle(logging.LogRecord("a spider", logging.ERROR, __file__, 1, "%d pages", (number,), None))
    assert record.errors == {"3 pages": 1}
