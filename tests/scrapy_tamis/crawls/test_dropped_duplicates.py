"""Copies are dropped only for an original that was stored."""

import hashlib
import time

import pytest
import redis

COPIES = 5


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls):
    """Crawls of one story at several addresses, all at once, through a slow pipeline that may lose the first."""
    (first,) = shared_web.add_articles(1)
    status, headers, body = shared_web.pages["/0"]
    for number in range(1, COPIES):
        shared_web.pages[f"/copy-{number}"] = (status, headers, body)
    plan = {
        "urls": [first, *(f"{shared_web.url}/copy-{number}" for number in range(1, COPIES))],
        "ITEM_PIPELINES": {"__main__.LosingPipeline": 300},
        "TAMIS_DUPLICATES": "drop",
        "CONCURRENT_REQUESTS_PER_DOMAIN": COPIES,
    }
    cases = {"keeps": plan, "drop": {**plan, "LOSES": "drop"}, "error": {**plan, "LOSES": "error"}}
    return dict(zip(cases, start_crawls(*cases.values()).results(), strict=True))


def test_of_copies_that_come_all_at_once_one_is_kept(crawled):
    result = crawled["keeps"]
    assert len(result.items) == 1
    assert result.tamis_stats["tamis/items/dropped"] == COPIES - 1


@pytest.mark.parametrize("how", ["drop", "error"])
def test_a_copy_takes_the_place_of_an_original_that_a_later_pipeline_has_lost(crawled, how):
    result = crawled[how]
    assert len(result.items) == 1
    assert "Story 0" in result.items[0]["text"]
    assert result.tamis_stats["tamis/items/dropped"] == COPIES - 2


def test_of_each_text_one_item_is_kept_in_every_crawl_whatever_its_addresses_are(web, start_crawls, prefix):
    (url,) = web.add_articles(1)
    sessions = [f"{url}?session={number}" for number in range(4)]
    for address in sessions:
        web.pages[address.removeprefix(web.url)] = web.pages["/0"]
    plan = {"TAMIS_DUPLICATES": "drop", "TAMIS_REDIS_PREFIX": prefix, "urls": [], "callback": "fed"}
    (first,) = start_crawls({**plan, "later": [[url], sessions[:1]]}).results()
    assert [(item["url"], item["duplicate_of"]) for item in first.items] == [(url, None)]
    time.sleep(1.1)  # a later crawl begins in a later second
    again, moved = start_crawls(
        {**plan, "later": [[url], sessions[:1]]},
        {**plan, "later": [sessions[2:3], sessions[3:]], "TAMIS_REDIS_PREFIX": f"{prefix}-moved"},
    ).results()
    assert [(item["url"], item["duplicate_of"]) for item in again.items] == [(url, None)]
    assert [(item["url"], item["duplicate_of"]) for item in moved.items] == [(sessions[2], None)]
    time.sleep(1.1)
    (renamed,) = start_crawls({**plan, "later": [sessions[:1], sessions[1:2]]}).results()
    assert [(item["url"], item["duplicate_of"]) for item in renamed.items] == [(sessions[0], url)]


def test_a_crawl_that_goes_on_drops_copies_of_what_its_first_run_has_stored(web, start_crawls, prefix, tmp_path):
    (url,) = web.add_articles(1)
    copy = web.add("/copy", web.pages["/0"][2])
    plan = {"TAMIS_DUPLICATES": "drop", "TAMIS_REDIS_PREFIX": prefix, "JOBDIR": str(tmp_path)}
    start_crawls({**plan, "urls": [url]}).results()
    time.sleep(1.1)  # it goes on in a later second
    (resumed,) = start_crawls({**plan, "urls": [copy]}).results()
    assert resumed.items == []
    assert resumed.tamis_stats["tamis/items/dropped"] == 1


def test_a_subclass_keeps_addresses_out_of_redis(web, start_crawls, prefix, redis_url):
    (url,) = web.add_articles(1)
    copy = web.add("/copy", web.pages["/0"][2])
    plan = {
        "urls": [],
        "callback": "fed",
        "later": [[url], [copy]],
        "TAMIS_REDIS_URL": redis_url,
        "TAMIS_REDIS_PREFIX": prefix,
        "TAMIS_DUPLICATES": "mark",
        "TAMIS_SITE_EVIDENCE": False,
        "ITEM_PIPELINES": {"__main__.HashedNames": 110, "scrapy_tamis.MarkDuplicates": None},
    }
    (result,) = start_crawls(plan).results()
    assert result.item(copy)["duplicate_of"] == hashlib.sha256(url.encode()).hexdigest()
    with redis.Redis.from_url(redis_url) as client:
        assert not any(url.encode() in client.get(key) for key in client.keys(f"{prefix}:*"))
