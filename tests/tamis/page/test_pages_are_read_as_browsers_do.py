"""Pages are parsed by an HTML5 parser, and by lxml where that would take quadratic time."""

import pytest
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from tamis.core import core
from tamis.page import html5
from tamis.page.page import Limits, Page
from tamis.page.parsing import parse_html, prepare
from tamis.page.tree import TAG_NAMES

UNLIMITED = Limits(max_bytes=10**9, max_nodes=10**9, max_depth=10**9)


def outline(page: Page) -> str:
    return " ".join(TAG_NAMES[tag] or page.unknown_names[element] for element, tag in enumerate(page.tag.tolist()))


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>a<table><tr><td>b", "html head body p table tbody tr td"),
        ("<b><p>a</b>b", "html head body b p b"),
        ("<svg viewBox='0 0 1 1'><linearGradient/><a xlink:href=x>y</a></svg>", "html head body svg linearGradient a"),
        ("<template><p>later</template><p>now", "html head template p body p"),
        ("<template shadowrootmode=open><p>now</template>", "html head div p body"),
        ('<a"c>x', 'html head body a"c'),
        ("<feComponentTransfer><isindex><mi><xmp><image>", "html head body fecomponenttransfer isindex mi pre"),
    ],
)
def test_elements_are_those_of_a_browser(html: str, found: str) -> None:
    assert outline(Page.parse(html)).lower() == found.lower()


def test_attributes_are_named_as_in_the_page() -> None:
    page = Page.parse(
        "<p ID=a onClick=b data-Deep-Name-Of-It='' id=c><svg viewBox=d><a xlink:href=e x\"y=f>g</a></svg>"
    )
    names = [("id", "a"), ("onclick", "b"), ("data-deep-name-of-it", "")]
    assert page.attributes[3] == names
    assert page.attributes[4] == [("viewbox", "d")]
    assert page.attributes[5] == [("xlink:href", "e"), ('x"y', "f")]
    assert [dict(element.attrib) for element in page.elements[3:]] == [dict(names), {"viewbox": "d"}, {}]


@pytest.mark.parametrize(
    "before",
    [
        "<body><noscript><iframe src=//count.example/1 height=0 /></noscript>",
        "<BODY><NOSCRIPT><IFRAME title='a > b' src=//count.example//></NOSCRIPT>",
        "<head><noscript><img src=//count.example/1>Please use scripts.</noscript><title>T</title></head><body>",
        "<HEAD><NOSCRIPT>Please use scripts.</NOSCRIPT ></HEAD><noscript></noscript><BODY>",
    ],
)
def test_what_is_for_browsers_without_scripts_does_not_end_the_page_or_its_head(before: str) -> None:
    page = Page.parse(before + "<p title='<iframe/>'>Storm")
    assert page.block_texts() == ["Storm"]
    assert list(page.attribute("title").values())[-1] == "<iframe/>"


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 30_000,
        "<p>x".join(f"<font size={n}>" for n in range(3_000)),
        "<svg>" + "<g>" * 9_000 + "</x>" * 9_000,
        # in drawings and formulas these elements hold others
        "<svg><title>" + "<div>" * 30_000,
        "<svg></svg><svg><style>" + "<g>" * 9_000 + "</x>" * 9_000,
        "<math><mi><b></math></b></mi><plaintext>" + "<mx>" * 9_000 + "</x>" * 9_000,
        # and what is mended hides none
        "<noscript><script></noscript>" + "<div>" * 30_000 + "<body>",
        "<noscript></noscript><iframe src=x/><!--<iframe--/>-->" + "<div>" * 30_000,
        # names without number
        "".join(f"<x{n}></x{n}>" for n in range(12_000)),
        "".join(f"<p a b x{n}=1>" for n in range(20_000)),
    ],
    ids=lambda html: html[:30],
)
def test_documents_that_would_take_long_are_parsed_by_lxml(html: str) -> None:
    assert prepare(html)[1]
    assert Page.parse(html, limits=UNLIMITED).n == sum(1 for _ in parse_html(html).iter(etree.Element))


@pytest.mark.parametrize(
    "html",
    [
        *("<ul>" + "<li>x" * 50_000, "<p>" + "<b>x</b><br>" * 50_000, "<svg>" + "<path/>" * 9_000),
        "".join(f"<p a b x{n % 4_000}=1>" for n in range(30_000)),
    ],
    ids=lambda html: html[:30],
)
def test_long_documents_are_no_such(html: str) -> None:
    assert not prepare(html)[1]


def is_slow(html: str, seed: int) -> bool:
    core.set_seed(seed)
    return prepare(html).is_slow


def test_how_a_document_is_parsed_depends_on_no_chance() -> None:
    html = ("".join(f"<x{n}>a</x{n}>" for n in range(400)) + "<div><img>" * 4 + "</div>" * 4) * 20
    assert {is_slow(html, seed) for seed in range(50)} == {False}
    many = "".join(f"<x{n}>" for n in range(600)) + "<x599></x600>" * 9_000  # end tags that end nothing
    assert {is_slow(many, seed) for seed in range(50)} == {True}


def test_a_name_that_is_not_known_by_its_number_leaves_the_page_to_lxml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html5, "_TAG_INDEX", html5._TAG_INDEX[:40])
    assert outline(Page.parse("<main>Storm</main>")) == "html body main"


def test_the_core_takes_nothing_but_elements() -> None:
    text = LexborHTMLParser("<p>x").css_first("p").child
    with pytest.raises(ValueError, match="than expected"):
        core.lexbor_numbers(text)
    for other in (1, None, etree.Element("p")):
        with pytest.raises(TypeError, match="a node of selectolax"):
            core.lexbor_numbers(other)
