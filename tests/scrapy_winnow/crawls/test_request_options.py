"""What a request can ask for its page with ``meta={"winnow": {...}}``, over real HTTP with a real Redis."""

import pytest

from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import NodeCounts
from winnow.fingerprints import FINGERPRINT_VERSION


async def _pages_counted(connection: Connection, prefix: str, host: str) -> int:
    counts = NodeCounts(connection, prefix=prefix, version=FINGERPRINT_VERSION, budget=1000, max_pages=1000, ttl=1000)
    return int(await connection.call(lambda client: client.hget(counts.keys(host)[0], "pages")) or 0)


async def test_pages_behind_one_host_count_for_the_sites_that_they_are_of(web, crawl, connection, prefix):
    crawled = crawl(urls=web.add_articles(12), meta={"winnow": {"site": "news.example"}})
    assert crawled.winnow_stats["winnow/pages/counted"] == 12
    assert await _pages_counted(connection, prefix, "news.example") == 12
    assert await _pages_counted(connection, prefix, web.host) == 0


REPLACED = {"ITEM_PIPELINES": {"__main__.ReplacingPipeline": 50}}


@pytest.mark.parametrize(
    ("meta", "stats"),
    [
        ({"winnow": False}, {"winnow/pages/skipped": 12, "winnow/items/opted_out": 12}),
        (
            {"winnow": {"site": "news.example"}},
            {"winnow/pages/counted": 12, "winnow/items/cleaned": 12, "winnow/items/with_site_evidence": 3},
        ),
    ],
)
def test_items_that_another_pipeline_replaces_are_those_of_their_page(web, crawl, meta, stats):
    crawled = crawl(urls=web.add_articles(12), meta=meta, **REPLACED, WINNOW_DUPLICATES=False, CONCURRENT_REQUESTS=1)
    assert crawled.winnow_stats == stats


async def test_a_page_is_only_counted(web, crawl, connection, prefix):
    crawled = crawl(urls=web.add_articles(3), meta={"winnow": {"clean": False}})
    assert crawled.winnow_stats == {"winnow/pages/counted": 3, "winnow/items/opted_out": 3}
    assert await _pages_counted(connection, prefix, web.host) == 3


async def test_a_page_is_only_cleaned(web, crawl, connection, prefix):
    crawled = crawl(urls=web.add_articles(3), meta={"winnow": {"count": False}})
    assert crawled.winnow_stats == {"winnow/pages/read": 3, "winnow/items/cleaned": 3}
    assert await _pages_counted(connection, prefix, web.host) == 0


def test_near_duplicates_are_dropped_on_request(web, crawl):
    story = " ".join(f"Sentence {n} of a story that is told in two places." for n in range(40))
    urls = [web.add(path, f"<html><body><h1>Story</h1><p>{story}</p></body></html>") for path in ("/one", "/two")]
    crawled = crawl(urls=urls, CONCURRENT_REQUESTS=1, meta={"winnow": {"drop_duplicates": True}})
    assert crawled.winnow_stats.get("winnow/items/dropped") == 1
    assert len(crawled.items) == 1


def test_another_model_cleans_and_what_makes_no_sense_is_ignored_and_said_once(web, crawl):
    url, *others = web.add_articles(3)
    crawled = crawl(urls=[url, *others], meta={"winnow": {"model": "logistic", "color": "red", "clean": "yes"}})
    assert crawled.item(url)["label_version"].startswith("logistic-")
    assert crawled.log.count("ignored 'color': 'red': there are count, clean, site") == 1
    assert crawled.log.count("ignored 'clean': 'yes': it takes a bool") == 1


def test_a_model_that_is_not_there_costs_no_item(web, crawl):
    (url,) = web.add_articles(1)
    crawled = crawl(urls=[url], meta={"winnow": {"model": "no-such"}})
    assert crawled.winnow_stats["winnow/items/failed"] == 1
    assert [item["url"] for item in crawled.items] == [url]


def test_text_after_the_end_of_a_document_is_cleaned_alike_with_counts(web, crawl):
    late = "It came after the end of the document, and browsers show it all the same, which is why it is kept here."
    pages = [
        web.add(
            f"/late{n}", f"<html><body><h1>Story {n}</h1><p>{late} {n}.</p></body></html><p>{late} Really, {n}.</p>"
        )
        for n in range(3)
    ]
    crawled = crawl(urls=pages)
    assert all(f"Really, {n}." in crawled.item(url)["text"] for n, url in enumerate(pages))


@pytest.mark.parametrize("processes", [0, 1])
def test_rules_are_those_of_the_crawl_of_the_request_and_none_for_an_item_that_wants_none(
    web, crawl, tmp_path, processes
):
    story = " ".join(f"Sentence {n} of a story that is told at length." for n in range(20))
    rest = "<p class=more>Read more of it.</p><p class=end>This is the end of it.</p>"
    url = web.add("/story", f"<body><h1>Storm</h1><p>{story}</p>{rest}")
    rules = f'[[rules]]\nsite = "{web.host.partition(":")[0]}"\ndrop = ".more"\nkeep = ".end"'
    (tmp_path / "rules.toml").write_text(rules)
    settings = {"WINNOW_RULES": str(tmp_path / "rules.toml"), "WINNOW_PROCESSES": processes}
    crawled = crawl(urls=[url], item="unruled", meta={"winnow": {"rules": {"drop": "h1"}}}, **settings)
    ruled, unruled = (item["text"].split("\n\n") for item in crawled.items)
    assert ruled == [story, "This is the end of it."]
    assert unruled[0] == "Storm"
    assert all("winnow" not in item for item in crawled.items)
