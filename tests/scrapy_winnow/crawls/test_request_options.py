"""What a request can ask for its page with ``meta={"winnow": {...}}``; ``test_crawl.py`` has more of it."""

import pytest


def test_near_duplicates_are_dropped_on_request(web, crawl):
    story = " ".join(f"Sentence {n} of a story that is told in two places." for n in range(40))
    urls = [web.add(path, f"<html><body><h1>Story</h1><p>{story}</p></body></html>") for path in ("/one", "/two")]
    crawled = crawl(urls=urls, CONCURRENT_REQUESTS=1, meta={"winnow": {"drop_duplicates": True}})
    assert crawled.winnow_stats.get("winnow/items/dropped") == 1
    assert len(crawled.items) == 1


@pytest.mark.parametrize("processes", [0, 1])
def test_rules_are_those_of_the_crawl_of_the_request_and_none_for_an_item_that_wants_none(
    web, crawl, tmp_path, processes
):
    story = " ".join(f"Sentence {n} of a story that is told at length." for n in range(20))
    rest = "<p class=more>Read more of it.</p><p class=end>This is the end of it.</p>"
    url = web.add("/story", f"<body><h1>Storm</h1><p>{story}</p>{rest}")
    rules = f'[[rules]]\nsite = "{web.host.partition(":")[0]}"\ndrop = ".more"\nkeep = ".end"'
    (tmp_path / "rules.toml").write_text(rules)
    settings = {"WINNOW_RULES": str(tmp_path / "rules.toml"), "WINNOW_PROCESSES": processes}
    crawled = crawl(urls=[url], item="unruled", meta={"winnow": {"rules": {"drop": "h1"}}}, **settings)
    ruled, unruled = (item["text"].split("\n\n") for item in crawled.items)
    assert ruled == [story, "This is the end of it."]
    assert unruled[0] == "Storm"
    assert all("winnow" not in item for item in crawled.items)
