"""A crawl of a real host that changes its template halfway: the host settles, opens again, and settles anew."""

import random

from scrapy_winnow import stats

WORDS = ["wind", "river", "stone", "glass", "paper", "cloud", "salt", "iron", "lemon", "harbour", "winter", "coast"]
SETTLE_AFTER = 12
NOTICED_AFTER = 18
BEFORE = 20
PAGES = BEFORE + NOTICED_AFTER + 2 * SETTLE_AFTER + 2


def _story(number: int) -> str:
    chance = random.Random(number)
    return "".join(f"<p>{' '.join(chance.choice(WORDS) for _ in range(60))}.</p>" for _ in range(3))


def _old(number: int) -> str:
    return (
        "<body><div class=menu><a href=/>Front page</a> <a href=/sport>All the sport</a></div>"
        f"<div class=story><h1>Story {number}</h1>{_story(number)}</div>"
        "<div class=foot><p>Copyright of the harbour news, all rights are reserved by its owners.</p></div></body>"
    )


def _new(number: int) -> str:
    return (
        "<body><header><b>The Harbour Courier</b><ul><li><a href=/n>News</a><li><a href=/w>Weather</a></ul></header>"
        f"<main><article><h2>Story {number}</h2>{_story(number)}</article></main>"
        "<div class=legal><p>Imprint and privacy policy of the courier, a paper of the coast group.</p></div></body>"
    )


def test_a_host_that_is_redesigned_halfway_learns_its_new_template(web, crawl):
    urls = [web.add(f"/{number}", (_old if number < BEFORE else _new)(number)) for number in range(PAGES)]
    crawled = crawl(urls=urls, CONCURRENT_REQUESTS=1, WINNOW_SETTLE_PAGES=SETTLE_AFTER)
    items = [crawled.item(url) for url in urls]

    versions = [item["site_label_version"] for item in items]
    learned_again = BEFORE + NOTICED_AFTER - 1 + 2 * SETTLE_AFTER
    assert versions == [0] * (SETTLE_AFTER - 1) + [1] * (learned_again - SETTLE_AFTER) + [2] * (
        PAGES - learned_again + 1
    )
    assert {name: crawled.stats.get(name) for name in (stats.HOSTS_SETTLED, stats.HOSTS_REOPENED)} == {
        stats.HOSTS_SETTLED: 2,
        stats.HOSTS_REOPENED: 1,
    }
    counted = SETTLE_AFTER + 2 * SETTLE_AFTER
    assert crawled.stats[stats.PAGES_COUNTED] == counted
    assert crawled.stats[stats.PAGES_SETTLED] == PAGES - counted

    for item, template in (
        (items[BEFORE - 1], "all rights are reserved"),
        (items[-1], "privacy policy of the courier"),
    ):
        assert item["label_source"] == "site"
        assert template not in item["text"]
        assert _story(int(item["url"].rpartition("/")[2]))[3:200].split("</p>")[0] in item["text"].replace("\n", " ")
