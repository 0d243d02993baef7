"""Items of every kind, in one process: what each of them gets and what stays as it was."""

import pytest

from scrapy_tamis import Content
from scrapy_tamis.fields import WRITTEN_FIELDS
from tamis import clean
from tests.tamis.test_clean import SWITCHED

RUSSIAN = "Это довольно длинный русский текст, и кодировка его названа неверно."
COMMENT = "<div class=comment><p>So it was, and I was there with my kids all night.</p></div>"
WITH_ALL = SWITCHED.replace("</article>", f"<p hidden>Nobody sees it.</p></article>{COMMENT}")
OFF = dict.fromkeys(("deduplicate", "tables", "images", "links"), False)
SWITCHES = {"hidden": "keep", "comments": "include", **OFF}
KINDS = [*("dict", "dataclass", "attrs", "pydantic", "item"), *("frozen dataclass", "frozen attrs", "frozen pydantic")]


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls):
    """One crawl of one page per case."""
    (url,) = shared_web.add_articles(1)
    russian = shared_web.add("/russian", f"<meta charset=koi8-r><p>{RUSSIAN}</p>".encode("windows-1251"))
    names = {"text": "story", "shingles": None}
    cases = {
        **{kind: {"item": kind} for kind in KINDS},
        **{f"{kind} without html": {"item": kind, "TAMIS_KEEP_HTML": False} for kind in KINDS},
        "raw": {"item": "raw", "TAMIS_FIELD_NAMES": {"html": "raw", **names}},
        **{kind: {"item": kind} for kind in ("falsy", "number", "none", "twice", "unwanted")},
        "linked": {"item": "linked", "TAMIS_FIELD_NAMES": {"url": "link"}, "TAMIS_DUPLICATES": "mark"},
        "switched": {
            "urls": [shared_web.add("/all", WITH_ALL)],
            "TAMIS_OUTPUTS": "markdown",
            "TAMIS_CLEAN": SWITCHES,
        },
    }
    outputs = {"TAMIS_OUTPUTS": "markdown,metadata", "TAMIS_CLEAN": {"links": False}}
    cases["content"] = {"item": "content", **outputs}
    cases["read as said"] = {"urls": [russian], "item": "bytes", "TAMIS_CLEAN": {"encoding": "windows-1251"}}
    results = start_crawls(*({"urls": [url], "with_html": True, **case} for case in cases.values())).results()
    return dict(zip(cases, results, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_item_gets_the_fields_it_has_room_for(crawled, kind):
    (item,) = crawled[kind].items
    assert "Story 0" in item["text"]
    assert item["title"] == "Story 0"
    assert item["html"]
    looked_up = {"duplicate_of", "resemblance"}
    written = {*WRITTEN_FIELDS} - looked_up if kind == "dict" else {"title", "text", "template_share"}
    assert set(item) == {"url", "html", *written}
    assert crawled[kind].tamis_stats == {"tamis/pages/counted": 1, "tamis/items/cleaned": 1}


def test_zero_and_false_of_an_item_stay_and_what_is_empty_is_filled(crawled):
    (item,) = crawled["falsy"].items
    assert (item["comments"], item["status"], item["confidence"], item["template_share"]) == (0, 0, False, 0.0)
    assert item["confidence"] is False
    assert item["title"] == "Story 0"
    assert item["kind"]
    assert "Story 0" in item["text"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_html_is_taken_off_any_kind_of_item_when_it_is_not_to_be_kept(crawled, kind):
    (item,) = crawled[f"{kind} without html"].items
    assert not item.get("html")
    assert "Story 0" in item["text"]


def test_bytes_are_read_in_the_charset_that_the_settings_say(crawled):
    (item,) = crawled["read as said"].items
    assert item["text"] == RUSSIAN


def test_fields_have_the_names_one_wants_and_what_is_in_them_stays(crawled):
    (item,) = crawled["raw"].items
    assert "Story 0" in item["story"]
    assert (item["text"], item["status"]) == ("mine", 200)
    assert "shingles" not in item
    assert item["raw"]


@pytest.mark.parametrize(("kind", "stat"), [("number", "not_html"), ("none", "without_html")])
def test_an_item_without_html_goes_on_as_it_is(crawled, kind, stat):
    assert crawled[kind].tamis_stats == {"tamis/pages/counted": 1, f"tamis/items/{stat}": 1}
    (item,) = crawled[kind].items
    assert set(item) <= {"url", "html"}


def test_html_of_another_type_is_named_with_what_is_wanted(crawled):
    (line,) = crawled["number"].lines("Items with int in the field 'html'")
    assert line.endswith("go on as they are: give text or bytes, as response.text")


def test_an_item_that_wants_none_of_it_goes_on_as_it_is(crawled):
    assert crawled["unwanted"].tamis_stats == {"tamis/pages/counted": 1, "tamis/items/opted_out": 1}
    assert [set(item) for item in crawled["unwanted"].items] == [{"url", "html"}]


def test_the_address_of_an_item_may_be_in_another_field(crawled):
    first, second = crawled["linked"].items
    assert {first.get("duplicate_of"), second.get("duplicate_of")} < {None, first["link"], second["link"]}
    assert first.get("duplicate_of") != second.get("duplicate_of")


@pytest.mark.parametrize("name", SWITCHES)
def test_what_is_content_is_as_each_of_the_settings_says(crawled, name):
    (item,) = crawled["switched"].items
    others = {other: value for other, value in SWITCHES.items() if other != name}
    assert item["markdown"] == clean(WITH_ALL, item["url"], **SWITCHES).markdown
    assert item["markdown"] != clean(WITH_ALL, item["url"], **others).markdown


def test_items_of_the_same_page_come_out_alike(crawled):
    first, second = crawled["twice"].items
    assert first == second


def test_html_that_the_middleware_never_saw_is_cleaned_with_the_same_evidence(web, crawl, start_crawls, prefix):
    urls = web.add_articles(20)
    crawl(urls=urls)
    plan = {"urls": urls[-1:], "TAMIS_REDIS_PREFIX": prefix}
    seen, alone = start_crawls(plan, {**plan, "item": "copy"}).results()
    assert seen.items[0]["evidence_pages"] == 20
    assert alone.items == seen.items


def test_columns_that_a_csv_feed_loses_are_named_with_the_setting_that_keeps_them(web, start_crawls, tmp_path):
    urls = web.add_articles(1)
    plans = [
        {"urls": urls, "item": item, "FEEDS": {str(tmp_path / f"{item}-{fields}.csv"): {"format": "csv"}}, **fields}
        for item, fields in (("listing first", {}), ("dict", {}), ("listing first", {"FEED_EXPORT_FIELDS": ["text"]}))
    ]
    losing, *_ = crawls = start_crawls(*plans).results()
    (line,) = losing.lines("list all columns in FEED_EXPORT_FIELDS")
    assert "'text', 'title' of others" in line
    assert [crawl.stats["tamis/items/cleaned"] for crawl in crawls] == [1, 1, 1]


def test_the_item_class_of_ours_is_filled(crawled):
    (item,) = crawled["content"].items
    assert item["metadata"]["headline"] == "Story 0"
    assert "](" not in item["markdown"]


def test_content_prints_without_the_html_that_came():
    assert repr(Content(url="https://host.example/", html="<nav>Menu</nav>")).startswith(
        "Content(url='https://host.example/', text=None"
    )
