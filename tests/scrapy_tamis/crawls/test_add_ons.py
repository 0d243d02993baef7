"""Tamis beside other add-ons and parts of Scrapy, each in a crawl of its own with nothing but their settings."""

import json

import pytest

from demo.screenshots import find_browser

ADDON = {"scrapy_tamis.Addon": 500}
SPIDERMON = "spidermon.contrib.scrapy"


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls, tmp_path_factory):
    """Six pages crawled with each; the crawls are in one process at the same time."""
    folder = tmp_path_factory.mktemp("add-ons")
    urls = shared_web.add_articles(6)
    answer = {"url": "https://shop.example/1", "browserHtml": shared_web.pages["/1"][2].decode(), "statusCode": 200}
    shared_web.add("/api/extract", json.dumps(answer), **{"Content-Type": "application/json"})
    schema = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 99}}}
    (folder / "schema.json").write_text(json.dumps(schema))
    by_api = [f"/get?api_key=secret&url=https%3A%2F%2Fshop.example%2F{number}" for number in range(6)]
    for number, path in enumerate(by_api):
        shared_web.add(path, shared_web.pages[f"/{number}"][2])
    handlers = dict.fromkeys(("http", "https"), "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler")
    launch = {"executable_path": find_browser(), "args": ["--no-sandbox"]}
    plans = {
        "scrapy-playwright": {
            "DOWNLOAD_HANDLERS": handlers,
            "PLAYWRIGHT_LAUNCH_OPTIONS": launch,
            "meta": {"playwright": True},
        },
        "scrapy-poet": {"ADDONS": {**ADDON, "scrapy_poet.Addon": 300}},
        "scrapy-zyte-api": {
            "ADDONS": {**ADDON, "scrapy_zyte_api.Addon": 400},
            "ZYTE_API_KEY": "none",
            "ZYTE_API_URL": f"{shared_web.url}/api/",
            "meta": {"zyte_api": {"browserHtml": True}},
        },
        "scraping API": {"urls": [shared_web.url + path for path in by_api], "TAMIS_REDIS_PREFIX": "test-api"},
        "any other API": {"meta": {"tamis": {"url": "https://shop.example/"}}, "TAMIS_REDIS_PREFIX": "test-any"},
        "spidermon": {
            "EXTENSIONS": {f"{SPIDERMON}.extensions.Spidermon": 500},
            "ITEM_PIPELINES": {f"{SPIDERMON}.pipelines.ItemValidationPipeline": 800},
            "SPIDERMON_ENABLED": True,
            "SPIDERMON_VALIDATION_SCHEMAS": [str(folder / "schema.json")],
            "SPIDERMON_SPIDER_CLOSE_MONITORS": [f"{SPIDERMON}.monitors.SpiderCloseMonitorSuite"],
            "SPIDERMON_MIN_ITEMS": 6,
        },
        "itemloaders": {"item": "loaded"},
        "itemloaders, dataclass": {"item": "loaded to a dataclass"},
        "AutoThrottle": {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.05},
        "HTTP cache": {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(folder / "cache")},
    }
    crawls = start_crawls(*({"urls": urls, **plan} for plan in plans.values())).results()
    again = start_crawls({"urls": urls, **plans["HTTP cache"]}).results()
    return {**dict(zip(plans, crawls, strict=True)), "HTTP cache, again": again[0]}


@pytest.mark.parametrize(
    ("name", "stats"),
    [
        *(("scrapy-playwright", {"playwright/request_count/resource_type/document": 6}), ("scrapy-poet", {})),
        *(("scrapy-zyte-api", {"scrapy-zyte-api/success": 6}), ("scraping API", {}), ("any other API", {})),
        ("spidermon", {"spidermon/validation/items": 6, "spidermon/validation/items/errors": None}),
        *(("itemloaders", {}), ("itemloaders, dataclass", {}), ("AutoThrottle", {})),
        *(("HTTP cache", {"httpcache/store": 6}), ("HTTP cache, again", {"httpcache/hit": 6})),
    ],
)
def test_each_page_is_counted_once_and_cleaned(crawled, name, stats):
    crawl = crawled[name]
    ours = crawl.tamis_stats
    assert {stat: crawl.stats.get(stat) for stat in stats} == stats
    assert ours.get("tamis/items/cleaned") == 6
    assert ours["tamis/pages/counted"] + ours.get("tamis/pages/repeated", 0) == 6
    assert not any("failed" in stat or "failures" in stat or "incomplete" in stat for stat in ours)
    assert all("Story" in item["text"] and "Front page" not in item["text"] for item in crawl.items)


@pytest.mark.parametrize("prefix", ["test-api", "test-any"])
@pytest.mark.usefixtures("crawled")
async def test_a_page_behind_an_api_counts_for_its_own_host(connection, prefix):
    keys = await connection.call(lambda client: client.keys(f"{prefix}:*"))
    assert {key.split(b":")[2] for key in keys if b"{" in key} == {b"{shop.example}"}
