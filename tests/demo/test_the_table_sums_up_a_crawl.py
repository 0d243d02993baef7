from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from demo.report import host_reports, table

if TYPE_CHECKING:
    from demo.server import DemoWeb


def stored(web: DemoWeb, name: str, count: int = 10) -> list[dict[str, Any]]:
    """Items as a perfect cleaner would store them."""
    base = web.urls[name].rstrip("/")
    pages = [truth for truth in web.pages(name).values() if truth.kind == "article"][:count]
    return [
        {"url": base + truth.path, "text": truth.content_text, "template_share": 0.25, "duplicate_of": None}
        for truth in pages
    ]


def test_perfect_items_have_recalls_of_one(web: DemoWeb) -> None:
    reports = host_reports(web, stored(web, "news") + stored(web, "shop"), dict.fromkeys(web.urls.values(), 7))
    rows = {report.name: report for report in reports}
    assert rows["news"].accuracy.content_recall == rows["news"].accuracy.template_recall == 1.0
    assert (rows["shop"].pages, rows["shop"].template_share, rows["shop"].labels) == (10, 0.25, 7)
    assert rows["forum"].pages == 0


def test_only_the_second_half_of_a_hosts_pages_counts_for_accuracy(web: DemoWeb) -> None:
    items = stored(web, "docs")
    for item in items[:5]:
        item["text"] = ""
    (docs,) = [row for row in host_reports(web, items, dict.fromkeys(web.urls.values(), 0)) if row.name == "docs"]
    assert docs.accuracy.content_recall == 1.0
    items[5]["text"] = None
    (docs,) = [row for row in host_reports(web, items, dict.fromkeys(web.urls.values(), 0)) if row.name == "docs"]
    assert docs.accuracy.content_recall < 1.0


def test_a_page_that_is_met_twice_is_no_near_duplicate_of_itself(web: DemoWeb) -> None:
    items = stored(web, "blog")
    items[1]["duplicate_of"] = items[1]["url"]
    items[2]["duplicate_of"] = items[0]["url"]
    (blog,) = [row for row in host_reports(web, items, dict.fromkeys(web.urls.values(), 0)) if row.name == "blog"]
    assert blog.duplicates == 1


def test_the_table_has_a_row_per_host_and_their_sum(web: DemoWeb) -> None:
    labels = dict.fromkeys(web.urls.values(), 3)
    lines = table(host_reports(web, stored(web, "forum") + stored(web, "council"), labels)).split("\n")
    rows = [line.split() for line in lines]
    assert [row[0] for row in rows[3:-2]] == list(web.urls)
    assert rows[-1][:4] == ["all", "20", "25%", str(3 * len(web.urls))]
    assert max(map(len, lines)) <= 120


def test_an_item_of_a_foreign_host_is_refused(web: DemoWeb) -> None:
    with pytest.raises(KeyError):
        host_reports(web, [{"url": "http://elsewhere.example/"}], {})
