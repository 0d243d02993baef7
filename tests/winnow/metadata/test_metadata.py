import json

import pytest

from winnow.metadata import metadata_of
from winnow.metadata.dates import date_in_address, iso_date
from winnow.page.page import Page

ARTICLE = {
    "@context": "https://schema.org",
    "@graph": [
        {"@type": "WebSite", "name": "The Harbour News"},
        {
            "@type": "NewsArticle",
            "headline": "Storm &amp; tide",
            "author": [{"@type": "Person", "name": "Ada Byron"}, {"name": "Grace Hopper"}],
            "datePublished": "2026-05-17T08:30:00+02:00",
            "image": {"url": "https://host.example/i.jpg"},
            "keywords": "wind, sea",
        },
        {"@type": "BreadcrumbList", "itemListElement": [{"name": "Home"}, {"item": {"name": "Weather"}}]},
    ],
}
HEAD = """<title>Storm | News</title><meta property=og:title content="Storm by og">
<meta property=og:site_name content=Site><meta name=description content="What is to come.">
<link rel=canonical href="/storm"><meta name=author content="By Eve, Bob">"""


def facts(head: str, url: str | None = "https://host.example/a") -> dict[str, object]:
    return metadata_of(Page.parse(f"<html lang=en><head>{head}</head><body><h1>Heading</h1>", url)).to_dict()


def test_json_ld_is_trusted_most() -> None:
    found = facts(f'<script type="application/ld+json">{json.dumps(ARTICLE)}</script>{HEAD}')
    assert found["headline"] == "Storm & tide"
    assert found["authors"] == ["Ada Byron", "Grace Hopper"]
    assert found["published"] == "2026-05-17T08:30:00+02:00"
    assert (found["site_name"], found["kind"]) == ("The Harbour News", "NewsArticle")
    assert found["breadcrumbs"] == ["Home", "Weather"]
    assert found["tags"] == ["wind", "sea"]
    assert found["sources"] == {
        "title": "markup",
        "headline": "json-ld",
        "authors": "json-ld",
        "published": "json-ld",
        "kind": "json-ld",
        "image": "json-ld",
        "tags": "json-ld",
        "site_name": "json-ld",
        "breadcrumbs": "json-ld",
        "description": "meta",
        "canonical": "meta",
        "language": "markup",
    }


def test_without_it_opengraph_meta_and_markup_follow() -> None:
    found = facts(HEAD)
    assert (found["headline"], found["site_name"]) == ("Storm by og", "Site")
    assert found["authors"] == ["Eve", "Bob"]
    assert found["canonical"] == "https://host.example/storm"
    assert facts("<title>x</title>")["headline"] == "Heading"


@pytest.mark.parametrize(
    "script", ["", "{", "[1, null]", '{"@type": []}', "<!-- {} -->", '{"@type": "Article", "author": 5}', "[" * 5000]
)
def test_broken_json_ld_is_passed_over(script: str) -> None:
    assert facts(f"<script type=application/ld+json>{script}</script>{HEAD}")["headline"] == "Storm by og"


def test_microdata_and_time_give_dates() -> None:
    micro = "<p><span itemprop=author>Ada</span><meta itemprop=datePublished content=2026-05-17></p>"
    found = metadata_of(Page.parse(f"<body>{micro}"))
    assert (found.authors, found.published, found.sources["published"]) == (["Ada"], "2026-05-17", "microdata")
    assert metadata_of(Page.parse("<time datetime=2026-05-17>May</time>")).published == "2026-05-17"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-05-17", "2026-05-17"),
        ("2026-05-17T10:00:00Z", "2026-05-17T10:00:00+00:00"),
        ("Sun, 17 May 2026 10:00:00 GMT", "2026-05-17T10:00:00+00:00"),
        ("17.5.2026", "2026-05-17"),
        ("2026/05/17 10:00", "2026-05-17"),
        ("May 17, 2026", "2026-05-17"),
        ("17th May 2026, 10:00", "2026-05-17"),
        ("2026年5月17日", "2026-05-17"),
        ("2026-13-45", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates_are_read_as_pages_write_them(text: str, iso: str | None) -> None:
    assert iso_date(text) == iso


def test_a_date_in_the_address_is_the_last_resort() -> None:
    assert date_in_address("https://host.example/2026/05/17/storm") == "2026-05-17"
    assert date_in_address("https://host.example/12345678/storm") is None


def test_the_language_of_the_text_is_told_where_the_page_does_not_say_it() -> None:
    pytest.importorskip("py3langid")
    text = "Der Sturm erreicht am Abend die Küste, und die Fähren bleiben bis Sonntag im Hafen."
    found = metadata_of(Page.parse(f"<p>{text}"), text)
    assert (found.language, found.sources["language"]) == ("de", "text")
