"""Crawls that clean in processes: the same items, and none lost when a process, or the crawl itself, is killed."""

import os
import signal
import subprocess
import time

import pytest

PAGES = 40
PLAIN = {"WINNOW_SITE_EVIDENCE": False, "WINNOW_DUPLICATES": False}
HEAVY = "<p>word and word" * 5_000


def workers_of(crawl: int) -> list[int]:
    """Numbers of a crawl's cleaning processes."""
    listed = subprocess.run(["ps", "-Awwo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [int(pid) for pid, parent, args in rows if int(parent) == crawl and "scrapy_winnow.cleaning.worker" in args]


def is_running(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(listed.strip()) and not listed.strip().startswith("Z")


def until(holds, seconds: float = 40.0):
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def slowly(web, start_at: int, seconds: float):
    """Have the web answer slowly from some page on, so that there is time to kill something."""

    def on_request(path: str) -> None:
        web.asked.append(path)
        if len(web.asked) > start_at:
            time.sleep(seconds)

    web.on_request = on_request


def test_items_are_the_same_with_processes_and_without(web, start_crawls):
    plan = {"urls": web.add_articles(PAGES), "WINNOW_OUTPUTS": ["clean_html", "markdown", "segments"], **PLAIN}
    without, with_processes = start_crawls(plan, {**plan, "WINNOW_PROCESSES": 2}).results()
    assert len(without.items) == PAGES
    for url in plan["urls"]:
        assert with_processes.item(url) == without.item(url)
    in_process = with_processes.winnow_stats.pop("winnow/items/in_process", 0)
    assert 0 <= in_process <= PAGES
    stats = {**with_processes.winnow_stats}
    stats.pop("winnow/items/in_process", None)
    assert stats == without.winnow_stats


@pytest.mark.parametrize("item", ["bytes", "copy", "dataclass", "twice"])
def test_items_of_any_kind_go_through_processes(web, crawl, item):
    web.add("/heavy", HEAVY)
    crawled = crawl(urls=[f"{web.url}/heavy", *web.add_articles(12)], item=item, WINNOW_PROCESSES=1)
    assert len(crawled.items) == 13 * (2 if item == "twice" else 1)
    assert all(item["text"] for item in crawled.items)
    assert "Traceback" not in crawled.log


def test_the_counts_of_a_site_take_part_in_processes(web, crawl):
    slowly(web, 0, 0.02)
    crawled = crawl(urls=web.add_articles(PAGES), WINNOW_PROCESSES=1, CONCURRENT_REQUESTS=2)
    assert crawled.stats["winnow/items/in_process"] > 0
    late = [item for item in crawled.items if item["evidence_pages"] >= 15]
    assert late
    assert all("About us" not in item["text"] and item["label_source"] == "site" for item in late)


def test_processes_start_with_the_crawl(web, start_crawls):
    crawls = []
    web.on_request = lambda _: until(lambda: crawls and workers_of(crawls[0].process.pid))
    crawls.append(start_crawls({"urls": web.add_articles(1), "WINNOW_PROCESSES": 1}))
    (crawled,) = crawls[0].results()
    assert len(crawled.items) == 1


def test_a_crawl_loses_nothing_when_a_process_is_killed(web, start_crawls):
    slowly(web, 5, 0.15)
    crawl = start_crawls({"urls": web.add_articles(PAGES), "WINNOW_PROCESSES": 2, "CONCURRENT_REQUESTS": 2})
    workers = until(lambda: workers_of(crawl.process.pid)[:2] if len(workers_of(crawl.process.pid)) == 2 else None)
    os.kill(workers[0], signal.SIGKILL)
    (crawled,) = crawl.results()
    assert sorted(item["url"] for item in crawled.items) == sorted(f"{web.url}/{number}" for number in range(PAGES))
    assert all(item["status"] == "cleaned" and item["text"] for item in crawled.items)
    assert crawled.stats["winnow/processes/died"] == 1
    assert sum(crawled.stats.get(f"winnow/pages/{how}", 0) for how in ("counted", "uncounted")) == PAGES
    assert not any(map(is_running, workers))


def test_no_process_is_left_of_a_crawl_that_was_killed(web, start_crawls):
    slowly(web, 5, 0.3)
    crawl = start_crawls({"urls": web.add_articles(PAGES), "WINNOW_PROCESSES": 2, "CONCURRENT_REQUESTS": 2})
    workers = until(lambda: workers_of(crawl.process.pid))
    crawl.process.kill()
    crawl.process.communicate()
    until(lambda: not any(map(is_running, workers)))


def test_control_c_ends_a_crawl_as_it_does_without_processes(web, start_crawls):
    slowly(web, 5, 0.3)
    crawl = start_crawls({"urls": web.add_articles(PAGES), "WINNOW_PROCESSES": 1, "CONCURRENT_REQUESTS": 2})
    workers = until(lambda: workers_of(crawl.process.pid))
    until(lambda: len(web.asked) > 6)
    assert all(os.getpgid(pid) == pid for pid in workers)  # the terminal interrupts the crawl's group only
    os.kill(crawl.process.pid, signal.SIGINT)
    (crawled,) = crawl.results()
    assert crawled.stats["finish_reason"] == "shutdown"
    assert 5 <= len(crawled.items) < PAGES
    assert all(item["status"] == "cleaned" for item in crawled.items)
    assert "winnow/processes/died" not in crawled.stats
    assert not any(map(is_running, workers))
