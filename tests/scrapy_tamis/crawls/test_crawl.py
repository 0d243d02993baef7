"""A crawl over real HTTP with a real Redis: what is counted, what is cleaned, what is left alone."""

import uuid

import pytest

from scrapy_tamis.fields import WRITTEN_FIELDS
from scrapy_tamis.storage.counts import NodeCounts
from scrapy_tamis.storage.keys import host_keys
from tests.scrapy_tamis.conftest import Crawled

STORY = " ".join(f"Sentence {n} of a story that is told in two places." for n in range(40))


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls, tmp_path_factory):
    """Crawls of the same thirty articles and of some other pages, all in one process."""
    web, urls = shared_web, shared_web.add_articles(30)
    others = [
        web.add("/text", "plain words", Content_Type="text/plain"),
        *(web.add("/file", b"\x00\x01", Content_Type="application/octet-stream"), web.add("/empty", b"")),
        *(web.add("/moved", b"", status=302, Location="/0"), web.url + "/gone", "data:text/html,<p>words</p>"),
    ]
    web.pages["/broken"] = (404, *web.pages["/0"][1:])
    broken = {"urls": [web.url + "/broken"], "callback": "errback"}
    copies = [web.add(path, f"<h1>Story</h1><p>{STORY}</p>") for path in ("/told", "/told-again")]
    rest = "<p class=more>Read more of it.</p><p class=end>This is the end of it.</p>"
    rules = tmp_path_factory.mktemp("rules") / "rules.toml"
    rules.write_text(f'[[rules]]\nsite = "{web.host.partition(":")[0]}"\ndrop = ".more"\nkeep = ".end"')
    ruled = {
        "urls": [web.add("/storm", f"<body><h1>Storm</h1><p>{STORY}</p>{rest}")],
        "item": "unruled",
        "meta": {"tamis": {"rules": {"drop": "h1"}}},
        "TAMIS_RULES": str(rules),
    }
    few = {"urls": urls[:3]}
    replaced = {
        "urls": urls[:12],
        "ITEM_PIPELINES": {"__main__.ReplacingPipeline": 50},
        "CONCURRENT_REQUESTS": 1,
    }
    plans = {
        "repeated": {"urls": urls + urls[:5]},
        "one by one": {"urls": urls, "TAMIS_OUTPUTS": "clean_html,markdown,segments", "CONCURRENT_REQUESTS": 1},
        "others": {"urls": [urls[0], *others]},
        "left alone": {**few, "meta": {"tamis": False}},
        "off": {**few, "custom_settings": {"TAMIS_ENABLED": False}},
        "in threads": {"urls": web.add_articles(9, heavy=True), "TAMIS_SITE_EVIDENCE": False},
        "without threads": {"urls": urls[:9], "TAMIS_SITE_EVIDENCE": False},
        "too many bytes": {"urls": urls[:1], "TAMIS_CLEAN": {"limits": {"max_bytes": 10}}},
        "too many nodes": {"urls": urls[:1], "TAMIS_CLEAN": {"limits": {"max_nodes": 10}}},
        "without counts": {"urls": urls[:12], "TAMIS_SITE_EVIDENCE": False},
        "of a site": {"urls": urls[:12], "meta": {"tamis": {"site": "news.example"}}},
        "only counted": {**few, "meta": {"tamis": {"clean": False}}},
        "only cleaned": {**few, "meta": {"tamis": {"count": False}}},
        "another model": {**few, "meta": {"tamis": {"model": "logistic", "color": "red", "clean": "yes"}}},
        "left alone and replaced": {**replaced, "meta": {"tamis": False}},
        "of a site and replaced": {**replaced, "meta": {"tamis": {"site": "news.example"}}},
        "error page": broken,
        "error page left alone": {**broken, "meta": {"tamis": False}},
        "full disk": {"urls": urls[:2], "EXTENSIONS": {"__main__.FailingListener": 900}},
        "no such model": {"urls": urls[:1], "meta": {"tamis": {"model": "no-such"}}},
        "dropped": {"urls": copies, "CONCURRENT_REQUESTS": 1, "TAMIS_DUPLICATES": "mark"}
        | {"meta": {"tamis": {"duplicates": "drop"}}},
        **{f"rules {processes}": {**ruled, "TAMIS_PROCESSES": processes} for processes in (0, 1)},
    }
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    keys = {name: f"{prefix}-{number}" for number, name in enumerate(plans)}
    results = start_crawls(*({**plan, "TAMIS_REDIS_PREFIX": keys[name]} for name, plan in plans.items())).results()
    crawled = dict(zip(plans, results, strict=True))
    for name, result in crawled.items():
        result.urls, result.prefix = plans[name]["urls"], keys[name]
    return crawled


@pytest.fixture
def pages_counted(connection):
    """How many pages of a host a crawl has counted in Redis."""

    async def counted(crawl: Crawled, host: str) -> int:
        counts = NodeCounts(connection, prefix=crawl.prefix, budget=1000, max_pages=1000, ttl=1000)
        return int(await connection.call(lambda client: client.hget(host_keys(counts.prefix, host)[0], "pages")) or 0)

    return counted


async def test_every_page_is_counted_once_and_every_item_cleaned(shared_web, crawled, pages_counted):
    repeated = crawled["repeated"]
    assert repeated.tamis_stats == {
        "tamis/pages/counted": 30,
        "tamis/pages/repeated": 5,
        "tamis/items/cleaned": 35,
        "tamis/items/with_site_evidence": 34,
    }
    assert await pages_counted(repeated, shared_web.host) == 30
    assert repeated.stats["responses_alive"] == 0
    assert repeated.stats["frozen"] > 10_000


def test_what_is_written_on_an_item(crawled):
    result = crawled["one by one"]
    first, item = (result.item(result.urls[number]) for number in (0, 19))
    assert set(item) == {"url", *WRITTEN_FIELDS, "clean_html", "markdown", "segments"} - {"duplicate_of", "resemblance"}
    assert (item["title"], item["status"], item["label_source"]) == ("Story 19", "cleaned", "site")
    assert item["evidence_pages"] >= 19
    assert first["label_source"] == "page"
    assert len(item["shingles"]) == 8
    assert "Story 19" in item["text"]
    assert "<p>" in item["clean_html"]
    assert {"path", "score", "template"} <= set(item["segments"][0])


def test_site_evidence_cuts_what_the_pages_share_and_keeps_their_stories(crawled):
    item = crawled["one by one"].item(crawled["one by one"].urls[-1])
    assert "all rights are reserved" not in item["text"]
    assert "Front page" not in item["text"]
    assert item["text"].count(".") >= 4
    assert 0 < item["template_share"] < 0.5


def test_pages_that_are_no_pages_of_the_site_are_not_counted(crawled):
    stats = crawled["others"].tamis_stats
    # A page of two words may be all template to the model.
    assert stats.pop("tamis/items/cleaned") + stats.pop("tamis/items/fallback", 0) == 4
    assert 2 <= stats.pop("tamis/items/with_site_evidence") <= 4  # by their order
    assert stats == {
        "tamis/pages/counted": 2,
        "tamis/pages/repeated": 1,
        "tamis/pages/skipped": 4,
        "tamis/items/empty": 1,
    }


@pytest.mark.parametrize(
    ("name", "stats"),
    [
        ("left alone", {"pages/skipped": 3, "items/opted_out": 3}),
        ("off", {}),
        ("left alone and replaced", {"pages/skipped": 12, "items/opted_out": 12}),
        ("of a site and replaced", {"pages/counted": 12, "items/cleaned": 12, "items/with_site_evidence": 11}),
        ("error page", {"pages/skipped": 1, "items/cleaned": 1}),
        ("error page left alone", {"pages/skipped": 1, "items/opted_out": 1}),
        ("without counts", {"pages/uncounted": 12, "items/cleaned": 12}),
        ("only counted", {"pages/counted": 3, "items/opted_out": 3}),
        ("only cleaned", {"pages/read": 3, "items/cleaned": 3}),
        ("too many bytes", {"pages/too_large": 1, "items/too_large": 1}),
        ("too many nodes", {"pages/too_large": 1, "items/too_large": 1}),
    ],
)
def test_settings_and_requests_say_what_happens_to_a_page(crawled, name, stats):
    result = crawled[name]
    assert result.tamis_stats == {f"tamis/{stat}": number for stat, number in stats.items()}
    assert len(result.items) == len(result.urls)
    for item in result.items:
        if name in {"left alone", "off", "only counted"}:
            assert set(item) == {"url"}
        elif name.startswith("too many"):
            assert (item["status"], item["text"]) == ("too_large", "")


def test_heavy_pages_come_out_of_a_thread_as_they_do_without_one(crawled):
    light, heavy = crawled["without threads"], crawled["in threads"]
    assert heavy.tamis_stats == {**light.tamis_stats, "tamis/items/in_thread": 9}
    for one, other in zip(light.urls, heavy.urls, strict=True):
        of_address = {name: light.item(one)[name] for name in ("url", "confidence")}
        assert heavy.item(other) | of_address == light.item(one)


async def test_pages_behind_one_host_count_for_the_sites_that_they_are_of(shared_web, crawled, pages_counted):
    assert crawled["of a site"].tamis_stats["tamis/pages/counted"] == 12
    assert await pages_counted(crawled["of a site"], "news.example") == 12
    assert await pages_counted(crawled["of a site"], shared_web.host) == 0


def test_another_model_cleans_and_what_makes_no_sense_is_ignored_and_said_once(crawled):
    result = crawled["another model"]
    assert all(item["model_version"].startswith("logistic-") for item in result.items)
    assert result.log.count("ignored 'color': 'red': there are count, clean, site") == 1
    assert result.log.count("ignored 'clean': 'yes': it takes a bool") == 1


def test_a_model_that_is_not_there_costs_no_item(crawled):
    assert crawled["no such model"].tamis_stats["tamis/items/failed"] == 1
    assert [item["url"] for item in crawled["no such model"].items] == crawled["no such model"].urls


def test_a_step_after_cleaning_that_fails_is_counted_and_said_once_and_the_items_go_on(crawled):
    result = crawled["full disk"]
    assert result.tamis_stats["tamis/items/incomplete"] == 2
    assert all("Story" in item["text"] for item in result.items)
    assert len(result.lines("Could not fill the fields")) == 1


def test_near_duplicates_are_dropped_on_request(crawled):
    assert crawled["dropped"].tamis_stats.get("tamis/items/dropped") == 1
    assert len(crawled["dropped"].items) == 1


@pytest.mark.parametrize("processes", [0, 1])
def test_rules_are_those_of_the_crawl_of_the_request_and_none_for_an_item_that_wants_none(crawled, processes):
    items = crawled[f"rules {processes}"].items
    ruled, unruled = (item["text"].split("\n\n") for item in items)
    assert ruled == [STORY, "This is the end of it."]
    assert unruled[0] == "Storm"
    assert all("tamis" not in item for item in items)


def test_near_duplicates_are_marked_or_dropped_by_a_setting_and_nothing_is_looked_up_without(web, start_crawls):
    (url,) = web.add_articles(1)
    article = web.pages["/0"][2]
    own = " ".join(f"What happened on day {n} after it is told here alone." for n in range(12)).encode()
    longer = web.add("/longer", article.replace(b"</p></div>", b"</p><p>" + own + b"</p></div>", 1))
    copy = web.add("/copy", article.replace(b"<title>Story 0", b"<title>The same story 0"))
    plan = {"urls": [], "callback": "fed", "later": [[url], [longer], [copy]], "TAMIS_SITE_EVIDENCE": False}
    marked, dropped, off = start_crawls(
        {**plan, "TAMIS_DUPLICATES": "mark"}, {**plan, "TAMIS_DUPLICATES": "drop"}, plan
    ).results()
    assert (marked.item(copy)["duplicate_of"], marked.item(copy)["resemblance"]) == (url, 1.0)
    for original in (url, longer):
        assert (marked.item(original)["duplicate_of"], marked.item(original)["resemblance"]) == (None, None)
    assert [item["url"] for item in dropped.items] == [url, longer]
    assert dropped.tamis_stats["tamis/items/dropped"] == 1
    assert "tamis/items/duplicate" not in off.tamis_stats
    assert not any("duplicate_of" in item for item in off.items)


def test_a_page_is_repeated_from_the_third_address_with_its_text_on(web, start_crawls):
    wall = f"<h1>Sign in to read on</h1><p>{STORY}</p>"
    urls = [web.add(f"/story-{number}", wall) for number in range(4)]
    plan = {"urls": [], "callback": "fed", "later": [[url] for url in (*urls, urls[0])], "TAMIS_SITE_EVIDENCE": False}
    (result,) = start_crawls(plan).results()
    assert [item["status"] for item in result.items] == ["cleaned", "cleaned", "repeated", "repeated", "repeated"]
    assert result.tamis_stats == {
        "tamis/pages/uncounted": 5,
        "tamis/items/cleaned": 5,
        "tamis/items/repeated": 3,
    }
    assert len(result.lines("has the text of two other addresses of its host")) == 1
