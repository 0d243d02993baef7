"""What a request can ask for its page with ``meta={"winnow": {...}}``; ``test_crawl.py`` has more of it."""

import pytest

STORY = " ".join(f"Sentence {n} of a story that is told in two places." for n in range(40))


@pytest.fixture(scope="module")
def crawled(shared_web, start_crawls, tmp_path_factory):
    """Crawls that drop near-duplicates on request, and that have rules of their own, all in one process."""
    copies = [shared_web.add(path, f"<html><body><h1>Story</h1><p>{STORY}</p></body></html>") for path in ("/1", "/2")]
    rest = "<p class=more>Read more of it.</p><p class=end>This is the end of it.</p>"
    url = shared_web.add("/story", f"<body><h1>Storm</h1><p>{STORY}</p>{rest}")
    rules = tmp_path_factory.mktemp("rules") / "rules.toml"
    rules.write_text(f'[[rules]]\nsite = "{shared_web.host.partition(":")[0]}"\ndrop = ".more"\nkeep = ".end"')
    ruled = {"urls": [url], "item": "unruled", "meta": {"winnow": {"rules": {"drop": "h1"}}}}
    plans = {
        "dropped": {"urls": copies, "CONCURRENT_REQUESTS": 1, "meta": {"winnow": {"drop_duplicates": True}}},
        **{f"rules {n}": {**ruled, "WINNOW_RULES": str(rules), "WINNOW_PROCESSES": n} for n in (0, 1)},
    }
    return dict(zip(plans, start_crawls(*plans.values()).results(), strict=True))


def test_near_duplicates_are_dropped_on_request(crawled):
    assert crawled["dropped"].winnow_stats.get("winnow/items/dropped") == 1
    assert len(crawled["dropped"].items) == 1


@pytest.mark.parametrize("processes", [0, 1])
def test_rules_are_those_of_the_crawl_of_the_request_and_none_for_an_item_that_wants_none(crawled, processes):
    items = crawled[f"rules {processes}"].items
    ruled, unruled = (item["text"].split("\n\n") for item in items)
    assert ruled == [STORY, "This is the end of it."]
    assert unruled[0] == "Storm"
    assert all("winnow" not in item for item in items)
