"""What a crawl puts into the stream for ``winnow dedup``."""

import json
import uuid

import pytest
import redis

from scrapy_winnow.commands import main
from scrapy_winnow.duplicates.index import IndexOptions
from winnow.duplicates.documents import document_id

BOTH, ONLY, NONE = (f"test-{uuid.uuid4().hex[:12]}" for _ in range(3))


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls):
    """Three stories, a copy of the first, an empty page: looked up and streamed, only streamed, and without Redis."""
    web = shared_web
    urls = [*web.add_articles(3), web.add("/copy", web.pages["/0"][2].replace(b"Next story", b"Further on"))]
    urls.append(web.add("/empty", "<html><body></body></html>"))
    plan = {"urls": urls, "CONCURRENT_REQUESTS": 1, "WINNOW_DUPLICATES_STREAM": True}
    both, streamed, away, short = start_crawls(
        {**plan, "WINNOW_REDIS_PREFIX": BOTH},
        {**plan, "WINNOW_REDIS_PREFIX": ONLY, "WINNOW_DUPLICATES": False, "WINNOW_DUPLICATES_SKETCH": 32},
        {**plan, "WINNOW_REDIS_URL": "redis://127.0.0.1:1", "WINNOW_REDIS_TIMEOUT": 0.2},
        {**plan, "WINNOW_REDIS_PREFIX": NONE, "WINNOW_READ_ONLY": True},
    ).results()
    return {"urls": urls, "both": both, "only": streamed, "away": away, "none": short}


@pytest.fixture
def client(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        yield client


def test_an_entry_has_all_that_a_worker_needs(crawled, client):
    urls, items = crawled["urls"], crawled["both"]
    entries = [fields for _, fields in client.xrange(IndexOptions(BOTH).key("documents"))]
    assert sorted(entry[b"url"].decode() for entry in entries) == sorted(urls)
    for entry in entries:
        url = entry[b"url"].decode()
        item = items.item(url)
        assert entry[b"id"] == document_id(url)
        assert entry[b"host"].decode() in url
        assert entry[b"label"].decode() == item["label_version"]
        shingles = [entry[b"shingles"][at : at + 8].hex() for at in range(0, len(entry[b"shingles"]), 8)]
        assert shingles == item.get("shingles", [])
        assert entry[b"complete"] == (b"0" if len(shingles) == 8 else b"1")


def _duplicates(prefix, redis_url, out) -> dict[str, str | None]:
    """What ``winnow dedup`` says: original by address."""
    arguments = ["dedup", "--redis-url", redis_url, "--prefix", prefix, "--until-empty", "--out", str(out)]
    assert main(arguments) == 0
    return {row["url"]: row["duplicate_of"] for row in map(json.loads, out.read_text().splitlines())}


def test_a_worker_says_of_the_stream_what_the_look_up_said_of_the_items(crawled, redis_url, tmp_path):
    found = _duplicates(BOTH, redis_url, tmp_path / "verdicts.jsonl")
    assert found == {url: crawled["both"].item(url).get("duplicate_of") for url in crawled["urls"]}


@pytest.mark.parametrize("prefix", [BOTH, ONLY], ids=["looked up, too", "only streamed"])
def test_of_a_story_and_its_copy_one_is_the_duplicate_of_the_other(crawled, redis_url, tmp_path, prefix):
    found = _duplicates(prefix, redis_url, tmp_path / "verdicts.jsonl")
    story, copy = crawled["urls"][0], crawled["urls"][3]
    assert {url: original for url, original in found.items() if original} in ({copy: story}, {story: copy})


def test_a_larger_sketch_goes_into_the_stream_and_not_onto_the_item(crawled, client):
    entries = [fields for _, fields in client.xrange(IndexOptions(ONLY).key("documents"))]
    assert {len(entry[b"shingles"]) // 8 for entry in entries} == {0, 32}
    assert {len(item.get("shingles", [])) for item in crawled["only"].items} == {0, 8}


def test_an_outage_costs_the_stream_and_counts_and_no_item(crawled):
    stats = crawled["away"].winnow_stats
    assert stats["winnow/items/not_streamed"] == len(crawled["away"].items) == 5
    assert "winnow/items/streamed" not in stats
    assert crawled["both"].winnow_stats["winnow/items/streamed"] == 5


def test_a_crawl_that_only_reads_feeds_nothing(crawled, client):
    assert not {"winnow/items/streamed", "winnow/items/not_streamed"} & set(crawled["none"].winnow_stats)
    assert not client.exists(IndexOptions(NONE).key("documents"))
