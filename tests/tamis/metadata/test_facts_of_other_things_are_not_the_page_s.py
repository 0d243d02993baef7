"""Dates, names and headings that stand on a page and are not its own."""

import json
from typing import Any

import pytest

import tamis
from tamis.metadata import read_metadata
from tamis.page.page import Page

TITLE = "How to keep sweet peas from drooping"
BODY = f"""<h1>{TITLE}</h1><p>Cut sweet peas droop for one reason: the stem has drawn air. Everything below is a way to
get the air out.</p><h2>1. Cut them early</h2><p>Before seven, with dew on them, when the lowest flower has opened.</p>
<h2>2. Stand them deep</h2><p>Put them up to the neck in water for two hours, in the dark.</p>"""
NEWS = "<h3>News</h3>" + "".join(
    f'<div class={{kind}}><span>{day}</span> <a href="/news/{day[0]}">{text}</a></div>'
    for day, text in (("12 February 2026", "Frost took the glasshouse"), ("3 January 2026", "The catalogue is here"))
)


def read(before: str = "", after: str = "", foot: str = "", head: str = "") -> tamis.Metadata:
    html = f"""<html lang=en><title>{TITLE} - Marrow &amp; Vine</title>{head}<body>
    <div id=top><a href=/>Marrow &amp; Vine</a><ul><li><a href=/seeds/>Seeds</a><li><a href=/tools/>Tools</a></ul></div>
    {before}<div id=center>{BODY}</div>{after}<div id=bottom><p>© 2011–2026 Marrow &amp; Vine</p>{foot}</div>"""
    return read_metadata(Page.parse(html, "https://garden.example/advice/peas"))


@pytest.mark.parametrize(
    "parts",
    [
        {"before": f"<div>{NEWS.format(kind='news-date')}</div>"},
        {"before": "<ul><li><a href=/n>Frost took the glasshouse</a> <time datetime=2026-02-12>12 Feb</time></ul>"},
        {"before": f"<aside>{NEWS.format(kind='x')}</aside>"},
        {"after": f"<div id=right>{NEWS.format(kind='x')}</div>"},
        {"after": "<p><b>Next open day:</b> 16 May 2026</p>"},
        {"after": "<p><b>Planting day:</b> 16 May 2026</p>"},
        {"before": "<div class=bar><span class=date>Tuesday, 17 November 2026</span></div>"},
        {"after": "<div class=rev><b>Mrs Allard</b>, 02.11.2025: The seeds all came up.</div>"},
        {"after": "<p>Advisory 2024-08-17 and report 2019-08 are cited.</p>"},
    ],
)  # fmt: skip
def test_a_page_without_a_date_has_none_of_teasers_events_bars_and_quotations(parts: dict[str, str]) -> None:
    found = read(**parts)
    assert (found.published, found.modified) == (None, None)


@pytest.mark.parametrize(
    ("foot", "modified"),
    [
        ("<p>This page was last edited on 3 March 2026, at 11:02.</p>", "2026-03-03"),
        ("<p>Last changed: 14 May 2003. This page may be copied for teaching.</p>", "2003-05-14"),
        ("<footer><p>Zuletzt geändert am 14. Mai 2003</p></footer>", "2003-05-14"),
        ("<p>Dernière mise à jour le 14 mai 2003</p>", "2003-05-14"),
        ("<p>Viimeksi päivitetty: 14.5.2003</p>", "2003-05-14"),
    ],
)
def test_the_last_change_is_read_wherever_the_page_says_it(foot: str, modified: str | None) -> None:
    found = read(foot=foot)
    assert (found.published, found.modified) == (None, modified)


def test_a_label_of_publication_that_one_day_has_counts_far_from_the_headline() -> None:
    assert read(after="<div>x</div>" * 30 + "<p>Publié le 20 juin 2025 à 11:06</p>").published == "2025-06-20"


@pytest.mark.parametrize(
    ("stated", "iso"), [("20240517", "2024-05-17"), ("20240517103000", "2024-05-17T10:30:00"), ("20241917", None)]
)
def test_days_are_read_without_signs_between(stated: str, iso: str | None) -> None:
    assert read(head=f"<meta name=pubdate content={stated}>").published == iso


@pytest.mark.parametrize(
    ("line", "published"),
    [
        ("Von Ada Byron, 17.05.24", "2024-05-17"),
        ("17/05/98 10:00", "1998-05-17"),
        ("Version 2.1.14", None),
        ("1.12.05.24", None),
    ],
)
def test_years_of_two_digits_are_read_near_the_headline(line: str, published: str | None) -> None:
    page = Page.parse(f"<html lang=de><title>{TITLE}</title><h1>{TITLE}</h1><p>{line}</p>{STORY}")
    assert read_metadata(page).published == published


STORY = "<p>Police have moved their search to the beaches north of the cape after a paddle was found there.</p>" * 3


def authors(head: str = "", byline: str = "", after: str = "") -> list[str]:
    html = f"""<title>Search moves north | Coastline</title><meta property=og:site_name content=Coastline>{head}
    <header><a href=/>Coastline</a></header><article><h1>Search moves north</h1>{byline}{STORY}</article>{after}"""
    return read_metadata(Page.parse(html, "https://coast.example/north")).authors


def ld(author: Any, **others: Any) -> str:
    thing = {"@type": "NewsArticle", "headline": "Search moves north", "author": author} | others
    return f'<script type="application/ld+json">{json.dumps(thing)}</script>'


BYLINE = "<p class=byline>By Aaron Tuckett and Noor El-Khoury</p>"


@pytest.mark.parametrize(
    "head",
    [
        ld({"@type": "Person", "name": "Watermark Feed"}),
        "<meta name=author content='Watermark Feed'>",
        ld({"@type": "Organization", "name": "AAP"}),
        ld({"@type": "Person", "name": "Aaron Tuckett"}),
        "<meta name=author content=p-themes>",
    ],
)
def test_a_byline_of_people_wins_over_the_name_of_a_feed_and_over_one_of_two(head: str) -> None:
    assert authors(head, BYLINE) == ["Aaron Tuckett", "Noor El-Khoury"]


def test_a_declared_author_whom_the_page_shows_stays_and_a_theme_is_nobody() -> None:
    other = "<p>By Mavis Trent</p>"
    assert authors(ld({"name": "Aaron Tuckett"}), f"{other}<p>Aaron Tuckett</p>") == ["Aaron Tuckett"]
    assert authors("<meta name=author content=p-themes>") == []
    assert authors("<meta name=author content=doumae>", "<p>Posted on 13 April 2019 by doumae</p>") == ["doumae"]


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        ("<p>Words by Aaron Tuckett, pictures by Noor El-Khoury</p>", ["Aaron Tuckett"]),
        ("<p>كتب: عبد الرحيم السالمي</p>", ["عبد الرحيم السالمي"]),
        ("<div class=authorInfo>By <a href=/a>Aaron Tuckett</a> Coastline News</div>", ["Aaron Tuckett"]),
        ("<p><a rel=author href=/a>Aaron Tuckett</a> <a rel=author href=/b>Noor El-Khoury</a></p>", None),
        ("<figure><img src=a><figcaption><b class=author>Noor El-Khoury</b></figcaption></figure>", []),
        ("<p>By <a class=author></a></p>", []),
        ("<p>Posted by admin</p>", []),
        ("<p>©2026 by Mud Studio. Proudly created with Wix.com</p>", []),
        ("<p>Copyright 2026 by Mud Studio</p>", []),
    ],
)
def test_authors_are_those_of_the_text(byline: str, names: list[str] | None) -> None:
    assert authors(byline=byline) == (["Aaron Tuckett", "Noor El-Khoury"] if names is None else names)


def test_who_wrote_a_comment_wrote_no_article() -> None:
    assert authors(after="<div class=comment><span>By Bazza Smith</span><p>Good on you.</div>") == []


def test_a_page_was_not_published_when_a_reader_reviewed_it() -> None:
    review = """<li class="review depth-1" id=comment-9><div class=comment-text><p class=meta><b>Ottoline</b> –
    <time class=review__published-date datetime=2026-02-01>February 1, 2026</time></p><p>Like sweet peas.</div>"""
    page = tamis.clean(f"<title>{TITLE}</title>{BODY}<div id=comments><h2>1 review</h2><ol class=commentlist>{review}")
    assert "February" in page.comments
    assert page.metadata.published is None


@pytest.mark.parametrize(
    ("title", "body", "headline"),
    [
        ("The Kiln: Birch ash", "<h1><a href=/>The Kiln</a></h1><h2>Tuesday</h2><h3>Birch ash</h3>", "Birch ash"),
        ("React App", "<h1>Waders are back</h1>", "Waders are back"),
        ("Wire - The front page of the coast", "<h1>Waders are back</h1>", "Waders are back"),
        ("Waders are back | Wire", "<h1>Our blog</h1><h2>Waders are back</h2>", "Waders are back"),
        ("coast.example Waders are back", "<h1>coast.example</h1><h2>Waders are back</h2>", "Waders are back"),
        ("Waders are back - Wire", "<h1><time>18 Dec</time> <b>Waders are back</b></h1>", "Waders are back"),
        ("Wire • View topic - Waders are back", "<h2>Waders are back</h2>", "Waders are back"),
        ("鸟回来了「涉禽」:海岸日记", "<h3>鸟回来了「涉禽」</h3>", "鸟回来了「涉禽」"),
    ],
)  # fmt: skip
def test_the_headline_is_neither_the_banner_nor_a_static_title(title: str, body: str, headline: str) -> None:
    html = f"<title>{title}</title><body>{body}{STORY}"
    assert read_metadata(Page.parse(html, "https://coast.example/birds/waders-are-back")).headline == headline


def test_what_most_pages_of_a_site_have_is_not_of_one_of_them() -> None:
    days = ("The reed warblers left", "A night of wind", "Seals on the bar", "Ice in the creek", "First swallow", "Fog")
    pages = [
        f"""<title>{day} ~ Diary of a marsh</title><meta name=author content="Theme Forest">
        <meta property=og:image content=/logo.png><meta property=og:site_name content="Diary of a marsh">
        <meta property=og:title content="Diary of a marsh">
        <div><b>Tuesday, 17 November 2026</b></div><h1>Diary of a marsh</h1><h2>{day}</h2>
        <p>{day}, and I went out along the wall before the tide was in, with the dog and a lantern, to see it.</p>"""
        for day in days
    ]
    site = tamis.Site()
    for number, html in enumerate(pages[:5]):
        site.count(html, f"https://marsh.example/{number}")
    found = tamis.clean(pages[5], url="https://marsh.example/5", site=site).metadata
    assert (found.headline, found.authors, found.image, found.published) == ("Fog", [], None, None)
    assert (found.site_name, found.sources["site_name"]) == ("Diary of a marsh", "opengraph")
    assert tamis.clean(pages[5], url="https://marsh.example/5").metadata.image == "https://marsh.example/logo.png"


def test_a_title_that_all_pages_of_a_site_have_gives_way_to_the_only_heading_of_a_page() -> None:
    page = "<title>Notes from a lock keeper</title><h1>{0}</h1><ul><li><a href=/{0}1>{0} of May</a><li>{0} of June</ul>"
    site = tamis.Site()
    for number, name in enumerate(("Barges", "Otters", "Floods", "Paint", "Frost")):
        site.count(page.format(name), f"https://lock.example/{number}")
    assert tamis.clean(page.format("Fog"), "https://lock.example/5", site=site).metadata.headline == "Fog"
