"""Copies are dropped only for an original that was stored."""

import pytest

COPIES = 5


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls):
    """Crawls of one story at several addresses, all at once, through a slow pipeline that may lose the first."""
    (first,) = shared_web.add_articles(1)
    status, headers, body = shared_web.pages["/0"]
    for number in range(1, COPIES):
        shared_web.pages[f"/copy-{number}"] = (status, headers, body)
    plan = {
        "urls": [first, *(f"{shared_web.url}/copy-{number}" for number in range(1, COPIES))],
        "ITEM_PIPELINES": {"__main__.LosingPipeline": 300},
        "TAMIS_DROP_DUPLICATES": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": COPIES,
    }
    cases = {"keeps": plan, "drop": {**plan, "LOSES": "drop"}, "error": {**plan, "LOSES": "error"}}
    return dict(zip(cases, start_crawls(*cases.values()).results(), strict=True))


def test_of_copies_that_come_all_at_once_one_is_kept(crawled):
    result = crawled["keeps"]
    assert len(result.items) == 1
    assert result.tamis_stats["tamis/items/dropped"] == COPIES - 1


@pytest.mark.parametrize("how", ["drop", "error"])
def test_a_copy_takes_the_place_of_an_original_that_a_later_pipeline_has_lost(crawled, how):
    result = crawled[how]
    assert len(result.items) == 1
    assert "Story 0" in result.items[0]["text"]
    assert result.tamis_stats["tamis/items/dropped"] == COPIES - 2
