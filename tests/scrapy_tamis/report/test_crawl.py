"""What a crawl writes of itself: its report, and how far it is."""

import html
import json
import logging
import os
import pty
import re
import shlex
import threading
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

from scrapy.utils.test import get_crawler

from scrapy_tamis import stats
from scrapy_tamis.commands import main
from scrapy_tamis.report.crawl import CrawlProgress, _Errors
from scrapy_tamis.report.records import CrawlRecord
from tests.prose import prose
from tests.scrapy_tamis.forked import Forked

ALONE = {"TAMIS_SITE_EVIDENCE": False}
TEXT_ONLY = {"TAMIS_FIELD_NAMES": dict.fromkeys(["status", "template_share"])}


SPIDER = """
import scrapy


class Rows(scrapy.Spider):
    name = "rows"
    custom_settings = {"ADDONS": {"scrapy_tamis.Addon": 500}, "LOGSTATS_INTERVAL": 0.05, "DOWNLOAD_DELAY": 0.02}

    async def start(self):
        for number in range(20):
            yield scrapy.Request(f"data:text/html,<p>Story {number} has words of its own.", dont_filter=True)

    def parse(self, response):
        print("ROW", response.url)
        self.logger.info("PAGE %s", "x" * 300)
        yield {"url": "http://a.example/", "html": response.text}
"""


def test_standard_output_and_the_terminal_are_the_spiders_and_a_line_of_the_log_says_how_far_it_is(
    forks, tmp_path: Path
) -> None:
    (tmp_path / "spider.py").write_text(SPIDER)
    terminal, other = pty.openpty()
    options = ["-s", "TAMIS_SITE_EVIDENCE=False"]
    crawl = Forked(forks, "scrapy", "runspider", "spider.py", *options, folder=tmp_path, terminal=os.ttyname(other))
    written = bytearray()

    def read() -> None:
        with suppress(OSError):  # of a terminal whose other end is closed
            while part := os.read(terminal, 65_536):
                written.extend(part)

    reader = threading.Thread(target=read)
    reader.start()
    done = crawl.end()
    os.close(other)
    reader.join()
    os.close(terminal)
    assert done.returncode == 0
    assert done.stdout.count("ROW data:") == 20
    said = written.decode().replace("\r\n", "\n")
    assert "\x1b" not in said
    assert said.count(f"PAGE {'x' * 300}\n") == 20
    assert re.search(r"INFO: Cleaned \d+ items?, \d+% of their text cut", said)


async def test_the_line_that_says_how_far_a_crawl_is_counts_one_thing_as_one() -> None:
    crawler = get_crawler()
    crawler.stats.set_value(stats.HOSTS_SETTLED, 1)
    crawler.stats.set_value(stats.ITEMS_DUPLICATE, 2)
    assert CrawlProgress(crawler).line() == "Cleaned 0 items, 1 settled host, 2 near-duplicates"


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
    settings = {"TAMIS_REPORT": str(report), "TAMIS_RULES": [{"drop": "li"}], "TAMIS_CLEAN": {"favor": "recall"}}
    (again,) = crawl(urls=[empty], **settings).items
    assert (again["status"], again["evidence_pages"]) == ("empty", 21)
    (command,) = set(re.findall("tamis inspect [^<]+", report.read_text(encoding="utf-8")))
    assert shlex.split(html.unescape(command))[2:] == [
        *(empty, "--prefix", prefix, "--favor", "recall", "--pages", "21")
    ]


def test_the_pages_to_check_are_the_bad_ones_of_a_crawl_and_not_the_short_ones(
    web, start_crawls, tmp_path: Path
) -> None:
    urls = web.add_articles(12)
    short = web.add("/short", "<title>Note</title><h1>Note</h1><p>The harbour opens again on Monday at noon.</p>")
    offer = {
        "@type": "Product",
        "name": "Lamp",
        "offers": {"@type": "Offer", "price": "1299.50", "priceCurrency": "EUR"},
    }
    about = "".join(f"<p>{prose(f'lamp {number}', 40)}.</p>" for number in range(3))
    lamp = web.add(
        "/lamp",
        f"<title>Lamp</title><script type=application/ld+json>{json.dumps({'@context': 'https://schema.org', **offer})}"
        f"</script><h1>Lamp</h1><p class=price>1.299,50 €</p>{about}",
    )
    scripted = web.add("/scripted", "<title>Map</title><div id=app></div><script>load()</script>")
    reports = {processes: tmp_path / f"{processes}.html" for processes in (0, 1)}
    shared = {"urls": [*urls, short, lamp, scripted], "TAMIS_RULES": [{"drop": ".price"}]}
    start_crawls(
        *(
            {**shared, "when_ready": processes, "TAMIS_PROCESSES": processes, "TAMIS_REPORT": str(report)}
            for processes, report in reports.items()
        )
    ).results()
    for report in reports.values():
        text = report.read_text(encoding="utf-8").partition("<h2>To check</h2>")[2].partition("<h2>")[0]
        listed = list(dict.fromkeys(re.findall(r"tamis inspect (\S+)", text)))
        assert [url for url in listed if url in {lamp, scripted, short}] == [scripted, lamp]
        assert "its price is cut: 1,299.50<" in text
        assert "it has no text<" in text


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
    uncleaned = {"meta": {"tamis": {"model": "nowhere.npz"}}}
    crawls = {"failing": failing, "uncleaned": uncleaned, "slower": {"DOWNLOAD_DELAY": 0.3}}
    reports = {tmp_path / f"{name}.html": more for name, more in crawls.items()}
    plans = [
        {"urls": web.add_articles(3), "TAMIS_REPORT": str(file), **ALONE, **more} for file, more in reports.items()
    ]
    start_crawls(*plans).results()
    pages = [file.read_text(encoding="utf-8") for file in reports]
    assert ["<h2>Errors</h2>" in page for page in pages] == [True, True, False]
    assert ["nowhere.npz" in page for page in pages] == [False, True, False]


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
