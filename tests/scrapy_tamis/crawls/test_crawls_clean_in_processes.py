"""Crawls that clean in processes: the same items, and none lost when a process, or the crawl itself, is killed."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from tests.scrapy_tamis.waiting import SECONDS, is_running, until

PAGES = 40
TWO_AND_TWO = {"TAMIS_PROCESSES": 2, "CONCURRENT_REQUESTS": 2, "when_ready": 2}
PLAIN = {"TAMIS_SITE_EVIDENCE": False}
HEAVY = "<p>word and word" * 5_000


def workers_of(crawl: int) -> list[int]:
    """Numbers of a crawl's cleaning processes."""
    listed = subprocess.run(["ps", "-Awwo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [int(pid) for pid, parent, args in rows if int(parent) == crawl and "scrapy_tamis.worker" in args]


@pytest.fixture
def begun(web, start_crawls):
    """A crawl in the middle of its pages, its two processes, and what lets it go on."""
    going_on = web.hold_after(6)
    crawl = start_crawls({"urls": web.add_articles(PAGES), **TWO_AND_TWO})
    until(lambda: len(web.asked) > 6)
    workers = workers_of(crawl.pid)
    assert len(workers) == 2
    return crawl, workers, going_on


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls):
    """Crawls without processes, and with processes of their own, all at once."""
    urls = shared_web.add_articles(PAGES)
    plan = {"urls": urls, "TAMIS_OUTPUTS": ["clean_html", "markdown", "segments"], **PLAIN}
    plans = {
        "without": plan,
        "with": {**plan, "TAMIS_PROCESSES": 2},
        "counts": {"urls": urls, "TAMIS_PROCESSES": 1, "CONCURRENT_REQUESTS": 2, "when_ready": 1},
        "kinds": {"urls": [shared_web.add("/heavy", HEAVY), *urls[:12]], "TAMIS_PROCESSES": 1, "item": "kinds"},
    }
    return dict(zip(plans, start_crawls(*plans.values()).results(), strict=True))


def test_items_are_the_same_with_processes_and_without(crawled):
    without, with_processes = crawled["without"], crawled["with"]
    assert len(without.items) == PAGES
    for item in without.items:
        assert with_processes.item(item["url"]) == item
    stats = {**with_processes.tamis_stats}
    assert 0 <= stats.pop("tamis/items/in_process", 0) <= PAGES
    assert stats == without.tamis_stats


def test_items_of_any_kind_go_through_processes(crawled):
    assert len(crawled["kinds"].items) == 13 * 5
    assert all(item["text"] for item in crawled["kinds"].items)
    assert "Traceback" not in crawled["kinds"].log


def test_the_counts_of_a_site_take_part_in_processes(crawled):
    assert crawled["counts"].stats["tamis/items/in_process"] == PAGES
    late = [item for item in crawled["counts"].items if item["evidence_pages"] >= 15]
    assert late
    assert all("About us" not in item["text"] and item["label_source"] == "site" for item in late)


def test_a_crawl_loses_nothing_when_a_process_is_killed(web, begun):
    crawl, workers, going_on = begun
    os.kill(workers[0], signal.SIGKILL)
    going_on.set()
    (crawled,) = crawl.results()
    assert sorted(item["url"] for item in crawled.items) == sorted(f"{web.url}/{number}" for number in range(PAGES))
    assert all(item["status"] == "cleaned" and item["text"] for item in crawled.items)
    assert crawled.stats["tamis/processes/died"] == 1
    assert sum(crawled.stats.get(f"tamis/pages/{how}", 0) for how in ("counted", "uncounted")) == PAGES
    until(lambda: not any(map(is_running, workers)))


def test_no_process_is_left_of_a_crawl_that_was_killed(begun):
    crawl, workers, _ = begun
    crawl.kill()
    crawl.end()
    until(lambda: not any(map(is_running, workers)))


def test_control_c_ends_a_crawl_as_it_does_without_processes(begun):
    crawl, workers, going_on = begun
    assert all(os.getpgid(pid) == pid for pid in workers)  # the terminal interrupts the crawl's group only
    os.kill(crawl.pid, signal.SIGINT)
    going_on.set()
    (crawled,) = crawl.results()
    assert crawled.stats["finish_reason"] == "shutdown"
    assert 5 <= len(crawled.items) < PAGES
    assert all(item["status"] == "cleaned" for item in crawled.items)
    assert "tamis/processes/died" not in crawled.stats
    until(lambda: not any(map(is_running, workers)))


POISONED = """
import os
import signal
import time

import scrapy_tamis.pool
from tamis.page.page import Page

scrapy_tamis.pool.TIMEOUT_S = 10.0  # a start may take several on a busy machine
parse = Page.parse.__func__


def parse_or_die(kind, html, *arguments, **options):
    text = html if isinstance(html, str) else html.decode("utf-8", "replace")
    if "POISON" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "HANG" in text:
        time.sleep(3_600)
    return parse(kind, html, *arguments, **options)


Page.parse = classmethod(parse_or_die)
"""

SPIDER = """
import logging
import sys

import scrapy


class Errors(logging.Handler):
    def emit(self, record):
        print("An error of the spider", record.spider.name, file=sys.stderr)


logging.getLogger("scrapy_tamis").addHandler(Errors(logging.ERROR))


class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {"ADDONS": {"scrapy_tamis.Addon": 500}, "TAMIS_PROCESSES": 2}

    async def start(self):
        for number in range(30):
            word = {5: "POISON", 6: "POISON", 7: "HANG", 8: "POISON"}.get(number, "pages")
            yield scrapy.Request(f"http://site.example/{number}", meta={"word": word})

    def parse(self, response):
        if not response.url.endswith("/8"):
            yield {"url": response.url, "html": response.text}
        if response.url.endswith("/9"):
            yield {"url": "http://site.example/part", "html": "<p>A part of a page with POISON in it.</p>"}
"""

DOWNLOADER = """
from scrapy.http import HtmlResponse


class MadeUp:
    def process_request(self, request):
        body = f"<h1>Page {request.url}</h1><p>Of all {request.meta['word']} this has words of its own, a few more.</p>"
        return HtmlResponse(request.url, body=body.encode(), encoding="utf-8")
"""


@pytest.mark.parametrize("evidence", [True, False])
def test_a_page_that_kills_or_hangs_a_process_is_an_item_without_text_and_a_reason(
    tmp_path, redis_url, prefix, evidence
):
    """Each process that parses such a page dies or hangs here, the crawl's own included."""
    for name, text in {"sitecustomize": POISONED, "spider": SPIDER, "made_up": DOWNLOADER}.items():
        (tmp_path / f"{name}.py").write_text(text)
    settings = {
        "TAMIS_REDIS_URL": redis_url,
        "TAMIS_REDIS_PREFIX": prefix,
        "TAMIS_SITE_EVIDENCE": evidence,
        "TAMIS_DUPLICATES": "off",
        "DOWNLOADER_MIDDLEWARES": '{"made_up.MadeUp": 1}',
    }
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "runspider", "spider.py", "-O", "items.jsonl", *options]
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "items.jsonl").read_text().splitlines()
    items = {item["url"].rpartition("/")[2]: item for item in map(json.loads, lines)}
    assert len(items) == 30
    failed = {"5": "crashed", "6": "crashed", "7": "timed_out", "part": "crashed"}
    assert {name: item["status"] for name, item in items.items() if item["status"] != "cleaned"} == failed
    assert all(bool(item["text"]) == (name not in failed) for name, item in items.items())
    named = 4 + evidence  # the page without an item is read to be counted
    assert done.stderr.count("has no text: its cleaning process") == named
    assert done.stderr.count("An error of the spider pages") == named  # the report of another crawl leaves them out
    assert "'tamis/items/failed': 4" in done.stderr
    died = re.search(r"'tamis/processes/died': (\d+)", done.stderr)
    assert died
    assert int(died[1]) >= 6  # the last may be at the very end; busy machines lose some that start
    assert "Traceback" not in done.stderr
