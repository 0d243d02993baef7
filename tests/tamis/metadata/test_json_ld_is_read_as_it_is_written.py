"""JSON-LD as plugins and people write it: ids, several types, parts of names, empty values, numbers."""

import json
from typing import Any

import pytest

from tamis.metadata import read_metadata
from tamis.metadata.facts import Metadata
from tamis.page.page import Page


def read(*documents: Any, title: str = "Storm at sea | The Coast") -> Metadata:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(each)}</script>' for each in documents)
    page = f"<title>{title}</title>{scripts}<h1>Storm at sea</h1><p>The storm came."
    return read_metadata(Page.parse(page, "https://coast.example/storm"))


GRAPH = [
    {"@type": "BlogPosting", "headline": "Storm at sea", "author": {"@id": "#ada"}, "publisher": {"@id": "#coast"}},
    {"@type": "Organization", "@id": "#coast", "name": "Coast Media"},
    {"@type": "Person", "@id": "#ada", "name": "Ada Byron"},
]


def test_a_job_was_published_when_it_was_posted() -> None:
    job = {"@type": "JobPosting", "title": "Cooper", "datePosted": "2026-02-02", "validThrough": "2026-04-01"}
    assert read(job).published == "2026-02-02"
    microdata = "<div itemscope itemtype='https://schema.org/JobPosting'><meta itemprop=datePosted content=2026-02-02>"
    assert read_metadata(Page.parse(f"<title>Cooper</title>{microdata}<h1>Cooper</h1>")).published == "2026-02-02"


def test_ids_lead_to_other_objects_of_any_script() -> None:
    assert read({"@graph": GRAPH}).authors == read(*GRAPH).authors == ["Ada Byron"]
    assert read({"@graph": [{**GRAPH[0], "author": [{"@id": "#ada"}]}, *GRAPH[1:]]}).authors == ["Ada Byron"]


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ({"givenName": "Ada", "familyName": "Byron"}, ["Ada Byron"]),
        ([{"name": None, "givenName": "Ada", "familyName": "Byron"}], ["Ada Byron"]),
        ([{"@type": "Organization", "name": "Coast Media"}, {"@type": "Person", "name": "Ada Byron"}], ["Ada Byron"]),
        ({"@type": "Organization", "name": "Coast Media"}, ["Coast Media"]),
        ({"@id": "#nobody"}, []),
    ],
)
def test_people_have_parts_of_names_and_come_before_organisations(author: Any, names: list[str]) -> None:
    assert read({**GRAPH[0], "author": author}).authors == names


def test_of_several_types_the_one_that_says_most_counts() -> None:
    assert read({"@type": ["Thing", "NewsArticle"], "headline": "Storm at sea"}).kind == "NewsArticle"


def test_empty_values_hide_no_later_ones_and_a_publisher_is_the_site_for_want_of_a_name() -> None:
    crumbs = [{"@type": "BreadcrumbList"}, {"@type": "BreadcrumbList", "itemListElement": [{"name": "Home"}]}]
    assert read(*crumbs).breadcrumbs == ["Home"]
    assert read({"@type": "Organization"}, {"@type": "WebSite", "name": "The Coast"}).site_name == "The Coast"
    assert read(*GRAPH).site_name == "Coast Media"
    assert read({"@type": "WebSite", "name": "The Coast"}, *GRAPH).site_name == "The Coast"
    assert read({**GRAPH[0], "image": [None, {"url": ["/i.png"]}]}).image == "https://coast.example/i.png"


def test_a_page_is_about_its_main_entity_and_what_its_title_names_not_about_what_stands_beside_it() -> None:
    other = {"@type": "NewsArticle", "headline": "Another day", "author": "Eve Fry", "datePublished": "2020-01-02"}
    video = {"@type": "VideoObject", "name": "Live", "uploadDate": "2020-01-02"}
    own = {"@type": "NewsArticle", "headline": "Storm at sea", "datePublished": "2024-05-17"}
    found = read(other, video, own)
    assert (found.headline, found.published, found.authors) == ("Storm at sea", "2024-05-17", [])
    assert read(video).published is None
    assert read(other, {**other, "headline": "A third"}).published is None, "the entries of a list"
    main = {"@type": "WebPage", "mainEntity": {"@type": "Article", "headline": "Tides", "datePublished": "2024-05-17"}}
    assert read(other, main).published == "2024-05-17"


@pytest.mark.parametrize(
    ("stated", "number"),
    [
        *((0.00001, 1e-05), ("1e3", 1000.0), (-5, -5.0), ("-5 €", -5.0), ("1.299,00 €", 1299.0)),
        ("US$1,299.50", 1299.5),
        *(("1 299,00 kr", 1299.0), ("1.299.000", 1299000.0), ("1,299", 1299.0), ("1.299", 1.299), ("0,125", 0.125)),
        *(([12.5], 12.5), (0, 0.0), ("5–7", 5.0), ("on request", None), (True, None), ("1e999", None), (10**400, None)),
    ],
)  # fmt: skip
def test_numbers_are_numbers(stated: Any, number: float | None) -> None:
    offers = read({"@type": "Product", "name": "Storm lamp", "offers": {"price": stated}}).offers
    assert offers == ([] if number is None else [{"price": number}])


def test_the_price_that_counts_is_told_from_the_one_struck_out() -> None:
    specified = [
        {"price": "80.00", "priceCurrency": "EUR", "priceType": "https://schema.org/ListPrice"},
        {"price": "70.00", "priceCurrency": "EUR"},
    ]
    product = {"@type": "Product", "name": "Storm lamp", "offers": {"priceSpecification": specified}}
    offer = {"price": 70.0, "list_price": 80.0, "currency": "EUR"}
    assert read(product).offers == [offer]
    stated = {"price:amount": 80, "sale_price:amount": 70, "price:currency": "EUR"}
    metas = "".join(f"<meta property=product:{name} content={value}>" for name, value in stated.items())
    marked = "<del itemprop=price>80,00</del> <b itemprop=price>70,00</b><meta itemprop=priceCurrency content=EUR>"
    assert [read_metadata(Page.parse(html)).offers for html in (metas, marked)] == [[offer], [offer]]
