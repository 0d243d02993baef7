"""What the counts of a site do to its pages, and what they may never do."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tamis
from tamis.decide import decide
from tamis.evidence.draft import Options
from tamis.evidence.site_counts import find_evidence
from tamis.models import Scores, load_model
from tamis.models.decision import FixedThreshold, KindInputs, PageDecision
from tamis.page.page import Page
from tamis.site import PageCounts, Site

PAGE = Page.parse("<main><p>A story that one page tells.</p></main><footer>All rights reserved</footer>")
STORY = (
    "The council of the harbour town has decided to dredge the eastern basin before the winter, said its chair. "
    "Ferries of the new class draw more water than those that it was built for a hundred years ago. "
)


def scores(page: Page = PAGE, templateness: float = 0.4) -> Scores:
    units = page.n + page.m
    weight, in_tree = np.ones(units, np.int64), np.ones(units, bool)
    return Scores(np.full(units, templateness), weight, in_tree, np.full(units, 0.01), FixedThreshold(0.5))


def adjusted(df: int, pages: int) -> np.ndarray:
    counts = np.full(PAGE.n + PAGE.m, df)
    _, added = find_evidence(PAGE, counts, None, pages, scores().templateness[PAGE.n :], load_model())
    return scores().adjusted(added).templateness


def page_of(number: int, *, story: str = "", beside: str = "") -> str:
    paragraphs = "".join(f"<p>{story or STORY}It was said on day {number} and {part}.</p>" for part in range(4))
    return (
        f"<html><head><title>Day {number} in the harbour</title></head><body><ul><li><a href=/a>Home</a>"
        f"<li><a href=/b>About the paper</a></ul><div><h1>Day {number} in the harbour</h1>{paragraphs}{beside}</div>"
        "<div>All rights reserved by the Harbour News, which is printed on the quay.</div></body></html>"
    )


def site_of(*pages: str) -> Site:
    """A site that has counted these pages, at the addresses 0, 1 and so on."""
    site = Site()
    for number, page in enumerate(pages):
        site.count(page, f"https://news.example/{number}")
    return site


@pytest.mark.parametrize("pages", [2, 3, 9, 10, 11, 40, 200])
def test_the_more_pages_repeat_a_block_the_more_it_is_template(pages: int) -> None:
    block = [adjusted(df, pages)[-1] for df in range(1, pages + 1)]
    assert all(low <= high for low, high in pairwise(block))
    assert block[0] < 0.4
    assert block[-1] > 0.4 or pages < 10


def test_units_that_are_not_counted_and_elements_that_are_unique_keep_their_scores() -> None:
    assert np.array_equal(adjusted(0, 50), scores().templateness)
    assert (adjusted(1, 50)[: PAGE.n] == 0.4).all()


def test_the_first_page_of_a_site_is_cleaned_as_if_alone() -> None:
    page, url = page_of(1), "https://news.example/0"
    assert tamis.clean(page, url, site=site_of(page)).text == tamis.clean(page, url).text


def test_what_the_site_repeats_is_cut_even_from_the_midst_of_content() -> None:
    notice = "<p>Write to the editors if you have seen more of it than we did, or come to see us on the quay.</p>"
    pages = [page_of(number, beside=notice) for number in range(30)]
    assert "Write to the editors" in tamis.clean(pages[3], url="https://news.example/3").text
    cleaned = tamis.clean(pages[3], url="https://news.example/3", site=site_of(*pages))
    assert "Write to the editors" not in cleaned.text
    assert "It was said on day 3 and 2." in cleaned.text
    (notice_section,) = [section for section in cleaned.removed if "Write to the editors" in section.text]
    assert notice_section.reason == "site"


@pytest.mark.parametrize(("copies", "times"), [(3, 25), (2, 40), (8, 9), (1, 14)])
def test_an_article_at_many_addresses_keeps_its_text(copies: int, times: int) -> None:
    site = Site()
    for article in range(copies):
        for address in range(times):
            line = f"<p>Readers now: {100 * article + address}</p>"
            site.count(page_of(article, beside=line), f"https://news.example/{article}?session={address}")
    for number in range(100, 120):
        site.count(page_of(number), f"https://news.example/{number}")
    cleaned = tamis.clean(page_of(0, beside="<p>Readers now: 3</p>"), url="https://news.example/0?s=3", site=site)
    assert cleaned.text.count("dredge the eastern basin") == 4


def test_a_list_at_many_addresses_keeps_its_items() -> None:
    def shop(address: int) -> str:
        cards = "".join(
            f"<div class=card><h3><a href=/{n}>Lamp No. {n}</a></h3><b>$ {30 + n}.00</b></div>" for n in range(20)
        )
        notice = f"<p>Lamp {chr(65 + address)} is in your list!</p>"
        return f"<title>Shop</title><nav><a href=/>Home</a></nav>{notice}<main><h1>Our lamps</h1>{cards}</main>"

    site = Site()
    for address in range(12):
        site.count(shop(address), f"https://shop.example/?wish={address}")
    assert site.pages < 6
    for number in range(8):
        site.count(page_of(number), f"https://shop.example/{number}")
    text = tamis.clean(shop(1), url="https://shop.example/?wish=1", site=site).text
    assert all(f"Lamp No. {n}" in text and f"$ {30 + n}.00" in text for n in range(20))


def test_a_page_of_which_the_counts_would_leave_nothing_decides_alone() -> None:
    page = Page.parse(page_of(1))
    everywhere = PageCounts(np.full(page.n + page.m, 1_000), 1_000)

    class Unsure:
        name = version = "unsure"

        def score(self, page: Page) -> Scores:
            return scores(page, 0.45)

    draft = decide(page, Unsure(), everywhere, Options())
    assert draft.is_fallback
    assert draft.kept.all()


def test_cells_that_other_pages_repeat_are_not_cut_out_of_a_table() -> None:
    rows = "".join(f"<tr><td>Basin {basin}<td>In stock<td>{basin} metres" for basin in range(9))
    table = f"<table><tr><th>Name<th>Availability<th>Depth{rows}</table>"
    tables = [table.replace("metres", f"metres on day {n}").replace("Basin", f"Basin of day {n},") for n in range(30)]
    pages = [page_of(number, beside=own) for number, own in enumerate(tables)]
    text = tamis.clean(pages[4], url="https://news.example/4", site=site_of(*pages)).text
    assert text.count("In stock") == 9
    assert "Availability" in text


def test_the_headline_that_the_title_repeats_stays_wherever_it_stands() -> None:
    pages = []
    for number in range(12):
        headline = f"<h1>Day {number} in the harbour</h1>"
        menu = f"<body><div class='breadcrumb nav menu'><a href=/>Home</a> {headline} </div>"
        pages.append(page_of(number).replace(headline, "").replace("<body>", menu))
    cleaned = tamis.clean(pages[3], url="https://news.example/3", site=site_of(*pages))
    assert cleaned.text.startswith("Day 3 in the harbour\n")
    assert "Home" not in cleaned.text
    assert cleaned.confidence is not None
    assert 0.5 < cleaned.confidence <= 1


def test_a_product_keeps_its_name_and_price_whatever_the_others_cost() -> None:
    def lamp(number: int) -> str:
        says = "<meta property='og:type' content='product'>"
        about = (
            f"Lamp {number} for the desk is made of steel and oak by people who have done so for {number} years. " * 3
        )
        cards = "".join(f"<h3><a href=/{n}>Lamp {n}</a></h3><b>$79.00</b>" for n in range(20, 26))
        return (
            f"<html><head><title>Lamp {number} | The shop</title>{says}</head><body><nav><a href=/>Home</a></nav>"
            f"<div class='top nav'><h1>Lamp {number}</h1></div><div class='cart price'>$79.00</div>"
            f"<form><button>Add to cart</button></form><p>{about}</p><aside><h2>Related</h2>{cards}</aside>"
        )

    lines = tamis.clean(lamp(3), url="https://news.example/3", site=site_of(*map(lamp, range(12)))).text.split("\n")
    assert lines[0] == "Lamp 3"
    assert lines.count("$79.00") == 1
    assert not {"Add to cart", "Related"}.intersection(lines)


class UnsureModel:
    """Is sure of the heading of a page only, as of a list of changes that few pages it has learned from had."""

    name = version = "unsure"

    def score(self, page: Page) -> Scores:
        values = np.full(page.n + page.m, 0.85)
        values[page.n] = 0.3
        decision = PageDecision(None, KindInputs(values, values), np.full(page.m, 10.0), values[page.n :], None)
        return Scores(values, np.ones(len(values), np.int64), np.ones(len(values), bool), values * 0, decision)


def test_what_the_page_alone_keeps_stays_where_the_counts_speak_for_it() -> None:
    rows = "".join(
        f"<p>Castel has changed {number} words of the page on harbours on day {number}</p>" for number in range(30)
    )
    page = Page.parse(f"<h1>All changes of the page on harbours since it was written</h1>{rows}")
    alone = tamis.clean(page, model=UnsureModel(), smooth=False)
    assert "changed 29 words" in alone.text
    found_nowhere_else = PageCounts(np.ones(page.n + page.m, np.int64), 50)
    counted = tamis.clean(page, model=UnsureModel(), smooth=False, site=found_nowhere_else)
    assert counted.text == alone.text


def test_counts_of_another_page_are_refused() -> None:
    with pytest.raises(ValueError, match="3 units"):
        tamis.clean(PAGE, site=PageCounts(np.ones(3, np.int64), 20))


def test_a_site_comes_back_from_its_file_and_counts_each_contents_once(tmp_path: Path) -> None:
    site = Site()
    for number in range(12):
        site.count(page_of(number), "https://news.example/page")
        assert not site.count(page_of(number), "https://news.example/page")
    site.save(str(tmp_path / "site"))
    again = Site.load(str(tmp_path / "site"))
    page = Page.parse(page_of(3), "https://news.example/page")
    assert again.pages == 12
    assert np.array_equal(again.frequencies(page)[0], site.frequencies(page)[0])
    for packed in (b"something else", (tmp_path / "site").read_bytes()[:-1]):
        (tmp_path / "other").write_bytes(packed)
        with pytest.raises(ValueError, match="not the counts of a site, damaged"):
            Site.load(tmp_path / "other")


def test_counts_with_another_model_are_refused(tmp_path: Path) -> None:
    site = Site(model="blocks-self-taught")
    for number in range(3):
        site.count(page_of(number), f"https://news.example/{number}")
    with pytest.raises(ValueError, match=r"give both the same one, as in Site\(model=...\)"):
        tamis.clean(page_of(3), site=site)
    assert tamis.clean(page_of(3), site=site, model="blocks-self-taught").text
    site.save(tmp_path / "site")
    with pytest.raises(ValueError, match="another version or model"):
        Site.load(tmp_path / "site")
    assert Site.load(tmp_path / "site", model="blocks-self-taught").pages == 3


def test_a_long_list_that_a_third_of_the_pages_has_is_cut_though_the_page_alone_keeps_it() -> None:
    names = [f"SignalOf{chr(65 + n % 26)}{n}" for n in range(150)]
    entries = "".join(
        f"<li><a href=/s{n}>{1 + n // 30}.{1 + n % 30} <code>{name}</code></a></li>" for n, name in enumerate(names)
    )
    contents = f"<div id=contents><h4>Reference of the harbour signals</h4><ul>{entries}</ul></div>"
    pages = [page_of(number, beside=contents if number < 10 else "") for number in range(30)]
    site = site_of(*pages)
    alone, with_site = (tamis.clean(pages[0], url="https://news.example/0", site=known) for known in (None, site))
    assert names[77] in alone.text
    assert names[77] not in with_site.text
    assert "It was said on day 0 and 3." in with_site.text
    # What two pages have is no more template for being long.
    few = site_of(*(page_of(number, beside=contents if number < 2 else "") for number in range(30)))
    assert names[77] in tamis.clean(pages[0], url="https://news.example/0", site=few).text


def test_pictures_that_most_pages_have_go_and_those_of_the_page_stay() -> None:
    def pictures(number: int) -> str:
        own = f"<figure><img src=/photos/{number}.jpg alt='The quay'></figure>"
        seal = "<picture><img src=/seal.png></picture>"
        return f"<p>{STORY}<img src=/quill.png alt=Quill></p>{own}<img src=/line.gif>{seal}"

    pages = [page_of(number, beside=pictures(number)) for number in range(5)]
    alone, beside = (tamis.clean(pages[4], site=site) for site in (site_of(*pages[:3]), site_of(*pages)))
    assert [alone.markdown.count("]("), beside.markdown.count("![")] == [4, 1]
    assert "![The quay](/photos/4.jpg)" in beside.markdown
    assert [alone.html.count("<picture>"), beside.html.count("<picture>")] == [1, 0]
    assert beside.text == alone.text
