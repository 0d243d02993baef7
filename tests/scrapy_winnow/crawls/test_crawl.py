"""A crawl over real HTTP with a real Redis: what is counted, what is cleaned, what is left alone."""

from scrapy_winnow.storage.connection import Connection
from scrapy_winnow.storage.counts import NodeCounts
from tests.scrapy_winnow.crawls.items import FIELDS
from winnow.fingerprints import FINGERPRINT_VERSION


async def _pages_counted(connection: Connection, prefix: str, host: str) -> int:
    counts = NodeCounts(connection, prefix=prefix, version=FINGERPRINT_VERSION, budget=1000, max_pages=1000, ttl=1000)
    return int(await connection.call(lambda client: client.hget(counts.keys(host)[0], "pages")) or 0)


async def test_every_page_is_counted_once_and_every_item_cleaned(web, crawl, connection, prefix):
    urls = web.add_articles(30)
    crawled = crawl(urls=urls + urls[:5])
    assert crawled.winnow_stats == {
        "winnow/pages/counted": 30,
        "winnow/pages/repeated": 5,
        "winnow/items/cleaned": 35,
        "winnow/items/with_site_evidence": 26,
    }
    assert await _pages_counted(connection, prefix, web.host) == 30
    assert crawled.stats["responses_alive"] == 0
    assert crawled.stats["frozen"] > 50_000


def test_what_is_written_on_an_item(web, crawl):
    urls = web.add_articles(20)
    crawled = crawl(urls=urls, WINNOW_OUTPUTS="clean_html,markdown,segments", CONCURRENT_REQUESTS=1)
    item = crawled.item(urls[19])
    assert set(item) == {*FIELDS, "clean_html", "markdown", "segments"}
    assert item["title"] == "Story 19"
    assert item["status"] == "cleaned"
    assert item["label_source"] == "site"
    assert item["evidence_pages"] >= 19
    assert crawled.item(urls[0])["label_source"] == "page"
    assert len(item["shingles"]) == 8
    assert "Story 19" in item["text"]
    assert "<p>" in item["clean_html"]
    assert {"path", "score", "template"} <= set(item["segments"][0])


def test_site_evidence_cuts_what_the_pages_share_and_keeps_their_stories(web, crawl):
    urls = web.add_articles(30)
    item = crawl(urls=urls, CONCURRENT_REQUESTS=1).item(urls[-1])
    assert "all rights are reserved" not in item["text"]
    assert "Front page" not in item["text"]
    assert item["text"].count(".") >= 4
    assert 0 < item["template_share"] < 0.5


def test_pages_that_are_no_pages_of_the_site_are_not_counted(web, crawl):
    (article,) = web.add_articles(1)
    urls = [
        article,
        web.add("/text", "plain words", Content_Type="text/plain"),
        web.add("/file", b"\x00\x01", Content_Type="application/octet-stream"),
        web.add("/empty", b""),
        web.add("/moved", b"", status=302, Location="/0"),
        web.url + "/gone",
        "data:text/html,<p>words</p>",
    ]
    stats = crawl(urls=urls).winnow_stats
    # A page of two words may be all template to the model.
    assert stats.pop("winnow/items/cleaned") + stats.pop("winnow/items/fallback", 0) == 4
    assert stats == {
        "winnow/pages/counted": 2,
        "winnow/pages/repeated": 1,
        "winnow/pages/skipped": 3,
        "winnow/items/empty": 1,
    }


def test_a_request_can_ask_to_be_left_alone(web, crawl):
    urls = web.add_articles(3)
    crawled = crawl(urls=urls, meta={"winnow": False})
    assert crawled.winnow_stats == {"winnow/pages/skipped": 3, "winnow/items/opted_out": 3}
    assert all(set(item) == {"url"} for item in crawled.items)


def test_a_spider_can_switch_everything_off(web, crawl):
    urls = web.add_articles(3)
    crawled = crawl(urls=urls, custom_settings={"WINNOW_ENABLED": False})
    assert crawled.winnow_stats == {}
    assert len(crawled.items) == 3
    assert "Disabled" not in crawled.log


def test_heavy_pages_come_out_of_a_thread_as_they_do_without_one(web, start_crawls):
    plan = {"urls": web.add_articles(9)}
    light, heavy = start_crawls(plan, {**plan, "WINNOW_THREAD_TAGS": 0}).results()
    assert heavy.winnow_stats == {**light.winnow_stats, "winnow/items/in_thread": 9}
    for url in plan["urls"]:
        heavy_item, light_item = heavy.item(url), light.item(url)
        assert 1 <= heavy_item.pop("evidence_pages") <= 9 >= light_item.pop("evidence_pages")
        assert abs(heavy_item.pop("confidence") - light_item.pop("confidence")) < 0.05  # it goes by the counts, too
        assert heavy_item == light_item


def test_what_is_loaded_by_the_first_page_can_be_left_to_the_garbage_collector(web, crawl):
    crawled = crawl(urls=web.add_articles(1), WINNOW_GC_FREEZE=False)
    assert crawled.stats["frozen"] < 50_000


def test_a_page_above_a_cap_is_passed_through_and_said_to_be(web, start_crawls):
    (url,) = web.add_articles(1)
    for crawled in start_crawls(
        {"urls": [url], "WINNOW_MAX_BYTES": 10}, {"urls": [url], "WINNOW_MAX_NODES": 10}
    ).results():
        assert crawled.winnow_stats == {"winnow/pages/too_large": 1, "winnow/items/too_large": 1}
        assert crawled.item(url)["status"] == "too_large"
        assert "Copyright" in crawled.item(url)["text"]


def test_near_duplicates_are_marked_and_on_a_setting_dropped_if_they_have_no_text_of_their_own(web, start_crawls):
    (url,) = web.add_articles(1)
    article = web.pages["/0"][2]
    own = " ".join(f"What happened on day {n} after it is told here alone." for n in range(4)).encode()
    longer = web.add("/longer", article.replace(b"</p></div>", b"</p><p>" + own + b"</p></div>", 1))
    copy = web.add("/copy", article.replace(b"<title>Story 0", b"<title>The same story 0"))
    plan = {"urls": [], "callback": "fed", "later": [[url], [longer], [copy]], "WINNOW_SITE_EVIDENCE": False}
    marked, dropped, off = start_crawls(
        plan, {**plan, "WINNOW_DROP_DUPLICATES": True}, {**plan, "WINNOW_DUPLICATES": False}
    ).results()
    assert marked.item(copy)["duplicate_of"] == marked.item(longer)["duplicate_of"] == url
    assert "duplicate_of" not in marked.item(url)
    assert [item["url"] for item in dropped.items] == [url, longer]
    assert dropped.winnow_stats["winnow/items/dropped"] == 1
    assert "winnow/items/duplicate" not in off.winnow_stats


def test_site_evidence_can_be_switched_off(web, crawl):
    crawled = crawl(urls=web.add_articles(12), WINNOW_SITE_EVIDENCE=False)
    assert crawled.winnow_stats == {"winnow/pages/uncounted": 12, "winnow/items/cleaned": 12}
