"""A crawl with ``JOBDIR`` is killed with 9 again and again: in the end no page is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from scrapy_winnow.project.queues import KeptPriorityQueue
from scrapy_winnow.project.spiders.journal import Journal, LinkState
from scrapy_winnow.project.spiders.site_queue import SiteQueue
from scrapy_winnow.storage.hosts import HostRecords
from tests.scrapy_winnow.waiting import SECONDS
from winnow.fingerprints import FINGERPRINT_VERSION

ROOT = Path(__file__).parents[3]
PAGES = 40
KEPT = f"{KeptPriorityQueue.__module__}.{KeptPriorityQueue.__qualname__}"

OTHER = """
import scrapy


class Other(scrapy.Spider):
    name = "other"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
"""


def _linked_site(web):
    """A page that links to all others, and those to some each."""
    for number in range(PAGES):
        links = range(1, PAGES) if number == 0 else [(number + step) % PAGES for step in range(6)]
        body = f"<title>Page {number}</title><p>What page {number} says is said by no other page of them all.</p>"
        web.add(f"/{number}", body + "".join(f"<p><a href=/{link}>page {link}</a></p>" for link in links))
    web.add("/robots.txt", b"", status=404)
    return [f"{web.url}/{number}" for number in range(PAGES)]


def _start(folder, command, proxy="", **settings):
    options = {
        "JOBDIR": folder / "job",
        "AUTOTHROTTLE_ENABLED": 0,
        "DOWNLOAD_DELAY": 0.02,
        "LOG_FILE": folder / "log",
        "WINNOW_SITE_EVIDENCE": 0,
        "WINNOW_DUPLICATES": 0,
        **settings,
    }
    arguments = [part for name, value in options.items() for part in ("-s", f"{name}={value}")]
    line = [sys.executable, "-m", "scrapy", *command, "-o", str(folder / "items.jsonl"), *arguments]
    environment = {**os.environ, "http_proxy": proxy}
    return subprocess.Popen(line, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)


def _killed_after(web, requests, start):
    """Start a crawl, and kill it before the last of so many requests is answered."""
    last = len(web.asked) + requests
    killed = web.hold_after(last - 1)
    process = start()
    web.do_at(last, process.kill)
    process.wait(timeout=SECONDS)
    killed.set()


def _stored(folder):
    lines = (folder / "items.jsonl").read_text().splitlines()
    return [json.loads(line)["url"] for line in lines]


def test_the_site_spider_ends_with_the_pages_of_a_crawl_that_nobody_disturbed(web, tmp_path):
    urls = _linked_site(web)
    command = ["crawl", "site", "-a", f"url={urls[0]}", "-a", f"pages={PAGES}"]
    for requests in (3, 11, 9):
        _killed_after(web, requests, lambda: _start(tmp_path, command))
    assert _start(tmp_path, command).wait(timeout=SECONDS) == 0
    stored = _stored(tmp_path)
    assert sorted(set(stored)) == sorted(urls)
    assert len(stored) <= PAGES + 3
    assert len(web.asked) < 2 * PAGES  # what was stored is not asked for again, nor what waits twice

    asked = len(web.asked)
    assert _start(tmp_path, command).wait(timeout=SECONDS) == 0
    assert len(web.asked) <= asked + 2
    assert _stored(tmp_path) == stored


def test_shards_count_every_page_once_whichever_of_them_is_killed(web, tmp_path, redis_url, prefix):
    hosts = [f"{name}.example" for name in ("harbour", "weather", "council", "market", "museum", "ferry")]
    pages = {f"http://{host}/{number}" for host in hosts for number in range(6)}
    for url in pages:
        links = "".join(f"<li><a href=/{number}>Page {number}</a></li>" for number in range(6))
        web.add(url, f"<ul>{links}</ul><p>What is said at {url} is said nowhere else by anybody at all.</p>")
    (tmp_path / "urls").write_text("".join(f"http://{host}/0\n" for host in hosts))

    def shard(number):
        folder = tmp_path / str(number)
        folder.mkdir(exist_ok=True)
        command = ["crawl", "site", "-a", f"urls_file={tmp_path / 'urls'}", "-a", f"shard={number}/2"]
        shared = {"WINNOW_REDIS_URL": redis_url, "WINNOW_REDIS_PREFIX": prefix, "WINNOW_SITE_EVIDENCE": 1}
        return _start(folder, command, proxy=web.url, ROBOTSTXT_OBEY=0, WINNOW_REDIS_TIMEOUT=10, **shared)

    second = shard(1)
    _killed_after(web, 8, lambda: shard(0))
    assert second.wait(timeout=SECONDS) == 0
    assert shard(0).wait(timeout=SECONDS) == 0
    parts = [_stored(tmp_path / str(number)) for number in range(2)]
    assert all(parts)
    assert not set(parts[0]) & set(parts[1])
    assert {*parts[0], *parts[1]} == pages
    assert len(parts[1]) == len(set(parts[1]))
    with Redis.from_url(redis_url) as client:
        counted = {host.host: host.pages for host in HostRecords(client, prefix, FINGERPRINT_VERSION).all()}
    assert counted == dict.fromkeys(hosts, 6)


def test_the_requests_that_wait_for_another_spider_are_found_again(web, tmp_path):
    urls = _linked_site(web)
    (tmp_path / "other.py").write_text(OTHER)
    command = ["runspider", str(tmp_path / "other.py"), "-a", f"url={urls[0]}"]
    settings = {"CONCURRENT_REQUESTS": 1, "ADDONS": "{}", "SCHEDULER_PRIORITY_QUEUE": KEPT}
    _killed_after(web, 8, lambda: _start(tmp_path, command, **settings))
    assert _start(tmp_path, command, **settings).wait(timeout=SECONDS) == 0
    missing = set(urls) - set(_stored(tmp_path))
    assert len(missing) <= 2  # those under way


def test_a_budget_goes_on_from_where_it_was(tmp_path):
    with Journal(tmp_path / "links") as journal:
        queue = SiteQueue(3, "a.example", journal)
        assert [queue.offer(url) for url in "abcde"] == [True, True, True, False, False]
        queue.end("a", stored=True)
        queue.end("b", stored=False)
    with Journal(tmp_path / "links") as journal:
        again = SiteQueue(3, "a.example", journal)
        for _, url, state in journal.read():
            again.restore(url, state)
        assert again.stored == 1
        assert not again.take("a")
        assert again.left_behind() == ["c"]
        assert again.left_behind() == []
        assert [link.url for link in again.more()] == ["d", "e"]
        assert [again.offer(url) for url in "abcde"] == [False] * 5


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b""])
def test_a_journal_that_is_damaged_is_done_without(web, tmp_path, damage):
    urls = _linked_site(web)
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "links.sqlite").write_bytes(damage)
    assert _start(tmp_path, ["crawl", "site", "-a", f"url={urls[0]}", "-a", "pages=5"]).wait(timeout=SECONDS) == 0
    assert len(_stored(tmp_path)) == 5
    assert ("without its journal" in (tmp_path / "log").read_text()) is bool(damage)


def test_a_journal_that_cannot_be_written_says_so_once(tmp_path, caplog):
    with Journal(tmp_path / "links") as journal:
        journal._database.execute("PRAGMA max_page_count = 4")
        for number in range(2_000):
            journal.note("a.example", f"http://a.example/{number}", LinkState.ASKED)
    assert caplog.text.count("without its journal") == 1
