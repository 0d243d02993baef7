import json
from typing import Any

import pytest

from tamis.metadata import read_metadata
from tamis.metadata.dates import date_in_address, iso_date
from tamis.page.page import Page

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


def facts(head: str, url: str | None = "https://host.example/a") -> dict[str, Any]:
    return read_metadata(Page.parse(f"<html lang=en><head>{head}</head><body><h1>The heading</h1>", url)).to_dict()


def test_json_ld_is_trusted_most() -> None:
    found = facts(f'<script type="application/ld+json">{json.dumps(ARTICLE)}</script>{HEAD}')
    assert found["headline"] == "Storm & tide"
    assert found["authors"] == ["Ada Byron", "Grace Hopper"]
    assert found["published"] == "2026-05-17T08:30:00+02:00"
    assert (found["site_name"], found["kind"]) == ("The Harbour News", "NewsArticle")
    assert found["breadcrumbs"] == ["Home", "Weather"]
    assert found["tags"] == ["wind", "sea"]
    stated = ("headline", "authors", "published", "kind", "image", "tags", "site_name", "breadcrumbs")
    others = {"title": "markup", "description": "meta", "canonical": "meta", "language": "markup"}
    assert found["sources"] == dict.fromkeys(stated, "json-ld") | others


def test_without_json_ld_opengraph_meta_and_markup_are_used_in_this_order() -> None:
    found = facts(HEAD)
    assert (found["headline"], found["site_name"]) == ("Storm by og", "Site")
    assert found["authors"] == ["Eve", "Bob"]
    assert found["canonical"] == "https://host.example/storm"
    assert facts("")["headline"] == "The heading"


def test_a_list_of_one_may_be_written_without_brackets() -> None:
    crumbs = {"@type": "BreadcrumbList", "itemListElement": {"name": "Home"}}
    assert facts(f'<script type="application/ld+json">{json.dumps(crumbs)}</script>')["breadcrumbs"] == ["Home"]


@pytest.mark.parametrize(
    "script",
    ["<!-- J -->", "//<![CDATA[\nJ\n//]]>", "<![CDATA[J]]>;", "<!--//<![CDATA[ J //]]>-->", " J ;", "J}", "J{}"],
)
def test_json_ld_may_be_in_a_comment_and_have_something_behind_it(script: str) -> None:
    written = '{"@type": "Article", "headline": "Storm",}'
    for each in (written.replace(",}", "}"), written, written.replace(",}", "}").replace('"', "&quot;")):
        found = facts(f"<script type=application/ld+json>{script.replace('J', each)}</script>{HEAD}")
        assert (found["headline"], found["sources"]["headline"]) == ("Storm", "json-ld")


@pytest.mark.parametrize(
    "script", ["", "{", "[1, null]", '{"@type": []}', "<!-- {} -->", '{"@type": "Article", "author": 5}', "[" * 5000]
)
def test_broken_json_ld_is_ignored(script: str) -> None:
    assert facts(f"<script type=application/ld+json>{script}</script>{HEAD}")["headline"] == "Storm by og"


def test_of_several_headlines_in_microdata_the_title_names_the_page_s() -> None:
    section, story = "<h1 itemprop=headline>Blog</h1>", "<h2 itemprop=headline>Storm warning</h2>"
    related = "<h3 itemprop=headline>A gull has stolen the key of the lighthouse</h3>"
    page = Page.parse(f"<title>Storm warning - The Pier</title>{section}{story}<p>Stay at home.</p>{related}")
    assert read_metadata(page).headline == "Storm warning"


def test_microdata_and_time_give_dates() -> None:
    micro = "<p><span itemprop=author>Ada</span><meta itemprop=datePublished content=2026-05-17></p>"
    found = read_metadata(Page.parse(f"<body>{micro}"))
    assert (found.authors, found.published, found.sources["published"]) == (["Ada"], "2026-05-17", "microdata")
    assert read_metadata(Page.parse("<time datetime=2026-05-17>May</time>")).published == "2026-05-17"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        *(("2026-05-17", "2026-05-17"), ("2026-05-17T10:00:00Z", "2026-05-17T10:00:00+00:00")),
        *(("Sun, 17 May 2026 10:00:00 GMT", "2026-05-17T10:00:00+00:00"), ("17.5.2026", "2026-05-17")),
        *(("2026/05/17 10:00", "2026-05-17"), ("May 17, 2026", "2026-05-17"), ("17th May 2026, 10:00", "2026-05-17")),
        *(("2026年5月17日", "2026-05-17"), ("05/17/2024", "2024-05-17")),
        ("1779012000000", "2026-05-17T10:00:00+00:00"),
        *(("17 mai 2024", "2024-05-17"), ("1er août 2023", "2023-08-01"), ("17 de mayo de 2024", "2024-05-17")),
        *(("17 maja 2024 r.", "2024-05-17"), ("17. května 2024", "2024-05-17"), ("2024. május 17.", "2024-05-17")),
        *(("17 Mayıs 2024", "2024-05-17"), ("17 мая 2024, 10:00", "2024-05-17"), ("17 Μαΐου 2024", "2024-05-17")),
        *(("17 tháng 5, 2024", "2024-05-17"), ("17 مايو 2024", "2024-05-17"), ("2024년 5월 17일", "2024-05-17")),
        *(("Ada ByronMay 17, 2024", "2024-05-17"), ("May 17, 20249:53 AM UTC", "2024-05-17")),
        *(("Mayor 12, 1850 visits", None), ("Mayor 12, 2024", None), ("17 พ.ค. 2567", None), ("2567-05-17", None)),
        *(("1970-01-01T00:00:00Z", None), ("2 days ago", None), ("192.168.1.2024", None), ("2026-13-45", None)),
        *(("yesterday", None), ("", None)),
    ],
)
def test_dates_are_read_as_pages_write_them(text: str, iso: str | None) -> None:
    assert iso_date(text) == iso


def test_the_language_decides_the_order_of_day_and_month() -> None:
    dates = {lang: iso_date("3/4/2024", lang) for lang in ("en-US", "en", "en-GB", "fr", None)}
    assert set(map(dates.get, ("en-US", "en"))) == {"2024-03-04"}
    assert set(map(dates.get, ("en-GB", "fr", None))) == {"2024-04-03"}


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        *(("Tue, 09/04/2013 - 23:22", "2013-04-09"), ("updated Tuesday 09/04/2013", "2013-04-09")),
        *(("Tue, 03/04/2014", "2014-03-04"), ("Wed 09/04/2013", "2013-09-04"), ("Fri, 09/04/2013", "2013-09-04")),
    ],
)
def test_the_day_of_the_week_decides_it_too_if_it_is_that_of_one_of_the_two(text: str, iso: str) -> None:
    assert iso_date(text, "en") == iso


@pytest.mark.parametrize(
    ("around_heading", "facts_found"),
    [
        ("<p>By Ada Byron | May 17, 2024 | 5 min read", ("Ada Byron", "2024-05-17", None)),
        (
            "<p>Posted on <b>May 17, 2024</b> by Ada Byron and Grace Hopper",
            ("Ada Byron, Grace Hopper", "2024-05-17", None),
        ),
        (
            "<p>Posted on<p>17 Nov 2018<p>Updated at<p>10 Dec 2025<p>Written by<p>Eliz - Product marketer",
            ("Eliz", "2018-11-17", "2025-12-10"),
        ),
        ("<p>Von Peter Müller<p>17. Mai 2024<p>Aktualisiert: 18.5.2024", ("Peter Müller", "2024-05-17", "2024-05-18")),
        ("<p>Par Jean-Pierre Dupont, le 17 mai 2024", ("Jean-Pierre Dupont", "2024-05-17", None)),
        ("<p>3 March 2021<p>Autor: Ada Byron 17 May 2024", ("Ada Byron", "2024-05-17", None)),
        ("<p>投稿者: 山田太郎<p>2024年5月17日", ("山田太郎", "2024-05-17", None)),
        ("<b class=author>Di Maria</b> <time datetime=2024-05-17>2 days ago</time>", ("Di Maria", "2024-05-17", None)),
        ("<p>By Ada ByronMay 17, 2024", ("Ada Byron", "2024-05-17", None)),
        ("<p>By Ada Byron Thur 17 May, 2024", ("Ada Byron", "2024-05-17", None)),
        ("<p>By Ada May | May 17, 2024", ("Ada May", "2024-05-17", None)),
        ("<p><time datetime=2019-09-03>May 17, 2024</time>", ("", "2024-05-17", None)),
        ("<p>By Lizzie Streit, MS, RDN | Reviewed by Bob Fry", ("Lizzie Streit", None, None)),
        ("<p class=author>Staff Writer<p>yesterday", ("", None, None)),
        ("<b class=author>Ada Byron,</b>", ("Ada Byron", None, None)),
        ("<p class=byline>by<p class=byline>storm_watcher<p>on", ("storm_watcher", None, None)),
        ("<b class=author-name>ada byron</b>", ("ada byron", None, None)),
        ("<b class=author-name>guest writer</b>", ("", None, None)),
        ("<i class=username>StormWatch</i>", ("StormWatch", None, None)),
        ("<b class=article-author>Ada Byron</b><p class=image-author>By: Grace Hopper", ("Ada Byron", None, None)),
        ("<figure><b itemprop=author>Grace Hopper</b></figure><p>Author:<p>Ada Byron", ("Ada Byron", None, None)),
        ("<b class=byline>Dec. 9</b>", ("", None, None)),
        ("<b class=byline>Sun 5 May</b>", ("", None, None)),
        ("<table><tr><th>Author<th>Message</table>", ("", None, None)),
        ("<p class=comment-author>Ada Byron", ("", None, None)),
        ("<form><label class=author>Nombre *</label></form><p>© 2024 The News, since 1 May 2001", ("", None, None)),
        ("<p>Text<p>This page was last edited on 8 July 2025, at 12:00.", ("", None, "2025-07-08")),
        ("<p>In a speech to the members on May 17, 2024 the mayor said that all ferries would stay.", ("", None, None)),
    ],
)
def test_bylines_and_dates_near_the_headline_are_read(
    around_heading: str, facts_found: tuple[str, str | None, str | None]
) -> None:
    html = f"<title>Storm hits the coast | News</title><h1>Storm hits the coast</h1>{around_heading}<p>The storm came."
    found = read_metadata(Page.parse(html))
    assert (", ".join(found.authors), found.published, found.modified) == facts_found


def test_dates_and_names_in_comments_and_other_articles_are_not_those_of_the_page() -> None:
    comments = "".join(
        f"<div class=comment><p>By Bob Fry<p>May {day}, 2025 at 10:00 AM<p>Well said.</div>" for day in range(1, 9)
    )
    filler = "".join(f"<p>Paragraph {number} of an article." for number in range(30))
    html = f"<title>Storm hits the coast</title><h1>Storm hits the coast</h1>{filler}<section class=comments>{comments}"
    found = read_metadata(Page.parse(html))
    assert (found.authors, found.published) == ([], None)


@pytest.mark.parametrize(
    "classes", ["archive tag", "home paged", "search-results", "page-taxonomy", "single paged", "blog"]
)
def test_a_page_that_calls_itself_a_listing_has_no_date_or_author_of_its_entries(classes: str) -> None:
    html = f"<title>Storms</title><body class='{classes}'><h1>Storms</h1><p>By Ada Byron | May 17, 2024<p>A storm came."
    found = read_metadata(Page.parse(html))
    is_article = classes in {"single paged", "blog"}
    assert (found.authors, found.published) == ((["Ada Byron"], "2024-05-17") if is_article else ([], None))
    stated = "<meta property=article:published_time content=2026-05-17>"
    assert read_metadata(Page.parse(stated + html)).published == "2026-05-17"


@pytest.mark.parametrize(
    ("title", "h1", "headline"),
    [
        ("Storm hits the coast | The Harbour News", "The Harbour News", "Storm hits the coast"),
        ("Storm hits the coast - harbour.example", "", "Storm hits the coast"),
        ("News: Storm hits the coast", "Storm hits the coast", "Storm hits the coast"),
        ("Storm hits the coast - Handbook", "Handbook</h1><h2>Storm hits the Coast", "Storm hits the Coast"),
        ("Storm hits the coast", "The storm</h1><h1>Storm hits the coast¶", "Storm hits the coast"),
        ("[7] Storm hits the coast", "<b>Title:</b>Storm hits the coast", "Storm hits the coast"),
        ("Thread: A storm of tweets", "Thread: A storm of tweets", "Thread: A storm of tweets"),
        ("Storm hits the coast | Opinion", "<svg><title>Logo</title></svg>", "Storm hits the coast | Opinion"),
        ("台风登陆东海岸_新闻频道_港口网", "台风登陆东海岸", "台风登陆东海岸"),
        ("台风登陆东海岸，新闻发布会通稿", "新闻中心", "台风登陆东海岸，新闻发布会通稿"),
    ],
)
def test_the_headline_is_without_the_name_of_the_site(title: str, h1: str, headline: str) -> None:
    html = f"<title>{title}</title><meta property=og:site_name content='The Harbour News'><h1>{h1}</h1>"
    assert read_metadata(Page.parse(html, "https://www.harbour.example/a")).headline == headline


@pytest.mark.parametrize(
    ("title", "body", "headline", "site"),
    [
        ("Storm - Tides | Bay Watch", "<a href=/><img alt='Bay Watch logo'></a>", "Storm - Tides", "Bay Watch"),
        ("Storm – Bay", "<a href=https://host.example aria-label='Bay'></a>", "Storm", "Bay"),
        ("Storm - The Bay", "<h1 class=menu-title>The Bay</h1>", "Storm", "The Bay"),
        ("Storm | Host", "<h1>Storm hits the coast | Host</h1>", "Storm hits the coast", "Host"),
        ("Storm - Harbour Host", "<a href=/>Host</a>", "Storm - Harbour Host", None),
        ("Storm: Bay Watch", "<a href=/>Bay Watch</a>", "Storm: Bay Watch", None),
        ("Storm | Bay Watch", "<a href=/bay>Bay Watch</a><a href=/>Bay</a>", "Storm | Bay Watch", None),
        ("Bay Watch » Tides", "<h1><a href=/>Bay Watch</a></h1>", "Tides", "Bay Watch"),
        ("The sea of Bay | Bay Sea", "<h1><a href=/>Bay Sea</a></h1>", "The sea of Bay", "Bay Sea"),
        ("Tides of Host | Bay", "<h1>Tides</h1><a href=/>Home</a>", "Tides", None),
        ("Home - The Bay", "<a href=/>Home</a>", "Home - The Bay", None),
        ("| Bay Watch", "<a href=/>Bay Watch</a>", "| Bay Watch", "Bay Watch"),
    ],
)  # fmt: skip
def test_an_end_of_a_title_that_links_home_or_the_address_show_as_the_name_of_the_site_is_this_name_and_no_headline(
    title: str, body: str, headline: str, site: str | None
) -> None:
    page = f"<title>{title}</title>{body}<p>Waves"
    found = read_metadata(Page.parse(page, "https://host.example/a"))
    assert (found.headline, found.site_name) == (headline, site)
    assert found.sources.get("site_name") == (site and "markup")
    declared = read_metadata(Page.parse(f"<meta property=og:site_name content=Own>{page}", "https://host.example/a"))
    assert (declared.site_name, declared.sources["site_name"]) == ("Own", "opengraph")


@pytest.mark.parametrize(("name", "host"), [("Bay Tyres UK", "baytyre.example"), ("The Farm Bank", "fb.tfb.example")])
def test_an_end_of_a_title_that_the_host_is_short_for_is_the_name_of_the_site(name: str, host: str) -> None:
    found = read_metadata(Page.parse(f"<title>How whales sing | {name}</title><p>Waves", f"https://{host}/a"))
    assert (found.headline, found.site_name) == ("How whales sing", name)


@pytest.mark.parametrize(
    ("title", "body", "headline"),
    [
        ("Harbour Club :: View topic - Storm", "<a>Harbour Club</a><p><a>Storm</a>", "Storm"),
        ("Harbour • Storm at sea : The bar", "<h2>Storm at sea</h2><h3>Harbour</h3>", "Storm at sea"),
        ("Storm « Harbour", "<h2>Storm</h2><h3>Calendar</h3>", "Storm"),
        ("Harbour » Blog Archive » Storm", "<h1>Harbour</h1><h2>Storm</h2><a href=/>Harbour</a>", "Storm"),
        ("Storm at sea - Harbour", "<p>Storm at sea<p>Harbour", "Storm at sea"),
        ("台风登陆东海岸沿线_新闻_港口网", "<div>台风登陆东海岸沿线</div>", "台风登陆东海岸沿线"),
        ("台风登陆东海岸-港口网", "<h2>台风登陆东海岸</h2>", "台风登陆东海岸"),
        ("GtkBox: Manual", "<h2>GtkBox</h2>", "GtkBox"),
        ("Opinion: Storm", "<h3>Tides</h3><h3>Opinion</h3>", "Opinion: Storm"),
        ("Storm - The Harbour News", "<p>The Harbour News", "Storm - The Harbour News"),
        ("Harbour - Storms and tides", "<p>Harbour", "Harbour - Storms and tides"),
        ("Storms and tides | Harbour", "<h2>Harbour</h2>", "Storms and tides | Harbour"),
    ],
)
def test_without_a_main_heading_the_headline_is_the_part_of_the_title_that_is_shown(
    title: str, body: str, headline: str
) -> None:
    assert (
        read_metadata(Page.parse(f"<title>{title}</title>{body}<p>Waves", "https://host.example/a")).headline
        == headline
    )


def test_the_only_heading_of_a_story_is_the_headline_where_the_title_is_nowhere_on_the_page() -> None:
    story = (
        "<h1>Harbour Monday</h1>{}<p>The basin was dredged before the winter, said its chair, for a million and a half."
    )
    heading, url = "What the ferries of the new class draw", "https://harbour.example/a"

    def headline(body: str, url: str = url) -> str | None:
        return read_metadata(
            Page.parse(f"<title>Captains were asked of water</title>{story.format(body)}", url)
        ).headline

    assert headline(f"<h1>{heading}</h1>") == heading
    assert headline(f"<h1>{heading}</h1>", "https://harbour.example/") == "Captains were asked of water"
    assert headline(f"<h1>{heading}</h1><b>Captains were asked of water</b>") == "Captains were asked of water"
    assert headline(f"<h1>{heading}</h1><h1>{heading} and weigh</h1>") == "Captains were asked of water"


def test_a_title_that_software_writes_gives_way_to_the_only_heading_of_the_content() -> None:
    content = f"<h1>Our history</h1><p>{'The harbour was dug by hand. ' * 4}"
    for title in ("Untitled Document", "React App"):
        found = read_metadata(Page.parse(f"<title>{title}</title>{content}", "https://harbour.example/history"))
        assert found.headline == "Our history"


def test_without_a_title_the_only_second_heading_above_text_is_the_headline() -> None:
    page = "<h2>Menu</h2><ul>" + "<li>Boats" * 9 + f"</ul>{{}}<h2>The pier</h2><p>{'It was built by hand. ' * 5}"
    assert read_metadata(Page.parse(page.format(""))).headline == "The pier"
    assert read_metadata(Page.parse(page.format(page.format("")))).headline is None


def test_the_only_heading_is_the_headline_if_the_title_begins_with_it_though_it_is_one_word() -> None:
    head = "<title>{} - Encyclopedia</title><meta property=og:title content='Marine mammals of the order Cetacea'>"
    assert read_metadata(Page.parse(f"{head.format('Whale')}<h1>Whale <a href='#whale'>#</a></h1>")).headline == "Whale"
    assert read_metadata(Page.parse(f"{head.format('C#')}<h1>C#</h1>")).headline == "C#"
    assert read_metadata(Page.parse(f"{head.format('Whale')}<h1>Menu</h1>")).headline != "Menu"
    assert (
        read_metadata(Page.parse("<title>Whale</title><h1>Whale <button>Copy path</button></h1>")).headline == "Whale"
    )


@pytest.mark.parametrize(
    ("h1", "headline"),
    [
        ("Remote<br>Jobs", "Remote Jobs"),
        ("<span>Uses of Interface<br>java.util.List</span>", "Uses of Interface java.util.List"),
        ("<div>Storm</div><div>What is to come</div>", "Storm What is to come"),
        ("Home As&shy;sis&shy;tance", "Home Assistance"),
    ],
)
def test_lines_of_a_heading_are_separated_and_words_have_no_soft_hyphens(h1: str, headline: str) -> None:
    assert read_metadata(Page.parse(f"<p>Before</p><h1>{h1}</h1><p>Behind</p>")).headline == headline


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        *(("By Ada E Byron", ["Ada E Byron"]), ("Di Ada Byron e Eva Lind", ["Ada Byron", "Eva Lind"])),
        ("Por Ada Y Byron y Eva Lind", ["Ada Y Byron", "Eva Lind"]),
        ("By Ada Byron i Eva Lind", ["Ada Byron", "Eva Lind"]),
        ("POR ADA BYRON Y EVA LIND", ["ADA BYRON", "EVA LIND"]),
    ],
)
def test_one_letter_between_names_is_a_word_or_in_upper_case_an_initial(byline: str, names: list[str]) -> None:
    assert read_metadata(Page.parse(f"<h1>Storm hits the coast</h1><p>{byline}")).authors == names


def test_people_replace_user_names_and_the_outlet_and_cited_names_are_turned_around() -> None:
    by = "<h1>Storm hits the coast</h1><p>By Ada Byron"
    for declared in ("adabyron", "The Harbour News", "admin"):
        html = f"<meta property=og:site_name content='The Harbour News'><meta name=author content='{declared}'>{by}"
        assert read_metadata(Page.parse(html)).authors == ["Ada Byron"]
    cited = "<meta name=citation_author content='Byron, Ada'><meta name=citation_author content='Hopper, Grace M.'>"
    assert read_metadata(Page.parse(cited)).authors == ["Ada Byron", "Grace M. Hopper"]


def test_offers_of_products_are_read() -> None:
    product = {
        "@type": "Product", "name": "Lamp", "sku": "L-1", "gtin13": "4006381333931", "brand": {"name": "Lux"},
        "image": "/lamp.jpg", "aggregateRating": {"ratingValue": "4,5", "reviewCount": 12},
        "offers": [
            {"price": "1.299,00", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"},
            {"sku": "L-2", "priceSpecification": {"price": 5, "priceCurrency": "EUR"}}, {"price": "on request"}, 7,
        ],
    }  # fmt: skip
    found = read_metadata(
        Page.parse(f'<script type="application/ld+json">{json.dumps(product)}</script>', "https://host.example/a/")
    )
    known = {"sku": "L-1", "gtin": "4006381333931", "brand": "Lux", "rating": 4.5, "ratings": 12.0}
    first = known | {"price": 1299.0, "currency": "EUR", "availability": "InStock"}
    assert found.offers == [first, known | {"sku": "L-2", "price": 5.0, "currency": "EUR"}]
    assert (found.headline, found.image) == ("Lamp", "https://host.example/lamp.jpg")
    marked = (
        '<div itemprop=offers itemscope><meta itemprop=price content="5.50"><meta itemprop=priceCurrency content=EUR>'
        '<link itemprop=availability href="https://schema.org/OutOfStock"></div><b itemprop=sku>L-3</b>'
        "<b itemprop=brand></b><b itemprop=brand>Lux</b>"
    )
    last = {"sku": "L-3", "brand": "Lux", "price": 5.5, "currency": "EUR", "availability": "OutOfStock"}
    assert read_metadata(Page.parse(marked)).offers == [last]
    told = {"og:price:amount": "7", "og:price:currency": "USD", "og:availability": "in stock"}
    metas = "".join(f'<meta property="{name}" content="{value}">' for name, value in told.items())
    assert read_metadata(Page.parse(metas)).offers == [{"price": 7.0, "currency": "USD", "availability": "InStock"}]


@pytest.mark.parametrize(
    ("head", "tags"),
    [
        ('<meta property="article:tag" content="Books,Best books,R&amp;amp;D">', ["Books", "Best books", "R&D"]),
        ('<meta property="article:tag" content="Marriage, Civil"><meta property="article:tag" content="Law">', None),
        ('<meta name=keywords content="以色列；停火;谈判，哈马斯">', ["以色列", "停火", "谈判", "哈马斯"]),
        ("<meta name=keywords content='以色列 停火 IMF 谈判'>", ["以色列", "停火", "IMF", "谈判"]),
        ("<meta name=keywords content='停火谈判 ChatGPT 以色列'>", ["停火谈判 ChatGPT 以色列"]),
        ("<meta name=keywords content='اخبار، اسلام آباد|T-Shirts'>", ["اخبار", "اسلام آباد", "T-Shirts"]),
    ],
)
def test_one_text_may_have_all_tags(head: str, tags: list[str] | None) -> None:
    assert facts(head)["tags"] == (tags or ["Marriage, Civil", "Law"])


def test_what_a_review_states_of_itself_is_not_the_product_s() -> None:
    review = """<div itemprop=review itemscope><b itemprop=author>Tom Reed</b>
        <meta itemprop=datePublished content=2020-02-03></div>"""
    found = facts(f"</head><body><div itemscope itemtype=https://schema.org/Product>{review}</div>")
    assert (found["authors"], found["published"]) == ([], None)


@pytest.mark.parametrize("url", ["http://[broken", "http://a:b:c/", "\udcff", "", None])
def test_invalid_addresses_are_no_facts_and_take_no_others(url: str | None) -> None:
    head = '<base href="http://[x"><link rel=canonical href="http://[y"><meta property="og:image" content="http://[z">'
    page = Page.parse(f"<head><title>Storm - The Bay</title>{head}</head><h1>Storm</h1><p>Of the bay.</p>", url)
    found = read_metadata(page)
    assert (found.title, found.canonical, found.image) == ("Storm - The Bay", None, None)


def test_addresses_of_files_and_data_are_none_of_the_web() -> None:
    found = facts('<link rel=canonical href="file:///usr/share/a.html"><meta property="og:image" content="data:,x">')
    assert (found["canonical"], found["image"]) == (None, None)


def test_addresses_are_absolute_if_the_base_is_known() -> None:
    head = "<base href=https://cdn.example/x/><link rel=canonical href=storm><meta property=og:image content=i.jpg>"
    found = read_metadata(Page.parse(head))
    assert (found.canonical, found.image) == ("https://cdn.example/x/storm", "https://cdn.example/x/i.jpg")


def test_the_address_corrects_far_dates_of_the_text_and_scripts_are_the_last_resort() -> None:
    assert date_in_address("https://host.example/2026/05/17/storm") == "2026-05-17"
    assert date_in_address("https://host.example/2026/may/17/storm") == "2026-05-17"
    assert date_in_address("https://host.example/12345678/storm") is None
    seen = "<h1>Storm</h1><p>Published <time datetime=2024-05-{}>May {}, 2024</time>"
    for day, published in ((18, "2024-05-18"), (28, "2024-05-17")):
        assert facts(seen.format(day, day), "https://host.example/2024/05/17/storm")["published"] == published
    stated = 'set({"publishDate": "2024-05-17T10:00:00Z", \'modified_at\': "2024-05-19", "date": "2020-01-01"'
    found = facts(f"<script>{stated}}})</script>")
    assert (found["published"], found["modified"]) == ("2024-05-17T10:00:00+00:00", "2024-05-19")
    assert list(found["sources"].items())[-2:] == [("modified", "script"), ("published", "script")], (
        "always in this order"
    )
    assert facts(f'<script>{stated}, "publishDate": "2024-05-18"}})</script>')["published"] is None


def test_an_image_that_json_ld_names_is_looked_up() -> None:
    article = {"@type": "Article", "image": {"@id": "/a#primaryimage"}}
    image = {"@type": "ImageObject", "@id": "/a#primaryimage", "url": "/storm.jpg"}
    for graph, address in (([article, image], "https://host.example/storm.jpg"), ([article], None)):
        assert facts(f'<script type="application/ld+json">{json.dumps({"@graph": graph})}</script>')["image"] == address


def test_the_label_of_a_date_is_read_without_soft_hyphens() -> None:
    assert facts("<h1>Grants</h1><p>Dead&shy;line to apply: 1 March 2024</p><p>Text.</p>")["published"] is None


@pytest.mark.parametrize(
    ("html", "text", "language"),
    [
        ("<p>", "Der Sturm erreicht am Abend die Küste, und die Fähren bleiben bis Sonntag im Hafen.", "de"),
        ("<p>", "CO-103 Key Blank. $1.80. PRICE GROUP C. Key Blank for CCL Corbin Cabinet Locks", "en"),  # no creole
        ("<p>", "我和小锅涮羊肉\n\n12 September 2010 Categoried in 同学, 旅行, 明明 1 Preview : 82 , Read : 861", "zh"),
        ("<html lang=en-US><p>", "Шторм дойдёт до побережья вечером, и паромы останутся в гавани.", "ru"),
    ],
)
def test_the_language_is_detected_if_the_page_states_none_or_one_that_it_cannot_be(
    html: str, text: str, language: str
) -> None:
    pytest.importorskip("py3langid")
    found = read_metadata(Page.parse(html + text), text)
    assert (found.language, found.sources["language"]) == (language, "text")


@pytest.mark.parametrize(
    ("stated", "language"),
    [
        ("English (United States), en-US", "en-US"),
        ("sv, en", "sv"),
        ("en_US", "en-US"),
        ("English", "da"),
        ("utf-8", "da"),
    ],
)
def test_codes_of_languages_are_written_in_one_way_and_what_is_none_is_passed_over(stated: str, language: str) -> None:
    html = f"<html lang=da><meta http-equiv=content-language content='{stated}'>"
    assert read_metadata(Page.parse(html)).language == language


@pytest.mark.parametrize(
    "stated", ["104015, Ada Byron", "&quot;Ada Byron&quot;", "../author/ada, /ada, www.a.example/, Ada Byron"]
)
def test_numbers_addresses_and_quotes_are_no_names_of_authors(stated: str) -> None:
    assert read_metadata(Page.parse(f"<meta name=author content='{stated}'>")).authors == ["Ada Byron"]
