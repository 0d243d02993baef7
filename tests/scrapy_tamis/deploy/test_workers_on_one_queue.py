"""scrapy-redis, the real package: workers on one queue in a Redis of its own, and Tamis's counts in another."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from scrapy_tamis.storage.hosts import HostRecords
from tests.scrapy_tamis.waiting import SECONDS

pytestmark = pytest.mark.engines

STORIES = 60
AT_ONCE = 4  # CONCURRENT_REQUESTS
BEFORE = 5  # pages that the first worker gets alone


@pytest.fixture
def start(web, tcp_server, redis_url, prefix):
    """Starts workers; the web's ``/list`` links to all stories."""
    links = "".join(f"<li><a class=story href=/{number}>A story</a></li>" for number in range(STORIES))
    web.add_articles(STORIES)
    url = web.add("/list", f"<html><body><h1>All stories of the harbour</h1><ul>{links}</ul></body></html>")
    queue = tcp_server()
    started = []

    def start(**settings: object) -> subprocess.Popen[str]:
        settings = {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_PERSIST": True,
            "REDIS_URL": queue.url,
            "TAMIS_REDIS_URL": redis_url,
            "TAMIS_REDIS_PREFIX": prefix,
            "TAMIS_REDIS_TIMEOUT": 60,
            "ADDONS": {"scrapy_tamis.Addon": 500},
            "CONCURRENT_REQUESTS": AT_ONCE,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "LOG_LEVEL": "WARNING",
            **settings,
        }
        script = Path(__file__).with_name("scrapy_redis_worker.py")
        plan = json.dumps({"url": url, "settings": settings})
        worker = subprocess.Popen(
            [sys.executable, script, plan], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.kill()
        worker.communicate()


def test_a_page_counts_once_whichever_worker_dies_and_only_what_scrapy_redis_loses_is_lost(
    start, web, redis_url, prefix
):
    both, rest = web.hold_after(BEFORE), web.hold_after(STORIES // 2)
    web.do_at(BEFORE + 2 * AT_ONCE, both.set)  # each waits for as many pages as it asks for at once
    first = start()
    before = [json.loads(first.stdout.readline()) for _ in range(BEFORE)]
    second = start()
    joined = json.loads(second.stdout.readline())  # both are at work
    first.kill()
    rest.set()
    before += [json.loads(line) for line in first.stdout]
    rest, log = second.communicate(timeout=SECONDS)
    assert second.returncode == 0, log
    after = [joined, *map(json.loads, rest.splitlines())]

    items = before + after
    assert {item["status"] for item in items} == {"cleaned"}
    stories = [item["url"] for item in items if not item["url"].endswith("/list")]
    assert len(stories) == len(set(stories))
    lost = {f"{web.url}/{number}" for number in range(STORIES)} - set(stories)
    asked = {f"{web.url}{path}" for path in web.asked if path not in {"/robots.txt", "/about"}}
    assert len(lost - asked) <= AT_ONCE  # those that were asked for had come, and were on their way to be stored
    with Redis.from_url(redis_url) as client:
        (host,) = HostRecords(client, prefix).all()
        assert len(stories) + 1 <= host.pages <= len(asked)

        again = start(SCHEDULER_FLUSH_ON_START=True)
        _, log = again.communicate(timeout=SECONDS)
        (host,) = HostRecords(client, prefix).all()
    assert again.returncode == 0, log
    assert host.pages == STORIES + 1  # all were fetched once more, and only those that were lost count
