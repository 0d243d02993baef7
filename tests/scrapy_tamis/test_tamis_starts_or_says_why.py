"""What is wrong with the settings is one message, and no crawl goes on whose items nobody would clean."""

import json
import os
import socket

import pytest

from tests.scrapy_tamis.forked import Forked

SPIDER = """
import scrapy


class Story(scrapy.Spider):
    name = "story"
    start_urls = ["data:text/html,<title>Front</title><p>A story of some words that go on for quite a while here."]

    def parse(self, response):
        yield {"url": "http://a.example/", "html": response.text}
"""

WRONG = {
    "TAMIS_REDIS_URL": "redis://user:se/cret@host:6379",
    "TAMIS_CLEAN": '{"model": "nobody"}',
    "TAMIS_HOST_BUDGET": "1",
    "TAMIS_FIELD_NAMES": '{"text": "story", "title": "story", "status": 7}',
}


@pytest.fixture
def run(forks, tmp_path):
    """Run the spider with ``scrapy runspider``, as a user would, and return its process and its items."""

    def run(environment=None, **settings):
        (tmp_path / "spider.py").write_text(SPIDER)
        settings = {"ADDONS": '{"scrapy_tamis.Addon": 500}', "TELNETCONSOLE_ENABLED": 0, **settings}
        options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        done = forks.scrapy(
            "runspider", "spider.py", "-O", "items.json", *options, folder=tmp_path, **(environment or {})
        )
        file = tmp_path / "items.json"
        return done, json.loads(file.read_text() or "[]") if file.exists() else []

    return run


def test_everything_that_is_wrong_is_one_message_and_no_crawl(run):
    done, items = run(**WRONG)
    assert done.returncode == 1
    assert items == []
    assert done.stderr.count("ERROR") == 1
    assert all(name in done.stderr.partition("cannot start")[2] for name in WRONG)
    assert "nobody" in done.stderr
    assert "Traceback" not in done.stderr
    assert "never retrieved" not in done.stderr
    assert "cret@" not in done.stderr.partition("cannot start")[2]


def test_a_crawl_may_go_on_without_tamis_and_says_so_at_its_end(run):
    done, items = run(**WRONG, TAMIS_REQUIRED=False, TAMIS_REPORT="report.html", TAMIS_METRICS="127.0.0.1:1")
    assert done.returncode == 0
    assert [set(item) for item in items] == [{"url", "html"}]
    assert done.stderr.count("Tamis cannot start") == 1
    assert "No item of this crawl was cleaned" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_redis_that_will_never_work_stops_the_crawl_unless_it_is_optional(run, tcp_server, tmp_path):
    url = f"redis://:wrong@127.0.0.1:{tcp_server('--requirepass', 'secret').port}"
    (tmp_path / "items.json").write_text('["of an earlier crawl"]')
    (tmp_path / "report.html").write_text("of an earlier crawl")
    done, items = run(TAMIS_REDIS_URL=url, TAMIS_REPORT="report.html")
    assert (done.returncode, items) == (1, ["of an earlier crawl"])
    assert (tmp_path / "report.html").read_text() == "of an earlier crawl"
    assert "Redis refused the password: check user and password" in done.stderr
    assert "TAMIS_REQUIRED = False" in done.stderr
    assert "Traceback" not in done.stderr
    done, items = run(TAMIS_REDIS_URL=url, TAMIS_REQUIRED=False)
    assert done.returncode == 0
    assert items[0]["status"] == "cleaned"


def test_components_without_the_extension_stop_the_crawl(run):
    pipeline = '{"scrapy_tamis.pipeline.CleanItems": 100}'
    done, _ = run(ADDONS="{}", ITEM_PIPELINES=pipeline)
    assert done.returncode == 1
    assert "extension.Tamis is not enabled" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("with_url", [False, True])
def test_a_settings_module_without_a_scrapy_cfg_is_a_project_like_any_other(run, tmp_path, redis_url, prefix, with_url):
    (tmp_path / "mine.py").write_text("ROBOTSTXT_OBEY = False")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {"SCRAPY_SETTINGS_MODULE": "mine", "PYTHONPATH": path}
    settings = {"TAMIS_REDIS_URL": redis_url} if with_url else {}
    done, (item,) = run(environment, TAMIS_REDIS_PREFIX=prefix, **settings)
    assert done.returncode == 0, done.stderr
    assert item["status"] == "cleaned"
    assert "Disabled" not in done.stderr
    assert "WARNING" not in done.stderr
    assert (tmp_path / ".scrapy" / "tamis" / "appendonlydir").is_dir() is not with_url


TWO = """
import asyncio
import json
import socket
import sys
import time

import scrapy
from scrapy.crawler import AsyncCrawlerProcess

BEAT_S = 0.05


class Beating(scrapy.Spider):
    name = "beating"
    longest = 0.0

    async def start(self):
        last = time.monotonic()
        while Other.opened is None:
            await asyncio.sleep(BEAT_S)
            now = time.monotonic()
            if Other.begun is not None:
                type(self).longest = max(self.longest, now - max(last, Other.begun) - BEAT_S)
            last = now
        return
        yield


class Other(scrapy.Spider):
    name = "other"
    begun = opened = None
    custom_settings = {
        "ADDONS": {"scrapy_tamis.Addon": 500},
        "TAMIS_REDIS_URL": sys.argv[1],
        "TAMIS_REDIS_TIMEOUT": 1.2,
        "TAMIS_REDIS_RETRY_INTERVAL": 0.05,
    }

    @classmethod
    def from_crawler(cls, crawler):
        spider = super().from_crawler(crawler)
        crawler.signals.connect(spider.begin, scrapy.signals.spider_opened)
        return spider

    def begin(self):
        type(self).begun = time.monotonic()
        if len(sys.argv) > 2:
            find = socket.getaddrinfo
            socket.getaddrinfo = lambda *args, **options: time.sleep(HANG_S) or find(*args, **options)

    async def start(self):
        type(self).opened = time.monotonic()
        for _ in range(4):
            yield {"url": "http://a.example/", "html": "<title>x</title><p>" + "word and word<p>" * 4_000}


HANG_S = 30
settings = {"TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False, "LOG_LEVEL": "ERROR"}
process = AsyncCrawlerProcess(settings)
process.crawl(Beating)
crawler = process.create_crawler(Other)
process.crawl(crawler)
process.start()
values = crawler.stats.get_stats()
print(json.dumps([Beating.longest, values["elapsed_time_seconds"], values["tamis/items/cleaned"]]), flush=True)
import os
os._exit(0)  # rather than wait for the look-ups that hang
"""


def test_a_server_or_resolver_that_hangs_holds_up_neither_the_start_nor_cleaning_nor_other_crawls(forks, tmp_path):
    (tmp_path / "two.py").write_text(TWO)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        kinds = [[f"redis://{host}"], [f"redis+sentinel://{host},{host},{host}/name"], ["redis://host.invalid", "slow"]]
        crawls = [Forked(forks, "two", *arguments, folder=tmp_path) for arguments in kinds]  # all three wait at once
        for kind, done in zip(kinds, [crawl.end() for crawl in crawls], strict=True):
            assert done.returncode == 0, (kind, done.stderr)
            standstill, seconds, cleaned = json.loads(done.stdout)
            assert standstill < 1, kind  # the check alone takes longer
            assert seconds < 20, kind
            assert cleaned == 4, kind
