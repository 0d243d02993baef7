"""Early pages of a host are cleaned again once it has settled, and come as items of their own."""

import random

import pytest

from scrapy_winnow import stats

WORDS = ["wind", "river", "stone", "glass", "paper", "cloud", "salt", "iron", "lemon", "harbour", "winter", "coast"]
APPEAL = "Every story on these pages was written by people who live by the harbour, and whom your letters keep going."
SETTLE_AFTER = 12
PAGES = 20


def _paragraphs(number: int) -> list[str]:
    chance = random.Random(number)
    return [" ".join(chance.choice(WORDS) for _ in range(60)) for _ in range(3)]


def _page(number: int) -> str:
    paragraphs = _paragraphs(number)
    return (
        "<body><div class=menu><a href=/>Front page</a> <a href=/sport>All the sport</a></div>"
        f"<article><h1>Story {number}</h1><p>{paragraphs[0]}.</p><p>{paragraphs[1]}.</p><p>{APPEAL}</p>"
        f"<p>{paragraphs[2]}.</p></article><div class=foot><p>Copyright of the harbour news.</p></div></body>"
    )


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls, tmp_path_factory):
    """Crawls with corrections, of a host that settles early, with its last page, or never; and crawls without."""
    web = shared_web
    urls = [web.add(f"/{number}", _page(number)) for number in range(PAGES)]
    plan = {"urls": urls, "CONCURRENT_REQUESTS": 1, "WINNOW_SETTLE_PAGES": SETTLE_AFTER, "WINNOW_CORRECTIONS": True}
    folder = tmp_path_factory.mktemp("state")
    plans = {
        "early": plan,
        "at the end": {**plan, "urls": urls[:SETTLE_AFTER]},
        "never": {**plan, "urls": urls[: SETTLE_AFTER - 1]},
        "no room": {**plan, "WINNOW_SPOOL_BYTES": 1},
        "off": {**plan, "WINNOW_CORRECTIONS": False},
        "canonical": {**plan, "item": "canonical"},
        "fed": {
            **plan,
            "urls": [],
            "callback": "fed",
            "later": [urls[:SETTLE_AFTER], [url.replace("127.0.0.1", "localhost") for url in urls[:SETTLE_AFTER]]],
        },
        "no folder": {**plan, "WINNOW_STATE_DIR": str(folder / "file")},
    }
    (folder / "file").touch()
    results = start_crawls(*({"WINNOW_STATE_DIR": str(folder / "spool"), **plan} for plan in plans.values())).results()
    assert not list((folder / "spool").glob("spool-*"))
    return dict(zip(plans, results, strict=True))


def _corrections(result):
    return [item for item in result.items if item.get("correction")]


@pytest.mark.parametrize(("name", "pages"), [("early", PAGES), ("at the end", SETTLE_AFTER)])
def test_what_the_site_repeats_is_gone_from_the_corrections_of_its_early_pages(crawled, name, pages):
    result = crawled[name]
    first = {item["url"]: item for item in result.items if not item.get("correction")}
    corrected = {item["url"]: item for item in _corrections(result)}
    assert len(first) == pages
    wrong = {url for url, item in first.items() if APPEAL in item["text"]}
    assert wrong
    assert wrong <= corrected.keys()
    for url, item in corrected.items():
        assert APPEAL not in item["text"]
        assert all(paragraph in item["text"] for paragraph in _paragraphs(int(url.rpartition("/")[2])))
        assert (item["label_source"], item["site_label_version"]) == ("site", 1)
        assert item["evidence_pages"] == SETTLE_AFTER
    assert result.stats[stats.CORRECTIONS_SENT] == len(corrected)
    assert stats.ITEMS_FAILED not in result.stats


def test_a_page_whose_text_stays_as_it_was_is_not_sent_again(crawled):
    result = crawled["early"]
    sent, unchanged = result.stats[stats.CORRECTIONS_SENT], result.stats.get(stats.CORRECTIONS_UNCHANGED, 0)
    assert sent + unchanged == SETTLE_AFTER


def test_a_host_that_never_settles_has_no_corrections(crawled):
    assert len(crawled["never"].items) == SETTLE_AFTER - 1
    assert not any("corrections" in name for name in crawled["never"].stats)


def test_pages_that_find_no_room_are_counted_and_not_corrected(crawled):
    assert not _corrections(crawled["no room"])
    assert crawled["no room"].stats[stats.CORRECTIONS_NO_ROOM] == SETTLE_AFTER
    assert len(crawled["no room"].items) == PAGES


@pytest.mark.parametrize("name", ["off", "no folder"])
def test_without_corrections_every_page_is_one_item(crawled, name):
    assert len(crawled[name].items) == PAGES
    assert not any("corrections" in stat for stat in crawled[name].stats)


def test_a_folder_that_cannot_be_used_is_one_warning(crawled):
    lines = [line for line in crawled["early"].log.splitlines() if "without corrections" in line]
    assert len(lines) == 1


def test_corrections_go_on_for_a_spider_that_is_fed_when_it_is_idle(crawled):
    hosts = {item["url"].split("/")[2].split(":")[0] for item in _corrections(crawled["fed"])}
    assert hosts == {"127.0.0.1", "localhost"}


def test_an_item_is_corrected_by_the_site_of_its_response_and_keeps_its_own_fields(crawled):
    result = crawled["canonical"]
    corrections = _corrections(result)
    assert corrections
    for item in corrections:
        assert item["url"].startswith("http://www.")
        assert APPEAL not in item["text"]
        assert item["number"] == [1, {"two": 2.5}]
        assert item["when"] == "datetime.datetime(2026, 11, 22, 4, 30)"
    assert len([line for line in result.log.splitlines() if "Corrections will be without odd" in line]) == 1
