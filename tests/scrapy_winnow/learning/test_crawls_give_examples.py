"""A crawl over real HTTP with learning on: which pages become examples, and what others do."""

import pytest

from scrapy_winnow.learning.examples import CONTENT, TEMPLATE, Example
from scrapy_winnow.learning.teaching import TEACHING_PAGES

PLAN = {"CONCURRENT_REQUESTS": 4, "WINNOW_DUPLICATES": False}


def _examples(client, keys, host: str) -> list[Example]:
    return [Example.from_bytes(data) for data in client.hvals(keys.examples + host)]


@pytest.mark.parametrize("marked", [False, True], ids=["labels of the site", "the author's mark"])
def test_pages_of_a_well_known_host_become_examples(web, crawl, client, keys, marked):
    story = "story e-content" if marked else "story"
    urls = 2 * web.add_articles(TEACHING_PAGES + 8, story)  # each page twice: it teaches once
    crawled = crawl(urls=urls, WINNOW_LEARN=True, WINNOW_LEARN_PAGES=5, **PLAN)
    examples = _examples(client, keys, web.host)
    assert len(examples) == 5
    assert client.zrange(keys.hosts, 0, -1) == [web.host.encode()]
    for example in examples:
        assert (example.content == TEMPLATE).sum() >= 3  # the menu, the footer
        assert (example.content == CONTENT).sum() >= 4  # the headline, the story
        assert example.marked is marked
    stats = crawled.winnow_stats
    assert stats["winnow/learning/examples"] >= 5
    assert stats["winnow/items/cleaned"] == len(urls)
    assert "winnow/learning/models" not in stats
    assert crawled.stats["responses_alive"] == 0


def test_nothing_is_written_unless_it_is_asked_for(web, start_crawls, client, prefix):
    urls = web.add_articles(TEACHING_PAGES + 2)
    off, reading, uncounted = start_crawls(
        {"urls": urls, "WINNOW_REDIS_PREFIX": prefix, **PLAN},
        {"urls": urls, "WINNOW_REDIS_PREFIX": prefix, "WINNOW_LEARN": True, "WINNOW_READ_ONLY": True, **PLAN},
        {"urls": urls, "WINNOW_REDIS_PREFIX": prefix, "WINNOW_LEARN": True, "WINNOW_SITE_EVIDENCE": False, **PLAN},
    ).results()
    assert client.keys(f"{prefix}:{{learn}}:*") == []
    for crawled in (off, reading, uncounted):
        assert not any("learning" in name for name in crawled.winnow_stats)
