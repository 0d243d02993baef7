"""Which site's counts an item is judged by, and whether the item says so truthfully."""

import pytest
import redis

from scrapy_tamis.commands import main
from scrapy_tamis.storage.keys import host_keys
from tests.scrapy_tamis.web import served

NEWS_PAGES, API_PAGES = 12, 7


@pytest.fixture(scope="module")
def crawled(start_crawls):
    """Crawls that only look at the counts of two hosts, by how an item comes by its page."""
    prefix = "test-right-site"
    with served() as news, served() as api:
        urls, answers = news.add_articles(NEWS_PAGES), api.add_articles(API_PAGES)
        to_news = {"tamis": {"site": "news.example"}}
        learnt = {"urls": urls, "TAMIS_REDIS_PREFIX": prefix}
        start_crawls({**learnt, "urls": urls + answers}, {**learnt, "urls": urls[:5], "meta": to_news}).results()
        looks = {**learnt, "urls": urls[-1:], "second": answers[0], "TAMIS_READ_ONLY": True}
        plans = {
            "carried": {**looks, "callback": "carrying"},
            "carried without its address": {**looks, "callback": "carrying", "item": "nameless"},
            "carried with a site": {**looks, "callback": "carrying", "second_meta": to_news},
            "carried, and itself with a site": {**looks, "callback": "carrying", "item": "of news"},
            "fetched": {**looks, "callback": "fetching"},
            "with a site": {**looks, "item": "of news"},
        }
        yield dict(zip(plans, start_crawls(*plans.values()).results(), strict=True))


@pytest.mark.parametrize(
    ("how", "pages"),
    [
        ("carried", NEWS_PAGES),
        ("carried without its address", API_PAGES),
        ("carried with a site", 5),
        ("carried, and itself with a site", 5),
        ("fetched", API_PAGES),
        ("with a site", 5),
    ],
)
def test_an_item_is_judged_by_the_host_of_its_own_page_or_the_site_that_it_names(crawled, how, pages):
    (item,) = crawled[how].items
    assert (item["label_source"], item["evidence_pages"]) == ("site", pages)


def test_what_an_item_cannot_say_for_itself_is_ignored_and_said(crawled):
    assert "ignored 'count': False: it acts in the meta of a request, not on an item" in crawled["with a site"].log


def test_a_page_of_a_host_that_was_never_counted_claims_nothing(web, crawl):
    with served() as other:
        elsewhere = other.add_articles(5)[4]
        (*_, item) = crawl(urls=web.add_articles(4), callback="fetching", second=elsewhere, CONCURRENT_REQUESTS=1).items
    assert item["url"] == elsewhere
    assert (item["label_source"], item["evidence_pages"]) == ("page", 0)


def test_counts_act_from_the_second_page_on_and_items_and_stats_say_so(web, crawl):
    crawled = crawl(urls=web.add_articles(4), CONCURRENT_REQUESTS=1)
    assert [item["label_source"] for item in crawled.items] == ["page", "site", "site", "site"]
    assert crawled.tamis_stats["tamis/items/with_site_evidence"] == 3


def test_counts_that_take_no_part_are_not_claimed(web, crawl):
    urls = web.add_articles(3)
    scripted = web.add("/scripted", "<body><div id=app></div><script>load()</script></body>")
    (*_, last) = crawl(urls=[*urls, scripted], CONCURRENT_REQUESTS=1).items
    assert (last["status"], last["label_source"], last["evidence_pages"]) == ("empty", "site", 4)
    large = crawl(urls=urls, TAMIS_CLEAN={"limits": {"max_nodes": 10}}).items
    assert {(item["status"], item["label_source"]) for item in large} == {("too_large", "page")}


def test_html_that_a_server_calls_text_or_xml_counts_and_what_does_not_is_named(web, crawl):
    urls = web.add_articles(6)
    for number, kind in enumerate(("text/plain", "application/xml", "text/xml", "text/plain")):
        web.add(f"/{number}", b"<!DOCTYPE html>\n" + web.pages[f"/{number}"][2], Content_Type=kind)
    fragment = web.add("/fragment", "<p>A fragment of a page.</p>", Content_Type="text/plain")
    log = web.add("/log", "12:00 started", Content_Type="text/plain; charset=utf-8")
    feed = web.add("/feed", "<?xml version='1.0'?><rss><channel/></rss>", Content_Type="text/xml")
    crawled = crawl(urls=[*urls, fragment, log, feed], CONCURRENT_REQUESTS=1)
    assert crawled.tamis_stats["tamis/pages/counted"] == 6
    assert crawled.tamis_stats["tamis/pages/skipped"] == 3
    assert crawled.item(urls[3])["evidence_pages"] == 4
    assert len(crawled.lines("does not")) == 1
    assert f"{fragment}, of type 'text/plain', does not" in crawled.log


def test_a_host_of_which_the_server_has_evicted_a_part_claims_no_evidence(web, crawl, redis_url, prefix, capsys):
    urls = web.add_articles(14)
    crawl(urls=urls)
    keys = host_keys(prefix, web.host)
    with redis.Redis.from_url(redis_url) as client:
        client.delete(*keys[1:])
    crawled = crawl(urls=urls[:2], TAMIS_READ_ONLY=True)
    assert [(item["label_source"], item["evidence_pages"]) for item in crawled.items] == [("page", 0)] * 2
    assert main(["hosts", "--redis-url", redis_url, "--prefix", prefix]) == 0
    assert f"{web.host:<40}  evicted" in capsys.readouterr().out
