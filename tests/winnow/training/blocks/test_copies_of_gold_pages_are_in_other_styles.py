"""Gold pages are learned from in the markup of other times, too: the text of a copy is that of the page."""

from pathlib import Path

import pytest

from winnow.page.page import Page
from winnow.training.evaluation import GoldPage
from winnow.training.examples import label_gold_pages
from winnow.training.gold import STYLES, GoldExample, Style, restyle, style_of

HTML = """<html><head><title>Storm</title><meta name="author" content="A"></head><body>
<header class="top"><nav role="navigation"><a href="/" class="logo" title="Home">Home</a></nav></header>
<main id="story"><article itemscope><h1>Storm</h1><div><p data-x="1">Winds of up to 130 km/h were seen.</p></div>
<div><p>Nobody was hurt, said the <time datetime="2026">mayor</time>.</p><img src="a.png" alt="A tree"></div></article>
</main>
<footer><div><p>Imprint</p></div></footer></body></html>"""


GOLD = "Storm\nWinds of up to 130 km/h were seen.\nNobody was hurt, said the mayor."


def texts(page: Page) -> list[str]:
    return page.block_texts()


@pytest.mark.parametrize("style", STYLES)
def test_the_text_stays(style: Style):
    assert texts(Page.from_tree(restyle(HTML.encode(), style))) == texts(Page.parse(HTML))


@pytest.mark.parametrize("style", STYLES)
def test_names_are_gone_and_what_is_no_name_stays(style: Style):
    root = restyle(HTML.encode(), style)
    attributes = {(element.tag, name) for element in root.iter() for name in element.attrib}
    assert attributes == {("a", "href"), ("img", "src"), ("img", "alt"), ("meta", "name"), ("meta", "content")}


def test_html5_is_gone_from_plain_pages():
    tags = {element.tag for element in restyle(HTML.encode(), "plain").iter()}
    assert not tags & {"header", "nav", "main", "article", "footer", "time"}
    assert "table" not in tags


def test_some_containers_are_tables_of_one_cell():
    many = "<html><body>" + "<div><p>Text</p></div>" * 100 + "</body></html>"
    root = restyle(many.encode(), "tables")
    assert 15 <= len(root.findall(".//table/tr/td/p")) <= 45
    assert len(root.findall(".//div")) + len(root.findall(".//table")) == 100


def test_a_gold_page_gives_itself_and_a_copy(tmp_path: Path):
    file = tmp_path / "storm.html"
    file.write_text(HTML, encoding="utf-8")
    gold = GoldPage("storm", GOLD, "article", None, None, (), ())
    example = GoldExample(gold, file, "example.org", "gold")
    page, copy = label_gold_pages([example])
    assert (page.copy, copy.copy) == (False, True)
    assert (page.content == copy.content).all()
    assert style_of(example) in STYLES
